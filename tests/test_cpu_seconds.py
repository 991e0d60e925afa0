"""A test that takes too long is refused by its processor time, and the laws of hypothesis have a short form."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cpu_seconds

pytest_plugins = ("pytester",)
BUSY = """
import time
import pytest
{mark}
def test_one():
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass
def test_sleeps():
    time.sleep(0.2)
"""


@pytest.mark.parametrize(("mark", "failed"), [("", 1), ("@pytest.mark.slow", 0)])
def test_processor_time_counts_and_sleep_does_not(pytester, monkeypatch, mark, failed):
    pytester.makepyfile(BUSY.format(mark=mark))
    pytester.makeini("[pytest]\nmarkers = slow: x\n")
    with monkeypatch.context() as inside:
        inside.setattr(cpu_seconds, "MOST", 0.15)
        inside.setattr(cpu_seconds, "slowness", lambda: 1.0)
        inside.setattr(cpu_seconds, "found", {})
        pytester.inline_run("-p", "cpu_seconds").assertoutcome(passed=2 - failed, failed=failed)


def test_a_slow_moment_is_allowed_for(pytester, monkeypatch):
    pytester.makepyfile(BUSY.format(mark=""))
    with monkeypatch.context() as inside:
        inside.setattr(cpu_seconds, "MOST", 0.15)
        inside.setattr(cpu_seconds, "slowness", lambda: 10.0)
        inside.setattr(cpu_seconds, "found", {})
        pytester.inline_run("-p", "cpu_seconds").assertoutcome(passed=2)


def test_slowness_is_at_least_one(monkeypatch):
    assert cpu_seconds.slowness() >= 1
    monkeypatch.setattr(cpu_seconds, "USUAL", cpu_seconds.USUAL / 1000)
    assert cpu_seconds.slowness() > 100


examples = {"read": 0}


@given(st.integers())
def test_a_law_has_fewer_examples_in_short(number):
    examples["read"] += 1


def test_how_many_there_were(request):
    expected = 10 if os.environ.get("HYPOTHESIS_PROFILE", "short") == "short" else 25
    if examples["read"]:  # the law before runs in the same process: a file stays together
        assert examples["read"] == expected


def test_children_count():
    before = cpu_seconds.now()
    busy = "import time\nwhile time.process_time() < 0.2: pass"
    subprocess.run([sys.executable, "-c", busy], check=True)
    assert cpu_seconds.now() - before > 0.15
