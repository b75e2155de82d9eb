//! Vectors of ancestral states as engines see them: sites with a set of characters and two flags, eight vectors side by side.

use std::collections::HashMap;
use std::ops::{BitAnd, BitOr, Not};

use rayon::prelude::*;
use twox_hash::XxHash3_64;

use crate::seq::{Alphabet, Code};

/// Vectors side by side. A place of a band is so many.
pub const OCTET: usize = 8;

/// What a site holds, whatever the alphabet: the set in the lowest bits, then the flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Site {
    /// Which characters: bits as [`set_of`] has them.
    pub set: u32,
    /// A character of a read costs more here ([`crate::score::PhyloScheme::gap_site`]).
    pub is_penalised: bool,
    /// No character of a read costs nothing here.
    pub is_free: bool,
}

/// Bits of a set: bases, or amino acids.
pub const fn set_bits(alphabet: Alphabet) -> u32 {
    match alphabet {
        Alphabet::Dna => 4,
        Alphabet::Protein | Alphabet::Bytes => 20,
    }
}

/// The set of all characters.
pub const fn all(alphabet: Alphabet) -> u32 {
    (1 << set_bits(alphabet)) - 1
}

/// Amino acids in the order of their bits.
const AMINO_ACIDS: &[u8; 20] = b"ARNDCQEGHILKMFPSTWYV";

/// The characters that a code stands for. B is N or D, Z is Q or E; what else is no amino acid may be any.
pub fn set_of(alphabet: Alphabet, code: Code) -> u32 {
    if alphabet == Alphabet::Dna {
        return u32::from(code);
    }
    let set = |letters: &[u8]| {
        let bits = letters.iter().filter_map(|own| AMINO_ACIDS.iter().position(|other| other == own));
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

/// Vectors of one alphabet, all with the same number of sites. What fills the last octet holds no character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vectors {
    alphabet: Alphabet,
    sites: u32,
    len: u32,
    cells: Cells,
}

/// Octet after octet, site after site, eight vectors each: the set, above it the bits of the flags, penalised and free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cells {
    /// Of nucleotides.
    Bytes(Vec<u8>),
    /// Of amino acids.
    Words(Vec<u32>),
}

impl Vectors {
    /// So many vectors of sites that hold no character.
    pub fn new(alphabet: Alphabet, sites: u32, len: u32) -> Self {
        let cells = len.div_ceil(OCTET as u32) as usize * OCTET * sites as usize;
        let cells = match alphabet {
            Alphabet::Dna => Cells::Bytes(vec![0; cells]),
            Alphabet::Protein | Alphabet::Bytes => Cells::Words(vec![0; cells]),
        };
        Vectors { alphabet, sites, len, cells }
    }

    /// What the sets are of.
    pub fn alphabet(&self) -> Alphabet {
        self.alphabet
    }

    /// Sites of a vector.
    pub fn sites(&self) -> u32 {
        self.sites
    }

    /// Number of vectors.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of octets; the last may not be full.
    pub fn octets(&self) -> u32 {
        self.len.div_ceil(OCTET as u32)
    }

    /// All sites as they lie in memory.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Where a site of a vector lies among [`Vectors::cells`].
    pub fn place(&self, vector: u32, site: u32) -> usize {
        let (octet, lane) = (vector as usize / OCTET, vector as usize % OCTET);
        (octet * self.sites as usize + site as usize) * OCTET + lane
    }

    /// A site.
    pub fn site(&self, vector: u32, site: u32) -> Site {
        let place = self.place(vector, site);
        let bits = match &self.cells {
            Cells::Bytes(bytes) => u32::from(bytes[place]),
            Cells::Words(words) => words[place],
        };
        decode(self.alphabet, bits)
    }

    /// Changes a site.
    pub fn set(&mut self, vector: u32, site: u32, value: Site) {
        let (place, bits) = (self.place(vector, site), encode(self.alphabet, value));
        match &mut self.cells {
            Cells::Bytes(bytes) => bytes[place] = bits as u8,
            Cells::Words(words) => words[place] = bits,
        }
    }

    /// All sites, to be written octet by octet: each has [`Vectors::sites`] times eight.
    pub fn cells_mut(&mut self) -> &mut Cells {
        &mut self.cells
    }

    /// Every eight vectors as one that scores at least as much as each of them: it holds what any of them holds, penalises
    /// what all penalise, and has free what any has free.
    pub fn unions(&self, pool: &rayon::ThreadPool) -> Vectors {
        let mut unions = Vectors::new(self.alphabet, self.sites, self.octets());
        let penalised = 1 << set_bits(self.alphabet);
        pool.install(|| match (&self.cells, &mut unions.cells) {
            (Cells::Bytes(own), Cells::Bytes(unions)) => self.unite(own, unions, penalised as u8),
            (Cells::Words(own), Cells::Words(unions)) => self.unite(own, unions, penalised),
            _ => unreachable!("cells are of the alphabet"),
        });
        unions
    }

    /// Of each octet all bits that any vector has, but that bit only where all have it.
    fn unite<C>(&self, own: &[C], unions: &mut [C], in_all: C)
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
        unions.par_chunks_mut(octet_cells).zip(own.par_chunks(octet_cells * OCTET)).enumerate().for_each(
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

    /// Equal vectors once, in the order of the first of each; and of each vector the number of its equal there. All threads of the
    /// current pool do it.
    pub fn distinct(&self) -> (Vectors, Vec<u32>) {
        match &self.cells {
            Cells::Bytes(cells) => self.distinct_cells(cells, Cells::Bytes),
            Cells::Words(cells) => self.distinct_cells(cells, Cells::Words),
        }
    }

    fn distinct_cells<C>(&self, cells: &[C], wrap: fn(Vec<C>) -> Cells) -> (Vectors, Vec<u32>)
    where
        C: bytemuck::Pod + PartialEq + Send + Sync,
    {
        let row = |vector: u32| {
            let first = self.place(vector, 0);
            cells[first.min(cells.len())..].iter().step_by(OCTET).take(self.sites as usize)
        };
        let hash = |vector: u32| {
            let row: Vec<C> = row(vector).copied().collect();
            XxHash3_64::oneshot(bytemuck::cast_slice(&row))
        };
        let hashes: Vec<u64> = (0..self.len).into_par_iter().map(hash).collect();
        // Of each hash the first of the vectors that have it and differ.
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
        let mut own = vec![C::zeroed(); firsts.len().div_ceil(OCTET) * octet_cells];
        if octet_cells > 0 {
            own.par_chunks_mut(octet_cells).zip(firsts.par_chunks(OCTET)).for_each(|(octet, vectors)| {
                for (lane, &vector) in vectors.iter().enumerate() {
                    octet[lane..].iter_mut().step_by(OCTET).zip(row(vector)).for_each(|(own, &cell)| *own = cell);
                }
            });
        }
        let distinct =
            Vectors { alphabet: self.alphabet, sites: self.sites, len: firsts.len() as u32, cells: wrap(own) };
        (distinct, numbers)
    }
}

/// A site as it lies in memory.
pub const fn encode(alphabet: Alphabet, site: Site) -> u32 {
    let bits = set_bits(alphabet);
    site.set | (site.is_penalised as u32) << bits | (site.is_free as u32) << (bits + 1)
}

/// A site from what lies in memory.
pub const fn decode(alphabet: Alphabet, bits: u32) -> Site {
    let flags = bits >> set_bits(alphabet);
    Site { set: bits & all(alphabet), is_penalised: flags & 1 != 0, is_free: flags & 2 != 0 }
}
