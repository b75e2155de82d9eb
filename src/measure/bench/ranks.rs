//! Simulated jobs on up to 10,000 ranks as a table, for `pairwave bench cluster`.

use crate::distributed::simulate::{SimulatedSpeeds, Simulation, SplitMix64};
use crate::error::{Error, Result};
use crate::measure::table::{ChartKind, MeasurementTable, RowStatus, TableChart, TableColumn};

/// Default numbers of ranks.
const RANKS: [u32; 5] = [1, 10, 100, 1000, 10_000];
const QUICK_RANKS: [u32; 3] = [1, 10, 100];
/// Simulated duration of a job on all its ranks, in seconds. Jobs with more than [`MANY_RANKS`]
/// ranks are shorter, because they have enough blocks.
const SECONDS: f64 = 3600.0;
const SECONDS_OF_MANY: f64 = 600.0;
const QUICK_SECONDS: f64 = 300.0;
const MANY_RANKS: u32 = 1000;
/// Duration of a block on the fastest rank in seconds.
const BLOCK_SECONDS: f64 = 5.0;
/// Maximum number of ranks.
const MAX_RANKS: u32 = 100_000;
const SEED: u64 = 0x5eed;

const fn column(key: &'static str, name: &'static str, unit: &'static str) -> TableColumn {
    TableColumn { key, name, unit }
}

const COLUMNS: [TableColumn; 15] = [
    column("world", "world", ""),
    column("ranks", "ranks", ""),
    column("blocks", "blocks", ""),
    column("least_seconds", "at least", "s"),
    column("seconds", "takes", "s"),
    column("efficiency_percent", "efficiency", "%"),
    column("messages_per_second", "messages", "1/s"),
    column("bytes_per_second", "bytes", "1/s"),
    column("busy_percent", "rank 0 busy", "%"),
    column("longest_wait_ms", "waits up to", "ms"),
    column("lost_percent", "lost", "%"),
    column("deaths", "deaths", ""),
    column("restarts", "resumed", ""),
    column("failures", "failures", ""),
    column("copies", "copies", ""),
];

/// The simulated conditions of a row.
struct Scene {
    name: &'static str,
    speeds: SimulatedSpeeds,
    change: fn(&mut Simulation),
}

const SCENES: [Scene; 7] = [
    Scene { name: "even", speeds: SimulatedSpeeds::Even, change: |_| {} },
    Scene { name: "mixed", speeds: SimulatedSpeeds::Mixed, change: |_| {} },
    Scene { name: "pairs", speeds: SimulatedSpeeds::Pairs, change: |_| {} },
    Scene { name: "dying", speeds: SimulatedSpeeds::Mixed, change: |world| world.deaths = 0.01 },
    Scene {
        name: "resumed",
        speeds: SimulatedSpeeds::Mixed,
        change: |world| (world.deaths, world.restart) = (0.01, Some(30.0)),
    },
    Scene {
        name: "slow net",
        speeds: SimulatedSpeeds::Mixed,
        change: |world| (world.latency, world.bandwidth) = (0.1, 1e7),
    },
    Scene {
        name: "bad day",
        speeds: SimulatedSpeeds::Mixed,
        change: |world| {
            (world.deaths, world.hangs, world.failures) = (0.01, 0.005, 0.001);
            (world.late, world.latency, world.bandwidth) = ((0.1, 120.0), 0.01, 1e8);
        },
    },
];

const NOTES: [&str; 5] = [
    "even: 1 T cells/s each; mixed: from 100 G to 2 T, log-uniform; pairs: 2 T and 100 G in turn. Others are mixed.",
    "blocks take 5 s on the fastest rank, up to 10% more or less; 20 us from rank to rank, 10 us per message for rank 0",
    "dying: 1% of the ranks die, detected after 10 s, and the others continue; resumed: each death ends the job, which \
     continues 40 s later from its finished blocks with the same number of ranks; slow net: 100 ms, 10 MB/s",
    "bad day: 1% die, 0.5% fall silent, 10% are up to 120 s late, 0.1% of the blocks fail per attempt, 10 ms, 100 MB/s",
    "efficiency: cells of finished blocks, as a fraction of the cells that all live ranks, including silent ones, could compute",
];

/// Returns the table for these numbers of ranks, or for the default ones. `report_progress`
/// receives a description of each simulation.
///
/// # Errors
/// [`Error::Usage`] for an invalid number of ranks; the errors of `report_progress`.
pub fn table(
    ranks: Option<&[u32]>,
    quick: bool,
    report_progress: &dyn Fn(&str) -> Result<()>,
) -> Result<MeasurementTable> {
    let mut counts = ranks.unwrap_or(if quick { &QUICK_RANKS } else { &RANKS }).to_vec();
    counts.sort_unstable();
    counts.dedup();
    if let Some(wrong) = counts.iter().find(|&&count| count == 0 || count > MAX_RANKS) {
        return Err(Error::usage_value("counts", wrong, format!("use 1 to {MAX_RANKS} ranks")));
    }
    let seconds = |count: u32| match (quick, count > MANY_RANKS) {
        (true, _) => QUICK_SECONDS,
        (false, true) => SECONDS_OF_MANY,
        (false, false) => SECONDS,
    };
    let title = "jobs in blocks on ranks that pretend, by the dispatcher of real ones";
    let mut table = MeasurementTable::new("cluster", &format!("simulated, seed {SEED}"), title, &COLUMNS);
    for scene in &SCENES {
        for &count in &counts {
            report_progress(&format!("{}, {count} ranks", scene.name))?;
            let speeds = scene.speeds.draw(count as usize, &mut SplitMix64::new(SEED));
            let block = BLOCK_SECONDS * speeds.iter().copied().fold(0.0, f64::max);
            let blocks = (seconds(count) * speeds.iter().sum::<f64>() / block).ceil();
            let without_failures = Simulation::without_failures(vec![block as u64; blocks as usize], speeds);
            let mut world = Simulation { jitter: 0.1, seed: SEED, ..without_failures };
            (scene.change)(&mut world);
            let report = world.run();
            let all = block * blocks;
            table.push(
                RowStatus::Measured,
                vec![
                    scene.name.into(),
                    count.into(),
                    (world.blocks.len() as u64).into(),
                    world.min_seconds().into(),
                    report.seconds.into(),
                    (100.0 * report.efficiency).into(),
                    (report.messages as f64 / report.seconds).into(),
                    (report.bytes as f64 / report.seconds).into(),
                    (100.0 * report.busy / report.seconds).into(),
                    (1000.0 * report.longest_wait).into(),
                    (100.0 * report.lost_cells / all).into(),
                    report.deaths.into(),
                    report.restarts.into(),
                    report.failures.into(),
                    report.copies.into(),
                ],
            );
        }
    }
    table.charts.push(TableChart {
        title: "efficiency of simulated clusters".into(),
        kind: ChartKind::Lines { log_x: true, log_y: false },
        x: "ranks",
        y: "efficiency_percent",
        series: vec!["world"],
        only: Vec::new(),
    });
    NOTES.iter().for_each(|note| table.note(*note));
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::table::TableCell;

    #[test]
    fn every_scene_has_a_row_for_each_number_of_ranks() {
        let table = table(Some(&[4, 2, 4]), true, &|_| Ok(())).unwrap();
        assert_eq!(table.rows.len(), 2 * SCENES.len());
        let index = table.column("efficiency_percent").unwrap();
        for row in &table.rows {
            let TableCell::Number(percent) = row.cells[index] else { panic!("{row:?}") };
            assert!(percent > 50.0 && percent < 105.0, "{row:?}");
        }
    }

    #[test]
    fn invalid_numbers_of_ranks_are_refused() {
        let message = table(Some(&[1, 0]), true, &|_| Ok(())).unwrap_err().to_string();
        assert_eq!(message, "counts 0: use 1 to 100000 ranks");
        let end = table(None, true, &|_| Err(Error::Interrupted)).unwrap_err();
        assert!(matches!(end, Error::Interrupted));
    }
}
