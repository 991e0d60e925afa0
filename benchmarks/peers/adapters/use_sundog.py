"""Sundog, through the same door as the others."""

import tempfile
from pathlib import Path

import pandas as pd
from adapter import Job, serve


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """One release with a ledger of its own."""
    import sundog

    with tempfile.TemporaryDirectory() as folder:
        synthesizer = sundog.Synthesizer(
            job.schema, epsilon=job.epsilon, delta=job.delta, method=job.method, neighbours="add-remove", seed=job.seed,
            ledger=Path(folder) / "ledger.sqlite",
        )  # fmt: skip
        return synthesizer.fit(frame).sample()


if __name__ == "__main__":
    serve(make)
