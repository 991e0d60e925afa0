"""The k-marginal score and pMSE against SDNist, NIST's own package, where a Python that has it is named.

It pins old versions of everything, so it wants an environment of its own (`pip install sdnist`); SUNDOG_PEERS names its Python. In
ours, it is tried as it is.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from related_tables import related
from sundog.evaluate import METRICS, Comparison
from sundog.evaluate.learning import one_hot

pytestmark = pytest.mark.slow
PYTHON = os.environ.get("SUNDOG_PEERS", sys.executable)


@pytest.fixture(scope="module")
def subject():
    shifted = related(3000, 2)
    shifted.codes[0][:300] = 0
    return Comparison(related(3000, 1), shifted)


@pytest.fixture(scope="module")
def theirs(subject, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdnist")
    has_it = subprocess.run([PYTHON, "-W", "ignore", "-c", "import sdnist.report"], check=False, capture_output=True)
    if has_it.returncode:
        pytest.skip("needs a Python that has sdnist: name it in SUNDOG_PEERS")
    sides = {"real": subject.real, "synthetic": subject.synthetic}
    np.savez(
        folder / "tables.npz",
        real_cells=subject.real_cells,
        synthetic_cells=subject.synthetic_cells,
        **{f"{name}_features": one_hot(rows, leave_out="").toarray() for name, rows in sides.items()},
    )
    script = Path(__file__).with_name("sdnist_scores.py")
    shown = subprocess.run([PYTHON, script, folder / "tables.npz", folder], check=True, capture_output=True, text=True)
    return json.loads(shown.stdout.splitlines()[-1])


def test_the_k_marginal_score_is_nists(subject, theirs):
    ours = METRICS["k_marginal"].score(subject).value
    assert ours < 990
    assert ours == pytest.approx(theirs["k_marginal"], abs=1e-6)


def test_the_propensity_mean_square_error_is_nists(subject, theirs):
    ours = METRICS["pmse_ratio"].score(subject).parts["pMSE"]
    assert ours == pytest.approx(theirs["pmse"], rel=1e-3)
