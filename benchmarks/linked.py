"""Linked tables: how like the real ones they are, beside children dealt to random parents and `auto` on the root alone.

python benchmarks/linked.py [--full] [--json]

Figures per table are those of sundog.evaluate.linked (total variation; lower is better), at epsilon 1 and delta 1e-9 per root.
`dealt` is the floor: the real tables with the rows of every child table given to random parents. `dependent` restricts a figure
to the pairs of columns in which that floor is off by at least 0.1 more than two such deals are from each other, which is
chance (`chance`): tables of many cells differ by it although nothing depends on anything. `flat tv2` is what `auto` reaches with the same budget on the root
table alone. `scale` makes up 100,000 roots with 5 children of 15 columns each, half of them numbers. Pictures of known distributions
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
from linked_made_up import families, many
from linked_pictures import pictures

EPSILON, DELTA = 1.0, 1e-9
MADE_UP = "families"
"""Siblings that depend on each other and have no order: no choice is made on the public tables alone."""
FAMILIES = 10_000
TABLES = ("acs2024_ny", "acs2024_wy", "acs2011_us", "berka_accounts", "berka_transactions", "diabetes130", MADE_UP)
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

    document, tables = _tables(name)
    options = {"epsilon": EPSILON, "delta": DELTA, "dataset": name, "ledger": folder / "ledger", "seed": seed}
    begin = time.process_time()
    model = sundog.Synthesizer(document, **options).fit(tables)
    made = model.sample()
    spent = time.process_time() - begin
    found = sundog.evaluate_linked(tables, made, schema=document, dataset=name, ledger=folder / "ledger")
    figures: dict[str, Any] = {"cpu": spent, "roots": len(made[model.schema.package.root.name])}
    figures |= _figures(found, _chance(model.schema, tables))
    seen = pictures(name, tables, made)
    figures |= {title: each["tv"] for title, each in seen.items()}
    return figures | {"flat tv2": _flat(model.schema.package.root, tables, options), "pictures": seen}


def _tables(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A package and its tables: a public one, or families that are made up."""
    import pandas as pd

    if name == MADE_UP:
        document, frames = families(FAMILIES, 0)
        return document, {table: pd.DataFrame(columns) for table, columns in frames.items()}
    place = DATA / "linked" / name
    document = _document(place / "datapackage.json")
    private = [resource for resource in document["resources"] if not resource.get("public")]
    return document, {each["name"]: pd.read_parquet(place / each["path"]) for each in private}


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


def _chance(schema: Any, tables: Mapping[str, Any]) -> dict[tuple[str, str], Any]:
    """How far two deals of the real tables are apart."""
    from sundog.evaluate.linked import linked_scores
    from sundog.random.keys import key_of
    from sundog.sources import open_table
    from sundog.sources.linked import LinkedSource

    source = LinkedSource(schema.package, {name: open_table(table) for name, table in tables.items()})
    first, second = (source.dealt(key_of(seed)) for seed in (1, 2))
    return {
        (each.table, each.name): each for each in linked_scores(schema, real=first, synthetic=second, learning=False)
    }


def _mean(parts: Mapping[str, float], names: list[str]) -> float:
    return sum(parts[name] for name in names) / len(names)


def _flat(root: Any, tables: Mapping[str, Any], options: Mapping[str, Any]) -> float:
    """TV2 of `auto` on the root table alone, with the whole budget."""
    import sundog

    model = sundog.Synthesizer(root.schema, **{**options, "dataset": "root"}).fit(tables[root.name])
    made = {"auto": model.sample()}
    scores = sundog.evaluate_tables(
        tables[root.name], made, schema=root.schema, dataset="root", ledger=options["ledger"], learning=False
    )
    return scores.tables[0].scores["tv2"].value if len(root.schema.names) > 1 else float("nan")


def _scale(folder: Path, roots: int, seed: int) -> dict[str, Any]:
    """This many made-up roots with 5 children of 15 columns each, half of them numbers."""
    import sundog

    package, frames = many(roots, seed)
    begin = time.process_time()
    model = sundog.Synthesizer(package, epsilon=EPSILON, delta=DELTA, dataset="scale", ledger=folder / "l", seed=seed)
    made = model.fit(frames).sample()
    return {"cpu": time.process_time() - begin, "roots": len(made["root"]), "rows": len(made["child"])}


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
