"""The accuracy that is claimed for MST, on the public Adult table beside the project."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "adult.parquet"


def measured(method):
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / "graphical.py"),
        "--cases",
        f"adult/{method}",
        "--fresh",
        "--json",
    ]
    done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return done["means"][f"adult-{method}"]


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the Adult table does not lie beside the project")
def test_mst_keeps_the_pairs_of_adult_in_seconds():
    result = measured("mst")
    assert result["pairs"] <= 0.100
    assert result["synthesis_cpu_s"] <= 60
    assert result["synthesis_mb"] <= 1500
