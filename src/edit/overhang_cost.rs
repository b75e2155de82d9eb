//! Costs of symbols that hang over an end of a text.

use crate::error::{Error, Result};
use crate::seq::Code;

/// The cost of each pattern symbol beyond an end of a text, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverhangCost(f32);

impl OverhangCost {
    /// Creates a cost.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if it is not from 0 to 1.
    pub fn new(per_symbol: f64) -> Result<Self> {
        match (0.0..=1.0).contains(&per_symbol) {
            true => Ok(OverhangCost((per_symbol as f32).abs())),
            false => Err(Error::usage_value("overhang", per_symbol, "a cost per symbol is from 0 to 1")),
        }
    }

    /// Returns the cost of some symbols beyond one end, rounded down. Single precision makes it
    /// equal to sassy's.
    pub fn symbols(self, symbols: u32) -> u32 {
        (self.0 * symbols as f32).floor() as u32
    }

    /// Returns the maximum number of symbols beyond the end of a text, within a limit. Sassy has
    /// this maximum at the end that a search reaches last, but not at its start. It restricts only
    /// costs below 0.5.
    pub fn max_after(self, pattern_symbols: u32, limit: u32) -> u32 {
        // Not a number, if both are 0, becomes 0.
        pattern_symbols.min((limit as f32 / self.0 + 1.0).ceil() as u32)
    }
}

/// The costs of symbols that hang over the ends of a searched part of a text; `None` if the text
/// continues there, or if no symbol may hang over.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OverhangCosts {
    /// Cost before the start of the part.
    pub start: Option<OverhangCost>,
    /// Cost after the end of the part.
    pub end: Option<OverhangCost>,
}

/// A part of a text that is searched.
#[derive(Debug, Clone, Copy)]
pub struct SearchedText<'a> {
    /// Symbols of the part.
    pub codes: &'a [Code],
    /// Costs of symbols that hang over its ends.
    pub costs: OverhangCosts,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_rounded_down() {
        let costs = |per_symbol: f64| {
            let cost = OverhangCost::new(per_symbol).unwrap();
            [0, 1, 2, 3, 10, 30].map(|symbols| cost.symbols(symbols))
        };
        assert_eq!(costs(0.5), [0, 0, 1, 1, 5, 15]);
        // 0.1 and 0.7 have no exact binary form.
        assert_eq!((costs(0.1), costs(0.7)), ([0, 0, 0, 0, 1, 3], [0, 0, 1, 2, 7, 21]));
        assert_eq!((costs(0.0), costs(1.0)), ([0; 6], [0, 1, 2, 3, 10, 30]));
        for wrong in [-0.1, 1.01, f64::NAN] {
            assert!(matches!(OverhangCost::new(wrong), Err(Error::Usage(_))), "{wrong}");
        }
    }

    /// sassy 0.3 reports no place with more symbols beyond the last end.
    #[test]
    fn the_last_end_has_a_maximum() {
        let most = |per_symbol: f64, limit| OverhangCost::new(per_symbol).unwrap().max_after(40, limit);
        assert_eq!([most(0.25, 0), most(0.25, 3), most(0.2, 7), most(0.3, 2)], [1, 13, 36, 8]);
        assert_eq!([most(0.0, 0), most(0.0, 1), most(1.0, 5), most(0.01, 5)], [0, 40, 6, 40]);
    }
}
