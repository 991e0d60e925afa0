"""audit_mechanism: does a method keep what its certificate promises? Many real runs on two made-up neighbouring tables.

No table of yours is read, and your ledger is not touched: the tables are made up, and charges go to a ledger in a temporary
folder that is thrown away. Every run is the whole pipeline, from the table to synthetic rows, with one public seed throughout: if
the seed had any say in the privacy noise, all runs would look alike, and the attack would see it at once.
"""

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sundog.api.following import following
from sundog.api.watched import WatchedSynthesizer
from sundog.audit.bounds import Points
from sundog.audit.evidence import of_rows, of_values
from sundog.audit.mechanism import Bound, Claim, lower_bound
from sundog.audit.worst_case import SCHEMA, Neighbouring, worst_case
from sundog.domain.unit import Neighbours
from sundog.errors import UserError
from sundog.methods.loop import Report
from sundog.methods.recipes import recipe_of
from sundog.private.accountant import Accounting, gaussian_delta, spent_epsilon, zcdp_delta
from sundog.progress import tell, tell_share
from sundog.released import Guarantee
from sundog.sizes import whole_number
from sundog.sources import Source

LEAST_RUNS = 20
GRID = 120
ATTACKS = {"values": "everything that was released", "rows": "the synthetic rows alone"}


@dataclass(frozen=True)
class MethodAudit:
    """One method: what its certificate claims, what each attack proved, and what was seen without any statistics."""

    method: str
    accounting: str
    rho: float
    epsilon: float
    bounds: Mapping[str, Bound]
    faults: tuple[str, ...]

    @property
    def broken(self) -> bool:
        """Whether the claim is disproved."""
        return bool(self.faults) or any(
            bound.rho > self.rho or bound.epsilon > self.epsilon for bound in self.bounds.values()
        )

    def to_json(self) -> dict[str, Any]:
        """The same as a document of plain JSON values."""
        return {
            "method": self.method,
            "accounting": self.accounting,
            "claim": {"rho": self.rho, "mu": math.sqrt(2 * self.rho), "epsilon": self.epsilon},
            "attacks": {
                name: {
                    "on": ATTACKS[name],
                    "hits": bound.hits,
                    "falseAlarms": bound.false_alarms,
                    "runsPerSide": bound.runs,
                    "rhoAtLeast": bound.rho,
                    "muAtLeast": bound.mu,
                    "epsilonAtLeast": None if math.isinf(bound.epsilon) else bound.epsilon,
                }
                for name, bound in self.bounds.items()
            },
            "faults": list(self.faults),
            "broken": self.broken,
        }


@dataclass(frozen=True)
class MechanismAudit:
    """What attacks on made-up neighbours proved about one or several methods. It holds nothing of anyone: it may be shown."""

    methods: tuple[MethodAudit, ...]
    neighbours: Neighbours
    runs: int
    confidence: float
    delta: float

    @property
    def broken(self) -> bool:
        """Whether any claim is disproved."""
        return any(each.broken for each in self.methods)

    def to_json(self) -> dict[str, Any]:
        """The same as a document of plain JSON values."""
        return {
            "neighbours": self.neighbours,
            "runsPerSide": self.runs,
            "confidence": self.confidence,
            "delta": self.delta,
            "tables": "made up: no private table was read, and no ledger of yours was charged",
            "methods": [each.to_json() for each in self.methods],
            "broken": self.broken,
        }

    def to_html(self) -> str:
        """A page for people."""
        from sundog.report.audit import mechanism_page

        return mechanism_page(self.to_json())


def audit_mechanism(
    methods: str | Sequence[str] = "auto",
    *,
    rho: float | None = None,
    epsilon: float | None = None,
    delta: float = 1e-5,
    neighbours: Neighbours = "add-remove",
    runs: int = 200,
    confidence: float = 0.99,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    progress: Report | None = None,
) -> MechanismAudit:
    """Attack methods on made-up tables, and bound from below what they really spend.

    Args:
        methods: the name of a method, or several.
        rho: the budget of every run, or
        epsilon: the same, with delta.
        delta: where epsilon is stated.
        neighbours: the record is added (add-remove) or replaced (replace).
        runs: how often the pipeline runs on each of the two tables; a third of the runs teach the attack, the others judge it.
        confidence: with which each bound holds.
        settings: settings of the method (of all of them, where there are several).
        seed: the public seed of all runs.
        progress: called with how far it is.
    """
    names = (methods,) if isinstance(methods, str) else tuple(methods)
    if not names:
        raise UserError("audit: no method was named; name one, such as auto.")
    for name in names:
        recipe_of(name)
    whole_number("runs", runs, least=LEAST_RUNS)
    if not 0.5 <= confidence < 1:
        raise UserError(f"confidence: found {confidence!r}; it must be at least 0.5 and below 1, such as 0.99.")
    given = (rho, epsilon) if rho is not None or epsilon is not None else (2.0, None)
    options = {
        "rho": given[0],
        "epsilon": given[1],
        "delta": delta,
        "neighbours": neighbours,
        "settings": settings,
        "seed": seed,
        "dataset": "audit",
        "confirmed": True,
    }
    pair = worst_case(neighbours)
    with following(progress):
        found = [_audited(name, pair, options, runs=runs, confidence=confidence) for name in names]
    return MechanismAudit(tuple(found), neighbours, runs, confidence, delta)


def points_of(rho: float, accounting: str) -> Points:
    """What a total of rho amounts to, as points (epsilon, delta)."""
    delta_of = gaussian_delta if accounting == "gaussian" else zcdp_delta
    most = rho + 8 * math.sqrt(2 * rho) + 0.1
    return [(float(epsilon), delta_of(rho, float(epsilon))) for epsilon in np.linspace(0.0, most, GRID)]


@dataclass(frozen=True, eq=False)
class _Seen:
    """What one run left for the attacks."""

    guarantee: Guarantee
    faults: tuple[str, ...]
    values: Any
    rows: Any


def _audited(
    method: str, pair: Neighbouring, options: Mapping[str, Any], *, runs: int, confidence: float
) -> MethodAudit:
    tell(f"auditing {method}")
    sides: tuple[list[_Seen], list[_Seen]] = ([], [])
    for run in range(2 * runs):
        sides[run % 2].append(_seen(_run(method, pair.sources[run % 2], options), pair))
        tell_share((run + 1) / (2 * runs), f"run {run // 2 + 1} of {runs} on each table")
    told = sides[0][0].guarantee
    accounting: Accounting = "gaussian" if told.accounting == "gaussian" else "zcdp"
    epsilon = spent_epsilon(told.rho, options["delta"], accounting=accounting)
    claim = Claim(told.rho, epsilon, options["delta"], lambda rho: points_of(rho, told.accounting))
    bounds = {
        name: lower_bound(
            *(np.array([getattr(seen, name) for seen in side]) for side in sides), claim=claim, confidence=confidence
        )
        for name in ATTACKS
    }
    faults = dict.fromkeys(fault for side in sides for seen in side for fault in seen.faults)
    return MethodAudit(method, told.accounting, told.rho, epsilon, bounds, tuple(faults))


def _seen(watched: WatchedSynthesizer, pair: Neighbouring) -> _Seen:
    run = watched.transcript
    return _Seen(run.released.guarantee, run.faults(), of_values(run, pair), of_rows(watched.model.rows(), pair))


def _run(method: str, table: Source, options: Mapping[str, Any]) -> WatchedSynthesizer:
    """One run of the whole pipeline, charged to a ledger of its own that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="sundog-audit-") as folder:
        ledger = Path(folder) / "ledger.sqlite"
        made = WatchedSynthesizer(SCHEMA, method=method, ledger=ledger, **options)
        made.fit(table, report=_silent)
    return made


def _silent(message: str) -> None:
    del message
