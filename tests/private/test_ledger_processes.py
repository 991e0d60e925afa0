"""The ledger under kill -9, several processes at once, a full disk and a read-only one."""

import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sundog.domain.unit import PrivacyUnit
from sundog.errors import BudgetRefused
from sundog.private.accountant import Charge
from sundog.private.ledger import Ledger

CHARGING = Path(__file__).with_name("charging.py")
UNIT = PrivacyUnit()
RHO = 2.0**-7


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def start(ledger, times, *crash, before=()):
    command = [*before, sys.executable, str(CHARGING), str(ledger.path), "adult", str(times), str(RHO), *crash]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def finish(process):
    """The acknowledged numbers and the refusal, if any."""
    with process.stdout as output:  # not `communicate`, which loses what an earlier `readline` has read ahead
        lines = output.read().splitlines()
    process.wait(timeout=600)
    numbers = [int(line) for line in lines if line.isdigit()]
    return numbers, [line for line in lines if not line.isdigit()]


def recorded(ledger):
    return [entry.number for entry in ledger.account("adult").entries if entry.mechanism == "gaussian"]


def charge(ledger):
    return ledger.charge("adult", [Charge("gaussian", RHO, label="test")], unit=UNIT)


@pytest.mark.parametrize("most", [5, pytest.param(20, marks=pytest.mark.long)])
def test_kill_at_random_moments_forgets_nothing(ledger, most):
    dice, acknowledged = random.Random(most), []
    for kills in range(1, most + 1):
        process = start(ledger, 10_000)
        acknowledged.append(int(process.stdout.readline()))
        time.sleep(dice.uniform(0, 0.06))
        process.kill()
        acknowledged += finish(process)[0]
        present = recorded(ledger)
        assert set(acknowledged) <= set(present)
        assert len(present) <= len(acknowledged) + kills  # a kill may come between the entry and its receipt
    charge(ledger)
    assert len(set(acknowledged)) == len(acknowledged)


@pytest.mark.parametrize("crash", ["committed", "folded"])
@pytest.mark.parametrize("lose_log", [False, True])
def test_a_crash_between_the_writes_forgets_nothing(ledger, crash, lose_log):
    process = start(ledger, 5, crash)
    numbers, _ = finish(process)
    assert process.returncode == 9
    assert numbers == [1, 2, 3, 4]
    log = Path(f"{ledger.path}-wal")
    if crash == "committed":
        assert log.stat().st_size > 0
    if lose_log:
        log.unlink(missing_ok=True)
    kept = 4 if lose_log and crash == "committed" else 5
    assert recorded(ledger) == list(range(1, kept + 1))
    charge(ledger)
    assert Path(f"{ledger.path}.witness").read_text().startswith(f"{kept + 1} ")


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_at_once_share_one_limit(ledger, processes):
    ledger.set_limit("adult", rho=32 * RHO)
    running = [start(ledger, 100) for _ in range(processes)]
    finished = [finish(process) for process in running]
    acknowledged = [number for numbers, _ in finished for number in numbers]
    assert sorted(acknowledged) == recorded(ledger) == list(range(2, 34))
    assert all(lines[0].startswith("BudgetRefused") and "has spent" in lines[0] for _, lines in finished)
    assert ledger.account("adult").exact_rho == 32 * RHO


def test_threads_at_once_share_one_limit(ledger):
    ledger.set_limit("adult", rho=16 * RHO)
    refusals = []

    def work():
        for _ in range(10):
            try:
                charge(ledger)
            except BudgetRefused as refused:
                refusals.append(refused)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(recorded(ledger)) == 16
    assert len(refusals) == 14


@pytest.mark.parametrize("room", [60, 3_000, 20_000, 40_000])
def test_a_file_that_cannot_grow_is_refused(ledger, room):
    """Writing fails beyond a size, as on a full disk (Python ignores the signal that comes with it)."""
    for _ in range(3):
        charge(ledger)

    starve = f"import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room})); os.execv(sys.executable, sys.argv[1:])"
    numbers, refusals = finish(start(ledger, 1000, before=[sys.executable, "-c", starve]))
    assert refusals[0].startswith("BudgetRefused")
    assert "nothing was computed" in refusals[0]
    kept = recorded(ledger)
    assert set(numbers) | {1, 2, 3} <= set(kept)
    assert len(kept) <= len(numbers) + 4
    charge(ledger)


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("a small disk cannot be mounted here: needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_refused_and_room_mends_it(small_disk):
    ledger = Ledger(small_disk / "ledger.sqlite")
    numbers, refusals = finish(start(ledger, 1000))
    assert refusals[0].startswith("BudgetRefused")
    assert "Free space" in refusals[0]
    assert numbers
    subprocess.run(["mount", "-o", "remount,size=1m", small_disk], check=True)
    assert set(numbers) <= set(recorded(ledger))
    charge(ledger)


def test_a_read_only_disk_is_refused(small_disk):
    ledger = Ledger(small_disk / "ledger.sqlite")
    charge(ledger)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(BudgetRefused, match="nothing was computed"):
        charge(ledger)
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    assert recorded(ledger) == [1]
