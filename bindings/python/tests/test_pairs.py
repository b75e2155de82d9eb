"""align: scores, columns and positions."""

import numpy as np
import pytest
from textbook import gotoh, rescore, rng, sequences

import pairwave

COSTS = {"match": 5, "mismatch": -4, "gap_open": 8, "gap_extend": 2}


@pytest.mark.parametrize("mode", ["global", "semi-global", "local"])
def test_scores_and_columns_are_those_of_the_textbook(mode):
    generator = rng(8301)
    queries, targets = (sequences(generator, 60, 24) for _ in range(2))
    found = pairwave.align(queries, targets, mode=mode, alphabet="dna", **COSTS)
    assert len(found) == 60 and found.rows["query"].tolist() == found.rows["target"].tolist() == list(range(60))
    for row, cigar, a, b in zip(found.rows, found.cigars, queries, targets, strict=True):
        assert row["score"] == gotoh(a, b, mode=mode, **COSTS), (a, b)
        if mode != "semi-global":
            part_a, part_b = a[row["query_start"] : row["query_end"]], b[row["target_start"] : row["target_end"]]
            assert rescore(cigar, part_a, part_b, **COSTS) == row["score"]
        columns = row["matches"] + row["mismatches"] + row["gap_columns"]
        assert columns == sum(int(run) for run in cigar.translate(str.maketrans("=XID", "    ")).split())


def test_one_pair_equals_the_row_of_a_list():
    generator = rng(8302)
    for a, b in zip(sequences(generator, 10, 30), sequences(generator, 10, 30), strict=True):
        one = pairwave.align(a, b.encode(), alphabet="dna", strand="both")
        many = pairwave.align([a], [b], alphabet="dna", strand="both")
        assert many.cigars == [one.cigar]
        for field in many.rows.dtype.names[2:]:
            assert many.rows[field][0] == getattr(one, field), field


def test_positions_on_the_minus_strand_are_those_of_the_given_query():
    found = pairwave.align("TTTTGATTACA", "CCTGTAATCCC", mode="local", strand="both")
    assert (found.strand, found.query_start, found.query_end) == (-1, 4, 11)
    assert (found.target_start, found.target_end, found.cigar) == (2, 9, "7=")


def test_schemes_and_matrices():
    assert pairwave.align("HEAGAWGHEE", "PAWHEAE", mode="local", alphabet="protein").score > 0
    plain = pairwave.align("GATTACA", "GCATGCT")
    assert (plain.score, plain.cigar, plain.identity) == (-1, "1=2X1=1X1=1X", 3 / 7)
    assert pairwave.align("GATTACA", "GATTACA", scheme="blastn").score == 14
    assert pairwave.align("HEAGAW", "HEAGAW", matrix="BLOSUM50", alphabet="protein").score == 49
    assert pairwave.align("ACGT", "ACGT", score_only=True).cigar is None


def test_empty_sequences_align_with_gaps():
    found = pairwave.align(["", "ACG", ""], ["ACG", "", ""], alphabet="dna", **COSTS)
    assert found.rows["score"].tolist() == [-14, -14, 0]
    assert found.cigars == ["3D", "3I", ""]
    assert pairwave.align("", "", alphabet="dna").cigar == ""


def test_names_are_indices_unless_they_are_given():
    found = pairwave.align([("a", "ACGT"), (b"b", b"AC")], ["ACGT", bytearray(b"AC")])
    assert (found.queries, found.targets) == (["a", "b"], ["0", "1"])
    assert isinstance(found.rows, np.ndarray) and found.rows.flags.writeable
    assert "2 pairs" in repr(found)
