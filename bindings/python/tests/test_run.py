"""Devices, threads, progress, the lock of the interpreter, and Ctrl-C."""

import os
import signal
import threading
import time

import pytest
from textbook import rng, sequences

import pairwave


def slow_sets():
    """Returns two sets whose distances take much longer than the tests wait."""
    generator = rng(8321)
    return [sequences(generator, 30, 2000, shortest=2000) * 100 for _ in range(2)]


def test_results_do_not_depend_on_devices_and_threads():
    generator = rng(8322)
    queries, targets = sequences(generator, 30, 60), sequences(generator, 30, 60)
    usual = pairwave.align(queries, targets, alphabet="dna")
    for options in ({"devices": "cpu"}, {"devices": ["cpu"], "threads": 3}, {"devices": "auto", "memory": 1 << 28}):
        other = pairwave.align(queries, targets, alphabet="dna", **options)
        assert (other.rows == usual.rows).all() and other.cigars == usual.cigars


def test_progress_ends_with_all_cells():
    calls = []
    queries, targets = ["ACGT" * 20] * 30, ["ACGA" * 15] * 20
    pairwave.cdist(queries, targets, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (30 * 80 * 20 * 60,) * 2
    assert calls == sorted(calls)


class Enough(Exception):
    """Ends a job."""


def test_other_threads_run_during_a_job():
    queries, targets = slow_sets()
    steps = []
    is_done = threading.Event()

    def count():
        while not is_done.wait(0.001):
            steps.append(time.monotonic())

    def end_after_100_steps(done, total):
        if len(steps) >= 100:
            raise Enough

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(Enough):
        pairwave.cdist(queries, targets, devices="cpu", progress=end_after_100_steps)
    is_done.set()
    thread.join()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_a_job(ctrl_c):
    queries, targets = slow_sets()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pairwave.cdist(queries, targets, devices="cpu")
    timer.join()
    assert pairwave.edit_distance("a", "b") == 1


def test_exceptions_of_the_progress_function_end_a_job():
    queries, targets = slow_sets()

    def fail(done, total):
        raise ZeroDivisionError(f"{done} of {total}")

    with pytest.raises(ZeroDivisionError, match="of 36000000000000"):
        pairwave.cdist(queries, targets, devices="cpu", progress=fail)
