"""What is told reaches whoever listens, and nobody else; shares come with the time that is left, and not too often."""

import logging
import subprocess
import sys

import numpy as np
import pytest

import sundog
from related_tables import DOCUMENT, related
from sundog import progress
from sundog.private import noise
from sundog.progress import listening, tell, tell_share


def test_the_innermost_listener_hears_and_then_the_outer_one_again():
    outer, inner = [], []
    tell("nobody listens")
    with listening(outer.append):
        tell("one")
        with listening(inner.append):
            tell("two")
        tell("three")
    tell("nobody listens")
    assert (outer, inner) == (["one", "three"], ["two"])


def test_a_listener_is_gone_after_a_failure():
    heard = []
    try:
        with listening(heard.append):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        tell("afterwards")
    assert heard == []


def test_shares_come_with_the_time_left_and_not_too_often(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    heard = []
    with listening(heard.append):
        tell("fitting")
        for step in range(101):
            tell_share(step / 100, "loss 7" if step == 50 else "")
            clock[0] += 0.125
        tell("sampling")
        tell_share(0.5)
    assert heard[0] == "fitting"
    assert heard[1] == "fitting: 0%"
    assert "fitting: 50%, up to 6 s left, loss 7" in heard
    assert "fitting: 100%, up to 0 s left" in heard
    assert heard.count("fitting: 2%") == 1
    assert not any("fitting: 51%" in words for words in heard)
    assert heard[-2:] == ["sampling", "sampling: 50%"]


def test_the_logger_hears_phases_and_is_quiet_by_default(caplog):
    with caplog.at_level(logging.INFO, logger="sundog"):
        tell("fitting")
        tell_share(0.3)
    assert [(record.name, record.message) for record in caplog.records] == [("sundog", "fitting")]
    script = "import sundog; from sundog.progress import tell, tell_share; tell('fitting'); tell_share(0.4)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_what_is_logged_does_not_depend_on_the_rows(monkeypatch, caplog, tmp_path):
    monkeypatch.setattr(noise, "add_gaussian", lambda counts, scale: np.full(len(counts), 50, dtype=np.int64))
    tables = [related(300, 1).to_arrow(), {"a": ["new"], "b": [None], "x": [10**9], "z": ["?"], "y": ["maybe"]}]
    logs = []
    for number, table in enumerate(tables):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, logger="sundog"):
            spent = tmp_path / f"{number}.sqlite"
            sundog.Synthesizer(DOCUMENT, epsilon=1.0, delta=1e-9, seed=3, ledger=spent).fit(table)
        logs.append([record.message for record in caplog.records])
    assert logs[0] == logs[1]
    assert "measuring columns" in logs[0]


@pytest.mark.parametrize("method", ["mst", pytest.param("rap", marks=pytest.mark.long), "privpgd"])
def test_fits_tell_how_far_they_are(method, monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    made = sundog.Synthesizer(DOCUMENT, epsilon=1.0, delta=1e-9, seed=3, method=method)
    heard = []
    made.fit(related(300, 1).to_arrow(), report=heard.append)
    assert any(f"fitting {method}: " in words and "%" in words for words in heard), heard[-3:]
