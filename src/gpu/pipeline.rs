//! Pipelines: a shader text with its constants, compiled once.

use std::collections::HashMap;

use super::bindings;
use super::device::Gpu;
use super::kernels::{Kernel, KernelProgram};
use crate::error::Result;

/// What is done to a shader's text before it is compiled.
pub(crate) type Rewrite = Box<dyn Fn(String) -> String + Send>;

/// The pipelines of a device for programs of one kind.
pub(crate) struct Pipelines<P> {
    runtime_checks: bool,
    rewrite: Option<Rewrite>,
    /// By a kernel's stem and the number of arenas.
    layouts: HashMap<(&'static str, u32), wgpu::BindGroupLayout>,
    known: HashMap<P, Compiled>,
}

/// A program ready for dispatches.
#[derive(Clone)]
pub struct Compiled {
    kernel: &'static Kernel,
    layout: wgpu::BindGroupLayout,
    /// Its pipeline.
    pub pipeline: wgpu::ComputePipeline,
}

impl Compiled {
    /// Binds buffers by the names of the kernel's row.
    pub fn bind(&self, gpu: &Gpu, buffers: &[(&str, &wgpu::Buffer)]) -> Result<wgpu::BindGroup> {
        bindings::group(gpu, self.kernel, &self.layout, buffers)
    }
}

impl<P> Default for Pipelines<P> {
    fn default() -> Self {
        Pipelines { runtime_checks: false, rewrite: None, layouts: HashMap::new(), known: HashMap::new() }
    }
}

impl<P: KernelProgram + Copy + Eq + std::hash::Hash + std::fmt::Debug> Pipelines<P> {
    /// With wgpu's bounds and loop checks in what is compiled from now on.
    pub(crate) fn with_runtime_checks(self) -> Self {
        Pipelines { runtime_checks: true, known: HashMap::new(), ..self }
    }

    /// With other texts.
    pub(crate) fn with_rewrite(self, rewrite: Rewrite) -> Self {
        Pipelines { rewrite: Some(rewrite), known: HashMap::new(), ..self }
    }

    /// The pipeline of a program.
    pub(crate) fn get(&mut self, gpu: &Gpu, program: P) -> Result<Compiled> {
        if let Some(compiled) = self.known.get(&program) {
            return Ok(compiled.clone());
        }
        let compiled = self.text(gpu, program)?.compile(gpu)?;
        self.known.insert(program, compiled.clone());
        Ok(compiled)
    }

    /// The pipelines of several programs: those that are not there yet are compiled at the same time.
    pub(crate) fn get_all(&mut self, gpu: &Gpu, programs: &[P]) -> Result<Vec<Compiled>> {
        let mut missing: Vec<P> = Vec::new();
        for &program in programs {
            if !self.known.contains_key(&program) && !missing.contains(&program) {
                missing.push(program);
            }
        }
        if missing.len() > 1 {
            let texts: Vec<Text> = missing.iter().map(|&program| self.text(gpu, program)).collect::<Result<_>>()?;
            let compiled: Vec<Result<Compiled>> = std::thread::scope(|scope| {
                let all: Vec<_> = texts.into_iter().map(|text| scope.spawn(|| text.compile(gpu))).collect();
                let done =
                    all.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
                done.collect()
            });
            for (program, compiled) in missing.into_iter().zip(compiled) {
                self.known.insert(program, compiled?);
            }
        }
        programs.iter().map(|&program| self.get(gpu, program)).collect()
    }

    /// What is to be compiled of a program.
    fn text(&mut self, gpu: &Gpu, program: P) -> Result<Text> {
        let (kernel, arenas) = (program.kernel(), program.arenas());
        let layout = self.layouts.entry((kernel.stem, arenas));
        let layout = layout.or_insert_with(|| bindings::layout(&gpu.device, kernel, arenas)).clone();
        let source = match &self.rewrite {
            Some(rewrite) => rewrite(program.source()?),
            None => program.source()?,
        };
        let runtime_checks = self.runtime_checks;
        let name = format!("{program:?}");
        Ok(Text { kernel, layout, source, overrides: program.overrides(), runtime_checks, name })
    }
}

/// A program before it is compiled.
struct Text {
    kernel: &'static Kernel,
    layout: wgpu::BindGroupLayout,
    source: String,
    overrides: Vec<(&'static str, f64)>,
    runtime_checks: bool,
    /// Said where times are logged.
    name: String,
}

impl Text {
    fn compile(self, gpu: &Gpu) -> Result<Compiled> {
        let Text { kernel, layout, source, overrides, runtime_checks, name } = self;
        let begin = std::time::Instant::now();
        let pipeline = build(gpu, kernel, &layout, source, &overrides, runtime_checks)?;
        tracing::debug!(shader = kernel.stem, program = name, seconds = begin.elapsed().as_secs_f64(), "compiled");
        Ok(Compiled { kernel, layout, pipeline })
    }
}

/// Compiles a shader. With `runtime_checks`, wgpu's bounds and loop checks are in it.
fn build(
    gpu: &Gpu,
    kernel: &Kernel,
    layout: &wgpu::BindGroupLayout,
    source: String,
    overrides: &[(&str, f64)],
    runtime_checks: bool,
) -> Result<wgpu::ComputePipeline> {
    let device = &gpu.device;
    let label = Some(kernel.stem);
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let descriptor = wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(source.into()) };
    let checks =
        if runtime_checks { wgpu::ShaderRuntimeChecks::checked() } else { wgpu::ShaderRuntimeChecks::unchecked() };
    // SAFETY: every index that a shader forms is below the size of what it indexes: task and target indices come from
    // lists of the sizes given, words from ranges inside the store, scratch from slot < slots and row < rows_words, words
    // of an arena from the part that the host laid out for the task, codes from stores of the alphabet; every loop ends.
    // The tests run the same texts with all checks on.
    let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(layout)],
        ..Default::default()
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
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
        Some(error) => Err(gpu.error(format!("{}: the shader was refused: {error}", kernel.stem))),
        None => Ok(pipeline),
    }
}
