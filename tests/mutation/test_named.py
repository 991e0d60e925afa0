"""The named faults of the mutation run (`make audit`) are about the code as it is."""

import subprocess
import sys
from pathlib import Path


def test_no_named_fault_is_stale():
    """In a process of its own: the run's modules lie beside it, and it ends the process where a fault is stale."""
    command = [sys.executable, Path(__file__).parent / "run.py", "--named", "--list"]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert "float noise of NumPy" in said.stdout.splitlines()
