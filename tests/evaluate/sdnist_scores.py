"""NIST's own k-marginal score and pMSE of two tables of codes, for a Python that has `sdnist` (see test_against_sdnist.py).

SDNist's pMSE takes a decision tree; here it is given the logistic regression that ours takes, so that the definitions are compared
and not the models. Usage: PYTHON sdnist_scores.py TABLES.npz FOLDER; prints JSON.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
import pandas as pd  # noqa: E402
import sdnist.report  # noqa: E402, F401 - first, since its modules import each other
from sdnist.metrics import propensity  # noqa: E402
from sdnist.metrics.kmarginal import KMarginal  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402


def main(tables, folder):
    found = np.load(tables)
    cells = [pd.DataFrame(found[f"{side}_cells"].T).rename(columns=str) for side in ("real", "synthetic")]
    features = [pd.DataFrame(found[f"{side}_features"]).rename(columns=str) for side in ("real", "synthetic")]

    def logistic(max_depth):
        del max_depth
        return LogisticRegression(C=1e6, max_iter=2000, tol=1e-6)

    propensity.tree.DecisionTreeClassifier = logistic
    return {
        "k_marginal": float(KMarginal(*cells).compute_score()),
        "pmse": float(propensity.PropensityMSE(*features, Path(folder)).compute_score()),
    }


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(*sys.argv[1:])) + "\n")
