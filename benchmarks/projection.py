"""RAP, RAP++ and GEM on Adult and ACS: errors of the ROUNDED rows, CPU seconds and peak memory, each case by itself.

    python benchmarks/run.py projection [--full] [--json]
    python benchmarks/projection.py case NAME [--seed 1] [--epsilon 1.0]     one case; prints one JSON object
    python benchmarks/projection.py prepare RELEASED.json                    measure the ACS task (no GPU needed)
    python benchmarks/projection.py fit RELEASED.json --out ROWS.parquet     the fit alone, on whatever device JAX has
    python benchmarks/projection.py score ROWS.parquet                       macro-F1 against the held-out real rows

Needs the public tables in ../shared/data beside the repository. Everything private goes through the curator, add-remove
neighbours, delta 1e-9. A case runs in a process of its own, so that compilation and memory count.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
ACS = "acs2024_ny_multitask"
DELTA = 1e-9
SHORT = {"cases": ("rap",), "seeds": (1,)}
FULL = {
    "cases": (
        "rap", "gem", "rap-cells", "rap-epsilon", "rap-workload", "rap-rows", "rap-oversampling",
        "rap++", "annealing", "mixed-marginals",
    ),
    "seeds": (1, 2, 3),
}  # fmt: skip


def load(name: str, *, without: tuple[str, ...] = ()) -> tuple[Any, Any, Any]:
    """The schema, four fifths of the rows to fit, one fifth to test."""
    import pyarrow.parquet as pq

    from sundog.schema import Schema

    document = json.loads((DATA / f"{name}.schema.json").read_text(encoding="utf-8"))
    document["fields"] = [field for field in document["fields"] if field["name"] not in without]
    schema = Schema.from_json(document)
    table = pq.read_table(DATA / f"{name}.parquet").select(list(schema.names))
    order = np.argsort((np.arange(table.num_rows, dtype=np.uint64) * np.uint64(2654435761)) % np.uint64(2**32))
    cut = table.num_rows // 5
    return schema, table.take(np.sort(order[cut:])), table.take(np.sort(order[:cut]))


def adult(*, whole: bool = True) -> tuple[Any, Any, Any]:
    """The 14 columns of the notes: without the survey weight and the split."""
    import pyarrow as pa

    schema, train, test = load("adult", without=("fnlwgt", "split"))
    return (schema, pa.concat_tables([train, test]) if whole else train, test)


def curator(schema: Any, table: Any, *, epsilon: float, selects: bool = False) -> Any:
    """A curator with a ledger that is thrown away."""
    from sundog.private.accountant import Budget
    from sundog.private.curator import Curator
    from sundog.private.ledger import Ledger
    from sundog.private.table import PrivateTable

    ledger = Ledger(Path(tempfile.mkdtemp()) / "ledger.db")
    return Curator(
        PrivateTable(table), schema, budget=Budget(epsilon=epsilon, delta=DELTA), dataset="benchmark",
        accounting="zcdp" if selects else "gaussian", ledger=ledger,
    )  # fmt: skip


def made(schema: Any, table: Any, *, recipe: Any, epsilon: float, seed: int) -> tuple[Any, Any]:
    """What a recipe releases and learns."""
    from sundog.keys import key_of
    from sundog.synthesize import run

    held = curator(schema, table, epsilon=epsilon, selects=recipe.rule.selects)
    return run(key_of(seed), held, recipe=recipe, report=lambda _: None)


def exact(schema: Any, table: Any, queries: Any) -> list[Any]:
    """The real proportions (public data: nothing is claimed about it)."""
    from sundog.private.table import PrivateTable, open_private
    from sundog.queries import add_all
    from sundog.unit import PrivacyUnit

    sizes = [query.size for query in queries]
    source = open_private(PrivateTable(table))
    totals = source.add_up(schema, PrivacyUnit(), add=lambda rows, out: add_all(queries, rows, out), size=sum(sizes))
    return np.split(totals / table.num_rows, np.cumsum(sizes)[:-1])


def errors(real: list[Any], found: list[Any]) -> dict[str, float]:
    """Mean total variation, largest error, mean error."""
    apart = [np.abs(a - b) for a, b in zip(real, found, strict=True)]
    return {
        "tv": float(np.mean([0.5 * part.sum() for part in apart])),
        "max": float(max(part.max() for part in apart)),
        "mean": float(np.concatenate(apart).mean()),
    }


def rounded_errors(schema: Any, table: Any, queries: Any, *, rows: Any) -> dict[str, float]:
    """The errors of a table of rows."""
    from sundog.queries import answer

    return errors(exact(schema, table, queries), [answer(query, rows) / len(rows) for query in queries])


def three_way(schema: Any, *, marginals: int = 64, bins: int = 33) -> Any:
    """Random three-way marginals; with 33 bins for wide numbers the 64 have 449,487 cells."""
    from sundog.workload import Workload

    return Workload.marginals(schema, k=3, sample=marginals, seed=0, bins=bins).queries


def case_rap(*, seed: int, epsilon: float, method: str = "rap") -> dict[str, Any]:
    """The 64 three-way marginals from their measured sub-marginals."""
    from sundog.keys import key_of
    from sundog.methods import recipe_of

    schema, table, _ = adult()
    recipe = recipe_of(method)
    released, state = made(schema, table, recipe=recipe, epsilon=epsilon, seed=seed)
    rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
    cost = costs()
    queries = three_way(schema)
    return {"cells": sum(q.size for q in queries), **rounded_errors(schema, table, queries, rows=rows), **cost}


def case_gem(*, seed: int, epsilon: float) -> dict[str, Any]:
    """The same through a network."""
    return case_rap(seed=seed, epsilon=epsilon, method="gem")


def case_rap_cells(*, seed: int, epsilon: float) -> dict[str, Any]:
    """Two rounds of two five-way marginals out of a workload of about 20 million cells."""
    from sundog.generate import RelaxedProjection
    from sundog.generate.adam import Descent
    from sundog.keys import key_of
    from sundog.methods import First, Recipe, one_way
    from sundog.select import WorstError
    from sundog.workload import Workload

    schema, table, _ = adult()
    queries = Workload.marginals(schema, k=5, sample=64, seed=0, bins=17).queries
    recipe = Recipe(
        "rap", "", lambda _: queries, WorstError(rounds=2, per_round=2), RelaxedProjection(descent=Descent(steps=100)),
        first=First(one_way, share=0.2),
    )  # fmt: skip
    released, state = made(schema, table, recipe=recipe, epsilon=epsilon, seed=seed)
    rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
    measured = sum(m.query.size for m in released.measurements)
    cells = sum(query.size for query in queries)
    return {"cells": cells, "measured": measured, **rounded_errors(schema, table, queries, rows=rows), **costs()}


def case_rap_epsilon(*, seed: int, epsilon: float) -> dict[str, Any]:
    """RAP, Figure 2: the largest error against epsilon, 64 three-way marginals."""
    del epsilon
    found = {e: case_rap(seed=seed, epsilon=e) for e in (0.1, 0.25, 0.5, 1.0)}
    return {"curve": {str(e): {key: part[key] for key in ("tv", "max")} for e, part in found.items()}, **costs()}


def case_rap_workload(*, seed: int, epsilon: float) -> dict[str, Any]:
    """RAP, Figures 3 and 4: the workload itself measured, more and more marginals at epsilon 0.1."""
    from sundog.bins import Bins
    from sundog.generate import RelaxedProjection
    from sundog.keys import key_of
    from sundog.methods import First, Recipe, one_way
    from sundog.select import Everything

    del epsilon
    schema, table, _ = adult()
    curve = {}
    for marginals in (4, 16, 64):
        queries = three_way(schema, marginals=marginals, bins=10)
        recipe = Recipe(
            "rap", "", lambda _, queries=queries: queries, Everything(), RelaxedProjection(),
            first=First(one_way, share=0.2), bins=Bins(8),
        )  # fmt: skip
        released, state = made(schema, table, recipe=recipe, epsilon=0.1, seed=seed)
        rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
        curve[str(marginals)] = rounded_errors(schema, table, queries, rows=rows)
    return {"curve": curve, **costs()}


def case_rap_rows(*, seed: int, epsilon: float) -> dict[str, Any]:
    """RAP, Figure 6: error and time against the number of soft rows."""
    from sundog.keys import key_of
    from sundog.methods import recipe_of

    schema, table, _ = adult()
    queries, recipe, curve = three_way(schema), recipe_of("rap"), {}
    for soft in (50, 200, 1000):
        sized = replace(recipe, generator=replace(recipe.generator, rows=soft))
        start = time.process_time()
        released, state = made(schema, table, recipe=sized, epsilon=epsilon, seed=seed)
        spent = time.process_time() - start
        rows = sized.generator.sample(key_of(seed), state, rows=released.rows)
        curve[str(soft)] = {**rounded_errors(schema, table, queries, rows=rows), "cpu_s": spent}
    return {"curve": curve, **costs()}


def case_rap_oversampling(*, seed: int, epsilon: float) -> dict[str, Any]:
    """RAP, Figure 5b: the error of 1000 soft rows before rounding, and after rounding each so many times."""
    from sundog.keys import key_of
    from sundog.methods import recipe_of

    schema, table, _ = adult()
    queries, recipe = three_way(schema), recipe_of("rap")
    _, state = made(schema, table, recipe=recipe, epsilon=epsilon, seed=seed)
    real = exact(schema, table, queries)
    curve = {"soft": errors(real, [recipe.generator.answer(state, query) for query in queries])}
    for times in (1, 5, 20, 50):
        rows = recipe.generator.sample(key_of(seed), state, rows=1000 * times)
        curve[str(times)] = rounded_errors(schema, table, queries, rows=rows)
    return {"curve": curve, **costs()}


def case_rap_plus_plus(*, seed: int, epsilon: float) -> dict[str, Any]:
    """28 class-conditional marginals and 20,000 linear thresholds; fresh thresholds and logistic regression."""
    from sundog.keys import key_of
    from sundog.methods import recipe_of
    from sundog.queries import answer
    from sundog.thresholds import reference_rows
    from sundog.workload import Workload

    schema, train, test = adult(whole=False)
    recipe = recipe_of("rap++")
    released, state = made(schema, train, recipe=recipe, epsilon=epsilon, seed=seed)
    rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
    cost = costs()
    tables = Workload.conditional_marginals(schema, k=2).queries
    fresh = Workload.conditional_thresholds(
        schema, directions=1000, thresholds=20, seed=77, reference=reference_rows(released)
    ).queries[0]
    apart = np.abs(exact(schema, train, [fresh])[0] - answer(fresh, rows) / len(rows)).reshape(-1, fresh.block)
    return {
        "tables": rounded_errors(schema, train, tables, rows=rows),
        "fresh_thresholds": {"mean": float(apart[:, :-1].mean()), "max": float(apart.max())},
        "f1": macro_f1(rows.to_arrow(), test, "income", schema.targets),
        "f1_real": macro_f1(train, test, "income", schema.targets),
        **cost,
    }


def case_annealing(*, seed: int, epsilon: float) -> dict[str, Any]:
    """RAP++, Figure 1: 1000 two-way mixed marginals without noise, from uniform rows; annealed and fixed sigmas."""
    from sundog.generate import AnnealedProjection
    from sundog.generate.adam import Descent
    from sundog.generate.annealed_projection import Annealing
    from sundog.keys import key_of
    from sundog.thresholds import Thresholds
    from sundog.workload import Workload

    del epsilon
    schema, table, _ = load("acs2024_ny_mobility")
    held = curator(schema, table, epsilon=1000.0)
    columns = Workload.marginals(schema, k=1).queries
    held.measure(columns, held.remaining_rho / 2)
    workload = Workload.prefixes(schema, count=1000, labels=1, numbers=1, seed=seed).queries
    queries = Thresholds().rebin(workload, held.released())
    held.measure(queries, held.remaining_rho)
    alone = tuple(m for m in held.released().measurements if len(m.query.columns) > 1)
    released = replace(held.released(), measurements=alone, public_rows=table.num_rows)
    curve = {}
    for name, first, last in [("annealed", 4.0, 4096.0), *((f"{s:g}", s, s) for s in (4.0, 32.0, 256.0, 2048.0))]:
        generator = AnnealedProjection(descent=Descent(steps=600), annealing=Annealing(first, last))
        if name != "annealed":
            generator = replace(generator, annealing=replace(generator.annealing, tolerance=-np.inf))
        state = generator.fit(key_of(seed), generator.init(key_of(0), schema), released=released)
        rows = generator.sample(key_of(seed), state, rows=table.num_rows)
        curve[name] = rounded_errors(schema, table, queries, rows=rows)
    return {"curve": curve, **costs()}


def case_mixed_marginals(*, seed: int, epsilon: float) -> dict[str, Any]:
    """RAP++, Figure 2: class-conditional mixed marginals that nobody measured, RAP++ against RAP with 30 bins."""
    from sundog.bins import Bins
    from sundog.keys import key_of
    from sundog.methods import recipe_of
    from sundog.thresholds import Thresholds
    from sundog.workload import Workload

    schema, table, _ = adult()
    curve, queries = {}, None
    for name, recipe in (("rap++", recipe_of("rap++")), ("rap, 30 bins", replace(recipe_of("rap"), bins=Bins(30)))):
        released, state = made(schema, table, recipe=recipe, epsilon=epsilon, seed=seed)
        if queries is None:
            asked = Workload.conditional_ranges(schema, count=5000, numbers=2, seed=7).queries
            queries = Thresholds().rebin(asked, released)
        rows = recipe.generator.sample(key_of(seed), state, rows=released.rows)
        curve[name] = rounded_errors(schema, table, queries, rows=rows)
    return {"curve": curve, **costs()}


def macro_f1(train: Any, test: Any, target: str, targets: tuple[str, ...]) -> float:
    """Logistic regression on one-hot labels and standardised numbers; other targets are left out."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import f1_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    fit, new = train.to_pandas(), test.to_pandas()
    names = [name for name in fit.columns if name not in targets and name != target]
    numbers = [name for name in names if fit[name].dtype.kind in "if" and new[name].dtype.kind in "if"]
    labels = [name for name in names if name not in numbers]
    for frame in (fit, new):
        frame[labels] = frame[labels].astype(object).where(frame[labels].notna(), "?").astype(str)
        frame[numbers] = frame[numbers].astype(float)
    parts = ColumnTransformer(
        [
            ("labels", OneHotEncoder(handle_unknown="ignore"), labels),
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
        ]
    )
    model = make_pipeline(parts, LogisticRegression(max_iter=300)).fit(fit[names], fit[target].astype(str))
    return float(f1_score(new[target].astype(str), model.predict(new[names]), average="macro"))


def costs() -> dict[str, float]:
    """CPU seconds and peak memory of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def acs_recipe(directions: int) -> Any:
    """RAP++ with all pairs of labels and so many directions, 20 thresholds each, for every target."""
    from sundog import methods

    def workload(schema: Any) -> Any:
        labels = [
            column.name for column in schema.columns if column.name in schema.targets or hasattr(column, "labels")
        ]
        tables = methods.Workload.marginals(schema, k=2, columns=labels).queries
        return (*tables, *methods.Workload.conditional_thresholds(schema, directions=directions, thresholds=20).queries)

    return replace(methods.recipe_of("rap++"), workload=workload)


def prepare(path: Path, *, epsilon: float, directions: int) -> dict[str, Any]:
    """Measure the ACS task and write what was released: the fit needs nothing else."""
    from sundog.methods import one_way

    schema, train, _ = load(ACS)
    recipe, held = acs_recipe(directions), curator(schema, train, epsilon=epsilon)
    columns = one_way(schema)
    held.measure(columns, recipe.first.share * held.remaining_rho, shares=[q.size ** (2 / 3) for q in columns])
    workload = recipe.bins.rebin(recipe.workload(schema), held.released())
    proposal = recipe.rule.propose(
        workload,
        model=(recipe.generator, None),
        released=held.released(),
        remaining_rho=held.remaining_rho,
        previous=None,
    )
    held.measure(proposal.queries, proposal.rho_measure, shares=proposal.shares)
    held.released().save(path)
    thresholds = sum(q.size // q.block for q in workload if hasattr(q, "inner"))
    return {"file": str(path), "megabytes": path.stat().st_size / 1e6, "thresholds": thresholds, **costs()}


def fit(path: Path, *, out: Path, seed: int, steps: int) -> dict[str, Any]:
    """The fit of prepared measurements, and its rows."""
    import jax
    import pyarrow.parquet as pq

    from sundog.generate import AnnealedProjection
    from sundog.generate.adam import Descent
    from sundog.keys import key_of
    from sundog.released import Released

    released = Released.load(path)
    generator = AnnealedProjection(descent=Descent(steps=steps))
    begun = {"wall": time.perf_counter(), "cpu": time.process_time()}
    state = generator.fit(key_of(seed), generator.init(key_of(0), released.schema), released=released)
    spent = {"fit_s": time.perf_counter() - begun["wall"], "fit_cpu_s": time.process_time() - begun["cpu"]}
    pq.write_table(generator.sample(key_of(seed + 1), state, rows=released.rows).to_arrow(), out)
    return {"device": jax.devices()[0].device_kind, "file": str(out), **spent, **costs()}


def score(path: Path) -> dict[str, Any]:
    """Macro-F1 of every ACS target, trained on the synthetic and on the real rows."""
    import pyarrow.parquet as pq

    schema, train, test = load(ACS)
    synthetic = pq.read_table(path)
    found = {t: macro_f1(synthetic, test, t, schema.targets) for t in schema.targets}
    real = {t: macro_f1(train, test, t, schema.targets) for t in schema.targets}
    return {"f1": found, "f1_real": real, "gap": float(np.mean([real[t] - found[t] for t in found]))}


CASES = {
    "rap": case_rap,
    "gem": case_gem,
    "rap-cells": case_rap_cells,
    "rap-epsilon": case_rap_epsilon,
    "rap-workload": case_rap_workload,
    "rap-rows": case_rap_rows,
    "rap-oversampling": case_rap_oversampling,
    "rap++": case_rap_plus_plus,
    "annealing": case_annealing,
    "mixed-marginals": case_mixed_marginals,
}


def run(sizes: dict[str, Any]) -> dict[str, Any]:
    """Every case and seed in a process of its own."""
    results = []
    for name in sizes["cases"]:
        for seed in sizes["seeds"]:
            command = [sys.executable, __file__, "case", name, "--seed", str(seed)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            results.append(json.loads(done.stdout))
    return {"name": "projection", "results": results}


def table(result: dict[str, Any]) -> str:
    """One line a case and seed."""
    return "\n" + "\n".join(
        f"  {part.pop('case')} (seed {part.pop('seed')}): {_words(part)}" for part in result["results"]
    )


def _words(part: Any) -> str:
    if isinstance(part, dict):
        return ", ".join(f"{key} {_words(value)}" for key, value in part.items())
    return f"{part:.4g}" if isinstance(part, float) else str(part)


def main() -> None:
    """One case, or one step of the GPU task."""
    parser = argparse.ArgumentParser(description="RAP, RAP++ and GEM.")
    parser.add_argument("step", choices=("case", "prepare", "fit", "score"))
    parser.add_argument("what", help=f"a case ({', '.join(CASES)}) or a file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--directions", type=int, default=2000, help="per target; 20 thresholds each")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("synthetic.parquet"))
    given = parser.parse_args()
    if given.step == "case":
        found = CASES[given.what](seed=given.seed, epsilon=given.epsilon)
        result = {"case": given.what, "seed": given.seed, **found}
    elif given.step == "prepare":
        result = prepare(Path(given.what), epsilon=given.epsilon, directions=given.directions)
    elif given.step == "fit":
        result = fit(Path(given.what), out=given.out, seed=given.seed, steps=given.steps)
    else:
        result = score(Path(given.what))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
