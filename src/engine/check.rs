//! Checks of a report that apply to every kind of work.

/// Returns for each of the `blocks` blocks whether it is finished, given the indices of the
/// unfinished ones.
///
/// # Errors
/// A description of an index that is out of range or repeated.
pub fn finished(blocks: usize, unfinished: &[usize]) -> Result<Vec<bool>, String> {
    let mut finished = vec![true; blocks];
    for &index in unfinished {
        match finished.get_mut(index) {
            Some(flag) if *flag => *flag = false,
            _ => {
                return Err(format!(
                    "index {index} of an unfinished block is repeated or out of range (the batch has {blocks} blocks)"
                ));
            }
        }
    }
    Ok(finished)
}
