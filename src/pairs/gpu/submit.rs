//! Submits a batch to a kernel: chooses the kernel, its constants and its memory.

use std::sync::Arc;

use super::choice::{BatchSituation, KernelChoice, requested_choice};
use super::dispatch;
use super::matrix::TEAM_STEP_CELLS;
use super::matrix::{MatrixSlot, MatrixWork};
use super::programs::Shader;
use super::resident::ResidentSequences;
use super::slot::SliceSlot;
use super::{PairsDeviceState, is_filtered};
use crate::error::Result;
use crate::gpu::engine::BatchContext;
use crate::gpu::kernels::{Kernel, KernelKind, Scan, ScoreType, of_kind};
use crate::pairs::kernels::layout::EndGapKind;
use crate::pairs::kernels::matrix::{self, MatrixTraceback};
use crate::pairs::kernels::matrix_tasks::MatrixTasks;
use crate::pairs::kernels::nw_slice::{self, SliceVariant, TaskList};
use crate::pairs::kernels::nw_slice_half;
use crate::pairs::{BatchLengths, PairsBatch, ResultFilter};
use crate::score::OffsetScoring;

impl PairsDeviceState {
    fn variant(&self, batch: &PairsBatch) -> SliceVariant {
        let scoring = &batch.chunk.scoring;
        SliceVariant {
            slice: self.config.slice,
            workgroup: self.config.workgroup,
            codes: scoring.alphabet.size() as u32,
            affine: !scoring.gaps.is_linear(),
            ends: EndGapKind::from_scoring(scoring),
        }
    }

    /// Returns the variant of `nw_slice_half` for a batch. Returns `None` if more than scores is
    /// requested, or if a score may grow too much within a slice.
    fn half_variant(&self, batch: &PairsBatch, scoring: &OffsetScoring) -> Option<nw_slice_half::HalfSliceVariant> {
        let is_scores = matches!(batch.chunk.filter, ResultFilter::Scores | ResultFilter::AtLeast(_));
        let has_halves =
            self.kernels.gpu.device.features().contains(of_kind(KernelKind::Slice(ScoreType::F16)).features);
        if !is_scores || !has_halves {
            return None;
        }
        let (slice, workgroup) = self.config.sizes(ScoreType::F16);
        let group_words = nw_slice_half::group_words(scoring, slice)?;
        let SliceVariant { codes, affine, ends, .. } = self.variant(batch);
        let variant = nw_slice_half::HalfSliceVariant { slice, workgroup, group_words, codes, affine, ends };
        (variant.workgroup_bytes() <= self.kernels.gpu.description.workgroup_memory_bytes).then_some(variant)
    }

    /// Chooses the kernel for a batch: the requested kernel, or the kernel with the least expected
    /// time.
    pub(super) fn choose(
        &self,
        kernel: Option<&'static Kernel>,
        batch: &PairsBatch,
        extent: BatchLengths,
        scoring: &OffsetScoring,
    ) -> KernelChoice {
        let situation = self.situation(batch, extent, scoring);
        match kernel {
            Some(kernel) => requested_choice(&situation, kernel),
            None => self.prices.choose(&situation),
        }
    }

    /// Returns the facts that determine the choice of a kernel for a batch.
    pub(super) fn situation<'a>(
        &'a self,
        batch: &'a PairsBatch,
        extent: BatchLengths,
        scoring: &OffsetScoring,
    ) -> BatchSituation<'a> {
        BatchSituation {
            batch,
            extent,
            shape: &self.kernels.shape.matrix,
            adapter: &self.kernels.gpu.description,
            features: self.kernels.gpu.device.features(),
            slice: self.config.slice,
            half: self.half_variant(batch, scoring),
            halves: self.config.halves,
            arenas: self.arenas.count(),
            arena_quads: self.arenas.quads(),
            threads: self.threads(),
            carries_matches: scoring.carries_matches(),
        }
    }

    /// Returns the number of host threads that trace pairs for the device. It is 1 if these threads
    /// also compute other pairs.
    pub(super) fn threads(&self) -> usize {
        if self.is_host_busy {
            return 1;
        }
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.pool.as_ref().map_or_else(all, |pool| pool.current_num_threads())
    }

    /// Submits a batch to `nw_slice` or `nw_slice_half`. Returns its queries and targets on the
    /// device.
    pub(super) fn start_slice(
        &mut self,
        site: &mut BatchContext<'_>,
        slot: &mut SliceSlot,
        batch: &Arc<PairsBatch>,
        numbers: ScoreType,
        scoring: OffsetScoring,
    ) -> Result<[Arc<ResidentSequences>; 2]> {
        let [queries, targets] = self.stores.for_batch(&self.kernels.gpu, site.residents, batch)?;
        let query_end = |id| queries.end_word(&batch.chunk.queries, id);
        let half = if numbers == ScoreType::F16 { self.half_variant(batch, &scoring) } else { None };
        let (shader, slice, list, slot_bytes, table) = match half {
            Some(variant) => {
                let list = nw_slice_half::tasks(batch, &variant, query_end);
                let slot_bytes = variant.slot_bytes(list.rows_words());
                (Shader::SliceHalf(variant), variant.slice, list, slot_bytes, nw_slice_half::table(&scoring))
            }
            None => {
                let variant = self.variant(batch);
                let list = TaskList::new(batch, variant.workgroup, query_end);
                let slot_bytes = variant.slot_bytes(list.rows_words());
                (Shader::Slice(variant), variant.slice, list, slot_bytes, scoring.table().to_vec())
            }
        };
        if slot_bytes > self.scratch_budget {
            return Err(self
                .kernels
                .gpu
                .refusal(format!("{slot_bytes} bytes of scratch memory exceed the limit of {}", self.scratch_budget)));
        }
        if self.kernels.loop_budget.is_some_and(|budget| nw_slice::slices_within(budget, list.rows_words()) == 0) {
            return Err(self
                .kernels
                .gpu
                .refusal("the driver limits loops to fewer iterations than these sequences need"));
        }
        let program = self.kernels.get(shader)?;
        let (scratch, scratch_slots) = self.reserve_scratch(slot_bytes, list.slots(), site.saves_memory)?;
        let work = dispatch::SliceWork {
            batch,
            list,
            scoring,
            table,
            slice,
            scratch_slots,
            loop_budget: self.kernels.loop_budget,
            program: &program,
            queries: &queries,
            targets: &targets,
            scratch: &scratch,
        };
        slot.record(&self.kernels.gpu, work)?;
        Ok([queries, targets])
    }

    /// Submits a batch to a kernel that can store directions. If these do not fit, the kernel
    /// computes values only. Returns the batch's queries and targets on the device.
    pub(super) fn start_matrix(
        &mut self,
        site: &mut BatchContext<'_>,
        slot: &mut MatrixSlot,
        scan: Scan,
        batch: &Arc<PairsBatch>,
        extent: BatchLengths,
        scoring: OffsetScoring,
    ) -> Result<[Arc<ResidentSequences>; 2]> {
        let [queries, targets] = self.stores.for_batch(&self.kernels.gpu, site.residents, batch)?;
        let wants_traceback = batch.chunk.filter.has_alignments() && scoring.carries_matches();
        let fit_variant = |directions| self.fit_matrix(scan, batch, &extent, &queries, directions);
        let fitting = if wants_traceback { fit_variant(true) } else { None };
        let Some((variant, list)) = fitting.or_else(|| fit_variant(false)) else {
            return Err(self
                .kernels
                .gpu
                .refusal(format!("{} bytes of memory do not suffice for a pair", 16 * self.arenas.quads())));
        };
        self.check_matrix_loops(&variant, &list, &extent)?;
        let program = self.kernels.get(Shader::Matrix(variant))?;
        let traces_itself = scan == Scan::Checkpoint;
        let traceback_program =
            if traces_itself { None } else { Some(self.kernels.get(Shader::Traceback(MatrixTraceback(variant)))?) };
        let begin = std::time::Instant::now();
        let arenas = match self.arenas.reserve(&self.kernels.gpu, variant.arenas, &list.arena_quads) {
            Ok(arenas) => arenas,
            Err(error) => {
                if !site.saves_memory || !self.arenas.shrink() {
                    return Err(error);
                }
                tracing::warn!("{error}; continuing with {} MiB for directions", self.arenas.bytes() >> 20);
                return self.start_matrix(site, slot, scan, batch, extent, scoring);
            }
        };
        tracing::trace!(
            arenas = arenas.len(),
            rounds = list.rounds.len(),
            seconds = begin.elapsed().as_secs_f64(),
            "arenas"
        );
        let work = MatrixWork {
            batch,
            list,
            scoring,
            variant,
            words_a_symbol: self.words_a_symbol[is_filtered(batch) as usize],
            output_budget: self.output_budget,
            has_more: site.remaining_cells > batch.cells(),
            loop_budget: self.kernels.loop_budget,
            program: &program,
            traceback_program: traceback_program.as_ref(),
            queries: &queries,
            targets: &targets,
        };
        slot.record(&self.kernels.gpu, work, &arenas)?;
        Ok([queries, targets])
    }

    /// Returns the variant of a kernel that can store directions, and its tasks, for a batch with
    /// `queries` on the device. Returns `None` if the memory does not suffice for a pair.
    fn fit_matrix(
        &self,
        scan: Scan,
        batch: &PairsBatch,
        extent: &BatchLengths,
        queries: &ResidentSequences,
        directions: bool,
    ) -> Option<(matrix::MatrixVariant, MatrixTasks)> {
        let with_arenas = |arenas| {
            let description = &self.kernels.gpu.description;
            self.kernels.shape.matrix.variant(scan, batch, extent, description, arenas, directions)
        };
        // A small batch needs one arena. The driver compiles a kernel with one arena in a tenth of
        // the time.
        let mut variant = with_arenas(1);
        let tasks = batch.pairs().div_ceil(variant.slots() as u64) + batch.blocks.len() as u64;
        let rows_words = extent.target_symbols.div_ceil(4).max(1);
        let quads = variant.tasks_together(tasks) * variant.task_quads(extent.query_symbols, rows_words);
        if quads > self.arenas.quads() {
            let all = self.arenas.count();
            let needed = quads.div_ceil(self.arenas.quads()).next_power_of_two().min(all.into()) as u32;
            variant = with_arenas(if scan == Scan::Checkpoint { needed } else { all });
        }
        let query_end = |id| queries.end_word(&batch.chunk.queries, id);
        MatrixTasks::new(batch, &variant, self.arenas.quads(), query_end).map(|list| (variant, list))
    }

    /// Checks that no dispatch of a batch occupies the device too long or exceeds the device's
    /// limit on loops.
    ///
    /// # Errors
    /// [`Error::Unsuited`](crate::Error::Unsuited).
    fn check_matrix_loops(
        &self,
        variant: &matrix::MatrixVariant,
        list: &MatrixTasks,
        extent: &BatchLengths,
    ) -> Result<()> {
        let rows = list.tasks.iter().map(|task| task.rows_words as u64 * 4).max().unwrap_or(4);
        let iterations = if variant.scan == Scan::Checkpoint {
            let columns = variant.padded_columns(extent.query_symbols);
            if rows * columns > TEAM_STEP_CELLS {
                return Err(self.kernels.gpu.refusal("pairs of this length would occupy the device too long"));
            }
            variant.iterations_a_sweep(rows).max(variant.iterations_after_sweeps(rows, columns, extent.sum))
        } else {
            variant.iterations_a_pass(rows).max(variant.traceback_iterations(extent.sum))
        };
        if self.kernels.loop_budget.is_some_and(|budget| iterations > budget) {
            return Err(self
                .kernels
                .gpu
                .refusal("the driver limits loops to fewer iterations than these sequences need"));
        }
        Ok(())
    }

    /// Reserves scratch memory for at most `tasks` slots. Returns the buffer and the number of
    /// slots. If `saves_memory` is set and memory is short, it reserves fewer slots than that.
    fn reserve_scratch(&mut self, slot_bytes: u64, tasks: u64, saves_memory: bool) -> Result<(wgpu::Buffer, u32)> {
        let mut slots = (self.scratch_budget / slot_bytes).min(self.max_slots).min(tasks).max(1);
        loop {
            match self.scratch.reserve(&self.kernels.gpu, "scratch", slot_bytes * slots, wgpu::BufferUsages::STORAGE) {
                Ok(buffer) => return Ok((buffer.clone(), slots as u32)),
                Err(error) if slots == 1 || !saves_memory => return Err(error),
                Err(error) => {
                    slots /= 2;
                    self.scratch_budget = slot_bytes * slots;
                    tracing::warn!("{error}; continuing with {} MiB of scratch memory", self.scratch_budget >> 20);
                }
            }
        }
    }
}
