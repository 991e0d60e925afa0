"""What a run would spend and what on: the answers of the plan page, checked, and the charge that is shown before the click."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sundog.api.options import Charged, Consent, Generation, Privacy
from sundog.api.recorded import Format
from sundog.declare import typed
from sundog.errors import UserError
from sundog.studio.home import Project, absolute

if TYPE_CHECKING:
    from sundog.api.dry_run import DryRun
    from sundog.api.making import Place
    from sundog.api.options import Fitting, Signing
    from sundog.api.plan import Plan
    from sundog.api.synthesizer import Synthesizer

SET = "set:"
"""What the names of a method's settings begin with in the form."""
LOOKED_AT = (0.1, 0.3, 1.0, 3.0, 10.0)
"""The epsilons of the picture, beside the chosen one."""


@dataclass(frozen=True, kw_only=True)
class Budgeted:
    """All answers of the plan page. `rows_about` is what its owner says of the table's size; nothing is counted."""

    rows_about: int
    epsilon: float = 1.0
    delta: float = 1e-9
    neighbours: Literal["add-remove", "replace"] = "add-remove"
    unit: str | None = None
    rows_per_unit: int = 1
    method: str = "auto"
    adjust: str | None = None
    workload: str | None = None
    ignore_unsupported: bool = False
    confirmed: bool = False
    rows: int | None = None
    format: Format = "csv"
    folder: str = ""
    replace: bool = False
    purpose: str | None = None
    approved_by: str | None = None
    sign: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(document: Mapping[str, Any]) -> "Budgeted":
        """The budget that a JSON document describes."""
        return Budgeted(**document)

    def to_json(self) -> dict[str, Any]:
        """The budget as a JSON document."""
        return asdict(self)

    @property
    def place(self) -> "Place":
        """Where the release goes."""
        from sundog.api.making import Place

        return Place(Path(self.folder), self.rows, self.format, self.replace)

    @property
    def signing(self) -> "Signing":
        """What the certificate says, and whose key signs it."""
        from sundog.api.options import Signing

        return Signing(self.purpose, self.approved_by, self.sign)

    @property
    def refitting(self) -> "Fitting":
        """How rows are made of earlier measurements: the settings of measuring are over."""
        from sundog.api.options import Fitting
        from sundog.methods.settings import MEASURING

        settings = {name: value for name, value in self.settings.items() if name.partition(".")[0] not in MEASURING}
        return Fitting(self.method, settings or None, ignore_unsupported=self.ignore_unsupported)

    def synthesizer(self, project: Project, *, ledger: str | None) -> "Synthesizer":
        """What would run; refuses what the run would refuse before it reads a row."""
        from sundog.api.synthesizer import Synthesizer

        privacy = Privacy(self.epsilon, self.delta, None, self.neighbours, self.unit, self.rows_per_unit)
        consent = Consent(confirmed=self.confirmed, rows_about=self.rows_about)
        generation = Generation(
            method=self.method,
            settings=self.settings or None,
            ignore_unsupported=self.ignore_unsupported,
            workload=self.workload,
            adjust=self.adjust,
        )
        charged = Charged(ledger, project.dataset, project.new_account)
        spending = vars(privacy) | vars(charged) | vars(consent)
        return Synthesizer(project.schema, **spending, **vars(generation), purpose=self.purpose)

    def plan(self, project: Project) -> "Plan":
        """Expected errors at the chosen epsilon and around it; reads no data."""
        from sundog.api.plan import plan

        return plan(
            project.schema,
            rows=self.rows_about,
            epsilon=sorted({*LOOKED_AT, self.epsilon}),
            delta=self.delta,
            method=self.method,
            neighbours=self.neighbours,
            rows_per_unit=self.rows_per_unit if self.unit else 1,
        )


def shown_charge(project: Project, budgeted: Budgeted, dry: "DryRun") -> str:
    """A short digest of the charge and of what it is for, as they were shown: a click on anything else spends nothing."""
    table = [project.data, project.sql, project.dataset, project.document]
    told = json.dumps([dry.to_json(), budgeted.to_json(), table], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def default_folder(project: Project) -> str:
    """A folder for the release that is not there yet, named after the account, where the studio was started."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", project.dataset).strip("-").lower() or "table"
    names = (f"{stem}-release" + (f"-{number}" if number > 1 else "") for number in range(1, 10_000))
    return next(str(Path.cwd() / name) for name in names if not (Path.cwd() / name).exists())


def read_budget(form: Mapping[str, Any], project: Project) -> Budgeted:
    """The answers of the page."""
    unit = _text(form, "unit")
    return Budgeted(
        rows_about=whole_number(form, "rows_about", "rows"),
        epsilon=number(form, "epsilon"),
        delta=number(form, "delta"),
        neighbours="replace" if form.get("neighbours") == "replace" else "add-remove",
        unit=unit,
        rows_per_unit=whole_number(form, "rows_per_unit", "rows per person") if unit else 1,
        method=_text(form, "method") or "auto",
        adjust=_text(form, "adjust"),
        workload=absolute(path) if (path := _text(form, "workload")) else None,
        ignore_unsupported=bool(form.get("ignore_unsupported")),
        confirmed=bool(form.get("confirmed")),
        rows=whole_number(form, "rows", "synthetic rows") if _text(form, "rows") else None,
        format="parquet" if form.get("format") == "parquet" else "csv",
        folder=absolute(_text(form, "folder") or default_folder(project)),
        replace=bool(form.get("replace")),
        purpose=_text(form, "purpose"),
        approved_by=_text(form, "approved_by"),
        sign=absolute(path) if (path := _text(form, "sign")) else None,
        settings={
            key.removeprefix(SET): typed(str(form[key])) for key in form if key.startswith(SET) and _text(form, key)
        },
    )


def _text(form: Mapping[str, Any], key: str) -> str | None:
    return str(form.get(key, "")).strip() or None


def number(form: Mapping[str, Any], key: str) -> float:
    """A number of a form."""
    found = _text(form, key) or ""
    try:
        return float(found)
    except ValueError:
        raise UserError(f"{key}: found {found[:40]!r}; it must be a number, such as 1.") from None


def whole_number(form: Mapping[str, Any], key: str, called: str) -> int:
    """A whole number as people write it, such as 20,000."""
    found = (_text(form, key) or "").replace(",", "").replace("_", "").replace(" ", "")
    if not found.isascii() or not found.isdigit() or len(found) > 15:
        raise UserError(f"{called}: found {found[:40]!r}; it must be a whole number, such as 1000.")
    return int(found)
