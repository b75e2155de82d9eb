#!/usr/bin/env python3
"""What BLASTN prints for sequences with ambiguous codes (Debian: ncbi-blast+): the tables that tests hold pairwave against.

    blastn.py codes > tests/pairs/printed/blastn_codes.tsv
    blastn.py hits tests/cli/blastn.fa assets/16s/gold200.fasta > tests/cli/blastn.tsv
    blastn.py queries assets/16s/gold200.fasta > tests/cli/blastn.fa

`codes`: what each of the 15 IUPAC codes scores beside each other one. Of every pair of codes there is a pair of random sequences
of 121 bases that are equal but for these two in the middle; its score without that of 120 matches is theirs. That is asked
under several rewards and penalties, with gaps and without, on both strands, of a file of subjects and of a database, and
has to be the same each time. A pair of scores in which BLASTN says otherwise on one of these ways ends the script.

`queries`: of the genes that have most ambiguous codes the windows that have most, every other one as its reverse complement.

`hits`: for each scheme and query some lines of `-outfmt '6 std score'`, from the best to the worst of them. A line that begins
with # has the arguments for pairwave that mean the same.
"""

import itertools
import os
import random
import subprocess
import sys
import tempfile

CODES = "ACGTRYMKWSBDHVN"
COMPLEMENT = str.maketrans(CODES, "TGCAYRKMWSVHDBN")
# Reward, penalty, and costs of gaps that BLASTN takes with them.
SCORES = [(1, -1, 3, 2), (1, -2, 2, 2), (1, -3, 2, 2), (1, -4, 1, 2), (2, -3, 5, 2), (2, -7, 2, 4), (3, -2, 5, 5),
          (3, -4, 6, 3), (4, -5, 6, 5), (5, -4, 8, 6)]
PLAIN = ["-dust", "no", "-soft_masking", "false"]
# Pairwave's arguments and BLASTN's.
SCHEMES = [("--scheme blastn", "-task blastn"), ("--scheme megablast", "-task megablast"),
           ("--reward 5 --penalty -4 --gapopen 8 --gapextend 6", "-task blastn -reward 5 -penalty -4 -gapopen 8 -gapextend 6")]
FLANK = 60
WINDOW = 400
LISTED = 4


def turned(sequence):
    return sequence.translate(COMPLEMENT)[::-1]


def fasta(path):
    records = []
    for line in open(path):
        if line.startswith(">"):
            records.append([line[1:].split()[0], ""])
        else:
            records[-1][1] += line.strip().upper().replace("U", "T")
    return records


def write(path, records):
    with open(path, "w") as file:
        file.writelines(f">{name}\n{sequence}\n" for name, sequence in records)


def blastn(arguments):
    output = subprocess.run(["blastn", *arguments], check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in output.splitlines()]


def database(path):
    """Makes one beside a file, of its name."""
    subprocess.run(["makeblastdb", "-in", path, "-dbtype", "nucl", "-out", path], check=True, capture_output=True)
    return ["-db", path]


def of_codes(scores, with_gaps, is_turned, has_database, directory):
    """What every pair of codes scores."""
    reward, penalty, gap_open, gap_extend = scores
    random.seed(f"{scores} {with_gaps} {is_turned}")
    part = lambda: "".join(random.choice("ACGT") for _ in range(FLANK))
    queries, subjects = [], []
    for a, b in itertools.product(CODES, CODES):
        before, after = part(), part()
        subject = before + b + after
        queries.append((a + b, before + a + after))
        subjects.append((a + b, turned(subject) if is_turned else subject))
    paths = [os.path.join(directory, name) for name in ("queries.fa", "subjects.fa")]
    write(paths[0], queries)
    write(paths[1], subjects)
    among = database(paths[1]) if has_database else ["-subject", paths[1]]
    gaps = ["-gapopen", str(gap_open), "-gapextend", str(gap_extend)] if with_gaps else ["-ungapped"]
    rows = blastn(["-task", "blastn", "-query", paths[0], *among, "-reward", str(reward), "-penalty", str(penalty), *gaps, *PLAIN,
                   "-evalue", "1e-5", "-outfmt", "6 qseqid sseqid length score"])
    found = {row[0]: int(row[3]) - 2 * FLANK * reward for row in rows if row[0] == row[1] and int(row[2]) == 2 * FLANK + 1}
    assert len(found) == len(CODES) ** 2, (scores, len(found))
    return found


def codes():
    print("# blastn 2.12.0+ -task blastn: scores of two IUPAC codes, by blastn.py.")
    print("# reward\tpenalty\tcode\t" + "\t".join(CODES))
    for scores in SCORES:
        with tempfile.TemporaryDirectory() as directory:
            ways = list(itertools.product((True, False), repeat=3))
            tables = [of_codes(scores, *way, directory) for way in ways]
        for way, table in zip(ways, tables):
            differ = [pair for pair in table if table[pair] != tables[0][pair]]
            assert not differ, (scores, way, differ)
        for a in CODES:
            print(*scores[:2], a, *(tables[0][a + b] for b in CODES), sep="\t")


def queries(genes):
    ambiguous = lambda sequence: sum(letter not in "ACGT" for letter in sequence)
    def best_window(gene):
        starts = range(0, max(1, len(gene) - WINDOW), 10)
        return max((gene[start:start + WINDOW] for start in starts), key=ambiguous)
    # Stretches of N say little; codes of every kind say more.
    kinds = lambda sequence: (len(set(sequence) - set("ACGT")), ambiguous(sequence))
    windows = sorted(((name, best_window(gene)) for name, gene in fasta(genes)), key=lambda row: kinds(row[1]), reverse=True)
    for place, (name, window) in enumerate(windows[:6]):
        print(f">{name}{'-turned' * (place % 2)}\n{turned(window) if place % 2 else window}")


def hits(query_file, genes):
    version = subprocess.run(["blastn", "-version"], check=True, capture_output=True, text=True).stdout.split()[1]
    print(f"# blastn {version}: qseqid sseqid pident length mismatch gapopen qstart qend sstart send evalue bitscore score")
    for ours, theirs in SCHEMES:
        print(f"# {ours}")
        with tempfile.TemporaryDirectory() as directory:
            copy = os.path.join(directory, "genes.fa")
            write(copy, fasta(genes))
            rows = blastn([*theirs.split(), "-query", query_file, *database(copy), *PLAIN, "-max_hsps", "1", "-evalue", "10",
                           "-outfmt", "6 std score"])
        for _, of_query in itertools.groupby(rows, key=lambda row: row[0]):
            of_query = list(of_query)
            chosen = sorted({place * (len(of_query) - 1) // (LISTED - 1) for place in range(LISTED)})
            print(*("\t".join(of_query[place]) for place in chosen), sep="\n")


if __name__ == "__main__":
    {"codes": codes, "queries": queries, "hits": hits}[sys.argv[1]](*sys.argv[2:])
