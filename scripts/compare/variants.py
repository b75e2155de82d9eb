#!/usr/bin/env python3
"""Recall and precision of variants between a genome and a changed copy (Debian: bcftools, minimap2, mummer).

    variants.py PAIRWAVE REFERENCE.fa [--bases 300000] [--seed 1] [--scheme asm5] [--rotate] [--rearrange]

The copy of the first BASES bases of REFERENCE has substitutions, and insertions and deletions of 1 to 5,000 bases. With
--rearrange, it also has inversions and a translocation, and with --rotate it starts at another position. The known variants
and the calls of each program are normalised by `bcftools norm`. A call is right if a known variant has its position, REF and
ALT. --list also prints every missed variant, and the distance of the nearest wrong call.

pairwave runs with --format vcf. The variants of minimap2 are those in the cs tags of its primary alignments. The variants of
nucmer are the rows of show-snps after delta-filter -1; the rows of one insertion or deletion are joined.
"""

import argparse
import bisect
import random
import subprocess
import tempfile
import time
from pathlib import Path

COMPLEMENT = str.maketrans("ACGT", "TGCA")
SPACING, LONGEST = 40, 5000
HEADER = "##fileformat=VCFv4.3\n##contig=<ID=ref,length={}>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


def first_bases(path, count):
    lines = [line.strip().upper() for line in open(path) if not line.startswith(">")]
    return "".join(base if base in "ACGT" else "A" for base in "".join(lines)[:count])


def simulate(reference, rng):
    """Returns the known variants as (start, end, letters), from 0 and sorted."""
    variants, taken = [], []
    wanted = [0] * (len(reference) // 500)
    wanted += [round(LONGEST ** rng.random()) for _ in range(len(reference) // 2500)]
    for length in sorted(wanted, reverse=True):
        while True:
            start = rng.randrange(SPACING, len(reference) - LONGEST - SPACING)
            is_insertion = length > 0 and rng.random() < 0.5
            end = start + (1 if length == 0 else 0 if is_insertion else length)
            if all(end + SPACING < a or b + SPACING < start for a, b in taken):
                break
        taken.append((start, end))
        if length == 0:
            letters = rng.choice([base for base in "ACGT" if base != reference[start]])
        else:
            letters = "".join(rng.choice("ACGT") for _ in range(length)) if is_insertion else ""
        variants.append((start, end, letters))
    return sorted(variants)


def changed(reference, variants):
    parts, at = [], 0
    for start, end, letters in variants:
        parts += [reference[at:start], letters]
        at = end
    return "".join(parts) + reference[at:]


def rearranged(copy, rng):
    """Inverts two parts and moves one. Each has half of a fifth of the bases. Their ends may be in variants."""
    fifth = len(copy) // 5
    half = fifth // 2
    for part in (0, 2):
        start = part * fifth + rng.randrange(half)
        copy = copy[:start] + copy[start:start + half][::-1].translate(COMPLEMENT) + copy[start + half:]
    start = fifth + rng.randrange(half)
    moved, rest = copy[start:start + half], copy[:start] + copy[start + half:]
    to = 3 * fifth + rng.randrange(fifth)
    return rest[:to] + moved + rest[to:]


def records(reference, variants):
    """Returns VCF lines."""
    lines = []
    for start, end, letters in variants:
        anchored = start if end - start == len(letters) else start - 1
        base = reference[anchored:start]
        lines.append(f"ref\t{anchored + 1}\t.\t{reference[anchored:end]}\t{base}{letters}\t.\t.\t.\n")
    return lines


def normalised(folder, name, text):
    """Returns the set of (position, REF, ALT)."""
    path = folder / f"{name}.vcf"
    path.write_text(text)
    command = ["bcftools", "norm", "--check-ref", "e", "-f", folder / "ref.fa", path]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = (line.split("\t") for line in output.splitlines() if not line.startswith("#"))
    return {(int(row[1]), row[3], row[4]) for row in rows}


def of_cs(cs, start):
    """Returns the variants of a cs tag that starts at a position of the reference."""
    variants, at, text = [], start, cs
    while text:
        size = next((k for k in range(1, len(text)) if text[k] in ":*+-"), len(text))
        kind, value, text = text[0], text[1:size], text[size:]
        if kind == ":":
            at += int(value)
        elif kind == "*":
            variants.append((at, at + 1, value[1].upper()))
            at += 1
        elif kind == "+":
            variants.append((at, at, value.upper()))
        else:
            variants.append((at, at + len(value), ""))
            at += len(value)
    return variants


def minimap2(folder, preset, reference):
    paf = subprocess.run(["minimap2", "-cx", preset, "--cs", folder / "ref.fa", folder / "copy.fa"], check=True,
                         capture_output=True, text=True).stdout
    variants = set()
    for row in (line.split("\t") for line in paf.splitlines()):
        if "tp:A:P" in row:
            cs = next(tag[5:] for tag in row if tag.startswith("cs:Z:"))
            variants.update(of_cs(cs, int(row[7])))
    return records(reference, sorted(variants))


def nucmer(folder, reference):
    def run(*command, **options):
        return subprocess.run(command, check=True, cwd=folder, capture_output=True, text=True, **options).stdout

    run("nucmer", "-p", "n", "ref.fa", "copy.fa")
    (folder / "f.delta").write_text(run("delta-filter", "-1", "n.delta"))
    variants = []
    for line in run("show-snps", "-CHTr", "f.delta").splitlines():
        position, was, now, other = line.split("\t")[:4]
        start, other = int(position) - 1, int(other)
        last = variants[-1] if variants else None
        if now == ".":
            if last and last[2] == "" and last[1] == start:
                last[1] += 1
            else:
                variants.append([start, start + 1, "", other])
        elif was == ".":
            # An inserted base follows the base at the position.
            if last and last[0] == last[1] == start + 1 and abs(last[3] - other) == 1:
                last[2], last[3] = last[2] + now, other
            else:
                variants.append([start + 1, start + 1, now, other])
        else:
            variants.append([start, start + 1, now, other])
    return records(reference, sorted(tuple(one[:3]) for one in variants))


def kind(variant):
    size = abs(len(variant[1]) - len(variant[2]))
    if size == 0:
        return "substitutions"
    bins = [(1, 20), (21, 200), (201, 1000), (1001, 5000)]
    return next((f"indels of {low} to {high}" for low, high in bins if size <= high), "longer indels")


def report(name, seconds, known, calls, is_listed):
    print(f"\n{name}: {seconds:.1f} s, {len(calls)} calls, {len(calls & known)} right, {len(known)} known")
    kinds = ["substitutions", "indels of 1 to 20", "indels of 21 to 200", "indels of 201 to 1000", "indels of 1001 to 5000",
             "longer indels"]
    for one in kinds:
        all_known = {variant for variant in known if kind(variant) == one}
        all_calls = {variant for variant in calls if kind(variant) == one}
        right = len(all_known & all_calls)
        print(f"  {one:24} recall {right}/{len(all_known)}, precision {right}/{len(all_calls)}")
    if not is_listed:
        return
    positions = sorted(position for position, _, _ in calls - known)
    for position, ref, alt in sorted(known - calls):
        at = bisect.bisect(positions, position)
        near = min((abs(other - position) for other in positions[max(0, at - 1):at + 1]), default=None)
        print(f"  missed: {position}, {len(ref)} to {len(alt)} bases, nearest wrong call {near}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairwave")
    parser.add_argument("reference")
    parser.add_argument("--bases", type=int, default=400000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scheme", default="asm5")
    parser.add_argument("--arguments", default="", help="further arguments for pairwave, separated by blanks")
    parser.add_argument("--top", default="1")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--rotate", action="store_true")
    parser.add_argument("--rearrange", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    reference = first_bases(options.reference, options.bases)
    variants = simulate(reference, rng)
    copy = changed(reference, variants)
    if options.rearrange:
        copy = rearranged(copy, rng)
    if options.rotate:
        first = rng.randrange(len(copy))
        copy = copy[first:] + copy[:first]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "ref.fa").write_text(f">ref\n{reference}\n")
        (folder / "copy.fa").write_text(f">copy\n{copy}\n")
        header = HEADER.format(len(reference))
        known = normalised(folder, "known", header + "".join(records(reference, variants)))
        command = [options.pairwave, "long", folder / "copy.fa", folder / "ref.fa", "--scheme", options.scheme, *options.arguments.split(),
                   "--format", "vcf", "--quiet",
                   "--min-score", "300", "--top", options.top]
        command += ["--circular-target"] if options.rotate else []
        begin = time.time()
        vcf = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        report("pairwave", time.time() - begin, known, normalised(folder, "pairwave", vcf), options.list)
        for other, call in [("minimap2", lambda: minimap2(folder, options.scheme, reference)),
                            ("nucmer", lambda: nucmer(folder, reference))]:
            begin = time.time()
            lines = call()
            report(other, time.time() - begin, known, normalised(folder, other, header + "".join(lines)), options.list)


if __name__ == "__main__":
    main()
