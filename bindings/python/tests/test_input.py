"""Sequences from lists and files, and errors."""

import gzip
from pathlib import Path

import pytest

import pairwave


def test_paths_are_files_and_texts_are_sequences(tmp_path):
    file = tmp_path / "two.fa.gz"
    file.write_bytes(gzip.compress(b">a first\nACGT\nAC\n>b\nGATTACA\n"))
    for path in (file, pairwave.File(file), pairwave.File(str(file))):
        found = pairwave.align(path, ["ACGTAC", "GATTACA"])
        assert (found.queries, found.cigars) == (["a", "b"], ["6=", "7="])
    assert pairwave.cdist(file, file).tolist() == [[0, 4], [4, 0]]
    assert Path(pairwave.File(file)) == file and pairwave.File(file).path == str(file)
    with pytest.raises(TypeError, match="query and target must both"):
        pairwave.align(str(file), ["ACGT"])
    with pytest.raises(TypeError, match=r"queries is one sequence: .*pairwave.File"):
        pairwave.cdist("ACGT", ["ACGT"])


def test_errors_name_argument_record_and_column():
    with pytest.raises(pairwave.Error, match="'!' is not a letter") as caught:
        pairwave.align([("good", "ACGT"), ("bad", "AC!T")], ["A", "C"])
    error = caught.value
    assert (error.file, error.record, error.line, error.column) == ("query", "bad", None, 3)
    assert isinstance(error, ValueError)


def test_errors_name_file_and_line(tmp_path):
    file = tmp_path / "bad.fa"
    file.write_text(">a\nACGT\nAC-T\n")
    with pytest.raises(pairwave.Error, match="degap removes gaps") as caught:
        pairwave.align(file, file)
    error = caught.value
    assert (error.file, error.record, error.line, error.column) == (str(file), "a", 3, 3)
    assert pairwave.align(file, file, degap=True).rows["score"].tolist() == [35]
    with pytest.raises(pairwave.Error, match="no such file") as caught:
        pairwave.align(tmp_path / "none.fa", file)
    assert caught.value.file == str(tmp_path / "none.fa") and caught.value.record is None


def test_empty_lists_are_refused():
    for call in (lambda: pairwave.align([], []), lambda: pairwave.cdist([]), lambda: pairwave.cdist(["A"], [])):
        with pytest.raises(pairwave.Error, match="there are no sequences"):
            call()
    with pytest.raises(pairwave.Error, match="there are 2 queries but 1 targets"):
        pairwave.align(["A", "C"], ["A"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "globl"}, "mode 'globl': it must be 'global', 'semi-global', 'local'"),
        ({"scheme": "blast"}, "scheme 'blast': it must be one of pairwave, truong"),
        ({"match": 5, "matrix": "BLOSUM62"}, "no effect with matrix"),
        ({"match": -5}, "match -5: it is below mismatch -4"),
        ({"gap_extend": -1}, "gap_open and gap_extend: these are costs"),
        ({"mode": "local", "end_gap_open": 1}, "need the mode 'global'"),
        ({"iddef": 5}, "iddef 5"),
        ({"devices": "no such card"}, "no device is called 'no such card'"),
        ({"alphabet": "protein", "strand": "both"}, "strand: only DNA and RNA"),
    ],
)
def test_wrong_options_are_errors(options, message):
    with pytest.raises(pairwave.Error) as caught:
        pairwave.align(["ACGT"], ["ACGT"], **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gap_opening": 1}, "align() got an unexpected keyword argument 'gap_opening'"),
        ({"gap_open": "1"}, "align() got a wrong gap_open"),
        ({"progress": 1}, "progress must be a function"),
    ],
)
def test_wrong_types_are_type_errors(options, message):
    with pytest.raises(TypeError) as caught:
        pairwave.align(["ACGT"], ["ACGT"], **options)
    assert message in str(caught.value)
    with pytest.raises(TypeError, match=r"target\[1\] is neither"):
        pairwave.align(["A", "C"], ["A", 5])
