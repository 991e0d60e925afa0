"""What every adapter shares; it runs in the tool's own environment, so it needs pandas and pyarrow alone.

An adapter is a script with one function `make(job, frame) -> frame`; `serve(make)` reads the job that the runner wrote, hands
it the training rows, and writes the synthetic rows. All columns are labels (text) or numbers, and none has missing values.
"""

import importlib.abc
import importlib.machinery
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pandas as pd


@dataclass(frozen=True)
class Job:
    """One cell: which method, what it may spend, and the public facts about the columns."""

    method: str
    epsilon: float
    delta: float
    seed: int
    train: str
    out: str
    schema: dict[str, Any]

    @property
    def labels(self) -> dict[str, list[str]]:
        """The declared labels of each column that has them."""
        return {field["name"]: field["categories"] for field in self.schema["fields"] if "categories" in field}

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The declared bounds of each number."""
        return {
            field["name"]: (field["constraints"]["minimum"], field["constraints"]["maximum"])
            for field in self.schema["fields"]
            if "categories" not in field
        }


Make = Callable[[Job, pd.DataFrame], pd.DataFrame]


def serve(make: Make) -> None:
    """Do the job that the first argument names."""
    job = Job(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    made = make(job, pd.read_parquet(job.train))
    fitted(made, job).to_parquet(job.out, index=False)


def fitted(made: pd.DataFrame, job: Job) -> pd.DataFrame:
    """The rows with the declared types: text for labels, numbers inside their bounds, whole where they must be."""
    columns = {}
    for field in job.schema["fields"]:
        values = made[field["name"]].reset_index(drop=True)
        if "categories" in field:
            columns[field["name"]] = values.astype(str)
            continue
        numbers = pd.to_numeric(values).astype(float).clip(*job.bounds[field["name"]])
        columns[field["name"]] = numbers.round().astype("int64") if field["type"] == "integer" else numbers
    return pd.DataFrame(columns)


def unused(*packages: str) -> None:
    """Stand-ins for packages (or modules) that a tool imports but does not use on tables, and that exist only as source."""
    sys.meta_path.insert(0, _StandIns(packages))


class _StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if any(name == own or name.startswith(f"{own}.") for own in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return MagicMock(name=spec.name, __path__=[], __all__=[])

    def exec_module(self, module: Any) -> None:
        """There is nothing in it."""
