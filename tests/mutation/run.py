"""Deliberate faults in the code that holds the guarantee, one at a time; each must be noticed by a test.

    python tests/mutation/run.py [--count 100] [--named] [--list] [--fresh] [--minutes 9]

The named faults are in named.toml. Beside them private/, sources/, and everything about sensitivities in queries/, is changed
at places chosen once and for all by a hash of their names, `--count` in all. For every fault the tests that run the changed
function are tried, the quickest first, until one fails (which must then pass without the fault) or `ENOUGH` seconds are
spent. Verdicts are kept: a run that was stopped goes on, and a fault that survived is tried again. One that no test notices
is printed; those that cannot matter are explained in explained.toml, and any other makes the exit code 1.
"""

import argparse
import json
import os
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests"), str(ROOT / "src")]
STATE = ROOT / "build" / "mutation.json"
ENOUGH = 20.0
"""CPU seconds of tests, as traced, that one fault may take."""
TESTS = (
    "private", "privacy/test_linked_keys.py", "privacy/test_linked_laws.py",
    "privacy/test_survivors.py", "privacy/test_sensitivity.py", "privacy/test_ledger_identity.py", "sources",
    "queries", "laws/test_queries.py", "domain/test_unit.py", "api/test_adjust.py", "api/test_check.py",
    "cli/test_commands.py",
    "cli/test_intake.py", "test_sizes.py", "test_arrays.py", "api/test_verify.py", "laws/test_release_edits.py",
)  # fmt: skip


def main():
    """Try them all; exit code 1 if one survives unexplained, 75 if there was no time to finish."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--named", action="store_true", help="only the named ones")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    parser.add_argument("--fresh", action="store_true", help="forget what is known")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long")
    given = parser.parse_args()
    from faults import drawn, named

    faults = [*named(), *([] if given.named else drawn(given.count))]
    if given.list:
        print("\n".join(fault.name for fault in faults))
        return 0
    state = {} if given.fresh or not STATE.exists() else json.loads(STATE.read_text(encoding="utf-8"))
    trial = Trial(faults, state, end=time.monotonic() + 60 * given.minutes)
    collected(trial)
    return trial.report()


def collected(plugin):
    """Let pytest collect the tests, and the plugin do with them what it wants."""
    os.environ |= {"NUMBA_DISABLE_JIT": "1", "HYPOTHESIS_PROFILE": "long"}
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[1:3])
    os.chdir(ROOT)
    import pytest

    there = [str(ROOT / "tests" / name) for name in TESTS]
    options = ["-s", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", *there]
    if pytest.main(options, plugins=[plugin]) not in (0, 5):
        sys.exit("The tests could not be collected; run `make test`.")


class Trial:
    """All faults, one after the other, in place of the tests themselves."""

    def __init__(self, faults, state, *, end):
        self.faults, self.state, self.end = faults, state, end
        self.verdicts = {}

    def pytest_runtestloop(self, session):
        from chosen import traced

        items = {item.nodeid: item for item in session.items}
        tests = traced(session.items, self.state.setdefault("traced", {}), keep=self.keep, end=self.end)
        known, sound = self.state.setdefault("verdicts", {}), {}
        for number, fault in enumerate(self.faults, start=1):
            killer = known.get(fault.key)
            if killer is None:
                if time.monotonic() > self.end:
                    continue
                killer = noticed(fault, tests, items, sound=sound)
                known[fault.key] = killer
                self.keep()
                word = f"noticed by {killer}" if killer else "SURVIVED"
                print(f"{number:4}/{len(self.faults)} {fault.name}: {word}", flush=True)
            self.verdicts[fault.name] = killer
        return True

    def keep(self):
        """The state on disk."""
        STATE.parent.mkdir(exist_ok=True)
        STATE.with_suffix(".new").write_text(json.dumps(self.state), encoding="utf-8")
        STATE.with_suffix(".new").replace(STATE)

    def report(self):
        """Print the score and the survivors; the exit code."""
        explained = tomllib.loads((HERE / "explained.toml").read_text(encoding="utf-8"))
        alive = [name for name, killer in self.verdicts.items() if killer is None]
        open_ = [name for name in alive if name not in explained]
        tried = len(self.verdicts)
        print(f"{tried - len(alive)} of {tried} noticed; {len(alive)} survived, {len(open_)} of them unexplained")
        for name in alive:
            print(f"  {name}: {explained.get(name, 'UNEXPLAINED')}")
        if open_:
            return 1
        return 0 if tried == len(self.faults) else 75


def chosen(fault, tests):
    """The tests that run what the fault changes, the quickest first; all of its module where none is known to."""
    changed = {f"{fault.module}:{name}" for name in fault.functions}
    of_module = [
        name for name, test in tests.items() if any(each.startswith(fault.module) for each in test["functions"])
    ]
    found = [name for name, test in tests.items() if changed.intersection(test["functions"])] or of_module
    kept, seconds = [], 0.0
    for name in sorted(found, key=lambda name: tests[name]["seconds"]):
        seconds += tests[name]["seconds"]
        if seconds > ENOUGH:
            break
        kept.append(name)
    return kept


def noticed(fault, tests, items, *, sound):
    """The test that notices the fault, or None. A test that fails without the fault as well notices nothing."""
    from chosen import in_fork

    names = chosen(fault, tests)
    while names:
        run = [items[name] for name in names]
        said = in_fork(lambda run=run: first_failing(run, fault=fault))
        if said is None:  # it died, or never ended
            return "a crash" if in_fork(lambda run=run: first_failing(run)) == [None] else None
        name = said[0]
        if name is None:
            return None
        if name not in sound:
            sound[name] = in_fork(lambda name=name: first_failing([items[name]])) == [None]
        if sound[name]:
            return name
        names.remove(name)
    return None


def first_failing(items, *, fault=None):
    """The name of the first test that fails in this process, in a list of one."""
    from chosen import passes
    from faults import put_in

    if fault is not None:
        put_in(fault)
    following = [*items[1:], None]
    return [next((item.nodeid for item, after in zip(items, following, strict=True) if not passes(item, after)), None)]


if __name__ == "__main__":
    sys.exit(main())
