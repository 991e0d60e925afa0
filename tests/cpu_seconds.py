"""How long tests take: the slowest are printed, and `make test` refuses a test above ten CPU seconds.

Counted is the processor time of the worker and of the processes that it has waited for, in the test and in the fixtures that it is
the first to use. Other work on the machine takes wall time, not this; but processes that share caches and cores take up to
twice the CPU seconds, and some machines are slow. So the limit is in seconds of a machine and moment at which a small piece
of work, done right after a test that took long, needs `USUAL` seconds. A test that needs longer is marked `long`, and keeps a shorter
form for `make test`.
"""

import os
import time

import pytest

MOST = 10.0
USUAL = 0.032
"""Of `slowness`, on one core of an otherwise idle server."""
LONGER = ("long", "slow", "browser", "spark")
"""Marks of tests that `make test` leaves out."""
SHOWN = 20
REMEDY = "make it cheaper, or mark it `long` and keep a shorter form"
NAME = "cpu_seconds"
begun = pytest.StashKey[float]()
found: dict[str, float] = {}
"""By test, in the process that reports."""


def now() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def slowness() -> float:
    """How many times as long a little work takes here and now as usual; at least 1."""
    start, cells = time.process_time(), {}
    for number in range(300_000):
        cells[number * 7919 % 100_003] = str(number)
    sorted(cells.values())
    return max(1.0, (time.process_time() - start) / USUAL)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    item.stash[begun] = now()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        seconds = now() - item.stash.get(begun, now())
        report.user_properties.append((NAME, seconds))
        longer = any(item.get_closest_marker(mark) for mark in LONGER)
        if report.passed and not longer and seconds > MOST and seconds > MOST * slowness():
            report.outcome = "failed"
            report.longrepr = (
                f"{item.nodeid} took {seconds:.1f} CPU seconds; at most {MOST:.0f} in `make test`: {REMEDY}"
            )
    return report


def pytest_runtest_logreport(report):
    if report.when == "call":
        found[report.nodeid] = dict(report.user_properties).get(NAME, 0.0)


def pytest_terminal_summary(terminalreporter):
    if len(found) > SHOWN:
        slowest = sorted(found.items(), key=lambda each: -each[1])[:SHOWN]
        terminalreporter.section(f"slowest {SHOWN} of {sum(found.values()):.0f} CPU seconds")
        for name, seconds in slowest:
            terminalreporter.write_line(f"{seconds:6.2f}  {name[:120]}")
