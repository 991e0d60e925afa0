"""What is not needed is not loaded: memory and start-up time."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "without"),
    [("sundog.private.curator", ("jax", "sklearn", "polars")), ("sundog.cli.app", ("jax", "numba", "numpy"))],
)
def test_heavy_libraries_wait_until_they_are_needed(module, without):
    code = f"import sys, {module}; print([name for name in {without!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[]"


def test_drawing_noise_loads_nothing_but_opendp_itself():
    code = (
        "import sys, numpy; from sundog.private import noise; noise.add_gaussian(numpy.zeros(2, dtype=int), 3.0);"
        "print([name for name in ('sklearn', 'polars', 'jax', 'mbi') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[]"
