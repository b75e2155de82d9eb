"""Fixtures of several files."""

import signal

import pytest


@pytest.fixture
def ctrl_c():
    """Handles SIGINT as Python usually does. A background job of a shell ignores it, and so would the tests."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous or signal.SIG_DFL)
