//! Tests of directories. The rows of the test job are known.

use std::fs::{self, File};
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::files::fingerprint::Fingerprint;
use crate::jobs::blocks::{Block, BlockSink, Divisible};
use crate::jobs::{Feed, Job, Run, SessionStart, Summary};

/// A job with a row for each unit and target, which contains the product of their numbers modulo 7.
/// It keeps the `most` largest products of each unit.
struct Products {
    units: u64,
    targets: u32,
    most: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Product {
    unit: u64,
    target: u32,
    product: u64,
}

impl Products {
    fn rows(&self, block: &Block) -> Vec<Product> {
        let targets = block.targets.clone().unwrap_or(0..self.targets);
        let mut rows = Vec::new();
        for unit in block.units.clone() {
            let product = |target| Product { unit, target, product: unit * u64::from(target) % 7 };
            let mut products: Vec<Product> = targets.clone().map(product).collect();
            if block.targets.is_none() {
                self.join(&mut products);
            }
            rows.extend(products);
        }
        rows
    }

    fn all(&self) -> Vec<Product> {
        self.rows(&Block { units: 0..self.units, targets: None, pairs: 0, cells: 0 })
    }
}

impl Job for Products {
    type Row = Product;
    type Summary = Summary;
    type Engines = ();
    type Session = u64;

    fn validate(&self) -> Result<()> {
        Ok(())
    }

    fn whole_block(&self, _session: &u64) -> Block {
        Block { units: 0..self.units, targets: None, pairs: 0, cells: 0 }
    }

    fn open(&self, _start: SessionStart<()>, _run: &Run) -> Result<u64> {
        Ok(0)
    }

    fn feed(&self, Feed { source, sink, .. }: Feed<'_, Product>, session: &mut u64) -> Result<Summary> {
        for block in source.take_all() {
            for some in self.rows(&block).chunks(3) {
                sink.rows(some)?;
            }
            sink.end()?;
            *session += 1;
        }
        Ok(Summary::default())
    }
}

impl Divisible for Products {
    fn cut(&self, cells: u64) -> Result<Vec<Block>> {
        let (units, targets) = (cells / u64::from(self.targets.max(1)), cells as u32);
        let mut blocks = Vec::new();
        if units > 0 {
            for begin in (0..self.units).step_by(units as usize) {
                let units = begin..(begin + units).min(self.units);
                let pairs = (units.end - units.start) * u64::from(self.targets);
                blocks.push(Block { units, targets: None, pairs, cells: pairs });
            }
            return Ok(blocks);
        }
        for unit in 0..self.units {
            for begin in (0..self.targets).step_by(targets.max(1) as usize) {
                let targets = begin..(begin + targets.max(1)).min(self.targets);
                let pairs = u64::from(targets.end - targets.start);
                blocks.push(Block { units: unit..unit + 1, targets: Some(targets), pairs, cells: pairs });
            }
        }
        Ok(blocks)
    }

    fn targets(&self) -> u32 {
        self.targets
    }

    fn part_bytes(&self, block: &Block) -> u64 {
        8 * block.pairs
    }

    fn encode(row: &Product, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&row.unit.to_le_bytes());
        bytes.extend_from_slice(&row.target.to_le_bytes());
        bytes.extend_from_slice(&row.product.to_le_bytes());
    }

    fn decode(bytes: &mut &[u8]) -> Option<Product> {
        let (row, rest) = bytes.split_first_chunk::<20>()?;
        *bytes = rest;
        let number = |at: usize| row[at..at + 8].try_into().ok().map(u64::from_le_bytes);
        let target = row[8..12].try_into().ok().map(u32::from_le_bytes)?;
        Some(Product { unit: number(0)?, target, product: number(12)? })
    }

    fn join(&self, rows: &mut Vec<Product>) {
        let mut best = rows.clone();
        best.sort_by_key(|row| (std::cmp::Reverse(row.product), row.target));
        best.truncate(self.most);
        rows.retain(|row| best.contains(row));
    }
}

/// Creates the plan of a job in a new directory.
fn planned(job: &Products, cells: u64) -> (TempDir, Directory) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    fs::write(&input, "numbers").unwrap();
    let blocks = job.cut(cells).unwrap();
    let inputs = Fingerprint::default().with_file("input", &input).unwrap();
    let manifest = BlockManifest::new(vec!["products".into()], inputs, cells, blocks).unwrap();
    let directory = Directory::create(&folder.path().join("work"), manifest).unwrap();
    (folder, directory)
}

/// Computes blocks and writes their part files.
fn compute(job: &Products, directory: &Directory, numbers: &[usize]) {
    let blocks: Vec<Block> = numbers.iter().map(|&number| directory.manifest().blocks[number].clone()).collect();
    let mut made = Vec::new();
    let mut writer = PartWriter::<Products>::to_files(directory, numbers, |part| {
        assert!(part.bytes.is_none());
        made.push(part.block);
        Ok(())
    });
    job.run_blocks(&blocks, &mut 0, &Run::default(), &mut writer).unwrap();
    assert_eq!(writer.finished(), numbers.len());
    drop(writer);
    assert_eq!(made, numbers);
}

fn merged(job: &Products, directory: &Directory) -> Result<Vec<Product>> {
    let mut all = Vec::new();
    let merged = directory.merge(job, &mut |rows: &[Product]| {
        all.extend_from_slice(rows);
        Ok(())
    })?;
    assert_eq!((merged.blocks, merged.rows), (directory.len(), all.len() as u64));
    Ok(all)
}

fn message(result: Result<impl Sized>) -> String {
    let Err(error) = result else { panic!("no error") };
    assert_eq!(error.exit_code(), 2, "{error}");
    error.to_string()
}

#[test]
fn blocks_in_any_order_give_the_rows_of_the_job() {
    let mut seeds = fastrand::Rng::with_seed(7);
    for (units, targets, most, cells) in [
        (20, 9, usize::MAX, 30),
        (20, 9, 3, 30),
        (5, 40, 4, 13),
        (5, 40, 0, 13),
        (3, 3, 2, 1),
        (0, 3, 2, 1),
        (1, 1, 1, 99),
    ] {
        let job = Products { units, targets, most };
        let (_folder, directory) = planned(&job, cells);
        let mut order: Vec<usize> = (0..directory.len()).collect();
        seeds.shuffle(&mut order);
        for some in order.chunks(3) {
            compute(&job, &directory, some);
        }
        assert_eq!(merged(&job, &directory).unwrap(), job.all(), "{units} {targets} {most} {cells}");
        assert!(directory.states().unwrap().iter().all(PartState::is_done));
    }
}

#[test]
fn many_rows_are_split_into_pieces() {
    let job = Products { units: 40, targets: 2000, most: usize::MAX };
    let (_folder, directory) = planned(&job, 70_000);
    compute(&job, &directory, &[1, 0]);
    let mut rows = directory.rows::<Products>(0).unwrap();
    let mut pieces = Vec::new();
    while let Some(some) = rows.next_rows().unwrap() {
        pieces.push(some.len());
    }
    assert!(pieces.len() > 4 && pieces.iter().all(|&rows| rows <= 14_000), "{pieces:?}");
    assert_eq!(rows.info().unwrap().rows, 70_000);
    assert_eq!(merged(&job, &directory).unwrap(), job.all());
}

#[test]
fn parts_in_memory_equal_parts_in_files() {
    let job = Products { units: 8, targets: 5, most: 2 };
    let (_folder, directory) = planned(&job, 10);
    let mut parts = Vec::new();
    let mut writer = PartWriter::<Products>::to_memory(*directory.digest(), &[0, 1, 2, 3], |part| {
        parts.push((part.block, part.bytes.unwrap()));
        Ok(())
    });
    job.run_blocks(&directory.manifest().blocks, &mut 0, &Run::default(), &mut writer).unwrap();
    drop(writer);
    let (block, bytes) = &parts[2];
    assert!(message(directory.put::<Products>(3, bytes)).contains("it holds block 2"));
    assert!(message(directory.put::<Products>(*block, &bytes[..bytes.len() - 1])).contains("block 2 is damaged"));
    assert_eq!(directory.state(2).unwrap(), PartState::Missing);
    for (block, bytes) in &parts {
        directory.put::<Products>(*block, bytes).unwrap();
    }
    assert_eq!(merged(&job, &directory).unwrap(), job.all());
}

#[test]
fn missing_blocks_are_named() {
    let job = Products { units: 30, targets: 2, most: 2 };
    let (_folder, directory) = planned(&job, 4);
    compute(&job, &directory, &[0, 4, 5, 14]);
    let claim = directory.claim(7).unwrap();
    let text = message(merged(&job, &directory));
    assert!(
        text.ends_with("work: 11 of 15 blocks are not done; missing: 1-3, 6-13 (1 of them are being computed)"),
        "{text}"
    );
    drop(claim);
    assert_eq!(ranges(&[0, 1, 2, 4, 9, 10]), "0-2, 4, 9-10");
    assert!(ranges(&(0..90).step_by(2).collect::<Vec<_>>()).ends_with("36, 38, ..."));
}

#[test]
fn damaged_blocks_are_named_and_become_missing() {
    let job = Products { units: 30, targets: 2, most: 2 };
    let (_folder, directory) = planned(&job, 10);
    compute(&job, &directory, &[0, 1, 2, 3, 4, 5]);
    let damage = |block: usize| {
        let path = directory.part_path(block);
        let mut bytes = fs::read(&path).unwrap();
        bytes[80] ^= 4;
        fs::write(&path, bytes).unwrap();
    };
    damage(2);
    assert!(directory.state(2).unwrap().is_done(), "only header and footer are read");
    assert!(matches!(directory.verify::<Products>(2).unwrap(), PartState::Damaged(why) if why.contains("block 2")));
    let text = message(merged(&job, &directory));
    assert!(text.ends_with("000002.part: block 2 is damaged: a checksum does not match; compute it again"));
    assert_eq!(directory.state(2).unwrap(), PartState::Missing);
    compute(&job, &directory, &[2]);
    [1, 4].into_iter().for_each(damage);
    assert!(message(merged(&job, &directory)).ends_with("work: these blocks are damaged: 1, 4; compute them again"));
    compute(&job, &directory, &[1, 4]);
    // A file of another block, a truncated file, and a file of another plan.
    fs::copy(directory.part_path(1), directory.part_path(2)).unwrap();
    File::options().write(true).open(directory.part_path(3)).unwrap().set_len(70).unwrap();
    let (_other, other) = planned(&Products { units: 30, targets: 2, most: 1 }, 20);
    compute(&job, &other, &[0]);
    fs::copy(other.part_path(0), directory.part_path(0)).unwrap();
    let damaged = |block| match directory.state(block).unwrap() {
        PartState::Damaged(why) => why,
        state => panic!("{state:?}"),
    };
    assert_eq!(damaged(0), "it belongs to another plan");
    assert_eq!(damaged(2), "it holds block 1");
    assert!(!damaged(3).is_empty());
    assert!(message(merged(&job, &directory)).ends_with("3 of 6 blocks are not done; damaged: 0, 2-3"));
    compute(&job, &directory, &[0, 2, 3]);
    assert_eq!(merged(&job, &directory).unwrap(), job.all());
}

#[test]
fn claims_on_blocks_and_the_directory_exclude_each_other() {
    let job = Products { units: 30, targets: 2, most: 2 };
    let (_folder, directory) = planned(&job, 10);
    let other = Directory::open(directory.path()).unwrap();
    let ClaimOutcome::Acquired(three) = directory.claim(3).unwrap() else { panic!("the block is free") };
    assert!(matches!(other.claim(3).unwrap(), ClaimOutcome::HeldBy(holder) if holder.process == Process::current()));
    assert!(matches!(other.claim(2).unwrap(), ClaimOutcome::Acquired(_)));
    assert!(matches!(other.claim_all().unwrap(), ClaimOutcome::HeldBy(_)));
    assert_eq!(other.holders().unwrap().0.iter().map(|(block, _)| *block).collect::<Vec<_>>(), [3]);
    drop(three);
    let ClaimOutcome::Acquired(all) = other.claim_all().unwrap() else { panic!("all blocks are free") };
    assert!(matches!(directory.claim(3).unwrap(), ClaimOutcome::HeldBy(_)));
    assert!(matches!(directory.claim_all().unwrap(), ClaimOutcome::HeldBy(_)));
    assert!(directory.holders().unwrap().1.is_some());
    drop(all);
    assert!(matches!(directory.claim(3).unwrap(), ClaimOutcome::Acquired(_)));
}

#[test]
fn only_blocks_of_the_plan_can_be_claimed() {
    let job = Products { units: 30, targets: 2, most: 2 };
    let (_folder, directory) = planned(&job, 10);
    assert_eq!(message(directory.claim(6)), "block 6 is not in the plan, which has 6 blocks");
    assert!(message(directory.claim(usize::MAX)).contains("is not in the plan"));
    assert!(directory.holders().unwrap().0.is_empty());
    assert!(matches!(directory.claim(5).unwrap(), ClaimOutcome::Acquired(_)));
}

#[test]
fn unfinished_parts_are_removed() {
    let job = Products { units: 30, targets: 2, most: 2 };
    let (_folder, directory) = planned(&job, 10);
    let unfinished = |block: usize| {
        let path = directory.part_aside(block);
        fs::write(&path, "half").unwrap();
        path
    };
    let (two, three) = (unfinished(2), unfinished(3));
    drop(directory.claim(3).unwrap());
    assert!(two.exists() && !three.exists());
    drop(directory.claim_all().unwrap());
    assert!(!two.exists());
    // A block that fails leaves no file.
    let mut writer = PartWriter::<Products>::to_files(&directory, &[2], |_| Ok(()));
    writer.rows(&job.all()[..2]).unwrap();
    drop(writer);
    assert!(directory.names_in_blocks().unwrap().is_empty());
}

#[test]
fn directory_is_created_only_in_an_empty_place() {
    let job = Products { units: 30, targets: 2, most: 2 };
    let (folder, directory) = planned(&job, 10);
    let manifest = directory.manifest().clone();
    let create = |path: &Path| message(Directory::create(path, manifest.clone()).map(drop));
    assert!(
        create(directory.path())
            .ends_with("work: this directory has a plan already: run and merge it, or name another directory")
    );
    assert!(create(folder.path()).ends_with("the directory is not empty: name another directory"));
    assert!(
        message(Directory::open(folder.path()).map(drop))
            .ends_with("this directory has no plan of a job: name the directory of a plan")
    );
    assert!(message(Directory::open(&folder.path().join("none")).map(drop)).contains("none: "));
    // A process may have been killed before the directory was complete.
    let begun = folder.path().join("begun");
    fs::create_dir_all(begun.join(BLOCKS)).unwrap();
    assert_eq!(Directory::create(&begun, manifest.clone()).unwrap().manifest(), &manifest);
    let rest = fs::read_dir(&begun).unwrap().filter(|entry| entry.as_ref().unwrap().file_name() != MANIFEST).count();
    assert_eq!(rest, 2);
}

proptest! {
    /// A damaged part yields an error, and no piece with wrong rows.
    #[test]
    fn damaged_parts_never_give_wrong_rows(at in 0.0..1.0f64, bit in 0..8u32, cut in proptest::bool::ANY) {
        let job = Products { units: 6, targets: 5, most: 9 };
        let block = job.cut(99).unwrap();
        let mut part = Vec::new();
        let mut writer = PartWriter::<Products>::to_memory([7; 32], &[0], |made| {
            part = made.bytes.unwrap();
            Ok(())
        });
        job.run_blocks(&block, &mut 0, &Run::default(), &mut writer).unwrap();
        drop(writer);
        let at = (at * part.len() as f64) as usize;
        if cut { part.truncate(at) } else { part[at] ^= 1 << bit }
        let read = || -> Result<Vec<Product>> {
            let mut rows = PartReader::<Products, &[u8]>::new(&part, part.len() as u64, Path::new("x"), &[7; 32], 0)?;
            let mut all = Vec::new();
            while let Some(some) = rows.next_rows()? {
                assert!(some.iter().all(|row| job.all().contains(row)));
                all.extend(some);
            }
            Ok(all)
        };
        let is_refused = matches!(read(), Err(Error::Input { .. }));
        prop_assert!(is_refused);
    }
}
