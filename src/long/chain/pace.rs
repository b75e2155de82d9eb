//! Chooses the widths of panels in proportion to the speeds of the engines. Neighbours then need
//! the same time for a panel, and all engines are busy in the last round.

/// Minimum number of rounds in which the engines of a chain take all columns: for engines of about
/// the same speed, and for others. Several rounds compensate for wrongly estimated speeds, but each
/// round starts and ends with idle compute units.
const ROUNDS: [f64; 2] = [2.0, 4.0];
/// Maximum ratio of the fastest to the slowest speed for which engines count as equally fast.
const EQUAL_SPEED_RATIO: f64 = 1.1;

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
    /// Measured speed of the last panel; `None` before the first one.
    pub measured_speed: Option<f64>,
}

impl PanelPace {
    /// Creates the pace for a part of this number of columns.
    pub(crate) fn new(columns: u32, engines: Vec<PacedEngine>) -> Self {
        PanelPace { columns: f64::from(columns), engines }
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
        let engines =
            (0..).zip(suits).map(|(id, &(speed, columns))| PacedEngine { id, speed, columns, measured_speed: None });
        PanelPace::new(columns, engines.collect())
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
