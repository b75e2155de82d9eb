//! The length adjustment for edge effects (Altschul and Gish 1996), which BLASTN's E-values
//! include.

use super::{DatabaseSize, Parameters};

/// Returns the effective shortening of the query and of every target in symbols, as
/// computed by `BLAST_ComputeLengthAdjustment`. With a query of m symbols and N targets of n
/// symbols in all, it is the greatest integer L that is at most `beta + alpha / lambda * ln(K (m -
/// L) (n - N L))` such that also `K (m - L) (n - N L)` is at least the greater of m and n.
pub(super) fn adjustment(parameters: &Parameters, alpha: f64, beta: f64, query: u32, database: &DatabaseSize) -> u64 {
    const STEPS: u32 = 20;
    let (m, n, targets) = (f64::from(query), database.symbols as f64, database.sequences as f64);
    let right_side = |length: f64| {
        let space = (m - length) * (n - targets * length);
        alpha / parameters.lambda * (parameters.k.ln() + space.ln()) + beta
    };
    let rest = n * m - m.max(n) / parameters.k;
    if rest < 0.0 {
        return 0;
    }
    let sum = m * targets + n;
    let (mut low, mut high) = (0.0, 2.0 * rest / (sum + (sum * sum - 4.0 * targets * rest).sqrt()));
    let mut length = 0.0;
    for step in 1..=STEPS {
        let proposed = right_side(length);
        if proposed >= length {
            low = length;
            if proposed - low <= 1.0 {
                // The fixed point is at most one above `low`: this decides whether the next integer
                // qualifies.
                let next = low.ceil();
                return if next <= high && right_side(next) >= next { next as u64 } else { low as u64 };
            }
            if low == high {
                break;
            }
        } else {
            high = length;
        }
        length = if (low..=high).contains(&proposed) {
            proposed
        } else if step == 1 {
            high
        } else {
            f64::midpoint(low, high)
        };
    }
    low as u64
}

/// Returns the number of pairs of positions where an alignment can start: the adjusted length of
/// the query times the adjusted length of all targets.
pub(super) fn search_space(parameters: &Parameters, alpha: f64, beta: f64, query: u32, database: &DatabaseSize) -> f64 {
    let adjustment = adjustment(parameters, alpha, beta, query, database);
    let symbols = database.symbols.saturating_sub(database.sequences.saturating_mul(adjustment)).max(1);
    symbols as f64 * u64::from(query).saturating_sub(adjustment) as f64
}
