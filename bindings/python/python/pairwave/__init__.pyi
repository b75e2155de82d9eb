from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

_Sequence = str | bytes | bytearray
_Sequences = Iterable[_Sequence | tuple[str | bytes, _Sequence]] | PathLike[str]
_Devices = str | int | list[str | int] | None
_Progress = Callable[[int, int], object] | None
_Mode = Literal["global", "semi-global", "local"]
_Ambiguity = Literal["overlap", "mismatch", "zero", "mean"]
_Alphabet = Literal["dna", "protein"]
_Strand = Literal["plus", "minus", "both"]
_Definition = Literal[0, 1, 2, 3, 4]

__version__: str

class Error(ValueError):
    file: str | None
    record: str | None
    line: int | None
    column: int | None

class File:
    def __init__(self, path: str | PathLike[str]) -> None: ...
    @property
    def path(self) -> str: ...
    def __fspath__(self) -> str: ...

class Alignment:
    score: int
    cigar: str | None
    identity: float
    strand: Literal[1, -1]
    query_start: int
    query_end: int
    target_start: int
    target_end: int
    matches: int
    mismatches: int
    gap_columns: int
    gap_openings: int

class Alignments:
    rows: NDArray[np.void]
    cigars: list[str] | None
    queries: list[str]
    targets: list[str]
    def __len__(self) -> int: ...

class Clustering:
    rows: NDArray[np.void]
    centroids: list[int]
    names: list[str]
    def __len__(self) -> int: ...

class MultipleAlignment:
    names: list[str]
    rows: list[str]
    order: list[int]
    matrix: NDArray[np.uint8]
    confidence: NDArray[np.float32] | None
    def __len__(self) -> int: ...

@overload
def align(
    query: _Sequence,
    target: _Sequence,
    *,
    mode: _Mode = "global",
    scheme: str | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguity: _Ambiguity | None = None,
    matrix: str | PathLike[str] | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    end_gap_open: int | None = None,
    end_gap_extend: int | None = None,
    alphabet: _Alphabet | None = None,
    degap: bool = False,
    strand: _Strand = "plus",
    iddef: _Definition = 2,
    score_only: bool = False,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> Alignment: ...
@overload
def align(
    query: _Sequences,
    target: _Sequences,
    *,
    mode: _Mode = "global",
    scheme: str | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguity: _Ambiguity | None = None,
    matrix: str | PathLike[str] | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    end_gap_open: int | None = None,
    end_gap_extend: int | None = None,
    alphabet: _Alphabet | None = None,
    degap: bool = False,
    strand: _Strand = "plus",
    iddef: _Definition = 2,
    score_only: bool = False,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> Alignments: ...
def edit_distance(
    a: _Sequence,
    b: _Sequence,
    *,
    mode: Literal["global", "infix", "prefix", "NW", "HW", "SHW"] = "global",
    k: int | None = None,
    alphabet: Literal["text", "dna", "protein"] = "text",
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> int | None: ...
def cdist(
    queries: _Sequences,
    targets: _Sequences | None = None,
    *,
    metric: str = "levenshtein",
    mode: str = "global",
    k: int | None = None,
    scheme: str | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguity: _Ambiguity | None = None,
    matrix: str | PathLike[str] | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    end_gap_open: int | None = None,
    end_gap_extend: int | None = None,
    alphabet: Literal["text", "dna", "protein"] | None = None,
    degap: bool = False,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> NDArray[Any]: ...
def allpairs(
    sequences: _Sequences,
    targets: _Sequences | None = None,
    *,
    min_identity: float | None = None,
    min_score: int | None = None,
    query_cov: float | None = None,
    target_cov: float | None = None,
    min_cov: float | None = None,
    max_hits: int | None = None,
    top_hits_only: bool = False,
    mode: _Mode = "global",
    scheme: str | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguity: _Ambiguity | None = None,
    matrix: str | PathLike[str] | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    end_gap_open: int | None = None,
    end_gap_extend: int | None = None,
    alphabet: _Alphabet | None = None,
    degap: bool = False,
    strand: _Strand = "plus",
    iddef: _Definition = 2,
    score_only: bool = False,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> Alignments: ...
def search(
    queries: _Sequences,
    database: _Sequences,
    *,
    evalue: float | None = None,
    max_hits: int = 500,
    max_hsps: int = 1,
    query_cover: float | None = None,
    min_identity: float | None = None,
    min_score: int | None = None,
    query_cov: float | None = None,
    target_cov: float | None = None,
    min_cov: float | None = None,
    top_hits_only: bool = False,
    mode: _Mode = "local",
    scheme: str | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguity: _Ambiguity | None = None,
    matrix: str | PathLike[str] | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    end_gap_open: int | None = None,
    end_gap_extend: int | None = None,
    alphabet: _Alphabet | None = None,
    degap: bool = False,
    strand: _Strand | None = None,
    iddef: _Definition = 2,
    score_only: bool = False,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> Alignments: ...
def cluster(
    sequences: _Sequences,
    identity: float,
    *,
    method: Literal["greedy", "single", "complete", "average"] = "greedy",
    min_score: int | None = None,
    query_cov: float | None = None,
    target_cov: float | None = None,
    min_cov: float | None = None,
    mode: _Mode = "global",
    scheme: str | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguity: _Ambiguity | None = None,
    matrix: str | PathLike[str] | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    end_gap_open: int | None = None,
    end_gap_extend: int | None = None,
    alphabet: _Alphabet | None = None,
    degap: bool = False,
    strand: Literal["plus", "both"] = "plus",
    iddef: _Definition = 2,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> Clustering: ...
def msa(
    sequences: _Sequences,
    *,
    mode: Literal["accurate", "clustalw"] = "accurate",
    confidence: bool = False,
    host_memory: int | None = None,
    alphabet: _Alphabet | None = None,
    degap: bool = False,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> MultipleAlignment: ...
def long(
    query: _Sequence | _Sequences,
    target: _Sequence | _Sequences,
    *,
    mode: _Mode = "local",
    top: int = 1,
    top_per: Literal["pair", "query", "all"] = "pair",
    min_score: int = 1,
    evalue: float | None = None,
    host_memory: int | None = None,
    score_only: bool = False,
    scheme: str | None = None,
    match: int | None = None,
    mismatch: int | None = None,
    ambiguity: _Ambiguity | None = None,
    matrix: str | PathLike[str] | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    end_gap_open: int | None = None,
    end_gap_extend: int | None = None,
    alphabet: _Alphabet | None = None,
    degap: bool = False,
    strand: _Strand = "plus",
    iddef: _Definition = 2,
    devices: _Devices = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: _Progress = None,
) -> Alignments: ...
def main(argv: list[str] | None = None) -> int: ...
