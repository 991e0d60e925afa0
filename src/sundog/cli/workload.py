"""sundog workload: what could be measured, and what a workload would cost in noise and memory. It touches no data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sundog.api.options import Privacy
from sundog.cli import options as o
from sundog.cli.groups import grouped
from sundog.cli.output import load_schema, say

if TYPE_CHECKING:
    from sundog.domain.unit import PrivacyUnit
    from sundog.queries.workload import Workload

app = typer.Typer(help="Which questions can be measured, and how well at a given budget.", no_args_is_help=True)


@app.command("list")
def list_kinds(json: o.AsJson = False) -> None:
    """List the kinds of workloads with their options."""
    import inspect

    from sundog.queries.workload import KINDS

    result, lines = {}, []
    for name, build in KINDS.items():
        options = {
            key: parameter.default
            for key, parameter in inspect.signature(build).parameters.items()
            if key not in ("schema", "reference")
        }
        result[name] = {"about": inspect.getdoc(build), "options": options}
        shown = ", ".join(f"{key} = {value}" for key, value in options.items())
        lines += [name, f"  {inspect.getdoc(build)}", f"  options: {shown}"]
    say(result, lines, as_json=json)


@app.command()
@grouped
def describe(
    file: Annotated[Path, typer.Argument(help="The workload file (TOML).")],
    *,
    schema: o.SchemaFile,
    privacy: Privacy,
    json: o.AsJson = False,
) -> None:
    """Say what a workload would measure: queries, cells, sensitivity, noise per cell at a budget, memory."""
    from sundog.queries.workload import Workload

    public = load_schema(schema)
    workload = Workload.load(file, public)
    unit = privacy.protected_unit()
    asked = privacy.epsilon is not None or privacy.rho is not None
    budget = privacy.budget() if asked else None
    rho = budget.total_rho("gaussian") if budget else None
    rows = [_row(workload, index, rho=rho, unit=unit) for index in range(len(workload))]
    total = {
        "queries": sum(row["blocks"] for row in rows),
        "cells": workload.cells,
        "memoryBytes": 8 * workload.cells,
        "rho": rho,
    }
    lines = [_line(row) for row in rows[:SHOWN]]
    lines += [f"... and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
    noise = f"; measured together at {budget.describe()}: rho {rho:.6g}" if budget else ""
    lines.append(f"In all: {total['queries']} queries, {total['cells']} cells, {_bytes(total['memoryBytes'])}{noise}")
    say({"queries": rows, "total": total}, lines, as_json=json)


SHOWN = 40


def _row(workload: "Workload", index: int, *, rho: float | None, unit: "PrivacyUnit") -> dict[str, Any]:
    from sundog.queries.sensitivity import squared

    query = workload.queries[index]
    square = squared(query, unit)
    row: dict[str, Any] = {
        "what": query.describe(),
        "blocks": query.size // query.block,
        "cells": query.size,
        "sensitivitySquared": str(square),
        "weight": workload.weights[index],
        "memoryBytes": 8 * query.size,
    }
    if rho is not None:
        from sundog.select.everything import shares_of

        shares = shares_of(workload.queries, workload.weights, unit.neighbours)
        row["stddev"] = (float(square) / (2 * rho * shares[index] / sum(shares))) ** 0.5
    return row


def _line(row: dict[str, Any]) -> str:
    noise = f", noise per cell {row['stddev']:.4g}" if "stddev" in row else ""
    return (
        f"{row['what']}: {row['blocks']} queries, {row['cells']} cells, sensitivity² {row['sensitivitySquared']}{noise}"
    )


def _bytes(number: int) -> str:
    return f"{number / 1e6:.3g} MB"
