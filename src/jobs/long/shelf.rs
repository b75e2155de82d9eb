//! Where edges are kept: in memory up to a limit, beyond it in files of a temporary directory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::long::Edge;

/// Bytes of an edge's entry: H and a gap.
pub const ENTRY_BYTES: u64 = 8;

/// The memory for edges of a job.
#[derive(Debug)]
pub struct Shelf {
    limit: u64,
    /// Where the temporary directory is made; `None` for the system's place.
    base: Option<PathBuf>,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    held: u64,
    peak: u64,
    spilled: u64,
    files: u64,
    directory: Option<tempfile::TempDir>,
}

/// An edge that is kept.
#[derive(Debug, Clone)]
pub struct Piece(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    entries: usize,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Edge, #[expect(dead_code, reason = "gives the memory back")] Hold),
    File(PathBuf),
}

/// Memory that is taken until this is dropped.
#[derive(Debug)]
pub struct Hold {
    shelf: Arc<Shelf>,
    bytes: u64,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.shelf.books().held -= self.bytes;
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Place::File(path) = &self.place {
            // If it is gone already, all is well; else the directory's end takes it along.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Shelf {
    /// So many bytes of memory, and a directory for the rest.
    pub fn new(limit: u64, base: Option<PathBuf>) -> Arc<Shelf> {
        Arc::new(Shelf { limit, base, books: Mutex::default() })
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The most bytes that were held in memory at once.
    pub fn peak(&self) -> u64 {
        self.books().peak
    }

    /// Bytes that were written to files.
    pub fn spilled(&self) -> u64 {
        self.books().spilled
    }

    /// Counts memory that is taken in any case.
    pub fn hold(self: &Arc<Self>, bytes: u64) -> Hold {
        let mut books = self.books();
        books.held += bytes;
        books.peak = books.peak.max(books.held);
        Hold { shelf: Arc::clone(self), bytes }
    }

    /// Keeps an edge, in a file if it would be beyond the limit.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub fn put(self: &Arc<Self>, mut edge: Edge) -> Result<Piece> {
        let entries = edge.h.len();
        let bytes = entries as u64 * ENTRY_BYTES;
        let fits = self.books().held + bytes <= self.limit;
        let place = if fits {
            edge.h.shrink_to_fit();
            edge.gap.shrink_to_fit();
            Place::Memory(edge, self.hold(bytes))
        } else {
            let path = self.next_file()?;
            write_edge(&path, &edge).map_err(|error| Error::io(&path, error))?;
            self.books().spilled += bytes;
            Place::File(path)
        };
        Ok(Piece(Arc::new(Kept { entries, place })))
    }

    fn next_file(&self) -> Result<PathBuf> {
        let mut books = self.books();
        if books.directory.is_none() {
            let base = self.base.clone().unwrap_or_else(std::env::temp_dir);
            let made = tempfile::Builder::new().prefix("pairwave-edges-").tempdir_in(&base);
            books.directory = Some(made.map_err(|error| Error::io(base, error))?);
        }
        books.files += 1;
        let name = format!("{}.edge", books.files);
        Ok(books.directory.as_ref().map_or(PathBuf::new(), |directory| directory.path().join(name)))
    }
}

fn write_edge(path: &Path, edge: &Edge) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytemuck::cast_slice(&edge.h))?;
    file.write_all(bytemuck::cast_slice(&edge.gap))
}

impl Piece {
    /// Its entries.
    pub fn len(&self) -> usize {
        self.0.entries
    }

    /// A part of it.
    ///
    /// # Errors
    /// [`Error::Io`] if it is in a file that cannot be read.
    pub fn slice(&self, range: Range<usize>) -> Result<Edge> {
        match &self.0.place {
            Place::Memory(edge, _) => Ok(Edge { h: edge.h[range.clone()].to_vec(), gap: edge.gap[range].to_vec() }),
            Place::File(path) => {
                let read = || {
                    let mut file = File::open(path)?;
                    let h = read_values(&mut file, range.start, range.len())?;
                    let gap = read_values(&mut file, self.len() + range.start, range.len())?;
                    Ok(Edge { h, gap })
                };
                read().map_err(|error| Error::io(path, error))
            }
        }
    }
}

fn read_values(file: &mut File, start: usize, count: usize) -> std::io::Result<Vec<i32>> {
    let mut values = vec![0i32; count];
    file.seek(SeekFrom::Start(start as u64 * 4))?;
    file.read_exact(bytemuck::cast_slice_mut(&mut values))?;
    Ok(values)
}

/// The limit where none is given: 4 GiB, or a quarter of the memory.
pub fn default_limit() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().trim_end_matches(" kB").parse::<u64>().ok()
    });
    total.map_or(u64::MAX, |kib| kib * 1024 / 4).min(4 << 30)
}
