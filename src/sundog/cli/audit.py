"""sundog audit: attacks on our own claims, of the mechanism on made-up tables and of one release on real rows (CONFIDENTIAL)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sundog.api.writing import prepare_file
from sundog.cli import options as o
from sundog.cli.groups import grouped
from sundog.cli.output import progress, say

if TYPE_CHECKING:
    from sundog.api.audit_mechanism import MechanismAudit

app = typer.Typer(
    help="Attack our own claims: of a method (mechanism), or of one release (release, CONFIDENTIAL).",
    no_args_is_help=True,
)
ALL = "all"

Methods = Annotated[
    list[str] | None, typer.Option("--method", help="The method; may be repeated; all: every method; default: auto.")
]
Runs = Annotated[int, typer.Option(help="How often the pipeline runs on each of the two tables.")]
Confidence = Annotated[float, typer.Option(help="With which each bound holds.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write a page for people.")]


@dataclass(frozen=True)
class Attacked:
    """What is attacked, and how hard."""

    method: Methods = None
    rho: Annotated[float | None, "The budget of every run as zCDP; default: 2."] = None
    epsilon: Annotated[float | None, "The same as epsilon, with delta."] = None
    delta: Annotated[float, "Where epsilon is stated."] = 1e-5
    neighbours: Annotated[
        Literal["add-remove", "replace"], "Whether the one record is added, or takes another's place."
    ] = "add-remove"
    settings: Annotated[Mapping[str, Any] | None, "Settings of the method, such as rows=1000."] = None
    runs: Runs = 200
    confidence: Confidence = 0.99
    seed: Annotated[int, "The public seed of all runs."] = 0


@app.command("mechanism")
@grouped
def mechanism(attacked: Attacked, *, html: Html = None, force: o.Force = False, json: o.AsJson = False) -> None:
    """Run a method many times on made-up neighbours, and bound from below what it spends. No ledger is touched."""
    with progress("starting") as report:
        from sundog.api.audit_mechanism import audit_mechanism
        from sundog.methods.recipes import METHODS

        if html is not None:
            prepare_file(html, force=force)
        wanted = attacked.method or ["auto"]
        found = audit_mechanism(
            list(METHODS) if ALL in wanted else wanted,
            rho=attacked.rho,
            epsilon=attacked.epsilon,
            delta=attacked.delta,
            neighbours=attacked.neighbours,
            runs=attacked.runs,
            confidence=attacked.confidence,
            settings=attacked.settings,
            seed=attacked.seed,
            progress=report,
        )
        if html is not None:
            html.write_text(found.to_html(), encoding="utf-8")
    say(found.to_json(), [*mechanism_lines(found), *([f"Page: {html}"] if html else [])], as_json=json)
    if found.broken:
        raise typer.Exit(1)  # a defect, proven


def mechanism_lines(found: "MechanismAudit") -> list[str]:
    """The verdict, then a line per method and attack."""
    from sundog.report.audit import mechanism_verdict

    document = found.to_json()
    lines = [*mechanism_verdict(document), "", "method: claimed rho (mu); proven at least"]
    for each in document["methods"]:
        claim, attacks = each["claim"], each["attacks"]
        shown = ", ".join(
            f"{attack['on']}: rho {attack['rhoAtLeast']:.3g} (mu {attack['muAtLeast']:.2f})"
            for attack in attacks.values()
        )
        lines += [f"{each['method']}: rho {claim['rho']:.3g} (mu {claim['mu']:.2f}); {shown}", *each["faults"]]
    return [*lines, "The tables are made up: no private table was read, no ledger of yours was charged."]
