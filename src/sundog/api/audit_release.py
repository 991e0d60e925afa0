"""audit_release: can someone be found in a release? CONFIDENTIAL: attacks on real people, computed on real rows without noise.

The rows come through the one door that writes the disclosure into the ledger first (private.disclose).

>>> import sundog
>>> schema = {"fields": [{"name": name, "type": "boolean", "constraints": {"required": True}} for name in ("a", "b")]}
>>> real, fake = {"a": [True, False] * 50, "b": [True, False] * 50}, {"a": [True, False] * 40, "b": [False, True] * 40}
>>> audit = sundog.audit_release(real, fake, schema=schema, test=real, dataset="example", secrets=["b"])
>>> [round(attack.members.value, 2) for attack in audit.attacks if attack.kind == "Inference"]
[0.0]
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sundog.api.audit_mechanism import points_of
from sundog.api.following import following
from sundog.api.options import Charged
from sundog.audit.bounds import Points
from sundog.audit.game import Attack, Game, game_of
from sundog.audit.guidance import inference, linkability, singling_out
from sundog.audit.membership import membership_attacks
from sundog.domain import Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.evaluate.reading import check_synthetic, open_synthetic, read_synthetic
from sundog.private.accountant import Budget
from sundog.private.disclose import BRAND, disclose_rows
from sundog.private.ledger import Ledger
from sundog.private.table import PrivateTable
from sundog.progress import tell
from sundog.random.keys import key_of
from sundog.released import Released
from sundog.sizes import whole_number

SECRETS = 3
TARGETS = 1000
NO_OUTSIDERS = (
    "No rows were given that the synthesizer never saw (--test). So membership could not be tried at all, and nobody can tell what the "
    "other attacks found out about members from what statistics tell about anyone: a rate above the baseline alone is no leak. Hold out "
    "rows before the next release."
)
NO_CLAIM = "What differential privacy allows is not shown: give --released, or --epsilon with --delta."


@dataclass(frozen=True)
class ReleaseAudit:
    """CONFIDENTIAL: what each attack reached, and the claim that it is read against."""

    brand: str
    dataset: str
    real_rows: int
    synthetic_rows: int
    attacks: tuple[Attack, ...]
    claim: str | None
    points: Points | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"ReleaseAudit(CONFIDENTIAL, dataset={self.dataset!r}, attacks={len(self.attacks)})"

    @property
    def verdict(self) -> tuple[str, ...]:
        """What was found, in a few sentences."""
        from sundog.report.audit import release_verdict

        return release_verdict(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, with the brand."""
        return {
            "confidential": True,
            "brand": self.brand,
            "dataset": self.dataset,
            "realRows": self.real_rows,
            "syntheticRows": self.synthetic_rows,
            "claim": self.claim,
            "attacks": [attack.to_json(self.points) for attack in self.attacks],
            "notes": list(self.notes),
        }

    def to_html(self) -> str:
        """A page for people, with the brand."""
        from sundog.report.audit import release_page

        return release_page(self.to_json())


def audit_release(
    real: Any,
    synthetic: Any,
    *,
    schema: Schema | Any,
    test: Any = None,
    released: Released | None = None,
    claim: tuple[Budget, PrivacyUnit] | None = None,
    secrets: Sequence[str] = (),
    targets: int = TARGETS,
    dataset: str | None = None,
    ledger: Ledger | str | Path | None = None,
    new_account: bool = False,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> ReleaseAudit:
    """Attack one synthetic table with the real rows at hand.

    Args:
        real: the table that the synthesizer saw, a frame or a path; its rows are disclosed, and the ledger says so.
        synthetic: the synthetic table, a frame or a path; made by Sundog or another tool.
        schema: the public schema, a document or the path of one.
        test: rows of the same population that the synthesizer never saw; without them little can be told.
        released: the release that the rows were made from: its marginals are attacked, its guarantee is the limit.
        claim: of another tool's table, what it claims: a budget and who it protects.
        secrets: the columns to guess; by default the schema's targets, else its last columns.
        targets: how many people are attacked, in the table and outside it.
        dataset: the ledger's account; by default the schema's name.
        ledger: the ledger, or its path.
        new_account: open a new account although its name looks like that of an existing one.
        seed: draws the targets.
        progress: called with what is going on.
    """
    public = Schema.of(schema)
    charged = Charged.to(ledger, dataset, new_account=new_account)
    account = charged.account(public.name)
    whole_number("targets", targets, least=10)
    wanted = _secrets(public, secrets)
    source = open_synthetic(synthetic, public)
    check_synthetic(source, public, name="synthetic")
    held = {"an audit": PrivateTable(real, dialect=public.dialect)}
    if test is not None:
        held["an audit (held-out rows)"] = PrivateTable(test, dialect=public.dialect)
    made = read_synthetic(source, public, name="synthetic")
    opened = charged.open_ledger()
    rows = [
        disclose_rows(table, public, purpose=purpose, dataset=account, ledger=opened) for purpose, table in held.items()
    ]
    if not all(len(each) for each in rows):
        raise UserError("audit: the real table or the held-out table has no rows; there is nobody to look for.")
    game = game_of(key_of(seed), rows[0], made.rows, test=rows[1] if len(rows) > 1 else None, targets=targets)
    with following(progress):
        attacks = _attacks(game, released, wanted)
    said, points = _claimed(released, claim)
    notes = [*made.notes, *([] if game.outsiders is not None else [NO_OUTSIDERS]), *([] if points else [NO_CLAIM])]
    return ReleaseAudit(BRAND, account, len(rows[0]), len(made.rows), attacks, said, points, tuple(notes))


def _attacks(game: Game, released: Released | None, secrets: Sequence[str]) -> tuple[Attack, ...]:
    tell("membership: distances, densities, shadow tables")
    found = membership_attacks(game, released)
    tell("singling out and linkability")
    found += [*singling_out(game), *linkability(game)]
    tell("inference")
    return (*found, *inference(game, secrets))


def _secrets(schema: Schema, given: Sequence[str]) -> list[str]:
    """The columns to guess; refuses unknown ones before anything is disclosed."""
    for name in given:
        schema.position(name)
    if len(schema.names) < 2:
        return []
    return list(given) or list(schema.targets[:SECRETS]) or list(schema.names[-SECRETS:])


def _claimed(released: Released | None, claim: tuple[Budget, PrivacyUnit] | None) -> tuple[str | None, Points | None]:
    """What is claimed, in words and as points for the game that is played here.

    A member and an outsider change places: one row is replaced, which is two steps where neighbours add or remove one. Where the
    unit is a person with several rows, two people change. Over k steps rho grows by k^2 (group privacy of zCDP).
    """
    if released is not None:
        told = released.guarantee
        steps = _steps(told.unit)
        shown = (
            ""
            if told.epsilon is None or told.delta is None
            else f", epsilon {told.epsilon:.3g} at delta {told.delta:g}"
        )
        return f"rho {told.rho:.3g}{shown}, {told.unit.describe()}", points_of(steps**2 * told.rho, told.accounting)
    if claim is None:
        return None, None
    budget, unit = claim
    steps = _steps(unit)
    if budget.rho is not None:
        return f"{budget.describe()}, {unit.describe()}", points_of(steps**2 * budget.rho, "zcdp")
    assert budget.epsilon is not None and budget.delta is not None  # noqa: S101, PT018 - by Budget
    grown = sum(math.exp(min(step * budget.epsilon, 700.0)) for step in range(steps))
    return f"{budget.describe()}, {unit.describe()}", [(steps * budget.epsilon, min(1.0, grown * budget.delta))]


def _steps(unit: PrivacyUnit) -> int:
    return (1 if unit.neighbours == "replace" else 2) * (1 if unit.column is None else 2)
