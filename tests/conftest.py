"""What all tests share: a ledger of their own, no network of time limits in hypothesis, and a small table of every kind."""

import ctypes
import functools
import gc
import math
import os
import signal
import sys
from pathlib import Path

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, is_hypothesis_test, settings

import postgresql

typer.main.get_command = typer.testing._get_command = functools.cache(typer.main.get_command)
"""The command line is put together once per process, not once per command: a tenth of the time of a small run."""
pytest_plugins = ("cpu_seconds", "seeded_noise")
PROFILES = {"short": True, "long": True, "random": False}
"""Of the laws that hypothesis runs, and whether the same examples come every time: `short` has two fifths of the examples."""
for name, seeded in PROFILES.items():
    settings.register_profile(
        name, deadline=None, max_examples=25, derandomize=seeded, suppress_health_check=list(HealthCheck)
    )
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "short")
settings.load_profile(PROFILE)


def pytest_collection_modifyitems(items):
    """Only a process in which JAX never ran can fork without a warning: files whose tests do come first."""
    first = {item.path for item in items if item.get_closest_marker("forks")}
    items.sort(key=lambda item: item.path not in first)
    if PROFILE == "short":
        for law in {item.obj for item in items if is_hypothesis_test(item.obj)}:
            shorten(law)


def pytest_collection():
    """What collecting makes stays until the end: looking through it again and again took a sixth of the time of the suite."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def shorten(law):
    """Two fifths of the examples of a law; all of them are in `make test-all`."""
    held = law._hypothesis_internal_use_settings
    law._hypothesis_internal_use_settings = settings(held, max_examples=max(2, held.max_examples * 2 // 5))


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """A suite that was started in the background inherits a deaf ear for Ctrl-C, and so would every process it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def own_ledger(tmp_path, monkeypatch):
    """No test can read or spend what another test, or the person running them, has on a ledger."""
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("SUNDOG_LEDGER", str(path))
    return path


@pytest.fixture(autouse=True, scope="module")
def compiled_programs_are_dropped():
    """What JAX compiled for one file would stay until the end: hundreds of megabytes, which the heap keeps unless asked.

    Dropping takes half a CPU second, so it waits until a worker is large.
    """
    yield
    if "jax" in sys.modules and resident() > LARGE:
        sys.modules["jax"].clear_caches()
        gc.collect()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)


LARGE = 900e6


def resident():
    """Bytes that this process holds now; without /proc it may be large."""
    sizes = Path("/proc/self/statm")
    return int(sizes.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if sizes.exists() else math.inf


@pytest.fixture(scope="session")
def postgresql_url():
    """The address of a PostgreSQL server of our own; the test is skipped, saying so, where there is none."""
    pytest.importorskip("adbc_driver_postgresql", reason="needs: pip install 'sundog[databases]'")
    with postgresql.server() as url:
        yield url
