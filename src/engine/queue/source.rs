//! Where the chunks of a queue come from.

use super::Planned;
use crate::engine::Work;

/// What a source of chunks has.
pub enum Upcoming<W: Work> {
    /// The next one.
    Chunk(Planned<W>),
    /// None now. It is asked again for as long as engines still compute those that it gave; after that, nobody does.
    Nothing,
    /// None any more.
    End,
}

/// Where chunks come from: an iterator, or what others add to while engines are at work.
pub trait ChunkSource<W: Work>: Send {
    /// What comes next.
    fn next_chunk(&mut self) -> Upcoming<W>;
}

impl<W: Work, I: Iterator<Item = Planned<W>> + Send> ChunkSource<W> for I {
    fn next_chunk(&mut self) -> Upcoming<W> {
        self.next().map_or(Upcoming::End, Upcoming::Chunk)
    }
}
