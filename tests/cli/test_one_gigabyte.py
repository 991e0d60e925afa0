"""A run that may use one gigabyte of memory ends in a result, or in a message before anything is spent or made.

What the kernel would do is done here: the process is killed as soon as more is resident. Sundog is told the limit as a
container's, which it reads off the control groups.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sundog import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.data]
LIMIT = 10**9
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CONTAINED = f"""
from sundog import sizes
sizes._container_limits = lambda: [{LIMIT}]
from sundog.cli.app import main
main()
"""


def watched(folder, *arguments):
    """The exit code, what was said, and the most bytes that were resident; killed where they pass the limit."""
    environment = os.environ | {"SUNDOG_LEDGER": str(folder / "ledger.sqlite")}
    command = [sys.executable, "-c", CONTAINED, *map(str, arguments)]
    process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    most = 0
    while process.poll() is None:
        most = max(most, resident(process.pid))
        if most > LIMIT:
            process.kill()
        time.sleep(0.02)
    return process.returncode, process.stderr.read().decode(), most


def resident(number):
    try:
        text = Path(f"/proc/{number}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmRSS")), 0)


@pytest.mark.skipif(not (DATA / "adult.parquet").exists(), reason="the public tables are not beside the project")
def test_a_table_of_fifty_thousand_rows_and_a_release_of_too_many(tmp_path):
    given = (DATA / "adult.parquet", "--schema", DATA / "adult.schema.json", "--epsilon", "1", "--delta", "1e-6")
    code, said, most = watched(tmp_path, "synthesize", *given, "-o", "out", "--seed", "1")
    assert code == 0, said
    assert 10**8 < most < LIMIT
    spent = Ledger(tmp_path / "ledger.sqlite").accounts()
    code, said, most = watched(tmp_path, "generate", "out/released.json", "-o", "many", "--rows", "5000000")
    assert code == 2, said
    assert "may use 1 GB" in said
    assert "Ask for fewer" in said
    assert most < LIMIT / 2
    code, said, _ = watched(tmp_path, "synthesize", *given, "-o", "more", "--rows", "5000000")
    assert code == 2, said
    assert Ledger(tmp_path / "ledger.sqlite").accounts() == spent
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["files"]
