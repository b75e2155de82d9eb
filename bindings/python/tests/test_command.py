"""The command, as its entry point runs it."""

import os
import signal
import subprocess
import sys
import time

import pytest

COMMAND = [sys.executable, "-c", "import sys, pairwave; sys.argv[0] = 'pairwave'; sys.exit(pairwave.main())"]


def run(*words, **options):
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120, **options)


def test_output_and_exit_codes():
    version = run("--version")
    assert (version.returncode, version.stderr) == (0, "")
    import pairwave

    assert version.stdout == f"pairwave {pairwave.__version__}\n"
    wrong = run("allpairs", "none.fa")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "pairwave: error: none.fa: no such file\n"
    unknown = run("allpair")
    assert unknown.returncode == 2 and "allpairs" in unknown.stderr


def test_standard_input_and_output():
    found = run("allpairs", "-", "--fields", "query,target,score", input=">a\nACGT\n>b\nACGT\n")
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[1:] == ["a\tb\t20"]
    module = subprocess.run([sys.executable, "-m", "pairwave", "--version"], capture_output=True, text=True)
    assert module.stdout.startswith("pairwave ")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_the_command(tmp_path, ctrl_c):
    file = tmp_path / "long.fa"
    file.write_text("".join(f">{number}\n{'ACGTTGCA' * 4000}\n" for number in range(300)))
    with subprocess.Popen([*COMMAND, "allpairs", str(file), "--device", "cpu", "-o", str(tmp_path / "out.tsv")]) as process:
        while len(list(tmp_path.iterdir())) == 1:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
    assert list(tmp_path.iterdir()) == [file]
