//! A batch as the kernels see it: which workgroup has which pairs, and where memory is for them.

use std::cmp::Reverse;
use std::ops::Range;

use super::layout::{Pair, Task};
use crate::posterior::model::Model;
use crate::posterior::scale::{BLOCK, STEP};
use crate::posterior::work::PosteriorBatch;
use crate::seq::Code;

/// Survivors of a pair at most, of each of its rows.
const LIST: u32 = 32;

/// A batch as the kernels see it.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// Pairs in the order of tasks.
    pub pairs: Vec<Pair>,
    /// Where each of them is in the batch.
    pub places: Vec<u32>,
    /// All tasks, those of the most cells first.
    pub list: Vec<Task>,
    /// Tasks that have memory at the same time.
    pub rounds: Vec<Range<u32>>,
    /// Fours of forward values that the greatest round takes.
    pub kept_fours: u64,
    /// Words of scratch memory that the greatest round takes.
    pub scratch_words: u64,
    /// Words of results before survivors.
    pub result_words: u64,
    /// Rows of all pairs.
    pub rows: u64,
}

/// Invocations and memory that tasks are made for.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Invocations a workgroup.
    pub workgroup: u32,
    /// Of these a pair.
    pub lanes: u32,
    /// Fours of forward values.
    pub kept_fours: u64,
    /// Words of scratch memory.
    pub scratch_words: u64,
}

impl Room {
    /// Fours of forward values that a workgroup takes whose greatest pair has so many rows and columns.
    pub fn kept_of(workgroup: u32, lanes: u32, [rows, columns]: [u32; 2]) -> u64 {
        let strips = (columns / BLOCK as u32 + 1).div_ceil(lanes);
        let steps = u64::from(strips) * u64::from(rows.div_ceil(STEP as u32) + lanes - 1);
        steps * (STEP * BLOCK / 4) as u64 * u64::from(workgroup)
    }
}

impl Tasks {
    /// The tasks of a batch.
    ///
    /// # Errors
    /// What does not fit.
    pub fn new(batch: &PosteriorBatch, room: Room) -> Result<Self, String> {
        let chunk = &batch.chunk;
        let begin =
            |place: u32| (4 * chunk.sequences.end_word(chunk.order[place as usize])) as u32 - chunk.length(place);
        let mut own: Vec<(Pair, u32)> = Vec::with_capacity(batch.pairs() as usize);
        let all = batch.blocks.iter().flat_map(|block| block.columns.clone().map(|column| (block.row, column)));
        for (place, (row, column)) in (0..).zip(all) {
            let (rows, columns) = (chunk.length(row), chunk.length(column));
            if rows > 0 && columns > 0 {
                let reserved = [0; 3];
                let [reserved0, reserved1, reserved2] = reserved;
                let (row_begin, column_begin) = (begin(row), begin(column));
                let pair =
                    Pair { row_begin, rows, column_begin, columns, out_begin: 0, reserved0, reserved1, reserved2 };
                own.push((pair, place));
            }
        }
        let blocks_of = |pair: &Pair| pair.columns / BLOCK as u32 + 1;
        let groups_of = |pair: &Pair| pair.rows.div_ceil(STEP as u32);
        // A workgroup waits for its greatest pair.
        own.sort_by_key(|(pair, place)| {
            Reverse((blocks_of(pair).div_ceil(room.lanes), groups_of(pair), Reverse(*place)))
        });
        let mut tasks = Tasks::default();
        let (mut first_task, mut kept, mut scratch) = (0, 0u64, 0u64);
        for pairs in own.chunks((room.workgroup / room.lanes) as usize) {
            let most = |of: &dyn Fn(&Pair) -> u32| pairs.iter().map(|(pair, _)| of(pair)).max().unwrap_or(0);
            let (strips, groups) = (most(&|pair| blocks_of(pair).div_ceil(room.lanes)), most(&groups_of));
            let rows = u64::from(groups) * STEP as u64;
            let list = LIST * groups * STEP as u32;
            let columns = most(&|pair| pair.columns);
            let own_kept = Room::kept_of(room.workgroup, room.lanes, [groups * STEP as u32, columns]);
            let slots = u64::from(room.workgroup / room.lanes);
            let own_scratch = u64::from(strips) * u64::from(groups) * u64::from(room.workgroup)
                + slots * (4 * rows + 2 * u64::from(list));
            if own_kept > room.kept_fours || own_scratch > room.scratch_words {
                let bytes = 16 * own_kept + 4 * own_scratch;
                return Err(format!("pairs of {rows} residues take {bytes} bytes of it"));
            }
            if kept + own_kept > room.kept_fours || scratch + own_scratch > room.scratch_words {
                let next = tasks.list.len() as u32;
                tasks.rounds.push(first_task..next);
                (first_task, kept, scratch) = (next, 0, 0);
            }
            tasks.list.push(Task {
                first: tasks.pairs.len() as u32,
                count: pairs.len() as u32,
                groups,
                strips,
                kept_begin: kept as u32,
                scratch_begin: scratch as u32,
                list,
                reserved: 0,
            });
            (kept, scratch) = (kept + own_kept, scratch + own_scratch);
            tasks.kept_fours = tasks.kept_fours.max(kept);
            tasks.scratch_words = tasks.scratch_words.max(scratch);
            for &(pair, place) in pairs {
                tasks.pairs.push(Pair { out_begin: tasks.result_words as u32, ..pair });
                tasks.places.push(place);
                tasks.result_words += pair.parts().iter().map(|&words| u64::from(words)).sum::<u64>();
                tasks.rows += u64::from(pair.rows);
            }
        }
        if first_task < tasks.list.len() as u32 {
            tasks.rounds.push(first_task..tasks.list.len() as u32);
        }
        Ok(tasks)
    }
}

/// Weights of two codes, of each first one a row; a code of no residue behind them.
pub(in crate::posterior) fn table(model: &Model) -> Vec<f32> {
    let codes = model.codes();
    let of = |a: usize| {
        let row = (0..codes).map(move |b| model.weight(a as Code, b as Code));
        row.chain(std::iter::once(0.0))
    };
    (0..codes).flat_map(of).collect()
}
