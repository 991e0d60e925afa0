"""A studio whose workers run in the same process: quick, and every line of theirs is the one that a worker process runs."""

import pytest

from studio_visits import client_of, write_table
from sundog.studio import jobs, worker


@pytest.fixture
def at_once(monkeypatch):
    """Jobs are done within the click that starts them."""
    monkeypatch.setattr(jobs, "_spawn", worker.main)


@pytest.fixture
def client(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return client_of(tmp_path)


@pytest.fixture
def data(tmp_path):
    return write_table(tmp_path / "visits.csv")
