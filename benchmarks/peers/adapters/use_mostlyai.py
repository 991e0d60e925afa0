"""MOSTLY AI's engine: an autoregressive network trained by DP-SGD until epsilon is spent.

Value ranges cost a tenth of the budget (its own default is epsilon 1, whatever the total); it counts both in one sum.
"""

import pandas as pd
from adapter import Job, serve

VALUES = 0.1
"""Share of epsilon for value ranges and labels."""


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """Its model for flat tables on the processor."""
    from mostlyai.engine import TabularARGN
    from mostlyai.engine.domain import DifferentialPrivacyConfig

    privacy = DifferentialPrivacyConfig(
        max_epsilon=job.epsilon, delta=job.delta, value_protection_epsilon=VALUES * job.epsilon
    )
    kinds = {name: "TABULAR_CATEGORICAL" if name in job.labels else "TABULAR_NUMERIC_AUTO" for name in frame.columns}
    model = TabularARGN(differential_privacy=privacy, tgt_encoding_types=kinds, device="cpu", random_state=job.seed)
    model.fit(frame)
    return model.sample(n_samples=len(frame))


if __name__ == "__main__":
    serve(make)
