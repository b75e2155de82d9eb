//! Where the bands of a queue come from.

use super::Planned;
use crate::engine::Work;

/// What a source of bands has.
pub enum Upcoming<W: Work> {
    /// The next one.
    Band(Planned<W>),
    /// None now. It is asked again for as long as engines still compute those that it gave; after that, nobody does.
    Nothing,
    /// None any more.
    End,
}

/// Where bands come from: an iterator, or what others add to while engines are at work.
pub trait BandSource<W: Work>: Send {
    /// What comes next.
    fn next_band(&mut self) -> Upcoming<W>;
}

impl<W: Work, I: Iterator<Item = Planned<W>> + Send> BandSource<W> for I {
    fn next_band(&mut self) -> Upcoming<W> {
        self.next().map_or(Upcoming::End, Upcoming::Band)
    }
}
