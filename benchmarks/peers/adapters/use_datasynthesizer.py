"""DataSynthesizer: PrivBayes in its mode of correlated attributes, with labels and bounds declared.

It takes pure epsilon, so delta is not spent. Numbers are cut into its own 20 bins of equal width.
"""

import json
import tempfile
from pathlib import Path

import pandas as pd
from adapter import Job, serve


def make(job: Job, frame: pd.DataFrame) -> pd.DataFrame:
    """Describe the rows in a file, as it wants, and generate from the file."""
    from DataSynthesizer.DataDescriber import DataDescriber
    from DataSynthesizer.DataGenerator import DataGenerator

    with tempfile.TemporaryDirectory() as folder:
        rows, domains, found = (str(Path(folder) / name) for name in ("rows.csv", "domains.json", "found.json"))
        frame.to_csv(rows, index=False)
        Path(domains).write_text(json.dumps(job.labels), encoding="utf-8")
        describer = DataDescriber(null_values=["<none>"])
        describer.describe_dataset_in_correlated_attribute_mode(
            rows,
            epsilon=job.epsilon,
            attribute_to_datatype=dict.fromkeys(job.labels, "String"),
            attribute_to_is_categorical={name: name in job.labels for name in frame.columns},
            attribute_to_is_candidate_key=dict.fromkeys(frame.columns, False),
            categorical_attribute_domain_file=domains,
            numerical_attribute_ranges={name: list(ends) for name, ends in job.bounds.items()},
            seed=job.seed,
        )
        describer.save_dataset_description_to_file(found)
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(len(frame), found, seed=job.seed)
        return generator.synthetic_dataset


if __name__ == "__main__":
    serve(make)
