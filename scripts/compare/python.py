#!/usr/bin/env python3
"""Compares the Python module with parasail, edlib, rapidfuzz and stringzillas: results, and times on one thread.

    python.py [--repeat N] [--only WORD]

Needs the modules pairwave, numpy, parasail, edlib, rapidfuzz, stringzilla and stringzillas-cpus (PyPI). Every program gets
the same sequences, and converts them to its own form before the clock starts where it has such a form. The results of all
programs must be equal; the exit code is 1 if they are not. A time is the shortest of N calls (default: 7).
"""

import argparse
import importlib.metadata
import os
import platform
import random
import sys
import time

# Python looks for modules next to a script first.
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]
import edlib  # noqa: E402
import numpy as np  # noqa: E402
import parasail  # noqa: E402
import pairwave  # noqa: E402
import stringzilla  # noqa: E402
import stringzillas  # noqa: E402
from rapidfuzz.distance import Levenshtein  # noqa: E402
from rapidfuzz.process import cdist  # noqa: E402

CPU = {"devices": "cpu", "threads": 1}
RESIDUES = "ARNDCQEGHILKMFPSTWYV"
MATRIX = parasail.blosum62
SCOPE = stringzillas.DeviceScope(cpu_cores=1)
PROGRAMS = ["pairwave", "parasail", "edlib", "rapidfuzz", "stringzillas"]
PACKAGES = ["pairwave", "parasail", "edlib", "rapidfuzz", "stringzillas-cpus", "numpy"]


def letters(rng, alphabet, length):
    return "".join(rng.choices(alphabet, k=length))


def changed(rng, text, alphabet, rate):
    """Returns a text with substitutions, insertions and deletions, in equal parts."""
    output = []
    for letter in text:
        if rng.random() >= rate:
            output.append(letter)
            continue
        kind = rng.randrange(3)
        if kind < 2:
            output.append(rng.choice(alphabet))
        if kind == 1:
            output.append(letter)
    return "".join(output)


def families(rng, alphabet, count, length, rate):
    """Returns sequences of three families, so that pairs are similar and dissimilar."""
    ancestors = [letters(rng, alphabet, length) for _ in range(3)]
    return [changed(rng, rng.choice(ancestors), alphabet, rate) for _ in range(count)]


def one_pair(a, b):
    """Returns calls for one pair. Without arguments for devices, pairwave computes on the calling thread."""
    zillas = stringzillas.LevenshteinDistances(capabilities=SCOPE)
    left, right = stringzilla.Strs([a]), stringzilla.Strs([b])
    return {
        "pairwave": lambda: pairwave.edit_distance(a, b),
        "edlib": lambda: edlib.align(a, b, task="distance")["editDistance"],
        "rapidfuzz": lambda: Levenshtein.distance(a, b),
        "stringzillas": lambda: int(zillas(left, right, device=SCOPE)[0, 0]),
    }


def many_calls(pairs):
    """Returns calls for one pair after the other, which measures the cost of a call."""
    return {
        "pairwave": lambda: [pairwave.edit_distance(a, b) for a, b in pairs],
        "edlib": lambda: [edlib.align(a, b, task="distance")["editDistance"] for a, b in pairs],
        "rapidfuzz": lambda: [Levenshtein.distance(a, b) for a, b in pairs],
    }


def matrix(texts):
    zillas, packed = stringzillas.LevenshteinDistances(capabilities=SCOPE), stringzilla.Strs(texts)
    return {
        "pairwave": lambda: pairwave.cdist(texts, texts, **CPU),
        "edlib": lambda: np.array([[edlib.align(a, b, task="distance")["editDistance"] for b in texts] for a in texts]),
        "rapidfuzz": lambda: cdist(texts, texts, scorer=Levenshtein.distance, workers=1, dtype=np.int32),
        "stringzillas": lambda: zillas(packed, packed, device=SCOPE),
    }


def infix(patterns, text, has_one_call):
    def with_pairwave():
        if has_one_call:
            return pairwave.cdist(patterns, [text], mode="infix", **CPU)[:, 0]
        return [pairwave.edit_distance(one, text, mode="infix", **CPU) for one in patterns]

    return {
        "pairwave": with_pairwave,
        "edlib": lambda: [edlib.align(one, text, mode="HW", task="distance")["editDistance"] for one in patterns],
    }


def scores(proteins, mode):
    """Returns calls for BLOSUM62 and gaps of 11 + k. parasail's profile of a query serves all its targets."""
    classes = np.full(256, 31, dtype=np.uint8)
    costs = np.zeros((32, 32), dtype=np.int8)
    # parasail's matrix begins with the residues in this order.
    costs[:20, :20] = MATRIX.matrix[:20, :20]
    for index, residue in enumerate(RESIDUES):
        classes[ord(residue)] = index
    kind = {"local": stringzillas.SmithWatermanScores, "global": stringzillas.NeedlemanWunschScores}[mode]
    zillas, packed = kind(classes, costs, open=-12, extend=-1, capabilities=SCOPE), stringzilla.Strs(proteins)
    function = {"local": parasail.sw_striped_profile_sat, "global": parasail.nw_striped_profile_sat}[mode]

    def with_parasail():
        profiles = (parasail.profile_create_sat(query, MATRIX) for query in proteins)
        return np.array([[function(profile, target, 12, 1).score for target in proteins] for profile in profiles])

    return {
        "pairwave": lambda: pairwave.cdist(proteins, proteins, metric="blastp", mode=mode, alphabet="protein", **CPU),
        "parasail": with_parasail,
        "stringzillas": lambda: zillas(packed, packed, device=SCOPE),
    }


def cigars(pairs):
    """Returns calls for scores of alignments with CIGARs. Several alignments can have the best score."""
    queries, targets = [a for a, _ in pairs], [b for _, b in pairs]
    scheme = parasail.matrix_create("ACGT", 5, -4)

    def with_pairwave():
        found = pairwave.align(queries, targets, match=5, mismatch=-4, gap_open=8, gap_extend=2, end_gap_open=8,
                               end_gap_extend=2, alphabet="dna", **CPU)
        assert len(found.cigars) == len(pairs)
        return found.rows["score"]

    def with_parasail():
        results = (parasail.nw_trace_striped_sat(a, b, 10, 2, scheme) for a, b in pairs)
        return [(result.score, result.cigar.decode)[0] for result in results]

    return {"pairwave": with_pairwave, "parasail": with_parasail}


def cases():
    rng = random.Random(5)
    bases = "ACGT"
    words = families(rng, "abcdefghijklmnopqrstuvwxyz", 1000, 9, 0.4)
    reads = families(rng, bases, 300, 150, 0.1)
    genome = letters(rng, bases, 10_000)
    proteins = families(rng, RESIDUES, 60, 300, 0.3)
    text = letters(rng, bases, 200_000)
    starts = [rng.randrange(len(text) - 40) for _ in range(100)]
    patterns = [changed(rng, text[start:start + 24], bases, 0.1) for start in starts]
    similar = [(one, changed(rng, one, bases, 0.1)) for one in families(rng, bases, 2000, 150, 0.3)]
    return [
        ("distances of 20,000 pairs of words, a call each", many_calls([tuple(rng.sample(words, 2)) for _ in range(20_000)])),
        ("distances of 1,000 x 1,000 words of about 9 letters", matrix(words)),
        ("distances of 300 x 300 reads of about 150 bases", matrix(reads)),
        ("distance of two sequences of 10,000 bases, 10% edits", one_pair(genome, changed(rng, genome, bases, 0.1))),
        ("distance of two unrelated sequences of 10,000 bases", one_pair(genome, letters(rng, bases, 10_000))),
        ("100 patterns of 24 bases in a text of 200,000", infix(patterns, text, True)),
        ("the same with a call for each pattern", infix(patterns, text, False)),
        ("local scores of 60 x 60 proteins of about 300 residues", scores(proteins, "local")),
        ("global scores of 60 x 60 proteins of about 300 residues", scores(proteins, "global")),
        ("global alignments of 2,000 pairs of reads with CIGARs", cigars(similar)),
    ]


def measured(call, repeat):
    """Returns the result of a call, and the shortest time of several calls in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return result, min(times)


def processor():
    try:
        lines = open("/proc/cpuinfo").read().splitlines()
        return next(line.split(": ")[1] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7, help="calls of which the shortest counts")
    parser.add_argument("--only", default="", help="only cases whose name contains this word")
    options = parser.parse_args()
    print(processor(), "Python", platform.python_version())
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES))
    print("\n| milliseconds |", " | ".join(PROGRAMS), "|\n|---" + "|---" * len(PROGRAMS) + "|")
    is_equal = True
    for name, calls in cases():
        if options.only not in name:
            continue
        times, results = {}, {}
        for program, call in calls.items():
            result, seconds = measured(call, options.repeat)
            times[program], results[program] = f"{1000 * seconds:,.1f}", np.asarray(result, dtype=np.int64)
            if not np.array_equal(results[program], results["pairwave"]):
                times[program] += " (other results)"
                is_equal = False
        print(f"| {name} |", " | ".join(times.get(program, "") for program in PROGRAMS), "|", flush=True)
    sys.exit(not is_equal)


if __name__ == "__main__":
    main()
