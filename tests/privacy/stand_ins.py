"""What the privacy checks share: curators on tiny tables, a ledger in memory, and a recorder of every noise call."""

import contextlib
import io
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np

from sundog.cli import app
from sundog.domain import Schema
from sundog.private import noise
from sundog.private.accountant import Budget
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger, Receipt
from sundog.private.spending import Spending
from sundog.private.table import PrivateTable
from sundog.queries import Marginal

TINY = Schema.from_json(
    {
        "name": "tiny",
        "fields": [
            {"name": "c", "categories": ["a", "b"]},
            {"name": "n", "type": "integer", "constraints": {"minimum": 0, "maximum": 3}, "sundog": {"bins": [2]}},
        ],
    }
)
VALUES = {"c": ["a", "b", "new", None], "n": [-(10**9), 0, 1, 2, 3, 10**9, "?", None]}
"""Boundary values, values outside the domain, and missing ones."""
ONE_WAY = [Marginal.of(TINY, "c"), Marginal.of(TINY, "n")]
TWO_WAY = Marginal.of(TINY, "c", "n")


class MemoryLedger:
    """Takes every charge and keeps it in memory: for checks that need thousands of runs, not thousands of fsyncs."""

    def __init__(self):
        self.charges, self.disclosures = [], []

    def disclose(self, dataset, label, *, bits=None):
        self.disclosures.append(label)
        return Receipt(dataset, 0)

    def check(self, *_, **__):
        pass

    def charge(self, dataset, charges, **_):
        self.charges += charges
        return [Receipt(dataset, len(self.charges) - len(charges) + k) for k in range(1, len(charges) + 1)]


def curator(rows, *, unit, schema=TINY, rho=4.0, delta=None, ledger=None, thresholds=0.0, accounting="zcdp"):
    """A curator of rows given as tuples (c, n) or (c, n, unit)."""
    columns = dict(zip([*schema.names, "u"], map(list, zip(*rows, strict=True)), strict=False)) if rows else {}
    table = {name: columns.get(name, []) for name in [*schema.names, "u"]}
    if rows and len(rows[0]) == len(schema.names):
        table["u"] = list(range(len(rows)))
    spending = Spending(
        Budget(rho=rho, delta=delta),
        "tiny",
        unit=unit,
        accounting=accounting,
        ledger=MemoryLedger() if ledger is None else ledger,
        delta_thresholds=thresholds,
    )
    return Curator(PrivateTable(table), schema, spending=spending)


@dataclass(frozen=True)
class NoiseCall:
    """One draw of privacy noise: what went in, at what scale, and what the ledger held at that moment."""

    kind: str
    exact: np.ndarray
    scale: float
    k: int
    entries: int


@dataclass
class Recorder:
    """Wraps all noise functions; `entries` counts the ledger's entries at the time of a call."""

    entries: object = staticmethod(lambda: 0)
    silent: bool = False
    calls: list = field(default_factory=list)

    @contextlib.contextmanager
    def __call__(self):
        top_k = noise.top_k

        def adding(kind, add):
            def wrapped(counts, scale):
                self.calls.append(NoiseCall(kind, np.array(counts), scale, 1, self.entries()))
                return np.array(counts) if self.silent else add(counts, scale)

            return mock.patch.object(noise, f"add_{kind}", wrapped)

        def choose(scores, k, *, scale):
            self.calls.append(NoiseCall("exponential", np.array(scores), scale, k, self.entries()))
            return list(np.argsort(-scores, kind="stable")[:k]) if self.silent else top_k(scores, k, scale=scale)

        with (
            adding("gaussian", noise.add_gaussian),
            adding("laplace", noise.add_laplace),
            mock.patch.object(noise, "top_k", choose),
        ):
            yield self


def exact_inputs(rows, action, **options):
    """The exact vectors that reach the noise when `action` is done to a curator of these rows."""
    with Recorder(silent=True)() as seen:
        action(curator(rows, **options))
    return [call.exact for call in seen.calls]


@dataclass(frozen=True)
class Outcome:
    """Everything that one run of the command lets out."""

    code: int
    stdout: str
    stderr: str
    files: dict
    ledger: list

    @property
    def everything(self):
        texts = [self.stdout, self.stderr, json.dumps(self.ledger), *self.files]
        return b"\n".join([*(text.encode() for text in texts), *self.files.values()])


def run_command(folder, *arguments, inputs=()):
    """Run `sundog` in this process as the entry point does; the files are those it wrote, by name."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["sundog", *map(str, arguments)]),
        mock.patch.dict(os.environ, {"SUNDOG_LEDGER": str(Path(folder) / "ledger.sqlite")}),
    ):
        try:
            app.main()
        except SystemExit as stop:
            code = stop.code or 0
    kept = {"ledger.sqlite", "ledger.sqlite.lock", "ledger.sqlite.witness", *map(str, inputs)}
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    files = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    return Outcome(
        code, out.getvalue(), err.getvalue(), {n: b for n, b in files.items() if n not in kept}, ledger_of(folder)
    )


def ledger_of(folder):
    """The ledger's entries without times and hashes."""
    accounts = Ledger(Path(folder) / "ledger.sqlite").export()["accounts"]
    return [
        {key: value for key, value in entry.items() if key not in ("time", "hash", "previous")}
        for account in accounts
        for entry in account["entries"]
    ]
