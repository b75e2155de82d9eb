//! A test job whose rows are known, and flaws of ranks.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::jobs::blocks::{Block, BlockSink, Divisible, NextBlock};
use crate::jobs::{Feed, Job, Run, SessionStart, Summary};

/// Flaws of a rank.
#[derive(Debug, Clone, Default)]
pub(super) struct Flaws {
    /// Units that fail.
    pub failing: BTreeSet<u64>,
    /// Unit whose results cannot be stored.
    pub full_at: Option<u64>,
    /// Unit that panics.
    pub panics_at: Option<u64>,
    /// Number of blocks after which the user interrupts the rank.
    pub interrupted_after: Option<usize>,
    /// Time to compute a unit.
    pub pause: Duration,
    /// Number of times that the engine checks for another block before it finishes the last one.
    pub patience: u32,
}

/// A job with three rows for each unit: the number, its square and its cube.
pub(super) struct Cubes {
    pub units: u64,
    pub flaws: Flaws,
    pub computed: AtomicUsize,
    /// Number of times its engine started.
    pub runs: AtomicUsize,
    pub interrupt: Arc<AtomicBool>,
}

impl Cubes {
    pub(super) fn new(units: u64, flaws: Flaws) -> Self {
        Cubes { units, flaws, computed: AtomicUsize::new(0), runs: AtomicUsize::new(0), interrupt: Arc::default() }
    }

    pub(super) fn rows(units: Range<u64>) -> Vec<u64> {
        units.flat_map(|unit| [unit, unit * unit, unit * unit * unit]).collect()
    }

    fn compute(&self, unit: u64, run: &Run) -> Result<Vec<u64>> {
        let flaws = &self.flaws;
        assert!(flaws.panics_at != Some(unit), "the unit that panics");
        if flaws.full_at == Some(unit) {
            return Err(Error::io("blocks", ErrorKind::StorageFull.into()));
        }
        if flaws.failing.contains(&unit) {
            return Err(Error::Device { device: "mock".into(), message: format!("unit {unit} is too large") });
        }
        std::thread::sleep(flaws.pause);
        if run.interrupt.load(Ordering::SeqCst) {
            return Err(Error::Interrupted);
        }
        Ok(Self::rows(unit..unit + 1))
    }

    fn compute_block(&self, block: &Block, run: &Run, sink: &mut dyn BlockSink<u64>) -> Result<()> {
        for unit in block.units.clone() {
            sink.rows(&self.compute(unit, run)?)?;
        }
        sink.end()?;
        let computed = self.computed.fetch_add(1, Ordering::SeqCst) + 1;
        if self.flaws.interrupted_after == Some(computed) {
            self.interrupt.store(true, Ordering::SeqCst);
        }
        Ok(())
    }
}

impl Job for Cubes {
    type Row = u64;
    type Summary = Summary;
    type Engines = ();
    type Session = ();

    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn whole_block(&self, (): &()) -> Block {
        Block { units: 0..self.units, targets: None, pairs: 0, cells: 0 }
    }

    fn open(&self, _start: SessionStart<()>, _run: &Run) -> Result<()> {
        Ok(())
    }

    /// Behaves like an engine that takes the next block before it has finished the current one, and
    /// waits a while for it.
    fn feed(&self, Feed { source, run, sink }: Feed<'_, u64>, (): &mut ()) -> Result<Summary> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let mut open: Option<Block> = None;
        let mut looked = 0;
        loop {
            match source.next() {
                NextBlock::Block(block) => {
                    looked = 0;
                    if let Some(before) = open.replace(block) {
                        self.compute_block(&before, run, sink)?;
                    }
                }
                NextBlock::Nothing if open.is_some() && looked < self.flaws.patience => {
                    looked += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
                NextBlock::Nothing | NextBlock::End => {
                    let Some(last) = open.take() else { return Ok(Summary::default()) };
                    self.compute_block(&last, run, sink)?;
                }
            }
        }
    }
}

impl Divisible for Cubes {
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        let begins = (0..self.units).step_by(cells.max(1) as usize);
        let block = |begin: u64| {
            let units = begin..(begin + cells.max(1)).min(self.units);
            let pairs = 3 * (units.end - units.start);
            Block { units, targets: None, pairs, cells: pairs }
        };
        Ok(begins.map(block).collect())
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        8 * block.pairs
    }

    fn encode(row: &u64, bytes: &mut Vec<u8>) {
        bytes.extend(row.to_le_bytes());
    }

    fn decode(bytes: &mut &[u8]) -> Option<u64> {
        let (row, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u64::from_le_bytes(*row))
    }

    fn join(&self, _rows: &mut Vec<u64>) {}
}
