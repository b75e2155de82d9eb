#!/usr/bin/env python3
"""Compares the Python module with parasail, edlib, rapidfuzz and stringzillas: results, and times on one thread.

    python.py [--repeat N] [--only WORD] [--edlib FOLDER] [--proteins FILE]

The first cases are of our own choice. The cases whose names start with the name of a project repeat a benchmark that this
project publishes; docs/python.md names the sources. edlib's genomes are in the folder test_data of its repository, and
parasail's cases need a FASTA file of proteins. Cases without their files are skipped.

Needs the modules pairwave, numpy, parasail, edlib, rapidfuzz, stringzilla and stringzillas-cpus (PyPI). Every program gets
the same sequences, and converts them to its own form before the clock starts where it has such a form. The results of all
programs must be equal; the exit code is 1 if they are not. A time is the shortest of N calls (default: 7), or of as many
calls as fit into 8 seconds.
"""

import argparse
import importlib.metadata
import os
import platform
import random
import string
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


def many_calls(pairs, with_zillas=False, utf8=False):
    """Returns calls for one pair after the other, which measures the cost of a call."""
    calls = {
        "pairwave": lambda: [pairwave.edit_distance(a, b) for a, b in pairs],
        "edlib": lambda: [edlib.align(a, b, task="distance")["editDistance"] for a, b in pairs],
        "rapidfuzz": lambda: [Levenshtein.distance(a, b) for a, b in pairs],
    }
    if with_zillas:
        zillas = levenshtein_of_stringzillas(utf8)
        packed = [(stringzilla.Strs([a]), stringzilla.Strs([b])) for a, b in pairs]
        calls["stringzillas"] = lambda: [int(zillas(a, b, device=SCOPE)[0, 0]) for a, b in packed]
    return calls


def levenshtein_of_stringzillas(utf8):
    kind = stringzillas.LevenshteinDistancesUTF8 if utf8 else stringzillas.LevenshteinDistances
    return kind(capabilities=SCOPE)


def matrix(queries, targets, utf8=False):
    zillas, left, right = levenshtein_of_stringzillas(utf8), stringzilla.Strs(queries), stringzilla.Strs(targets)
    return {
        "pairwave": lambda: pairwave.cdist(queries, targets, **CPU),
        "edlib": lambda: [[edlib.align(a, b, task="distance")["editDistance"] for b in targets] for a in queries],
        "rapidfuzz": lambda: cdist(queries, targets, scorer=Levenshtein.distance, workers=1, dtype=np.int32),
        "stringzillas": lambda: zillas(left, right, device=SCOPE),
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


def scores(queries, targets, mode, opening, extension, width="sat", matrix="BLOSUM62"):
    """Returns calls for gaps of opening + (k - 1) * extension. parasail's profile serves all targets of a query."""
    prefix = {"local": "sw", "global": "nw", "semi-global": "sg"}[mode]
    # With linear gaps, parasail's striped kernels return scores that are too low.
    kernel = "scan" if opening == extension else "striped"
    function = getattr(parasail, f"{prefix}_{kernel}_profile_{width}")
    create, table = getattr(parasail, f"profile_create_{width}"), getattr(parasail, matrix.lower())
    costs = {"metric": "blastp", "mode": mode, "matrix": matrix, "alphabet": "protein"}
    costs |= {"gap_open": opening - extension, "gap_extend": extension}

    def with_parasail():
        profiles = (create(query, table) for query in queries)
        found = [[function(profile, target, opening, extension).score for target in targets] for profile in profiles]
        return scores_of_overlaps(found, mode)

    calls = {"pairwave": lambda: pairwave.cdist(queries, targets, **costs, **CPU), "parasail": with_parasail}
    if mode != "semi-global":
        zillas = scores_of_stringzillas(mode, opening, extension, table)
        left, right = stringzilla.Strs(queries), stringzilla.Strs(targets)
        calls["stringzillas"] = lambda: zillas(left, right, device=SCOPE)
    return calls


def scores_of_overlaps(found, mode):
    """Returns parasail's scores with 0 for negative overlaps: the empty overlap is better, which parasail does not consider."""
    return np.maximum(found, 0) if mode == "semi-global" else found


def scores_of_stringzillas(mode, opening, extension, table):
    classes = np.full(256, 31, dtype=np.uint8)
    costs = np.zeros((32, 32), dtype=np.int8)
    # parasail's matrix begins with the residues in this order.
    costs[:20, :20] = table.matrix[:20, :20]
    for index, residue in enumerate(RESIDUES):
        classes[ord(residue)] = index
    kind = {"local": stringzillas.SmithWatermanScores, "global": stringzillas.NeedlemanWunschScores}[mode]
    return kind(classes, costs, open=-opening, extend=-extension, capabilities=SCOPE)


def statistics(queries, targets, mode, opening, extension):
    """Returns calls for scores with numbers of matches. Several alignments can have the best score, so only scores are
    compared. pairwave also makes CIGARs."""
    prefix = {"local": "sw", "global": "nw", "semi-global": "sg"}[mode]
    # parasail 1.3.4 crashes in its functions with statistics and a profile.
    function = getattr(parasail, f"{prefix}_stats_striped_16")
    left, right = [a for a in queries for _ in targets], [b for _ in queries for b in targets]
    costs = {"matrix": "BLOSUM62", "gap_open": opening - extension, "gap_extend": extension, "alphabet": "protein"}
    if mode == "global":
        costs |= {"end_gap_open": opening - extension, "end_gap_extend": extension}

    def with_pairwave():
        rows = pairwave.align(left, right, mode=mode, **costs, **CPU).rows
        return rows["score"], rows["matches"]

    def with_parasail():
        results = [function(a, b, opening, extension, parasail.blosum62) for a, b in zip(left, right)]
        return scores_of_overlaps([one.score for one in results], mode), [one.matches for one in results]

    return {"pairwave": lambda: with_pairwave()[0], "parasail": lambda: with_parasail()[0]}


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


def own_cases():
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
        ("distances of 1,000 x 1,000 words of about 9 letters", matrix(words, words)),
        ("distances of 300 x 300 reads of about 150 bases", matrix(reads, reads)),
        ("distance of two sequences of 10,000 bases, 10% edits", one_pair(genome, changed(rng, genome, bases, 0.1))),
        ("distance of two unrelated sequences of 10,000 bases", one_pair(genome, letters(rng, bases, 10_000))),
        ("100 patterns of 24 bases in a text of 200,000", infix(patterns, text, True)),
        ("the same with a call for each pattern", infix(patterns, text, False)),
        ("local scores of 60 x 60 proteins of about 300 residues", scores(proteins, proteins, "local", 12, 1)),
        ("global scores of 60 x 60 proteins of about 300 residues", scores(proteins, proteins, "global", 12, 1)),
        ("global alignments of 2,000 pairs of reads with CIGARs", cigars(similar)),
    ]


def fasta(path):
    """Returns the sequences of a file."""
    records = open(path).read().split(">")[1:]
    return ["".join(record.split("\n")[1:]).upper() for record in records]


def edlib_cases(folder):
    """Returns the cases of edlib's Python package, then those of its scripts for genomes."""
    rng, bases, output = random.Random(5), "ACGT", []
    for count, length in [(2000, 30), (2000, 100), (200, 1000), (10, 10_000), (1, 50_000)]:
        pairs = [(one, changed(rng, one, bases, 0.1)) for one in (letters(rng, bases, length) for _ in range(count))]
        output.append((f"edlib: {count:,} pair{'s'[:count - 1]} of {length:,} bases, NW, 90%", many_calls(pairs, True)))
    if not folder:
        return output
    chromosome = os.path.join(folder, "Chromosome_2890043_3890042_0")
    [target] = fasta(os.path.join(chromosome, "Chromosome_2890043_3890042_0.fasta"))
    for length in [100_000, 1_000_000]:
        for percent in [99, 90, 80, 60]:
            [query] = fasta(os.path.join(chromosome, f"mutated_{percent}_perc.fasta"))
            calls = many_calls([(query[:length], target[:length])], length <= 100_000)
            if length > 100_000:
                # Its time grows with the square of the length, and so does the time of stringzillas.
                del calls["rapidfuzz"]
            output.append((f"edlib: {length:,} bases of E. coli, NW, {percent}%", calls))
    [genome] = fasta(os.path.join(folder, "E_coli_DH1", "e_coli_DH1.fasta"))
    for length, percent in [(100, 90), (10_000, 99), (10_000, 90), (10_000, 60)]:
        for mode, start in [("SHW", 0), ("HW", 2_000_000)]:
            query = changed(rng, genome[start:start + length], bases, 1 - percent / 100)
            output.append((f"edlib: {length:,} bases in E. coli DH1, {mode}, {percent}%", part(query, genome, mode)))
    return output


def part(query, text, mode):
    return {
        "pairwave": lambda: pairwave.edit_distance(query, text, mode=mode, **CPU),
        "edlib": lambda: edlib.align(query, text, mode=mode, task="distance")["editDistance"],
    }


def rapidfuzz_cases():
    rng, output = random.Random(18), []
    for length in [8, 32, 64, 128, 511]:
        one, *others = [letters(rng, string.printable, length) for _ in range(2001)]
        pairs = [(one, other) for other in others]
        output.append((f"rapidfuzz: a text of {length} characters and 2,000 others, a call each", many_calls(pairs)))
    words = [letters(rng, string.ascii_letters + string.digits, 10) for _ in range(10_000)]
    pairs = [(a, b) for a in words[::100] for b in words]
    output.append(("rapidfuzz: 100 x 10,000 words of 10 characters, a call each", many_calls(pairs)))
    output.append(("rapidfuzz: 100 x 10,000 words of 10 characters, cdist", matrix(words[::100], words)))
    return output


def text_lines(rng, alphabet, count, length):
    """Returns lines of random words, of about this many characters each."""
    made = []
    for _ in range(count):
        words = [letters(rng, alphabet, rng.randint(2, 10)) for _ in range(length // 7)]
        made.append(" ".join(words))
    return made


def stringzilla_cases():
    rng, output = random.Random(7), []
    dna = {size: [letters(rng, "ACGT", rng.randint(size * 9 // 10, size * 11 // 10)) for _ in range(500)] for size in [100, 1000]}
    output.append(("StringZilla: 500 x 500 DNA strings of about 100 bytes", matrix(dna[100], dna[100])))
    some = dna[1000][:60]
    for project, mode, opening in [("StringZilla", "global", 2), ("StringWars", "global", 10), ("StringWars", "local", 10)]:
        name = f"{project}: 60 x 60 DNA strings of about 1,000 bytes, {mode} scores, gaps of {opening} and 2"
        output.append((name, scores(some, some, mode, opening, 2, "16")))
    alphabets = {"bytes": string.ascii_lowercase, "UTF-8": string.ascii_lowercase + "абвгдежзийклмнопрстуфхцчшщъыьэюя"}
    for kind, alphabet in alphabets.items():
        for length, count in [(100, 5000), (1000, 500)]:
            texts = text_lines(rng, alphabet, 200, length)
            pairs = [(rng.choice(texts), rng.choice(texts)) for _ in range(count)]
            name = f"lines of about {length:,} characters, {kind}"
            output.append((f"StringWars: {count:,} pairs of {name}, a call each", many_calls(pairs, True, kind == "UTF-8")))
            some = texts[:200 if length == 100 else 60]
            output.append((f"StringWars: {len(some)} x {len(some)} {name}", matrix(some, some, kind == "UTF-8")))
    return output


def parasail_cases(path):
    if not path:
        return []
    proteins = [one for one in fasta(path) if set(one) <= set(RESIDUES)]
    database, output = proteins[:2000], []
    for length in [110, 195, 390, 513]:
        query = min(proteins, key=lambda one: abs(len(one) - length))
        name = f"parasail: a protein of {len(query)} residues with {len(database):,}, sw, BLOSUM50, striped, 16 bits"
        output.append((name, scores([query], database, "local", 3, 1, "16", "BLOSUM50")))
    queries, targets = proteins[:20], proteins[:400]
    for name, mode in [("nw", "global"), ("sg", "semi-global"), ("sw", "local")]:
        title = f"parasail: {len(queries)} x {len(targets)} proteins, {name}"
        output.append((f"{title}, striped, 16 bits", scores(queries, targets, mode, 10, 1, "16")))
        output.append((f"{title}, with statistics", statistics(queries, targets, mode, 10, 1)))
    return output


def measured(call, repeat):
    """Returns the result of a call, and the shortest time of several calls in seconds."""
    times = []
    while len(times) < repeat and sum(times) < 8:
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
    parser.add_argument("--edlib", help="folder test_data of edlib's repository")
    parser.add_argument("--proteins", help="FASTA file of proteins for the cases of parasail")
    options = parser.parse_args()
    print(processor(), "Python", platform.python_version())
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES))
    print("\n| milliseconds |", " | ".join(PROGRAMS), "|\n|---" + "|---" * len(PROGRAMS) + "|")
    is_equal = True
    cases = own_cases() + edlib_cases(options.edlib) + rapidfuzz_cases() + stringzilla_cases() + parasail_cases(options.proteins)
    for name, calls in cases:
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
