"""Deliberate faults in the code that holds the guarantee, one at a time; each must be noticed by the tests of its module.

    python tests/mutation/run.py [--count 100] [--modules private/noise.py ...] [--named] [--list]

The named faults are in named.toml. Beside them every module of private/ and sources/, and everything about sensitivities
in queries/, is changed at places chosen once and for all by a hash of their names, `--count` in all. A fault that no test
notices is printed; those that cannot matter are explained in explained.toml, and any other makes the exit code 1.
"""

import argparse
import hashlib
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
SECONDS = 400
NOT_RUN = (3, 4, 5)
"""Exit codes of pytest that mean that no test was run: an error inside, wrong use, no test found."""
TESTS = {
    "private/account.py": "tests/private/test_ledger.py",
    "private/account_name.py": "tests/private/test_account_name.py tests/private/test_ledger.py",
    "private/accountant.py": "tests/private/test_accountant.py tests/private/test_ledger.py",
    "private/complete.py": "tests/cli/test_commands.py tests/privacy/test_ledger_identity.py",
    "private/curator.py": "tests/private/test_curator.py tests/privacy/test_survivors.py tests/privacy/test_ledger_identity.py",
    "private/disclose.py": "tests/private/test_disclose.py",
    "private/entries.py": "tests/private/test_entries.py tests/private/test_ledger.py",
    "private/ledger.py": "tests/private/test_ledger.py tests/private/test_entries.py",
    "private/noise.py": "tests/privacy/test_survivors.py tests/private/test_noise.py",
    "private/spending.py": "tests/private/test_spending.py tests/private/test_curator.py",
    "private/table.py": "tests/api/test_synthesizer.py",
    "sources/base.py": "tests/sources/test_sources.py tests/cli/test_commands.py",
    "sources/duck.py": "tests/sources/test_sources.py tests/sources/test_frames.py tests/sources/test_files.py",
    "sources/encode.py": "tests/sources/test_extreme_cells.py tests/sources/test_sources.py tests/domain/test_round_trip.py",
    "sources/frames.py": "tests/sources/test_frames.py",
    "sources/spill.py": "tests/sources/test_spill.py",
    "domain/unit.py": "tests/domain/test_unit.py tests/test_sizes.py",
    "queries/": "tests/laws/test_queries.py tests/privacy/test_sensitivity.py tests/privacy/test_survivors.py",
    "api/adjust.py": "tests/privacy/test_survivors.py tests/api/test_adjust.py",
    "api/synthesizer.py": "tests/privacy/test_survivors.py",
}
OF_QUERIES = ("sensitivity", "block_l1", "_agreeing", "_enumerated", "squared", "l1", "linf", "most")


@dataclass(frozen=True)
class Fault:
    """One fault: its name, the module, the module's text with it, and the tests that should notice."""

    name: str
    module: str
    text: str

    @property
    def tests(self):
        return next(tests for module, tests in TESTS.items() if self.module.startswith(module)).split()


def named():
    """The faults that have a name: texts that are exchanged."""
    for name, entry in tomllib.loads((HERE / "named.toml").read_text(encoding="utf-8")).items():
        source = (ROOT / "src/sundog" / entry["module"]).read_text(encoding="utf-8")
        if source.count(entry["old"]) < 1:
            sys.exit(f"named.toml: {name!r} is stale: its text is not in {entry['module']}; bring it up to date.")
        yield Fault(name, entry["module"], source.replace(entry["old"], entry["new"]))


def drawn(count, modules):
    """Faults at places that a hash chooses among all of them, the same ones on every machine."""
    from points import mutated, points

    found = []
    for module in modules:
        source = (ROOT / "src/sundog" / module).read_text(encoding="utf-8")
        for point in points(source):
            last = point.function.split(".")[-1]
            if not module.startswith("queries/") or any(part in last for part in OF_QUERIES):
                name = f"{module}:{point.function}#{point.place} {point.what}"
                found.append((hashlib.sha256(name.encode()).hexdigest(), name, module, source, point))
    for _, name, module, source, point in sorted(found)[:count]:
        yield Fault(name, module, mutated(source, point))


def all_modules():
    """The modules that hold the guarantee and have tests of their own."""
    queries = [f"queries/{path.name}" for path in sorted((ROOT / "src/sundog/queries").glob("*.py"))]
    return [module for module in TESTS if module.endswith(".py") and not module.startswith("api/")] + queries


def survives(fault, copy):
    """Whether no test of its module notices; in a fork that has the heavy libraries already."""
    path = copy / "sundog" / fault.module
    before = path.read_text(encoding="utf-8")
    path.write_text(fault.text, encoding="utf-8")
    child = os.fork()
    if child == 0:
        code = NOT_RUN[0]
        try:
            code = _tested(copy, fault.tests)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    path.write_text(before, encoding="utf-8")
    if code in NOT_RUN:
        sys.exit(f"pytest could not run {' '.join(fault.tests)} (exit code {code}).")
    return code == 0


def check_sound(faults, copy):
    """Without a fault every test must pass, or a failure would prove nothing."""
    for module in dict.fromkeys(fault.module for fault in faults):
        sound = Fault("none", module, (copy / "sundog" / module).read_text(encoding="utf-8"))
        if not survives(sound, copy):
            sys.exit(f"{' '.join(sound.tests)} fail without any fault; mend them first.")


def _tested(copy, tests):
    import pytest

    null = os.open(os.devnull, os.O_RDWR)
    for handle in (1, 2):
        os.dup2(null, handle)
    signal.alarm(SECONDS)  # a fault that never ends is noticed too
    os.chdir(ROOT)
    sys.path[:0] = [str(copy), str(ROOT / "tests")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
    there = [path for path in tests if (ROOT / path).exists()]
    return int(pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", *there]))


def preload():
    """What tests need besides Sundog itself, which must come from the copy."""
    import duckdb
    import numba
    import numpy
    import opendp.measurements
    import pyarrow.csv
    import pytest
    import scipy.stats
    import typer

    return duckdb, numba, numpy, opendp, pyarrow, pytest, scipy, typer


def main():
    """Try them all; exit code 1 if one survives unexplained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--modules", nargs="+", default=all_modules())
    parser.add_argument("--named", action="store_true", help="only the named ones")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    given = parser.parse_args()
    faults = [*named(), *([] if given.named else drawn(given.count, given.modules))]
    if given.list:
        print("\n".join(fault.name for fault in faults))
        return 0
    explained = tomllib.loads((HERE / "explained.toml").read_text(encoding="utf-8"))
    preload()
    alive = []
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        check_sound(faults, copy)
        for number, fault in enumerate(faults, start=1):
            start = time.monotonic()
            lives = survives(fault, copy)
            alive += [fault.name] if lives else []
            word = "SURVIVED" if lives else "killed"
            print(f"{number:4}/{len(faults)} {word:8} {time.monotonic() - start:6.1f} s  {fault.name}", flush=True)
    unexplained = [name for name in alive if name not in explained]
    print(
        f"{len(faults) - len(alive)} of {len(faults)} killed; {len(alive)} survived, {len(unexplained)} of them unexplained"
    )
    for name in alive:
        print(f"  {name}: {explained.get(name, 'UNEXPLAINED')}")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
