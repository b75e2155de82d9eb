"""Textbook algorithms, and random sequences from printed seeds."""

import os
import random


def rng(seed):
    """Returns a generator. PAIRWAVE_TEST_SEED (default 0) is added to the seed; pytest shows the line of a failed test."""
    added = int(os.environ.get("PAIRWAVE_TEST_SEED", "0"))
    print(f"seed {seed} + {added}")
    return random.Random(seed + added)


def sequences(generator, count, longest, letters="ACGT", shortest=0):
    """Returns random texts of shortest to longest letters."""
    lengths = [generator.randint(shortest, longest) for _ in range(count)]
    return ["".join(generator.choices(letters, k=length)) for length in lengths]


def levenshtein(a, b, free_start=False, free_end=False):
    """Returns the edit distance of a and b, or of a and the nearest part of b."""
    row = [0 if free_start else j for j in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j - 1] + (x != y), above[j] + 1, row[j - 1] + 1))
    return min(row) if free_end else row[-1]


def gotoh(a, b, match, mismatch, gap_open, gap_extend, mode="global"):
    """Returns the best score of an alignment whose gaps of k symbols cost gap_open + k * gap_extend."""
    low = float("-inf")
    is_free = mode != "global"
    first, further = gap_open + gap_extend, gap_extend
    border = [0] + [0 if is_free else -(gap_open + k * gap_extend) for k in range(1, max(len(a), len(b)) + 1)]
    h = border[: len(b) + 1]
    vertical = [low] * (len(b) + 1)
    best = 0
    last_column = [h[-1]]
    for i, x in enumerate(a, 1):
        above, h = h, [border[i]]
        horizontal = low
        for j, y in enumerate(b, 1):
            horizontal = max(horizontal - further, h[j - 1] - first)
            vertical[j] = max(vertical[j] - further, above[j] - first)
            score = above[j - 1] + (match if x == y else mismatch)
            score = max(score, horizontal, vertical[j], 0 if mode == "local" else low)
            h.append(score)
            best = max(best, score)
        last_column.append(h[-1])
    return {"global": h[-1], "local": best, "semi-global": max(h + last_column)}[mode]


def rescore(cigar, a, b, match, mismatch, gap_open, gap_extend):
    """Returns the score of the columns of a CIGAR that covers a and b, and checks that its columns are correct."""
    i = j = score = 0
    length = ""
    for letter in cigar:
        if letter.isdigit():
            length += letter
            continue
        k, length = int(length), ""
        if letter in "=X":
            for x, y in zip(a[i : i + k], b[j : j + k], strict=True):
                assert (x == y) == (letter == "=")
            score += k * (match if letter == "=" else mismatch)
            i, j = i + k, j + k
        else:
            score -= gap_open + k * gap_extend
            i, j = (i + k, j) if letter == "I" else (i, j + k)
    assert (i, j) == (len(a), len(b))
    return score
