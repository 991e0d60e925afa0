"""Model: a generator fitted to released measurements. It holds public values only; sampling costs no privacy."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from sundog.certificate import write_certificate
from sundog.errors import UserError
from sundog.keys import key_of, split
from sundog.methods import Recipe, check_public, recipe_of
from sundog.released import Released
from sundog.rows import Rows
from sundog.schema import Schema
from sundog.sources import open_table
from sundog.synthesize import fit_released, sample

FORMAT = "sundog-model-1"
PUBLIC = "public.parquet"
"""A copy of the public table that the model started from: it is fitted again from it."""


@dataclass(frozen=True, eq=False)
class Model:
    """What was released, the recipe, the seed, and the generator's fitted state."""

    released: Released
    recipe: Recipe
    seed: int
    state: Any
    public: Rows | None = None

    @staticmethod
    def from_released(released: Released, *, method: str, seed: int | None = None, public: Any = None) -> "Model":
        """Fit a method to earlier measurements: no private data, no cost. `public`: a public table to start from."""
        recipe, seed = recipe_of(method), fresh_seed() if seed is None else seed
        known = public_rows_of(public, released.schema)
        if known is not None:
            check_public(recipe)
        fit_key, _ = split(key_of(seed), 2)
        return Model(released, recipe, seed, fit_released(fit_key, released, recipe=recipe, public=known), known)

    def rows(self, rows: int | None = None, *, seed: int | None = None) -> Rows:
        """Encoded synthetic rows; by default as many as the table has, as far as that was released."""
        key = split(key_of(self.seed), 2)[1] if seed is None else key_of(seed)
        wanted = self.released.rows if rows is None else rows
        return sample(key, self.recipe.generator, state=self.state, rows=wanted)

    def sample(self, rows: int | None = None, *, seed: int | None = None) -> pa.Table:
        """Synthetic rows as an Arrow table (`.to_pandas()`, `polars.from_arrow(...)`)."""
        return self.rows(rows, seed=seed).to_arrow()

    def save(self, folder: str | Path) -> Path:
        """Write released.json, the certificate and model.json into a folder; `sundog.load` reads them."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        self.released.save(target / "released.json")
        write_certificate(self.released, target, method=self.recipe.name)
        settings: dict[str, Any] = {"format": FORMAT, "method": self.recipe.name, "seed": self.seed}
        if self.public is not None:
            parquet.write_table(self.public.to_arrow(), target / PUBLIC)
            settings["public"] = PUBLIC
        (target / "model.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
        return target


def load(folder: str | Path) -> Model:
    """The model that `save` wrote: fitted again to the same measurements with the same seed."""
    source = Path(folder)
    try:
        settings = json.loads((source / "model.json").read_text(encoding="utf-8"))
        method, seed = settings["method"], settings["seed"]
        public = source / settings["public"] if "public" in settings else None
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{str(folder)!r} holds no saved model; save one with model.save(folder).") from None
    return Model.from_released(Released.load(source / "released.json"), method=method, seed=seed, public=public)


def public_rows_of(public: Any, schema: Schema) -> Rows | None:
    """A public table (a frame, a path, or rows already) as rows of the schema."""
    if public is None or isinstance(public, Rows):
        return public
    return open_table(public).read(schema)


def fresh_seed() -> int:
    """A seed from the operating system, for those who gave none."""
    return secrets.randbits(62)
