"""The accuracy that is claimed for MST, on the public Adult table beside the project."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "adult.parquet"


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="the Adult table does not lie beside the project")
def test_mst_keeps_the_pairs_of_adult_in_seconds():
    command = [sys.executable, str(ROOT / "benchmarks" / "graphical.py"), "--method", "mst", "--seed", "0"]
    result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert result["error"] <= 0.100
    assert result["cpuSeconds"] <= 60
    assert result["peakMB"] <= 1500
