"""A run that may use one gigabyte of memory ends in a result, or in a message before anything is spent or made.

Once in a control group, where one can be made: Sundog reads the limit off it, and the kernel kills whatever passes it. Once
without: Sundog is told the limit as a container's, and is killed from outside as soon as more is resident.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sundog import Ledger, sizes

pytestmark = [pytest.mark.slow, pytest.mark.data]
LIMIT = 10**9
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CONTAINED = f"""
from sundog import sizes
sizes._container_limits = lambda: [{LIMIT}]
from sundog.cli.app import main
main()
"""
GROUPED = """
import os, sys
with open(sys.argv.pop(1), "w") as group:
    group.write(str(os.getpid()))
from sundog.cli.app import main
main()
"""


@pytest.fixture
def group():
    """A control group with the limit, below the one of the tests."""
    made = made_group()
    if made is None:
        pytest.skip("no control group for memory can be made here")
    yield made
    made.rmdir()


@pytest.fixture(params=["told", "in a control group"])
def way(request):
    """How the command begins: with the limit, or with the control group that it enters."""
    if request.param == "told":
        return [sys.executable, "-c", CONTAINED]
    return [sys.executable, "-c", GROUPED, str(request.getfixturevalue("group") / "cgroup.procs")]


def made_group():
    """A new control group with the limit, of either version of their interface; None where that is not allowed."""
    for _, kinds, name in (line.split(":", 2) for line in sizes._OWN_CGROUPS.read_text().splitlines()):
        if kinds not in sizes._LIMIT_FILE:
            continue
        group = sizes._CGROUPS / kinds / name.strip("/") / f"sundog-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / sizes._LIMIT_FILE[kinds]).write_text(str(LIMIT), encoding="ascii")
        except OSError:
            group.rmdir()
            continue
        return group
    return None


def watched(way, folder, *arguments):
    """The exit code, what was said, and the most bytes that were resident; killed where they pass the limit."""
    environment = os.environ | {"SUNDOG_LEDGER": str(folder / "ledger.sqlite")}
    most = 0
    with (folder / "said").open("w+", encoding="utf-8") as said:
        process = subprocess.Popen(
            [*way, *map(str, arguments)], env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=said
        )
        while process.poll() is None:
            most = max(most, resident(process.pid))
            if most > LIMIT:
                process.kill()
            time.sleep(0.02)
        said.seek(0)
        return process.returncode, said.read(), most


def resident(number):
    try:
        text = Path(f"/proc/{number}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmRSS")), 0)


@pytest.mark.skipif(not (DATA / "adult.parquet").exists(), reason="the public tables are not beside the project")
def test_a_table_of_fifty_thousand_rows_and_a_release_of_too_many(way, tmp_path):
    given = (DATA / "adult.parquet", "--schema", DATA / "adult.schema.json", "--epsilon", "1", "--delta", "1e-6")
    code, said, most = watched(way, tmp_path, "synthesize", *given, "-o", "out", "--seed", "1")
    assert code == 0, said
    assert 10**8 < most < LIMIT
    spent = Ledger(tmp_path / "ledger.sqlite").known()
    assert spent[0].exact_rho > 0
    code, said, most = watched(way, tmp_path, "generate", "out/released.json", "-o", "many", "--rows", "5000000")
    assert code == 2, said
    assert "may use 1 GB" in said
    assert "Ask for fewer" in said
    assert most < LIMIT / 2
    code, said, _ = watched(way, tmp_path, "synthesize", *given, "-o", "more", "--rows", "5000000")
    assert code == 2, said
    assert Ledger(tmp_path / "ledger.sqlite").known() == spent
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["files"]


def test_the_kernel_kills_what_passes_the_limit_of_the_group(group):
    enter = GROUPED.partition("from sundog")[0]
    for size, code in ((LIMIT // 2, 0), (2 * LIMIT, -signal.SIGKILL)):
        command = [sys.executable, "-c", f"{enter}print(len(bytearray({size})))", str(group / "cgroup.procs")]
        assert subprocess.run(command, check=False, capture_output=True).returncode == code
