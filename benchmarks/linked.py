"""Linked tables: how like the real ones they are, beside children dealt to random parents and `auto` on the root alone.

python benchmarks/linked.py [--full] [--json]

Figures per table are those of sundog.evaluate.linked (total variation; lower is better), at epsilon 1 and delta 1e-9 per root.
`dealt` is the floor: the real tables with the rows of every child table given to random parents. `dependent` restricts a figure
to the pairs of columns in which that floor is off by at least 0.1 more than two such deals are from each other, which is
chance (`chance`): tables of many cells differ by it although nothing depends on anything. `flat tv2` is what `auto` reaches with the same budget on the root
table alone. `scale` makes up 100,000 roots with 5 children of 15 columns each. Pictures of known distributions
(linked_pictures.py) lie beside the results.
"""

import json
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import harness
from harness import DATA, Case, bars, curves, markdown, mean_by_case, publish
from linked_pictures import pictures

EPSILON, DELTA = 1.0, 1e-9
TABLES = ("acs2024_ny", "acs2024_wy", "acs2011_us", "berka_accounts", "berka_transactions", "diabetes130")
PICTURED = {"cpu": "CPU s", "rss_mb": "peak MB"}
SHORT = {"tables": TABLES[1:4], "seeds": 1, "roots": 5_000}
FULL = {"tables": TABLES, "seeds": 3, "roots": 100_000}
DEPENDENT = 0.1


def work(settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One release of one package, and its figures."""
    with tempfile.TemporaryDirectory() as folder:
        if "roots" in settings:
            return _scale(Path(folder), settings["roots"], seed)
        return _package(Path(folder), settings["package"], seed)


def _package(folder: Path, name: str, seed: int) -> dict[str, Any]:
    import sundog

    place = DATA / "linked" / name / "datapackage.json"
    document = _document(place)
    options = {"epsilon": EPSILON, "delta": DELTA, "dataset": name, "ledger": folder / "ledger", "seed": seed}
    begin = time.process_time()
    model = sundog.Synthesizer(document, **options).fit(place)
    made = model.sample()
    spent = time.process_time() - begin
    found = sundog.evaluate_linked(place, made, schema=document, dataset=name, ledger=folder / "ledger")
    figures: dict[str, Any] = {"cpu": spent, "roots": len(made[model.schema.package.root.name])}
    figures |= _figures(found, _chance(model.schema, place))
    seen = pictures(name, _frames(model.schema, place), {table: rows.to_pandas() for table, rows in made.items()})
    figures |= {title: each["tv"] for title, each in seen.items()}
    return figures | {"flat tv2": _flat(place, options), "pictures": seen}


def _document(place: Path) -> dict[str, Any]:
    """The package; transactions are a sequence in time, so the number of a transaction within its account is left out."""
    document: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    for resource in document["resources"]:
        if resource["name"] == "transactions":
            resource["orderBy"] = ["date"]
            fields = resource["schema"]["fields"]
            resource["schema"]["fields"] = [each for each in fields if each["name"] != "sequence"]
    return document


def _figures(found: Any, chance: Mapping[tuple[str, str], Any]) -> dict[str, float]:
    floor = {(score.table, score.name): score for score in found.floor}
    figures: dict[str, float] = {}
    for score in found.scores:
        named, dealt = f"{score.table}: {score.name}", floor[score.table, score.name]
        figures |= {named: score.value, f"{named}, dealt": dealt.value}
        parts = chance[score.table, score.name].parts if (score.table, score.name) in chance else {}
        strong = [pair for pair, gap in dealt.parts.items() if pair in parts and gap - parts[pair] >= DEPENDENT]
        if strong:
            figures[f"{named}, dependent"] = _mean(score.parts, strong)
            figures[f"{named}, dependent, dealt"] = _mean(dealt.parts, strong)
            figures[f"{named}, dependent, chance"] = _mean(parts, strong)
            figures[f"{named}, dependent, times better"] = _mean(dealt.parts, strong) / _mean(score.parts, strong)
    return figures


def _chance(schema: Any, place: Path) -> dict[tuple[str, str], Any]:
    """How far two deals of the real tables are apart."""
    from sundog.api.linked import located
    from sundog.evaluate.linked import linked_scores
    from sundog.random.keys import key_of
    from sundog.sources import open_table
    from sundog.sources.linked import LinkedSource

    tables = located(schema.package, place)
    source = LinkedSource(schema.package, {name: open_table(path) for name, path in tables.items()})
    first, second = (source.dealt(key_of(seed)) for seed in (1, 2))
    return {
        (each.table, each.name): each for each in linked_scores(schema, real=first, synthetic=second, learning=False)
    }


def _frames(schema: Any, place: Path) -> dict[str, Any]:
    from pyarrow import parquet

    tables = [table for table in schema.package.tables if table.path is not None]
    return {table.name: parquet.read_table(place.parent / table.path).to_pandas() for table in tables}


def _mean(parts: Mapping[str, float], names: list[str]) -> float:
    return sum(parts[name] for name in names) / len(names)


def _flat(place: Path, options: Mapping[str, Any]) -> float:
    """TV2 of `auto` on the root table alone, with the whole budget."""
    import sundog
    from sundog.domain.linked.package import Package

    root = Package.load(place).root
    data = str(place.parent / (root.path or ""))
    model = sundog.Synthesizer(root.schema, **{**options, "dataset": "root"}).fit(data)
    made = {"auto": model.sample()}
    scores = sundog.evaluate_tables(
        data, made, schema=root.schema, dataset="root", ledger=options["ledger"], learning=False
    )
    return scores.tables[0].scores["tv2"].value if len(root.schema.names) > 1 else float("nan")


def _scale(folder: Path, roots: int, seed: int) -> dict[str, Any]:
    """This many made-up roots with 5 children of 15 columns each."""
    import numpy as np

    import sundog

    draw = np.random.default_rng(seed)
    labels = [f"c{k}" for k in range(15)]
    home = draw.integers(0, 6, size=roots)
    shift = np.repeat(home, 5)
    below = {
        name: (draw.integers(0, 4 + k, size=5 * roots) + shift * (k % 3 == 0)) % (4 + k)
        for k, name in enumerate(labels)
    }
    fields = [
        {"name": name, "type": "integer", "categories": list(range(4 + k)), "constraints": {"required": True}}
        for k, name in enumerate(labels)
    ]
    package = {
        "name": "scale",
        "resources": [
            {"name": "root", "schema": {"primaryKey": "id", "fields": [_key("id"), {**fields[2], "name": "kind"}]}},
            {
                "name": "child",
                "maximumPerParent": 5,
                "schema": {
                    "foreignKeys": [{"fields": "parent", "reference": {"resource": "root", "fields": "id"}}],
                    "fields": [_key("parent"), *fields],
                },
            },
        ],
    }
    frames = {
        "root": {"id": np.arange(roots), "kind": home},
        "child": {"parent": np.repeat(np.arange(roots), 5), **below},
    }
    begin = time.process_time()
    model = sundog.Synthesizer(package, epsilon=EPSILON, delta=DELTA, dataset="scale", ledger=folder / "l", seed=seed)
    made = model.fit(frames).sample()
    return {"cpu": time.process_time() - begin, "roots": len(made["root"]), "rows": len(made["child"])}


def _key(name: str) -> dict[str, Any]:
    return {"name": name, "type": "integer", "identifier": True}


def run(sizes: Mapping[str, Any], *, fresh: bool = False) -> dict[str, Any]:
    """All packages, and the made-up one."""
    if not (DATA / "linked").is_dir():
        return {"absent": str(DATA / "linked")}
    cases = [Case(name, {"package": name}) for name in sizes["tables"]]
    results = harness.run("linked", cases, work=work, seeds=range(sizes["seeds"]), fresh=fresh)
    scale = [Case(f"{sizes['roots']} roots with 5 children", {"roots": sizes["roots"]})]
    results += harness.run("linked", scale, work=work, seeds=range(1), fresh=fresh)
    lines = mean_by_case(results)
    for line in results:
        for title, each in line.get("result", {}).get("pictures", {}).items():
            series = {side: {float(at): share for at, share in each[side].items()} for side in ("real", "synthetic")}
            picture = curves(series, x=f"{title} ({line['case']})", y="share")
            publish(
                f"linked_{line['case']}_{title.replace(' ', '_')}", each, table=f"TV {each['tv']:.3f}", picture=picture
            )
    publish("linked", lines, table=table(lines), picture=bars(lines, PICTURED))
    return lines


def table(result: Mapping[str, Any]) -> str:
    """A list of figures per package."""
    if "absent" in result:
        return f"the public linked tables are not there ({result['absent']}); nothing was run"
    parts = []
    for name, numbers in result.items():
        rows = {figure: {"value": value} for figure, value in numbers.items()}
        parts.append(f"{name}\n\n{markdown(rows, {'value': 'value'}, first='figure')}")
    return "\n\n".join(parts)


def main() -> None:
    parser = harness.options(__doc__)
    parser.add_argument("--tables", nargs="*", default=list(FULL["tables"]))
    parser.add_argument("--seeds", type=int, default=FULL["seeds"])
    parser.add_argument("--roots", type=int, default=FULL["roots"])
    harness.command(parser, run=run, table=table)


if __name__ == "__main__":
    main()
