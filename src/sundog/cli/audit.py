"""sundog audit: attacks on our own claims, of the mechanism on made-up tables and of one release on real rows (CONFIDENTIAL)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sundog.api.options import Charged, Spendable
from sundog.api.writing import prepare_file, write_confidential
from sundog.cli import options as o
from sundog.cli.groups import TextOptions, grouped
from sundog.cli.output import load_schema, progress, say
from sundog.errors import UserError

if TYPE_CHECKING:
    from sundog.api.audit_mechanism import MechanismAudit
    from sundog.api.audit_release import ReleaseAudit
    from sundog.domain.unit import PrivacyUnit
    from sundog.private.accountant import Budget

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
Real = Annotated[str, typer.Option("--real", help="The table that was synthesized; the ledger records the disclosure.")]
Synthetic = Annotated[Path, typer.Option("--synthetic", help="The synthetic table, made by Sundog or another tool.")]
Test = Annotated[str | None, typer.Option("--test", help="Rows of the same population that the synthesizer never saw.")]
ReleasedFile = Annotated[
    Path | None, typer.Option("--released", help="Its released.json: the marginals to attack, and what is claimed.")
]
Secrets = Annotated[
    list[str] | None,
    typer.Option("--secret", help="A column to guess; may be repeated; default: the schema's targets."),
]
Targets = Annotated[int, typer.Option(help="How many people are attacked, in the table and outside it.")]
ConfidentialHtml = Annotated[Path | None, typer.Option("--html", help="Write a page for people (mode 0600).")]
Seed = Annotated[int, typer.Option(help="Draws the people that are attacked.")]


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


@dataclass(frozen=True, kw_only=True)
class AttackedTables(TextOptions):
    """The tables of an attack on a release."""

    real: Real
    synthetic: Synthetic
    test: Test = None
    released: ReleasedFile = None


@dataclass(frozen=True)
class Claimed(Spendable):
    """What another tool's table claims."""

    neighbours: Annotated[
        Literal["add-remove", "replace"], "Of the claim: whether one record is added, or takes another's place."
    ] = "add-remove"

    def claim(self) -> "tuple[Budget, PrivacyUnit] | None":
        """The claim, where one was given."""
        from sundog.domain.unit import PrivacyUnit
        from sundog.private.accountant import Budget

        if self.epsilon is None and self.rho is None:
            return None
        return Budget(self.epsilon, self.delta, self.rho), PrivacyUnit(self.neighbours)


@dataclass(frozen=True)
class People:
    """Who is attacked, and for what."""

    secret: Secrets = None
    targets: Targets = 1000
    seed: Seed = 0


@app.command("release")
@grouped
def release(
    tables: AttackedTables,
    *,
    schema: o.SchemaFile,
    claimed: Claimed,
    people: People,
    charged: Charged,
    html: ConfidentialHtml = None,
    force: o.Force = False,
    json: o.AsJson = False,
) -> None:
    """Attack a synthetic table with the real rows at hand. CONFIDENTIAL: not for release; the ledger records the disclosure."""
    with progress("starting") as report:
        from sundog.api.audit_release import audit_release
        from sundog.released import Released

        if html is not None:
            prepare_file(html, force=force)
        public = tables.amend(load_schema(schema))
        claim = claimed.claim()
        if claim is not None and tables.released is not None:
            raise UserError(
                "audit: found --released and a budget; the release says itself what it claims: leave one out."
            )
        found = audit_release(
            tables.real,
            tables.synthetic,
            schema=public,
            test=tables.test,
            released=None if tables.released is None else Released.load(tables.released),
            claim=claim,
            secrets=people.secret or (),
            targets=people.targets,
            dataset=charged.account(public.name, tables.real),
            ledger=charged.ledger,
            new_account=charged.new_account,
            seed=people.seed,
            progress=report,
        )
        if html is not None:
            write_confidential(html, found.to_html())
    say(found.to_json(), [*release_lines(found), *([f"Page (mode 0600): {html}"] if html else [])], as_json=json)


def release_lines(found: "ReleaseAudit") -> list[str]:
    """The verdict, then a line per attack."""
    document = found.to_json()
    lines = [
        document["brand"],
        "",
        *found.verdict,
        "",
        f"{'':<44}{'in the table':>22}{'not in it':>22}{'baseline':>10}{'allowed':>9}",
    ]
    for each in document["attacks"]:
        rates = "".join(f"{_rate(side):>22}" for side in (each["members"], each["outsiders"]))
        allowed = "-" if each["limit"] is None else f"{100 * each['limit']:.1f} %"
        label = f"{each['kind']}, {each['name']}"
        lines.append(f"{label:<44}{rates}{100 * each['baseline']:>8.1f} %{allowed:>9}")
    return [*lines, *found.notes]


def _rate(side: Mapping[str, Any] | None) -> str:
    if side is None:
        return "-"
    low, high = side["interval"]
    return f"{100 * side['rate']:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
