"""RAP++ on ACS New York, 5 targets, 200,000 linear thresholds; the steps apart, so that the fit can run on a GPU elsewhere.

    python benchmarks/acs_multitask.py prepare RELEASED.json              measure (CPU); the fit needs nothing else
    python benchmarks/acs_multitask.py fit RELEASED.json ROWS.npz         the fit alone, on whatever device JAX has
    python benchmarks/acs_multitask.py score ROWS.npz                     macro-F1 against the held-out real rows

`rap_plus_plus.py --parts multitask` does all three. ROWS.npz holds the codes of the columns, in the schema's order.
"""

import argparse
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from projection import costs, load, macro_f1, made

DATASET = "acs2024_ny_multitask"
DIRECTIONS, THRESHOLDS = 2000, 20
"""Of every target."""


def recipe(*, fit: bool = True) -> Any:
    """RAP++ with all pairs of labels, and this many thresholds for every target, all measured at once; without a `fit`, no steps.

    Rounds, which it would take by itself with so many, choose by a model that is fitted in between; here the fit comes last.
    """
    from sundog.domain import Categorical
    from sundog.methods.recipes import recipe_of
    from sundog.queries.workload import Workload

    def workload(schema: Any) -> Any:
        labels = [column.name for column in schema.columns if isinstance(column, Categorical)]
        tables = Workload.marginals(schema, k=2, columns=labels).queries
        lines = Workload.conditional_thresholds(schema, directions=DIRECTIONS, thresholds=THRESHOLDS)
        return (*tables, *lines.queries)

    found = recipe_of("rap++")
    own = found.generator.descent
    generator = replace(found.generator, descent=own if fit else replace(own, steps=0))
    rule = replace(found.rule, rounds=1, threshold_rounds=1)
    return replace(found, workload=workload, rule=rule, generator=generator)


def measured(*, epsilon: float = 1.0, seed: int = 1) -> Any:
    """The release, without a fit."""
    schema, train, _ = load(DATASET)
    released, _ = made(schema, train, recipe=recipe(fit=False), epsilon=epsilon, seed=seed)
    return released


def fitted(released: Any, *, seed: int = 1) -> tuple[Any, dict[str, float]]:
    """The rows, and the seconds that fit and rounding took."""
    from sundog.random.keys import key_of, split

    generator = recipe().generator
    first, second = split(key_of(seed), 2)
    start, used = time.perf_counter(), time.process_time()
    state = generator.fit(second, generator.init(first, released.schema), released=released)
    rows = generator.sample(key_of(seed + 1), state, rows=released.rows)
    return rows, {"fit_s": time.perf_counter() - start, "fit_cpu_s": time.process_time() - used}


def scores(rows: Any) -> dict[str, float]:
    """Macro-F1 of every target, trained on the synthetic and on the real rows, and the mean gap."""
    schema, train, test = load(DATASET)
    synthetic = rows.to_arrow()
    found = {target: macro_f1(synthetic, test, target, schema.targets) for target in schema.targets}
    real = {target: macro_f1(train, test, target, schema.targets) for target in schema.targets}
    means = {"f1": float(np.mean(list(found.values()))), "f1_real": float(np.mean(list(real.values())))}
    each = {f"{target}, {kind}": part[target] for kind, part in (("f1", found), ("real", real)) for target in found}
    return means | {"gap": means["f1_real"] - means["f1"]} | each


def work(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """All steps in one process."""
    rows, seconds = fitted(measured(epsilon=settings["epsilon"], seed=seed), seed=seed)
    return seconds | costs() | scores(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("prepare", "fit", "score"))
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    result: dict[str, Any] = {}
    if given.step == "prepare":
        measured(seed=given.seed).save(given.files[0])
    elif given.step == "fit":
        import jax

        from sundog.released import Released

        rows, seconds = fitted(Released.load(given.files[0]), seed=given.seed)
        np.savez_compressed(given.files[1], **{f"column_{k}": codes for k, codes in enumerate(rows.codes)})
        result = {"device": jax.devices()[0].device_kind} | seconds
    else:
        from sundog.domain.rows import Rows

        schema = load(DATASET)[0]
        with np.load(given.files[0]) as file:
            codes = tuple(file[f"column_{k}"].astype(np.int64) for k in range(len(schema.names)))
        result = scores(Rows(schema, codes))
    print(json.dumps(result | costs()))


if __name__ == "__main__":
    main()
