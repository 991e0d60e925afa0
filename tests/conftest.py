"""What all tests share: a ledger of their own, no network of time limits in hypothesis, and a small table of every kind."""

import ctypes
import gc
import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings

import postgresql

settings.register_profile("sundog", deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "sundog"))


def pytest_collection_modifyitems(items):
    """Only a process in which JAX never ran can fork without a warning: files whose tests do come first."""
    first = {item.path for item in items if item.get_closest_marker("forks")}
    items.sort(key=lambda item: item.path not in first)


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
    """What JAX compiled for one file would stay until the end: hundreds of megabytes, which the heap keeps unless asked."""
    yield
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
        gc.collect()
        if sys.platform == "linux":
            ctypes.CDLL(None).malloc_trim(0)


@pytest.fixture(scope="session")
def postgresql_url():
    """The address of a PostgreSQL server of our own; the test is skipped, saying so, where there is none."""
    pytest.importorskip("adbc_driver_postgresql", reason="needs: pip install 'sundog[databases]'")
    with postgresql.server() as url:
        yield url
