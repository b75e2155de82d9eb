//! Vectors of ancestral states in the memory layout of the engines. Each site of a vector has a set
//! of characters and two flags. Eight vectors, an octet, are interleaved.

use std::collections::HashMap;
use std::ops::{BitAnd, BitOr, Not};

use rayon::prelude::*;
use twox_hash::XxHash3_64;

use crate::seq::{Alphabet, Code};

/// Number of interleaved vectors.
pub const OCTET: usize = 8;

/// One site of a vector, for any alphabet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// Set of characters, with the bits of [`set_of`].
    pub set: u32,
    /// Whether an aligned character of a read costs more here
    /// ([`crate::score::PhyloScheme::gap_site`]).
    pub is_penalised: bool,
    /// Whether a deletion costs nothing here.
    pub is_free: bool,
}

/// Returns the number of bits in a set: one per base or amino acid.
pub const fn set_bits(alphabet: Alphabet) -> u32 {
    match alphabet {
        Alphabet::Dna => 4,
        Alphabet::Protein | Alphabet::Bytes => 20,
    }
}

/// Returns the set of all characters.
pub const fn all(alphabet: Alphabet) -> u32 {
    (1 << set_bits(alphabet)) - 1
}

/// Amino acids in the order of their bits.
const AMINO_ACIDS: &[u8; 20] = b"ARNDCQEGHILKMFPSTWYV";

/// Returns the set of characters that a code stands for. B is N or D, Z is Q or E. Any other code
/// that is not an amino acid stands for all amino acids.
pub fn set_of(alphabet: Alphabet, code: Code) -> u32 {
    if alphabet == Alphabet::Dna {
        return u32::from(code);
    }
    let set = |letters: &[u8]| {
        let bits = letters.iter().filter_map(|letter| AMINO_ACIDS.iter().position(|other| other == letter));
        bits.fold(0, |set, bit| set | 1 << bit)
    };
    match alphabet.decode(code) {
        b'B' => set(b"ND"),
        b'Z' => set(b"QE"),
        letter => match set(&[letter]) {
            0 => all(alphabet),
            one => one,
        },
    }
}

/// Vectors of one alphabet with the same number of sites. Padding vectors in the last octet have
/// empty sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    alphabet: Alphabet,
    sites: u32,
    len: u32,
    cells: StateCells,
}

/// Cells ordered by octet, then by site, then by the eight vectors. A cell has the set in its
/// lowest bits, followed by the flags "penalised" and "free".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateCells {
    /// Cells of nucleotides.
    Bytes(Vec<u8>),
    /// Cells of amino acids.
    Words(Vec<u32>),
}

impl Vectors {
    /// Creates `len` vectors of sites with empty sets.
    pub fn new(alphabet: Alphabet, sites: u32, len: u32) -> Self {
        let cells = len.div_ceil(OCTET as u32) as usize * OCTET * sites as usize;
        let cells = match alphabet {
            Alphabet::Dna => StateCells::Bytes(vec![0; cells]),
            Alphabet::Protein | Alphabet::Bytes => StateCells::Words(vec![0; cells]),
        };
        Vectors { alphabet, sites, len, cells }
    }

    /// Returns the alphabet of the sets.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Returns the number of sites of a vector.
    pub fn sites(&self) -> u32 {
        self.sites
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Checks whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of octets. The last one may be partly filled.
    pub fn octets(&self) -> u32 {
        self.len.div_ceil(OCTET as u32)
    }

    /// Returns the cells in memory order.
    pub fn cells(&self) -> &StateCells {
        &self.cells
    }

    /// Returns the index of a vector's site in [`Vectors::cells`].
    pub fn cell_index(&self, vector: u32, site: u32) -> usize {
        let (octet, lane) = (vector as usize / OCTET, vector as usize % OCTET);
        (octet * self.sites as usize + site as usize) * OCTET + lane
    }

    /// Returns a site of a vector.
    pub fn site(&self, vector: u32, site: u32) -> Site {
        let cell_index = self.cell_index(vector, site);
        let bits = match &self.cells {
            StateCells::Bytes(bytes) => u32::from(bytes[cell_index]),
            StateCells::Words(words) => words[cell_index],
        };
        decode(self.alphabet, bits)
    }

    /// Sets a site of a vector.
    pub fn set(&mut self, vector: u32, site: u32, value: Site) {
        let (cell_index, bits) = (self.cell_index(vector, site), encode(self.alphabet, value));
        match &mut self.cells {
            StateCells::Bytes(bytes) => bytes[cell_index] = bits as u8,
            StateCells::Words(words) => words[cell_index] = bits,
        }
    }

    /// Returns the cells for writing. An octet has [`Vectors::sites`] times eight cells.
    pub fn cells_mut(&mut self) -> &mut StateCells {
        &mut self.cells
    }

    /// Unites each octet into one vector. Its score is at least that of each of the eight members.
    /// A site of the union contains the characters of all members. It is penalised if all members
    /// are, and free if any member is.
    pub fn unions(&self, pool: &rayon::ThreadPool) -> Vectors {
        let mut unions = Vectors::new(self.alphabet, self.sites, self.octets());
        let penalised = 1 << set_bits(self.alphabet);
        pool.install(|| match (&self.cells, &mut unions.cells) {
            (StateCells::Bytes(cells), StateCells::Bytes(unions)) => self.unite(cells, unions, penalised as u8),
            (StateCells::Words(cells), StateCells::Words(unions)) => self.unite(cells, unions, penalised),
            _ => unreachable!("cells are of the alphabet"),
        });
        unions
    }

    /// Combines the cells of each octet. A bit is set if any vector has it, except the bits of
    /// `in_all`, which all vectors must have.
    fn unite<C>(&self, cells: &[C], unions: &mut [C], in_all: C)
    where
        C: Copy + Send + Sync + BitAnd<Output = C> + BitOr<Output = C> + Not<Output = C>,
    {
        if self.is_empty() || self.sites == 0 {
            return;
        }
        let octet_cells = self.sites as usize * OCTET;
        let unite = |cells: &[C]| {
            let (any, all) = cells[1..].iter().fold((cells[0], cells[0]), |(any, all), &cell| (any | cell, all & cell));
            any & !in_all | all & in_all
        };
        unions.par_chunks_mut(octet_cells).zip(cells.par_chunks(octet_cells * OCTET)).enumerate().for_each(
            |(group, (unions, octets))| {
                for (lane, octet) in octets.chunks(octet_cells).enumerate() {
                    let vectors = (self.len as usize - (group * OCTET + lane) * OCTET).min(OCTET);
                    for (site, cells) in octet.as_chunks::<OCTET>().0.iter().enumerate() {
                        unions[site * OCTET + lane] =
                            if vectors == OCTET { unite(cells) } else { unite(&cells[..vectors]) };
                    }
                }
            },
        );
    }

    /// Returns the distinct vectors in the order of their first occurrence, and the index of each
    /// original vector among them. Uses all threads of the current pool.
    pub fn distinct(&self) -> (Vectors, Vec<u32>) {
        match &self.cells {
            StateCells::Bytes(cells) => self.distinct_cells(cells, StateCells::Bytes),
            StateCells::Words(cells) => self.distinct_cells(cells, StateCells::Words),
        }
    }

    fn distinct_cells<C>(&self, cells: &[C], wrap: fn(Vec<C>) -> StateCells) -> (Vectors, Vec<u32>)
    where
        C: bytemuck::Pod + PartialEq + Send + Sync,
    {
        let row = |vector: u32| {
            let first = self.cell_index(vector, 0);
            cells[first.min(cells.len())..].iter().step_by(OCTET).take(self.sites as usize)
        };
        let hash = |vector: u32| {
            let row: Vec<C> = row(vector).copied().collect();
            XxHash3_64::oneshot(bytemuck::cast_slice(&row))
        };
        let hashes: Vec<u64> = (0..self.len).into_par_iter().map(hash).collect();
        // For each hash, the first occurrences of the distinct vectors with this hash.
        let mut known: HashMap<u64, Vec<u32>> = HashMap::with_capacity(hashes.len());
        let (mut firsts, mut numbers) = (Vec::new(), vec![0; hashes.len()]);
        for (vector, hash) in (0..self.len).zip(hashes) {
            let same = known.entry(hash).or_default();
            let equal = same.iter().find(|&&earlier| row(earlier).eq(row(vector)));
            numbers[vector as usize] = match equal {
                Some(&earlier) => numbers[earlier as usize],
                None => {
                    same.push(vector);
                    firsts.push(vector);
                    firsts.len() as u32 - 1
                }
            };
        }
        let octet_cells = self.sites as usize * OCTET;
        let mut distinct_cells = vec![C::zeroed(); firsts.len().div_ceil(OCTET) * octet_cells];
        if octet_cells > 0 {
            distinct_cells.par_chunks_mut(octet_cells).zip(firsts.par_chunks(OCTET)).for_each(|(octet, vectors)| {
                for (lane, &vector) in vectors.iter().enumerate() {
                    octet[lane..].iter_mut().step_by(OCTET).zip(row(vector)).for_each(|(to, &cell)| *to = cell);
                }
            });
        }
        let distinct = Vectors {
            alphabet: self.alphabet,
            sites: self.sites,
            len: firsts.len() as u32,
            cells: wrap(distinct_cells),
        };
        (distinct, numbers)
    }
}

/// Encodes a site as a cell.
pub const fn encode(alphabet: Alphabet, site: Site) -> u32 {
    let bits = set_bits(alphabet);
    site.set | (site.is_penalised as u32) << bits | (site.is_free as u32) << (bits + 1)
}

/// Decodes a cell.
pub const fn decode(alphabet: Alphabet, bits: u32) -> Site {
    let flags = bits >> set_bits(alphabet);
    Site { set: bits & all(alphabet), is_penalised: flags & 1 != 0, is_free: flags & 2 != 0 }
}
