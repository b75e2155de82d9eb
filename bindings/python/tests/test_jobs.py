"""allpairs, search, cluster, msa and long."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from textbook import gotoh, rng, sequences

import pairwave

ASSETS = Path(__file__).parents[3] / "assets"
COSTS = {"match": 5, "mismatch": -4, "gap_open": 8, "gap_extend": 2}


@pytest.fixture
def genes(tmp_path):
    """Returns a file of the first 300 bases of 12 genes."""
    records = (ASSETS / "16s/gold12.fasta").read_text().split(">")[1:]
    texts = [(lines[0], "".join(lines[1:])[:300]) for lines in map(str.splitlines, records)]
    file = tmp_path / "genes.fa"
    file.write_text("".join(f">{name}\n{letters}\n" for name, letters in texts))
    return file


def test_all_pairs_have_the_scores_of_the_textbook():
    generator = rng(8331)
    queries, targets = sequences(generator, 8, 25), sequences(generator, 6, 25)
    found = pairwave.allpairs(queries, targets, alphabet="dna", **COSTS)
    pairs = [(a, b) for a in range(8) for b in range(6)]
    assert list(zip(found.rows["query"], found.rows["target"], strict=True)) == pairs
    assert found.rows["score"].tolist() == [gotoh(queries[a], targets[b], **COSTS) for a, b in pairs]
    scores = pairwave.allpairs(queries, alphabet="dna", score_only=True, **COSTS)
    assert scores.cigars is None and len(scores) == 28
    for row in scores.rows:
        assert row["query"] < row["target"]
        assert row["score"] == gotoh(queries[row["query"]], queries[row["target"]], **COSTS)


def test_all_pairs_of_a_file_pass_the_filter(genes):
    everything, similar = pairwave.allpairs(genes), pairwave.allpairs(pairwave.File(genes), min_identity=0.85)
    assert (len(everything), everything.queries[0]) == (66, similar.queries[0])
    passing = everything.rows[everything.rows["identity"] >= 0.85]
    assert np.array_equal(similar.rows, passing) and 0 < len(similar) < 66
    best = pairwave.allpairs(genes, max_hits=1)
    assert len(best) == len(set(best.rows["query"]))
    with pytest.raises(pairwave.Error, match="min_identity 97: ") as caught:
        pairwave.allpairs(genes, min_identity=97)
    assert caught.value.file is None
    with pytest.raises(pairwave.Error, match="max_hits 0"):
        pairwave.allpairs(genes, max_hits=0)


def test_searches_find_the_best_local_alignments():
    generator = rng(8332)
    database = [(f"t{number}", text) for number, text in enumerate(sequences(generator, 40, 200, shortest=100))]
    queries = [("q0", database[7][1][20:90]), ("q1", database[11][1][:50])]
    found = pairwave.search(queries, database, scheme="blastn", evalue=1e-6)
    assert [found.targets[target] for target in found.rows["target"]] == ["t7", "t11"]
    assert found.rows["record"].tolist() == [7, 11] and found.cigars == ["70=", "50="]
    assert (found.rows["evalue"] < 1e-6).all() and (found.rows["bits"] > 50).all()
    for row in pairwave.search(queries, database, scheme="blastn", strand="plus", max_hits=3, evalue=1e9).rows:
        query, target = queries[row["query"]][1], database[row["record"]][1]
        assert row["score"] == gotoh(query, target, 2, -3, 5, 2, mode="local")


def test_databases_and_files_give_equal_hits(tmp_path):
    queries, subjects = ASSETS / "proteins/queries.fasta", ASSETS / "proteins/subjects.fasta"
    database = tmp_path / "subjects.pwdb"
    command = [sys.executable, "-m", "pairwave", "makedb", str(subjects), "-o", str(database), "--quiet"]
    assert subprocess.run(command).returncode == 0
    from_file = pairwave.search(queries, subjects, max_hits=2)
    from_database = pairwave.search(queries, pairwave.File(database), max_hits=2)
    assert len(from_file) > 0 and from_file.targets == from_database.targets
    assert np.array_equal(from_file.rows, from_database.rows)


def test_clusters_keep_their_threshold(genes):
    found = pairwave.cluster(genes, 0.85)
    names = pairwave.allpairs(genes, score_only=True).queries
    assert found.names == names and len(found.rows) == 12 and len(found) == len(found.centroids)
    assert (found.rows["identity"] >= 0.85).all()
    assert (found.rows["centroid"] == np.array(found.centroids)[found.rows["cluster"]]).all()
    similar = {(row["query"], row["target"]) for row in pairwave.allpairs(genes, min_identity=0.85).rows}
    for a in found.centroids:
        assert found.rows["cluster"][a] == found.centroids.index(a)
        assert not any((a, b) in similar for b in found.centroids)
    copies = pairwave.cluster(["ACGTACGTAA", "TTACGTACGT", "ACGTACGTAA"], 0.85, strand="both", alphabet="dna")
    assert copies.rows["cluster"].tolist() == [0, 0, 0] and sorted(copies.rows["strand"]) == [-1, 1, 1]


def test_multiple_alignments_have_all_residues():
    proteins = ["MKVLATGGSGFIGS", "MKVLVTGGAGFIG", "MKILATGSGFIGS"]
    for mode in ("accurate", "clustalw"):
        found = pairwave.msa(proteins, mode=mode, alphabet="protein")
        assert [row.replace("-", "") for row in found.rows] == proteins
        assert found.matrix.shape == (3, len(found.rows[0])) and sorted(found.order) == [0, 1, 2]
        assert ["".join(map(chr, row)) for row in found.matrix] == found.rows
        assert found.confidence is None
    confidence = pairwave.msa(proteins, alphabet="protein", confidence=True).confidence
    assert (confidence >= 0).all() and (confidence <= 1).all() and len(confidence) == len(found.rows[0])


def test_long_pairs_have_the_score_of_the_textbook(genes):
    generator = rng(8333)
    a, b = sequences(generator, 2, 300, shortest=200)
    for mode in ("local", "global", "semi-global"):
        found = pairwave.long(a, [("b", b)], mode=mode, alphabet="dna", **COSTS)
        assert found.rows["score"].tolist() == [gotoh(a, b, mode=mode, **COSTS)], mode
        assert (found.queries, found.targets) == (["0"], ["b"])
    one = pairwave.align(a, b, mode="local", alphabet="dna", **COSTS)
    best = pairwave.long(a, b, alphabet="dna", top=3, **COSTS)
    assert (len(best), best.rows["score"][0]) == (3, one.score)


def test_long_aligns_all_records():
    generator = rng(8334)
    queries, targets = sequences(generator, 3, 60, shortest=40), sequences(generator, 4, 60, shortest=40)
    found = pairwave.long(queries, targets, alphabet="dna", top=2, **COSTS).rows
    all_scores = []
    for query in range(3):
        for target in range(4):
            alone = pairwave.long(queries[query], targets[target], alphabet="dna", top=2, **COSTS).rows["score"]
            of_pair = (found["query"] == query) & (found["target"] == target)
            assert found["score"][of_pair].tolist() == alone.tolist(), (query, target)
            all_scores.extend(alone.tolist())
    best = pairwave.long(queries, targets, alphabet="dna", top_per="all", **COSTS).rows
    assert best["score"].tolist() == [max(all_scores)]
    assert (best["bits"] != best["bits"]).all() and (best["evalue"] != best["evalue"]).all()
    with pytest.raises(pairwave.Error, match="top_per"):
        pairwave.long(queries, targets, top_per="target")


def test_long_has_the_evalues_of_search(genes):
    options = {"alphabet": "dna", "scheme": "blastn", "strand": "both", "evalue": 1e-3}
    found, hits = (job(genes, genes, **options).rows for job in (pairwave.long, pairwave.search))
    fields = ["query", "strand", "score", "bits", "evalue"]
    assert len(found) >= 12 and (found["evalue"] <= 1e-3).all()
    assert sorted(found[fields].tolist()) == sorted(hits[fields].tolist())
    with pytest.raises(pairwave.Error, match="evalue"):
        pairwave.long(genes, genes, evalue=1, **COSTS)
