"""SDV: its Gaussian copula and its CTGAN. They promise no privacy: ceilings."""

import pandas as pd
from adapter import Job, serve


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """One of its synthesizers for single tables."""
    from sdv.metadata import Metadata
    from sdv.single_table import CTGANSynthesizer, GaussianCopulaSynthesizer

    kinds = {name: {"sdtype": "categorical" if name in job.labels else "numerical"} for name in frame.columns}
    metadata = Metadata.load_from_dict({"tables": {"rows": {"columns": kinds}}, "relationships": []})
    synthesizer = {"copula": GaussianCopulaSynthesizer, "ctgan": CTGANSynthesizer}[job.method](metadata)
    synthesizer.fit({"rows": frame})
    return synthesizer.sample(num_rows=len(frame))["rows"]


if __name__ == "__main__":
    serve(make)
