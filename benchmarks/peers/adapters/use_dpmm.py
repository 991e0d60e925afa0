"""dpmm: AIM, MST and PrivBayes on private-pgm, with bins from a PrivTree that costs a tenth of the budget.

Its own default spends 0.1 on bins on top of epsilon; here the sum is epsilon. Labels and bounds are declared.
"""

import pandas as pd
from adapter import Job, serve

BINS = 0.1
"""Share of epsilon for bins."""


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """One of its three pipelines, in one process."""
    from dpmm.pipelines import AIMPipeline, MSTPipeline, PrivBayesPipeline

    pipelines = {"aim": AIMPipeline, "mst": MSTPipeline, "privbayes": PrivBayesPipeline}
    share = BINS if job.bounds else 0.0
    pipeline = pipelines[job.method](
        epsilon=(1 - share) * job.epsilon, delta=job.delta, proc_epsilon=share * job.epsilon or None, n_jobs=1
    )
    domain = {name: {"categories": labels} for name, labels in job.labels.items()}
    domain |= {name: {"lower": low, "upper": high} for name, (low, high) in job.bounds.items()}
    pipeline.fit(frame.astype(dict.fromkeys(job.labels, "category")), domain=domain, random_state=job.seed)
    return pipeline.generate(n_records=len(frame), random_state=job.seed)


if __name__ == "__main__":
    serve(make)
