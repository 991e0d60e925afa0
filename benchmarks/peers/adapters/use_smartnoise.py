"""smartnoise-synth: AIM, MST and MWEM on bins of equal width, PATE-CTGAN and DP-CTGAN on numbers as they are.

Its transformers are fitted to the declared labels and bounds, not to the rows. Its SQL parser exists only for a version of
ANTLR without a built package; synthesis never parses SQL, so a stand-in takes its place.
"""

import itertools
from typing import Any

import numpy as np
import pandas as pd
from adapter import Job, serve, unused

BINS = 20
DISCRETE = ("aim", "mst", "mwem")


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """One synthesizer, with its defaults."""
    unused("snsql.sql.parse", "snsql.xpath.parse")
    from snsynth import Synthesizer

    budget = {"epsilon": job.epsilon} if job.method == "mwem" else {"epsilon": job.epsilon, "delta": job.delta}
    synthesizer = Synthesizer.create(job.method, **budget)
    synthesizer.fit(frame, transformer=_transformer(job, list(frame.columns)))
    made = synthesizer.sample(len(frame))
    return _spread(made, job) if job.method in DISCRETE else made


def _spread(made: pd.DataFrame, job: Job) -> pd.DataFrame:
    """It puts numbers in the middle of their bins; the bins are ours, so they are spread over them."""
    draw = np.random.default_rng(job.seed)
    widths = {name: (high - low) / BINS for name, (low, high) in job.bounds.items()}
    return made.assign(
        **{name: made[name] + width * draw.uniform(-0.5, 0.5, len(made)) for name, width in widths.items()}
    )


def _transformer(job: Job, columns: list[str]) -> Any:
    """Fitted to a table that lists the declared labels and bounds."""
    from snsynth.transform import (
        BinTransformer,
        ChainTransformer,
        LabelTransformer,
        MinMaxTransformer,
        OneHotEncoder,
        TableTransformer,
    )  # fmt: skip

    def of(name: str) -> Any:
        if name in job.bounds:
            low, high = map(float, job.bounds[name])
            if job.method in DISCRETE:
                return BinTransformer(bins=BINS, lower=low, upper=high)
            return MinMaxTransformer(lower=low, upper=high)
        labels = LabelTransformer(nullable=False)
        return labels if job.method in DISCRETE else ChainTransformer([labels, OneHotEncoder()])

    public = job.labels | {name: [float(end) for end in ends] for name, ends in job.bounds.items()}
    rows = max(map(len, public.values()))
    listed = {name: list(itertools.islice(itertools.cycle(public[name]), rows)) for name in columns}
    transformer = TableTransformer([of(name) for name in columns])
    transformer.fit(pd.DataFrame(listed))
    return transformer


if __name__ == "__main__":
    serve(make)
