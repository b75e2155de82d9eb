"""edit_distance and cdist."""

import numpy as np
import pytest
from textbook import gotoh, levenshtein, rng, sequences

import pairwave


@pytest.mark.parametrize(("mode", "free"), [("global", (0, 0)), ("infix", (1, 1)), ("prefix", (0, 1)), ("HW", (1, 1))])
def test_distances_are_those_of_the_textbook(mode, free):
    generator = rng(8311)
    texts = sequences(generator, 40, 30, "abcdE \n\r\0é→")
    for a, b in zip(texts[::2], texts[1::2], strict=True):
        least = levenshtein(a, b, *free)
        assert pairwave.edit_distance(a, b, mode=mode) == least, (a, b)
        assert pairwave.edit_distance(a, b, mode=mode, threads=1) == least, (a, b)
        assert pairwave.edit_distance(a, b, mode=mode, k=5) == (least if least <= 5 else None)
        assert pairwave.edit_distance(a.encode(), b.encode()) == levenshtein(a.encode(), b.encode())


def test_nucleotide_codes_match_if_they_share_a_base():
    assert pairwave.edit_distance("GATNACR", "gauuaca", alphabet="dna") == 0
    assert pairwave.edit_distance("GATNACR", "gauuaca") == 7
    assert pairwave.edit_distance("MKV", "mkv", alphabet="protein") == 0


def test_more_than_255_characters_are_refused():
    assert pairwave.edit_distance("".join(map(chr, range(255))), "") == 255
    with pytest.raises(pairwave.Error, match="255 different"):
        pairwave.edit_distance("".join(map(chr, range(256))), "")


def test_matrices_of_distances():
    generator = rng(8312)
    queries, targets = sequences(generator, 9, 20, "abcé"), sequences(generator, 13, 20, "abcé")
    matrix = pairwave.cdist(queries, targets)
    assert (matrix.shape, matrix.dtype) == ((9, 13), np.int32)
    expected = np.array([[levenshtein(a, b) for b in targets] for a in queries])
    assert np.array_equal(matrix, expected)
    assert np.array_equal(pairwave.cdist(queries, targets, k=6), np.minimum(expected, 7))
    square = pairwave.cdist(queries)
    assert np.array_equal(square, [[levenshtein(a, b) for b in queries] for a in queries])
    infix = pairwave.cdist(queries, mode="infix")
    assert np.array_equal(infix, [[levenshtein(a, b, True, True) for b in queries] for a in queries])


@pytest.mark.parametrize("mode", ["global", "semi-global", "local"])
def test_matrices_of_scores(mode):
    generator = rng(8313)
    queries, targets = sequences(generator, 7, 20), sequences(generator, 11, 20)
    costs = {"match": 2, "mismatch": -3, "gap_open": 5, "gap_extend": 2}
    matrix = pairwave.cdist(queries, targets, metric="score", mode=mode, alphabet="dna", **costs)
    assert (matrix.shape, matrix.dtype) == ((7, 11), np.int64)
    assert np.array_equal(matrix, [[gotoh(a, b, mode=mode, **costs) for b in targets] for a in queries])
    named = pairwave.cdist(queries, metric="blastn", mode=mode, alphabet="dna")
    assert np.array_equal(named, [[gotoh(a, b, mode=mode, **costs) for b in queries] for a in queries])


def test_empty_texts_have_distances():
    assert pairwave.cdist(["", "ab"], ["", "b"]).tolist() == [[0, 1], [2, 1]]
    assert pairwave.edit_distance("", b"abc") == 3
