"""Deliberate faults in what guards the studio, its budget and its CONFIDENTIAL pages: each is noticed by the test that is for it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAULTS = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    target = tmp_path_factory.mktemp("faulty")
    shutil.copytree(ROOT / "src" / "sundog", target / "sundog", ignore=shutil.ignore_patterns("__pycache__"))
    return target


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed(copy, name):
    fault = FAULTS[name]
    path = copy / "sundog" / "studio" / fault["module"]
    sound = path.read_text(encoding="utf-8")
    path.write_text(sound.replace(fault["old"], fault["new"]), encoding="utf-8")
    try:
        assert exit_code(copy, fault["test"]) == 1
    finally:
        path.write_text(sound, encoding="utf-8")


def test_the_faults_are_those_of_the_code_as_it_is():
    for name, fault in FAULTS.items():
        source = (ROOT / "src" / "sundog" / "studio" / fault["module"]).read_text(encoding="utf-8")
        assert fault["old"] in source, f"{name!r} is stale"
        assert f"def {fault['test'].rpartition('::')[2]}(" in (ROOT / fault["test"].partition("::")[0]).read_text(
            encoding="utf-8"
        )


def exit_code(copy, test):
    """The exit code of pytest: 1 where the test fails."""
    there = os.pathsep.join([str(copy), str(ROOT / "tests")])
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", test]
    environment = os.environ | {"PYTHONPATH": there, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True, timeout=300).returncode
