//! Chooses the engines of a chain, and the widths of their panels in proportion to their speeds.
//! Neighbours then need the same time for a panel, and all engines are busy in the last round.

/// Minimum number of rounds in which the engines of a chain take all columns: for engines of about
/// the same speed, and for others. Several rounds compensate for wrongly estimated speeds, but each
/// round starts and ends with idle compute units.
const ROUNDS: [f64; 2] = [2.0, 4.0];
/// Maximum ratio of the fastest to the slowest speed for which engines count as equally fast.
const EQUAL_SPEED_RATIO: f64 = 1.1;
/// Ratio of the speed of the CPU next to devices to its expected speed, as long as it is not
/// measured. If it is slower than assumed, all devices to the right of its panel wait; if it is
/// faster, only the CPU waits.
const CAUTIOUS_SHARE: f64 = 0.5;
/// Minimum fraction that the CPU must contribute to the speed of all engines to compute next to
/// devices. A device next to another engine computes narrower panels, at a few percent less speed. (An H200 and 16
/// threads with 3% of the speed: 28 s for a pair that takes 22 s without the threads.)
const MIN_HOST_FRACTION: f64 = 0.1;

/// The engines that take panels.
#[derive(Debug, Default)]
pub(crate) struct PanelPace {
    /// Columns of the part.
    columns: f64,
    engines: Vec<PacedEngine>,
}

/// An engine of a chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacedEngine {
    /// Number in the pool.
    pub id: usize,
    /// Speed in cells per second.
    pub speed: f64,
    /// Maximum number of columns of a panel.
    pub columns: f64,
    /// Whether the engine is the CPU.
    pub is_host: bool,
    /// Measured speed of the last panel; `None` before the first one. For the CPU, it may be known
    /// from an earlier part.
    pub measured_speed: Option<f64>,
}

impl PanelPace {
    /// Creates the pace for a part of this number of columns. The CPU takes no panels if it is much
    /// slower than the devices.
    pub(crate) fn new(columns: u32, mut engines: Vec<PacedEngine>) -> Self {
        if engines.iter().any(|engine| !engine.is_host) {
            for host in engines.iter_mut().filter(|engine| engine.is_host) {
                host.speed = host.measured_speed.unwrap_or(CAUTIOUS_SHARE * host.speed);
            }
            let all: f64 = engines.iter().map(|engine| engine.speed).sum();
            engines.retain(|engine| !engine.is_host || engine.speed >= MIN_HOST_FRACTION * all);
        }
        engines.iter_mut().for_each(|engine| engine.measured_speed = None);
        PanelPace { columns: f64::from(columns), engines }
    }

    /// Returns the numbers of the engines that take panels.
    pub(crate) fn ids(&self) -> Vec<usize> {
        self.engines.iter().map(|engine| engine.id).collect()
    }

    /// Returns whether the engine is the only one, so that no other engine waits for its panel.
    pub(crate) fn is_alone(&self) -> bool {
        self.engines.len() < 2
    }

    /// Records the measured speed of an engine. Expected speeds are used until all engines are
    /// measured, because measured and expected speeds cannot be compared.
    pub(crate) fn record_speed(&mut self, id: usize, speed: f64) {
        self.engines.iter_mut().filter(|engine| engine.id == id).for_each(|engine| engine.measured_speed = Some(speed));
        if self.engines.iter().all(|engine| engine.measured_speed.is_some()) {
            self.engines.iter_mut().for_each(|engine| engine.speed = engine.measured_speed.unwrap_or(engine.speed));
        }
    }

    /// Returns the number of columns of an engine's next panel; `None` if there is no other engine.
    pub(crate) fn width(&self, id: usize) -> Option<f64> {
        let this_engine = self.engines.iter().find(|engine| engine.id == id)?;
        Some(self.columns_of_speed()? * this_engine.speed)
    }

    /// Returns the number of columns for an engine with a speed of 1.
    fn columns_of_speed(&self) -> Option<f64> {
        let fastest = self.engines.iter().max_by(|a, b| a.speed.total_cmp(&b.speed)).filter(|_| !self.is_alone())?;
        let per_speed = |columns: f64, speed: f64| columns / speed.max(f64::MIN_POSITIVE);
        let widths = self.engines.iter().map(|engine| per_speed(engine.columns, engine.speed));
        let widest = widths.fold(f64::INFINITY, f64::min);
        let one_round = per_speed(self.columns, self.engines.iter().map(|engine| engine.speed).sum());
        let are_alike = self.engines.iter().all(|engine| fastest.speed <= EQUAL_SPEED_RATIO * engine.speed);
        let least_rounds = ROUNDS[usize::from(!are_alike)];
        let rounds = (one_round / widest.max(f64::MIN_POSITIVE)).ceil().max(least_rounds);
        // A panel that is too narrow to fill a device takes as long as a wide one.
        let fills = per_speed(fastest.columns, fastest.speed) / 2.0;
        Some((one_round / rounds).max(fills.min(one_round)).min(widest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(columns: u32, suits: &[(f64, f64)]) -> PanelPace {
        let engines = (0..).zip(suits).map(|(id, &(speed, columns))| device(id, speed, columns));
        PanelPace::new(columns, engines.collect())
    }

    fn device(id: usize, speed: f64, columns: f64) -> PacedEngine {
        PacedEngine { id, speed, columns, is_host: false, measured_speed: None }
    }

    fn host(id: usize, speed: f64, measured_speed: Option<f64>) -> PacedEngine {
        PacedEngine { id, speed, columns: 1e6, is_host: true, measured_speed }
    }

    #[test]
    fn a_slow_cpu_takes_no_panels_next_to_devices() {
        let ids = |engines: &[PacedEngine]| PanelPace::new(1_000_000, engines.to_vec()).ids();
        let card = |id| device(id, 1e12, 1e6);
        assert_eq!(ids(&[card(0), card(1), host(2, 3e11, None)]), [0, 1]);
        assert_eq!(ids(&[card(0), host(1, 3e11, None)]), [0, 1]);
        assert_eq!(ids(&[card(0), host(1, 3e11, Some(9e10))]), [0]);
        assert_eq!(ids(&[card(0), host(1, 1e11, Some(4e11))]), [0, 1]);
        assert_eq!(ids(&[host(0, 1e6, None)]), [0]);
        assert_eq!(ids(&[host(0, 1e6, None), host(1, 1e12, None)]), [0, 1], "tests have several");
        assert!(PanelPace::new(1_000_000, vec![card(0), host(1, 1e11, None)]).is_alone());
    }

    #[test]
    fn panels_of_the_cpu_are_narrow_until_it_is_measured() {
        let mut pace = PanelPace::new(4_000_000, vec![device(0, 1e12, 1e6), host(1, 1e12, None)]);
        let ratio = |pace: &PanelPace| pace.width(0).unwrap() / pace.width(1).unwrap();
        assert_eq!(ratio(&pace), 2.0);
        pace.record_speed(1, 8e11);
        assert_eq!(ratio(&pace), 2.0, "the device is not measured");
        pace.record_speed(0, 1.6e12);
        assert_eq!(ratio(&pace), 2.0);
        pace.record_speed(1, 4e11);
        assert_eq!(ratio(&pace), 4.0);
    }

    #[test]
    fn panels_follow_speeds_and_fill_devices() {
        let width = |columns, suits: &[(f64, f64)]| pace(columns, suits).width(0);
        assert_eq!(width(1_000_000, &[(1.0, 1e6)]), None);
        // Wide matrices take two rounds, or more if a panel would be wider than an engine takes.
        assert_eq!(width(1_600_000, &[(1.0, 4e5), (1.0, 4e5)]), Some(4e5));
        assert_eq!(width(4_800_000, &[(1.0, 2.7e5), (1.0, 2.7e5)]), Some(4.8e6 / 18.0));
        assert_eq!(width(800_000, &[(4.0, 3e5), (1.0, 1e4)]), Some(4e4));
        assert_eq!(width(1_600_000, &[(3.0, 4e5), (1.0, 4e5)]), Some(3e5), "four rounds of engines that differ");
        // One device could take this narrow matrix as a whole. Each engine takes half of it, not a
        // quarter.
        assert_eq!(width(100_000, &[(1.0, 1e5), (1.0, 1e5)]), Some(5e4));
    }

    #[test]
    fn widths_do_not_change_before_all_have_shown_their_speeds() {
        let mut pace = pace(4_000_000, &[(1e12, 1e6), (1e12, 1e6)]);
        assert_eq!([pace.width(0), pace.width(1), pace.width(2)], [Some(1e6), Some(1e6), None]);
        pace.record_speed(0, 2e12);
        assert_eq!([pace.width(0), pace.width(1)], [Some(1e6), Some(1e6)]);
        pace.record_speed(1, 2e12);
        assert_eq!([pace.width(0), pace.width(1)], [Some(1e6), Some(1e6)], "what counts is who is how much faster");
        pace.record_speed(1, 5e11);
        let widths = [pace.width(0), pace.width(1)].map(|width| width.unwrap().round());
        assert_eq!(widths, [800_000.0, 200_000.0], "four rounds, for the first one's panels are as wide as suits it");
    }
}
