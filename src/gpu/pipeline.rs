//! Pipelines: a shader text with its constants, compiled once.

use std::collections::HashMap;

use super::device::Gpu;
use crate::error::Result;
use crate::pairs::kernels::matrix::{self, FIRST_ARENA_BINDING};
use crate::pairs::kernels::nw_slice;

/// What a pipeline is made from.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shader {
    /// `nw_slice`.
    Slice(nw_slice::Variant),
    /// A kernel that can store directions, by its text.
    Matrix(&'static str, matrix::Variant),
    /// The walk over what it leaves.
    Walk(matrix::Variant),
}

impl Shader {
    fn name(&self) -> &'static str {
        match self {
            Shader::Slice(_) => "nw_slice",
            Shader::Matrix(_, variant) => variant.scan.stem(),
            Shader::Walk(_) => "nw_walk",
        }
    }

    fn source(&self) -> String {
        match self {
            Shader::Slice(variant) => variant.source(),
            Shader::Matrix(shader, variant) => variant.source(shader),
            Shader::Walk(variant) => variant.walk_source(),
        }
    }

    /// Values of the shader's overrides.
    fn overrides(&self) -> Vec<(&'static str, f64)> {
        match self {
            Shader::Slice(variant) => vec![("WG", variant.workgroup as f64)],
            _ => Vec::new(),
        }
    }
}

/// What is done to a shader's text before it is compiled.
pub type Rewrite = Box<dyn Fn(String) -> String + Send>;

/// The pipelines of a device.
pub struct Pipelines {
    slice_layout: wgpu::BindGroupLayout,
    /// With one arena and with all.
    matrix_layouts: [wgpu::BindGroupLayout; 2],
    runtime_checks: bool,
    rewrite: Option<Rewrite>,
    known: HashMap<Shader, wgpu::ComputePipeline>,
}

impl Pipelines {
    /// None yet; with so many arenas for the kernels that can store directions.
    pub fn new(gpu: &Gpu, arenas: u32) -> Self {
        Pipelines {
            slice_layout: bind_group_layout(&gpu.device, 6, 1),
            matrix_layouts: [1, arenas].map(|count| bind_group_layout(&gpu.device, FIRST_ARENA_BINDING, count)),
            runtime_checks: false,
            rewrite: None,
            known: HashMap::new(),
        }
    }

    /// With wgpu's bounds and loop checks.
    pub fn with_runtime_checks(mut self, on: bool) -> Self {
        self.runtime_checks = on;
        self
    }

    /// With other texts.
    pub fn with_rewrite(mut self, rewrite: Rewrite) -> Self {
        self.rewrite = Some(rewrite);
        self
    }

    /// Whether wgpu's checks are compiled in.
    pub fn runtime_checks(&self) -> bool {
        self.runtime_checks
    }

    /// The bindings of `nw_slice`.
    pub fn slice_layout(&self) -> &wgpu::BindGroupLayout {
        &self.slice_layout
    }

    /// The bindings of the kernels that can store directions, and of the walk.
    pub fn matrix_layout(&self, arenas: u32) -> &wgpu::BindGroupLayout {
        &self.matrix_layouts[(arenas > 1) as usize]
    }

    /// The pipeline of a shader.
    pub fn get(&mut self, gpu: &Gpu, shader: Shader) -> Result<wgpu::ComputePipeline> {
        if let Some(pipeline) = self.known.get(&shader) {
            return Ok(pipeline.clone());
        }
        let layout = match &shader {
            Shader::Slice(_) => &self.slice_layout,
            Shader::Matrix(_, variant) | Shader::Walk(variant) => self.matrix_layout(variant.arenas),
        };
        let begin = std::time::Instant::now();
        let pipeline = build(gpu, layout, (self.source(&shader), &shader.overrides()), self.runtime_checks)?;
        tracing::debug!(shader = shader.name(), seconds = begin.elapsed().as_secs_f64(), "compiled");
        self.known.insert(shader, pipeline.clone());
        Ok(pipeline)
    }

    fn source(&self, shader: &Shader) -> String {
        match &self.rewrite {
            Some(rewrite) => rewrite(shader.source()),
            None => shader.source(),
        }
    }
}

/// Bindings of a kernel: parameters with a dynamic offset, five read-only storage buffers, the output, and `count` scratch
/// buffers from binding `first` on.
pub(crate) fn bind_group_layout(device: &wgpu::Device, first: u32, count: u32) -> wgpu::BindGroupLayout {
    let entry = |binding: u32, ty: wgpu::BufferBindingType| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: binding == 0, min_binding_size: None },
        count: None,
    };
    let read = |binding| entry(binding, wgpu::BufferBindingType::Storage { read_only: true });
    let write = |binding| entry(binding, wgpu::BufferBindingType::Storage { read_only: false });
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform)];
    entries.extend((1..=5).map(read));
    entries.extend([7].into_iter().chain(first..first + count).map(write));
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: Some("nw"), entries: &entries })
}

/// Compiles a shader. With `runtime_checks`, wgpu's bounds and loop checks are in it.
pub(crate) fn build(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    (source, overrides): (String, &[(&str, f64)]),
    runtime_checks: bool,
) -> Result<wgpu::ComputePipeline> {
    let device = &gpu.device;
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let descriptor =
        wgpu::ShaderModuleDescriptor { label: Some("nw"), source: wgpu::ShaderSource::Wgsl(source.into()) };
    let checks =
        if runtime_checks { wgpu::ShaderRuntimeChecks::checked() } else { wgpu::ShaderRuntimeChecks::unchecked() };
    // SAFETY: every index that a shader forms is below the size of what it indexes: task and target indices come from
    // lists of the sizes given, words from ranges inside the store, scratch from slot < slots and row < rows_words, words
    // of an arena from the part that the host laid out for the task, codes from stores of the alphabet; every loop ends.
    // The tests run the same texts with all checks on.
    let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("nw"),
        bind_group_layouts: &[Some(layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("nw"),
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: overrides,
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    });
    match pollster::block_on(validation.pop()) {
        Some(error) => Err(gpu.error(format!("a shader was refused: {error}"))),
        None => Ok(pipeline),
    }
}
