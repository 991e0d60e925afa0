"""Trees in sequence, as R's synthpop makes them (Nowok, Raab, Dibben 2016): a few lines of our own with scikit-learn.

The first column is a bootstrap; each next one is drawn from the leaf of a tree on the columns before it. It promises no
privacy, and its leaves hand out values of real rows: a ceiling.
"""

import numpy as np
import pandas as pd
from adapter import Job, serve

LEAF = 5
"""The least rows per leaf, synthpop's default."""


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """Column by column."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    draw = np.random.default_rng(job.seed)
    codes = pd.DataFrame({
        name: pd.Categorical(frame[name], job.labels[name]).codes if name in job.labels else frame[name] for name in frame
    })  # fmt: skip
    names = list(frame.columns)
    made = codes[names[:1]].sample(len(frame), replace=True, random_state=job.seed).reset_index(drop=True)
    for place, name in enumerate(names[1:], start=1):
        kind = DecisionTreeClassifier if name in job.labels else DecisionTreeRegressor
        tree = kind(min_samples_leaf=LEAF, random_state=job.seed).fit(codes[names[:place]], codes[name])
        leaves = codes[name].groupby(tree.apply(codes[names[:place]])).apply(np.asarray)
        made[name] = [draw.choice(leaves[leaf]) for leaf in tree.apply(made[names[:place]])]
    return made.assign(**{name: np.asarray(labels)[made[name].to_numpy()] for name, labels in job.labels.items()})


if __name__ == "__main__":
    serve(make)
