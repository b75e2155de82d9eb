"""Exact sequence alignment on any GPU, on CPUs, and on both at once.

A sequence is a str or bytes. A list contains sequences, or pairs of a name and a sequence. A path object such as pathlib.Path, or
pairwave.File(path), is a file of sequences. A plain str is always a sequence, never the name of a file.

Positions count from 0, and ranges exclude their end. A gap of k symbols costs gap_open + k * gap_extend. Scores are exact integers,
and no result depends on devices or threads. Functions release the lock of the interpreter. Ctrl-C ends them with KeyboardInterrupt.
"""

import os

# Mesa's device selection layer complains on standard error if there is no display server.
if "XDG_RUNTIME_DIR" not in os.environ:
    os.environ.setdefault("NODEVICE_SELECT", "1")

from ._pairwave import (  # noqa: E402
    Alignment,
    Alignments,
    Clustering,
    Error,
    File,
    MultipleAlignment,
    __version__,
    align,
    allpairs,
    cdist,
    cluster,
    edit_distance,
    long,
    main,
    msa,
    search,
)

__all__ = [
    "Alignment",
    "Alignments",
    "Clustering",
    "Error",
    "File",
    "MultipleAlignment",
    "__version__",
    "align",
    "allpairs",
    "cdist",
    "cluster",
    "edit_distance",
    "long",
    "main",
    "msa",
    "search",
]
