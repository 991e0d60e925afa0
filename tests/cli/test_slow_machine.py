"""Under load, and on a slow disk, every run ends in a result, and the ledger holds every charge.

Three runs at once share one ledger. Load: two busy loops per processor beside them. A slow
disk: strace holds every system call that writes, renames, removes or waits for the disk (a tenth of a second each, half a
second where the disk must have written), in all threads.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys

import pytest

import tables
from sundog import Ledger

pytestmark = pytest.mark.slow
RUN = [sys.executable, "-c", "import sys; sys.argv[0] = 'sundog'; from sundog.cli.app import main; main()"]
SLOW = {"fsync,fdatasync": 500_000, "write,pwrite64,rename,renameat2,unlink,ftruncate": 100_000}
STRACE = [
    "strace", "-f", "--seccomp-bpf", "-qq", "-o", "calls", "-e", "trace=" + ",".join(SLOW),
    *(word for calls, delay in SLOW.items() for word in ("-e", f"inject={calls}:delay_enter={delay}")),
]  # fmt: skip
SECONDS = 400


@pytest.fixture
def place(tmp_path):
    tables.write_csv(tmp_path / "data.csv", tables.table(200))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    return tmp_path


@contextlib.contextmanager
def load():
    """Processes that never rest."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def three_at_once(place, before=()):
    """Three runs beside each other on one ledger: all end in a result, and the ledger holds what their certificates say."""
    ledger = Ledger(place / "ledger.sqlite")
    given = ["data.csv", "--schema", "schema.json", "--epsilon", "1", "--delta", "1e-6", "--neighbours", "add-remove"]
    environment = os.environ | {"SUNDOG_LEDGER": str(ledger.path)}
    folders = [place / f"out{number}" for number in range(3)]
    runs = [
        subprocess.Popen(
            [*before, *RUN, "synthesize", *given, "-o", str(folder)],
            cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for folder in folders
    ]  # fmt: skip
    said = [run.communicate(timeout=SECONDS)[1].decode() for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], said
    certificates = [json.loads((folder / "certificate.json").read_text(encoding="utf-8")) for folder in folders]
    assert float(ledger.account("clinic").exact_rho) == pytest.approx(sum(each["rho"] for each in certificates))
    assert all((folder / "synthetic.csv").exists() for folder in folders)


def test_under_load(place):
    with load():
        three_at_once(place)


@pytest.mark.skipif(not shutil.which("strace"), reason="strace, which slows the disk down, is not installed")
def test_on_a_slow_disk(place):
    three_at_once(place, before=STRACE)
    held = (place / "calls").read_text(errors="replace")
    assert held.count("fsync(") + held.count("fdatasync(") > 10
    assert "(DELAYED)" in held
