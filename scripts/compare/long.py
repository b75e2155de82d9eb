#!/usr/bin/env python3
"""Compares the best local scores of `pairwave long` with parasail's sw (Daily 2016; PyPI: parasail).

    long.py PAIRWAVE QUERIES TARGETS [--first 20] [--device cpu] [--costs 2,-3,5,2]

Every record of QUERIES is compared with every record of TARGETS on both strands. Letters other than A, C, G and T are
replaced by A. The costs are the scores of a match and of a mismatch, and OPEN and EXTEND: a gap of k symbols costs
OPEN + k EXTEND. Only the --first records of each file are compared: parasail computes every cell. Prints the pairs that
differ, and the numbers of pairs. The exit code is 1 if a pair differs.
"""

import argparse
import gzip
import lzma
import os
import re
import subprocess
import sys
import tempfile

# Python looks for modules beside a script first, and a script here has the name of the module.
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]
import parasail  # noqa: E402

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def records(path, first):
    """Returns the sequences of FASTA or FASTQ."""
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(os.path.splitext(path)[1], open)
    with opened(path, "rt") as file:
        text = file.read()
    if text.startswith("@"):
        sequences = text.split("\n")[1::4]
    else:
        sequences = ["".join(record.split("\n")[1:]) for record in re.split("^>", text, flags=re.M)[1:]]
    return [re.sub("[^ACGT]", "A", "".join(sequence.upper().split())) for sequence in sequences[:first]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairwave")
    parser.add_argument("queries")
    parser.add_argument("targets")
    parser.add_argument("--first", type=int, default=20)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--costs", default="2,-3,5,2")
    arguments = parser.parse_args()
    match, mismatch, opening, extension = map(int, arguments.costs.split(","))
    queries = records(arguments.queries, arguments.first)
    targets = records(arguments.targets, arguments.first)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("queries.fa", "targets.fa")]
        for path, sequences in zip(paths, (queries, targets)):
            with open(path, "w") as file:
                file.writelines(f">{index}\n{sequence}\n" for index, sequence in enumerate(sequences))
        costs = [f"--match={match}", f"--mismatch={mismatch}", f"--gap-open={opening}", f"--gap-extend={extension}"]
        rows = ["--format", "tsv", "--fields", "query,target,score", "--quiet"]
        command = [arguments.pairwave, "long", *paths, "--device", arguments.device, *costs, *rows]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = {tuple(map(int, row.split("\t")[:2])): int(row.split("\t")[2]) for row in output.splitlines()[1:]}
    matrix = parasail.matrix_create("ACGT", match, mismatch)
    differing = 0
    for i, query in enumerate(queries):
        strands = [query, query.translate(COMPLEMENT)[::-1]]
        for j, target in enumerate(targets):
            # parasail's opening includes the first symbol.
            scores = [parasail.sw_striped_32(strand, target, opening + extension, extension, matrix) for strand in strands]
            expected = max(result.score for result in scores)
            if found.get((i, j), 0) != expected:
                differing += 1
                print(f"query {i + 1}, target {j + 1}: {found.get((i, j), 0)}, parasail {expected}")
    print(f"{len(queries) * len(targets)} pairs of records, {differing} differ")
    return differing > 0


if __name__ == "__main__":
    sys.exit(main())
