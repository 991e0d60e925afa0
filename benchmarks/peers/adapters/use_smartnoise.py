"""smartnoise-synth: AIM, MST and MWEM on bins of equal width, PATE-CTGAN and DP-CTGAN on numbers as they are.

Its transformers are fitted to the declared labels and bounds, not to the rows. Its SQL parser exists only for a version of
ANTLR without a built package; synthesis never parses SQL, so a stand-in takes its place.
"""

import itertools
from typing import Any

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
    return synthesizer.sample(len(frame))


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
