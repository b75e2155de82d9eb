#!/usr/bin/env python3
"""Holds pairwave's pairs against parasail's (Daily 2016; Debian: python3-parasail).

    parasail.py PAIRWAVE QUERIES TARGETS [--device D] [--gaps 11/1,...] [--matrices BLOSUM62,...] [--limit N]

Every query is aligned with every target under each matrix, each gap cost (OPEN/EXTEND, a gap of k symbols costs
OPEN + k EXTEND) and each mode: global (parasail's nw), semi-global (sg) and local (sw). What is compared:

- the scores;
- for local alignments the ends. Several cells can hold the best score, and the two programs choose differently among
  them; where the ends differ, parasail's table has to hold the best score at pairwave's end too;
- for local alignments the two parts: parasail has to give them, aligned as wholes, the score of the local alignment.
  That shows that the begins are right, whichever of several pairwave chose.

One line for each matrix, gap cost and mode: pairs, equal scores, of local alignments equal ends, other ends of the same score
and parts of the same score, and of semi-global ones empty ones. Above it stand the pairs that differ in any other way, and the
exit code is then 1. Empty ones: the best overlap of two sequences may be none at all, score 0; parasail always aligns something,
and gives less than 0 then.

Of parasail's kernels those named scan are asked. Where a gap's first symbol costs no more than the others (OPEN 0) the striped
ones, `--kernel striped`, give too low a score for many pairs, which parasail's own sw, nw and sg without vectors show too.

parasail's own matrices are held against the files that pairwave has them from, too; sequences are aligned by the files'.
A matrix's columns decide what is asked: letters that it lacks (O, U) stand in the sequences as pairwave scores them, X and C.
"""

import argparse
import os
import subprocess
import sys
import tempfile

# Python looks for modules beside a script first, and this one has the name of the module it needs.
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != os.path.dirname(os.path.abspath(__file__))]
import parasail  # noqa: E402

MATRICES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "assets", "matrices")
MODES = {"global": "nw", "semi-global": "sg", "local": "sw"}
OWN = {"BLOSUM45": "blosum45", "BLOSUM50": "blosum50", "BLOSUM62": "blosum62", "BLOSUM80": "blosum80",
       "BLOSUM90": "blosum90", "PAM30": "pam30", "PAM70": "pam70", "PAM250": "pam250", "EDNAFULL": "dnafull"}


def fasta(path, limit):
    records = []
    for line in open(path):
        if line.startswith(">"):
            records.append([line[1:].split()[0], ""])
        else:
            records[-1][1] += line.strip().upper()
    return [tuple(record) for record in records[:limit]]


def entries(name):
    lines = [line.split() for line in open(os.path.join(MATRICES, name)) if not line.startswith("#")]
    return {(row[0], column): int(value) for row in lines[1:] for column, value in zip(lines[0], row[1:])}


def own_matrix_differs(name):
    """The entries that parasail's matrix of this name has otherwise."""
    matrix, ours = getattr(parasail, OWN[name]), entries(name)
    letters = [letter for letter in "ARNDCQEGHILKMFPSTWYVBJZX*" if (letter, letter) in ours and name != "EDNAFULL"]
    letters = letters or [letter for letter in "ACGTRYSWKMBDHVN" if (letter, letter) in ours]
    place = {letter: parasail_index(matrix, letter) for letter in letters}
    table = matrix.matrix
    return [f"{a}{b} {table[place[a]][place[b]]} for {ours[a, b]}" for i, a in enumerate(letters) for b in letters[: i + 1]
            if table[place[a]][place[b]] != ours[a, b]]


def parasail_index(matrix, letter):
    """The row of a letter: the mapper is a C array of 256 entries."""
    return int(matrix.pointer[0].mapper[ord(letter)])


def ours(binary, queries, targets, matrix, gap, mode, device, directory):
    """Pairwave's rows, by the names of query and target."""
    fields = "query,target,score,query_start,query_end,target_start,target_end"
    listed = os.path.join(directory, "pairs.tsv")
    with open(listed, "w") as file:
        file.writelines(f"{query}\t{target}\n" for query, _ in queries for target, _ in targets)
    paths = []
    for name, records in (("queries.fa", queries), ("targets.fa", targets)):
        paths.append(os.path.join(directory, name))
        with open(paths[-1], "w") as file:
            file.writelines(f">{name}\n{sequence}\n" for name, sequence in records)
    kind = "dna" if matrix == "EDNAFULL" else "protein"
    command = [binary, "pairs", *paths, "--pairs", listed, "--alphabet", kind, "--matrix", matrix, "--gap-open",
               str(gap[0]), "--gap-extend", str(gap[1]), "--mode", mode, "--fields", fields, "--quiet",
               "--device", device]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = (line.split("\t") for line in output.splitlines()[1:])
    return {(row[0], row[1]): [int(field) for field in row[2:]] for row in rows}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("queries")
    arguments.add_argument("targets")
    arguments.add_argument("--device", default="cpu")
    arguments.add_argument("--gaps", default="11/1,5/2,0/4")
    arguments.add_argument("--matrices", default=",".join(name for name in OWN if name != "EDNAFULL"))
    arguments.add_argument("--kernel", default="scan", choices=["scan", "striped", "plain"])
    arguments.add_argument("--limit", type=int, default=1 << 30)
    arguments = arguments.parse_args()
    queries, targets = (fasta(path, arguments.limit) for path in (arguments.queries, arguments.targets))
    kernel = "" if arguments.kernel == "plain" else f"_{arguments.kernel}_32"
    total, wrong = [0] * 6, 0
    for name in arguments.matrices.split(","):
        differs = own_matrix_differs(name)
        print(f"# {name}: {len(differs)} of parasail's own entries differ: {', '.join(differs)}")
        matrix = parasail.Matrix(os.path.join(MATRICES, name))
        letters = entries(name)
        stand_in = str.maketrans({} if ("U", "U") in letters or name == "EDNAFULL" else {"U": "C", "O": "X"})
        for gap in [tuple(map(int, gap.split("/"))) for gap in arguments.gaps.split(",")]:
            for mode, function in MODES.items():
                with tempfile.TemporaryDirectory() as directory:
                    rows = ours(arguments.binary, queries, targets, name, gap, mode, arguments.device, directory)
                assert len(rows) == len(queries) * len(targets)
                align = getattr(parasail, function + kernel)
                first, next_ = gap[0] + gap[1], gap[1]
                counts = [0] * 6
                for query, q in queries:
                    q = q.translate(stand_in)
                    for target, t in targets:
                        t = t.translate(stand_in)
                        score, query_start, query_end, target_start, target_end = rows[query, target]
                        found = align(q, t, first, next_, matrix)
                        counts[0] += 1
                        counts[1] += score == found.score
                        is_empty = mode == "semi-global" and score == query_end == target_end == 0 > found.score
                        counts[5] += is_empty
                        right = score == found.score or is_empty
                        if mode == "local" and score > 0:
                            same_end = (query_end, target_end) == (found.end_query + 1, found.end_ref + 1)
                            counts[2] += same_end
                            if not same_end:
                                # The table lives as long as the result that it belongs to.
                                filled = parasail.sw_table_scan_32(q, t, first, next_, matrix)
                                other = filled.score_table[query_end - 1][target_end - 1] == score
                                counts[3] += other
                                right &= bool(other)
                            parts = q[query_start - 1 : query_end], t[target_start - 1 : target_end]
                            whole = parasail.nw_scan_32(*parts, first, next_, matrix).score == score
                            counts[4] += whole
                            right &= whole
                        if not right:
                            wrong += 1
                            print("DIFFERS", query, target, rows[query, target],
                                  found.score, found.end_query + 1, found.end_ref + 1)
                total = [sum(pair) for pair in zip(total, counts)]
                print(name, f"{gap[0]}/{gap[1]}", mode, *counts, sep="\t", flush=True)
    print("all", "", "", *total, sep="\t")
    sys.exit(wrong > 0)


main()
