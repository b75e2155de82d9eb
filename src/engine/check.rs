//! What can be said of a report whatever the work.

/// Which of so many blocks are finished, if these are not.
///
/// # Errors
/// What is wrong: a block that is not there, or that is named twice.
pub fn finished(blocks: usize, unfinished: &[usize]) -> Result<Vec<bool>, String> {
    let mut finished = vec![true; blocks];
    for &index in unfinished {
        match finished.get_mut(index) {
            Some(flag) if *flag => *flag = false,
            _ => return Err(format!("block {index} of {blocks} is unfinished, or twice")),
        }
    }
    Ok(finished)
}
