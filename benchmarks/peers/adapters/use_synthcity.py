"""synthcity: its PrivBayes, DP-GAN and PATE-GAN, with their defaults.

They take no declared domain: labels, ranges and encoders come from the rows. Vision and flow packages, which it imports but
tables do not need, have no build for this environment; stand-ins take their place.
"""

import pandas as pd
from adapter import Job, serve, unused


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """One of its plugins."""
    unused("torchvision", "nflows", "arfpy")
    from synthcity.plugins import Plugins
    from synthcity.plugins.core.dataloader import GenericDataLoader

    budget = {
        "privbayes": {"epsilon": job.epsilon},
        "dpgan": {"epsilon": job.epsilon, "delta": job.delta},
        "pategan": {"epsilon": job.epsilon, "delta": job.delta},
    }
    plugin = Plugins(categories=["privacy"]).get(
        job.method, **budget[job.method], random_state=job.seed, strict=False, compress_dataset=False
    )
    plugin.fit(GenericDataLoader(frame, target_column=job.schema["targets"][0], train_size=0.99))
    return plugin.generate(count=len(frame)).dataframe()


if __name__ == "__main__":
    serve(make)
