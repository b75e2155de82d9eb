//! Divides a batch into tasks of the kernels that can trace back, and assigns them memory in the
//! arenas.

use std::ops::Range;

use super::layout::NwTask;
use super::matrix::{MatrixVariant, Scan, run_quads};
use crate::pairs::PairsBatch;
use crate::seq::SequenceId;

/// Division of the arenas into one part per workgroup. A workgroup computes tasks of similar size
/// in its part, one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaParts {
    /// The tasks.
    pub tasks: Range<u32>,
    /// Quads per part.
    pub quads: u32,
    /// Parts per arena.
    pub an_arena: u32,
    /// Number of parts in all arenas.
    pub count: u32,
}

/// A batch divided into tasks, and the tasks divided into rounds that fit in the arenas.
#[derive(Debug, Clone, Default)]
pub struct MatrixTasks {
    /// The tasks in the order of rounds and arenas.
    pub tasks: Vec<NwTask>,
    /// Index of each task's block.
    pub blocks: Vec<u32>,
    /// Task range of each round.
    pub rounds: Vec<Range<u32>>,
    /// Quads that each arena needs.
    pub arena_quads: Vec<u64>,
    /// Memory of the workgroups of `nw_checkpoint`, for consecutive ranges of tasks. Empty for
    /// other kernels.
    pub parts: Vec<ArenaParts>,
    /// Number of pairs.
    pub pairs: u64,
    /// Sum of the shorter lengths of all pairs.
    pub symbols: u64,
    /// Greatest number of words that the runs of all pairs can need.
    pub run_words: u64,
}

impl MatrixTasks {
    /// Divides a batch for the variant's arenas, each of `arena_quads` quads. Returns `None` if a
    /// task does not fit in an arena. Tasks of similar size are adjacent, so that the tasks of a
    /// round end at about the same time.
    pub fn new(
        batch: &PairsBatch,
        variant: &MatrixVariant,
        arena_quads: u64,
        query_end_word: impl Fn(SequenceId) -> u32,
    ) -> Option<Self> {
        let chunk = &batch.chunk;
        let mut all: Vec<(u32, u64, NwTask)> = Vec::new();
        for (block_index, block) in batch.blocks.iter().enumerate() {
            let mut first = block.targets.start;
            while first < block.targets.end {
                let count = variant.slots().min(block.targets.end - first);
                let query_symbols = chunk.queries.length(block.query);
                let rows_words = chunk.longest(first..first + count).div_ceil(4).max(1);
                let quads = variant.task_quads(query_symbols, rows_words);
                if quads > arena_quads {
                    return None;
                }
                let columns = variant.padded_columns(query_symbols);
                let task = NwTask {
                    query_end_word: query_end_word(block.query),
                    query_symbols,
                    first,
                    count,
                    rows_words,
                    query_number: if chunk.earlier_is_query { block.query } else { 0 },
                    columns: columns as u32,
                    direction_quads: variant.direction_quads(rows_words, columns) as u32,
                    ..bytemuck::Zeroable::zeroed()
                };
                all.push((block_index as u32, quads, task));
                first += count;
            }
        }
        all.sort_by_key(|(_, quads, _)| std::cmp::Reverse(*quads));

        let mut list = MatrixTasks { arena_quads: vec![0], ..MatrixTasks::default() };
        let has_parts = variant.scan == Scan::Checkpoint;
        if has_parts {
            let sizes: Vec<TaskSize> = all.iter().map(|(_, quads, task)| TaskSize::new(*quads, task)).collect();
            list.parts = divide_arenas(&sizes, variant, arena_quads);
            // The first arenas have all of their parts, the last one may have fewer.
            let quads = |parts: &ArenaParts, arena: u32| {
                let count = parts.count.saturating_sub(arena * parts.an_arena).min(parts.an_arena);
                u64::from(parts.quads) * u64::from(count)
            };
            let most = |arena| list.parts.iter().map(|parts| quads(parts, arena)).max().unwrap_or(0);
            let needed = (0..variant.arenas).map(most);
            list.arena_quads = needed.take_while(|&quads| quads > 0).collect();
        }
        let (mut arena, mut used, mut round_begin) = (0, 0, 0);
        for (block, quads, mut task) in all {
            if !has_parts && used + quads > arena_quads {
                (arena, used) = (arena + 1, 0);
                if arena == variant.arenas {
                    arena = 0;
                    list.rounds.push(round_begin..list.tasks.len() as u32);
                    round_begin = list.tasks.len() as u32;
                } else if arena as usize == list.arena_quads.len() {
                    list.arena_quads.push(0);
                }
            }
            (task.arena, task.arena_begin, task.pairs_begin) = (arena, used as u32, list.pairs as u32);
            if !has_parts {
                used += quads;
                let most = &mut list.arena_quads[arena as usize];
                *most = used.max(*most);
            }
            let count = task.count as u64;
            list.pairs += count;
            list.symbols += count * task.query_symbols.min(task.rows_words * 4) as u64;
            list.run_words += count * 4 * run_quads(task.query_symbols, task.rows_words);
            list.tasks.push(task);
            list.blocks.push(block);
        }
        list.rounds.push(round_begin..list.tasks.len() as u32);
        Some(list)
    }
}

/// Size of a task of `nw_checkpoint`.
#[derive(Debug, Clone, Copy)]
struct TaskSize {
    /// Quads of an arena.
    quads: u64,
    /// Cells of a pair, including padding.
    cells: u64,
}

impl TaskSize {
    fn new(quads: u64, task: &NwTask) -> Self {
        TaskSize { quads, cells: u64::from(task.columns) * u64::from(task.rows_words) * 4 }
    }
}

/// Divides arenas into parts for tasks of decreasing size. Each task must fit in an arena. There
/// are as many parts as fit if each part can hold the largest task. Tasks of at most half its size
/// get a division of their own if that saves time.
fn divide_arenas(sizes: &[TaskSize], variant: &MatrixVariant, arena_quads: u64) -> Vec<ArenaParts> {
    let count = |tasks: &Range<usize>| {
        let room = arena_quads / sizes[tasks.start].quads;
        variant.tasks_together(tasks.len() as u64).min(room.saturating_mul(variant.arenas.into()))
    };
    // Estimated time of a dispatch, expressed in cells that a workgroup computes one after another.
    let time = |tasks: &Range<usize>| {
        let cells = || sizes[tasks.clone()].iter().map(|size| size.cells);
        cells().max().unwrap_or(0).max(cells().sum::<u64>() / count(tasks))
    };
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut begin = 0;
    while begin < sizes.len() {
        let most = sizes[begin].quads;
        let end = begin + sizes[begin..].partition_point(|size| 2 * size.quads > most);
        match ranges.last_mut() {
            Some(last) if time(&(last.start..end)) <= time(last) + time(&(begin..end)) => last.end = end,
            _ => ranges.push(begin..end),
        }
        begin = end;
    }
    let parts = |tasks: &Range<usize>| {
        let (quads, count) = (sizes[tasks.start].quads, count(tasks));
        let an_arena = (arena_quads / quads).min(count);
        ArenaParts {
            tasks: tasks.start as u32..tasks.end as u32,
            quads: quads as u32,
            an_arena: an_arena as u32,
            count: count as u32,
        }
    };
    ranges.iter().map(parts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::kernels::layout::EndGapKind;

    fn variant(arenas: u32) -> MatrixVariant {
        MatrixVariant {
            scan: Scan::Checkpoint,
            workgroup: 128,
            columns: 8,
            tile_rows: 64,
            arenas,
            subgroup_sizes: [32, 32],
            codes: 28,
            affine: true,
            ends: EndGapKind::Charged,
            directions: true,
            tags: true,
        }
    }

    fn parts(arenas: u32, arena_quads: u64, sizes: &[(u64, u64)]) -> Vec<(Range<u32>, u32, u32, u32)> {
        let of = |&(quads, count): &(u64, u64)| (0..count).map(move |_| TaskSize { quads, cells: 100 * quads });
        let sizes: Vec<TaskSize> = sizes.iter().flat_map(of).collect();
        let parts = divide_arenas(&sizes, &variant(arenas), arena_quads);
        parts.into_iter().map(|parts| (parts.tasks, parts.quads, parts.an_arena, parts.count)).collect()
    }

    #[test]
    fn smaller_tasks_get_smaller_parts_if_that_saves_time() {
        // Memory suffices for all workgroups that a device can run.
        assert_eq!(parts(1, 1_000_000, &[(100, 500), (10, 5000)]), [(0..5500, 100, 640, 640)]);
        // Two arenas, each with ten large parts or a hundred small ones.
        assert_eq!(parts(2, 1000, &[(100, 60), (10, 6000)]), [(0..60, 100, 10, 20), (60..6060, 10, 100, 200)]);
        // A separate dispatch for one large task would wait for that task.
        assert_eq!(parts(2, 1000, &[(100, 1), (10, 60)]), [(0..61, 100, 10, 20)]);
        // Tasks of more than half the size share the parts, and the last range may need fewer
        // parts.
        assert_eq!(parts(2, 1000, &[(100, 60), (60, 60)]), [(0..120, 100, 10, 20)]);
        assert_eq!(parts(4, 1000, &[(400, 3)]), [(0..3, 400, 2, 3)]);
        assert_eq!(parts(1, 1000, &[]), []);
    }

    #[test]
    fn parts_hold_every_task_once_and_fit_the_arenas() {
        let sizes: Vec<(u64, u64)> = (1..=60).rev().map(|k| (k * k, 1 + 97 * k % 53)).collect();
        let tasks: u64 = sizes.iter().map(|(_, count)| count).sum();
        for (arenas, arena_quads) in [(1, 3600), (3, 5000), (4, 100_000)] {
            let parts = parts(arenas, arena_quads, &sizes);
            assert!(arena_quads > 5000 || parts.len() > 2, "{parts:?}");
            let mut next = 0;
            for (tasks, quads, an_arena, count) in parts {
                assert_eq!(std::mem::replace(&mut next, tasks.end), tasks.start);
                assert!(u64::from(an_arena) * u64::from(quads) <= arena_quads && count <= arenas * an_arena);
            }
            assert_eq!(u64::from(next), tasks);
        }
    }
}
