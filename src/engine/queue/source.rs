//! Sources of the chunks of a queue.

use super::QueuedChunk;
use crate::engine::Work;

/// Answer of a source of chunks.
pub enum Upcoming<W: Work> {
    /// The next chunk.
    Chunk(QueuedChunk<W>),
    /// No chunk now. The queue asks again while engines compute earlier chunks. Once they have
    /// finished, it treats this answer as the end.
    Nothing,
    /// No more chunks.
    End,
}

/// A source of chunks: an iterator, or a buffer that is filled while engines compute.
pub trait ChunkSource<W: Work>: Send {
    /// Returns the next chunk, if there is one.
    fn next_chunk(&mut self) -> Upcoming<W>;
}

impl<W: Work, I: Iterator<Item = QueuedChunk<W>> + Send> ChunkSource<W> for I {
    fn next_chunk(&mut self) -> Upcoming<W> {
        self.next().map_or(Upcoming::End, Upcoming::Chunk)
    }
}
