"""What users may choose, declared once: name, type, default and meaning.

The Python front doors take these fields as keyword arguments; the command line builds its options from the same dataclasses
(cli/groups.py). So this file imports nothing heavy: help must be instant.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from sundog.declare import Range, check_declared

if TYPE_CHECKING:
    from sundog.domain import Schema
    from sundog.domain.unit import PrivacyUnit
    from sundog.private.accountant import Budget
    from sundog.private.ledger import Ledger
    from sundog.released import Released


@dataclass(frozen=True)
class Options:
    """What is given is checked against what is declared, at once."""

    def __post_init__(self) -> None:
        check_declared(self, called="option")


@dataclass(frozen=True)
class Spendable(Options):
    """A budget: epsilon with delta, or rho."""

    epsilon: Annotated[float | None, "The privacy budget, with a delta."] = None
    delta: Annotated[
        float | None, "The chance that epsilon does not hold; default 1/n² where the number of rows is public."
    ] = None
    rho: Annotated[float | None, "The privacy budget as zCDP, instead of epsilon."] = None


@dataclass(frozen=True)
class Privacy(Spendable):
    """The budget and the unit that it protects."""

    neighbours: Annotated[
        Literal["add-remove", "replace"], "add-remove: the number of rows is private; replace: it is public."
    ] = "add-remove"
    unit: Annotated[str | None, "The column that names the people to protect; default: each row is one."] = None
    rows_per_unit: Annotated[int, "How many rows of one unit are used at most (with a unit)."] = 1

    def protected_unit(self) -> "PrivacyUnit":
        """The neighbour relation and the unit."""
        from sundog.domain.unit import PrivacyUnit

        return PrivacyUnit(self.neighbours, self.unit, self.rows_per_unit)

    @property
    def delta_from_rows(self) -> bool:
        """Whether delta is left to be 1/n^2, which is legal only where n is public."""
        return self.delta is None and self.rho is None and self.protected_unit().public_count

    def budget(self, *, delta: float | None = None) -> "Budget":
        """The budget, with the delta that the number of rows gave where that was left open."""
        from sundog.private.accountant import Budget

        return Budget(self.epsilon, self.delta if delta is None else delta, self.rho)

    def expected_rho(self) -> float:
        """The budget as rho, before it is known how a run is accounted for; with a usual delta where that is left open."""
        from sundog.private.doubts import USUAL_DELTA

        return self.budget(delta=USUAL_DELTA if self.delta_from_rows else None).total_rho("zcdp")


@dataclass(frozen=True)
class Confirmation(Options):
    """What the owner of the data says yes to, and what they say of its size."""

    confirmed: Annotated[bool, "Go ahead with a budget or limit that makes little sense."] = False
    rows_about: Annotated[
        int | None, "How many rows there are, roughly, where that is public: delta is compared with it."
    ] = None

    def check(self, schema: "Schema", privacy: Privacy, *, rows: int | None = None) -> None:
        """Refuse an odd budget that the owner has not confirmed. `rows`: how many there are, where that is public."""
        from sundog.private.doubts import USUAL_DELTA, doubts, refuse_doubtful
        from sundog.sizes import whole_number

        del schema
        about = None if self.rows_about is None else whole_number("rows_about", self.rows_about)
        budget = privacy.budget(delta=USUAL_DELTA if privacy.delta_from_rows else None)  # 1/n^2 is below 1/n
        refuse_doubtful(doubts(budget, rows=rows or about), confirmed=self.confirmed)


@dataclass(frozen=True)
class Consent(Confirmation):
    """The same, and whether a schema will do that was read from the rows."""

    accept_unreviewed: Annotated[bool, "Use a schema that was read from the rows; the certificate says so."] = False

    def check(self, schema: "Schema", privacy: Privacy, *, rows: int | None = None) -> None:
        """Refuse an odd budget, and an unreviewed schema, that the owner has not agreed to."""
        from sundog.domain.origin import refuse_unreviewed

        refuse_unreviewed(schema.origins, accepted=self.accept_unreviewed)
        super().check(schema, privacy, rows=rows)


@dataclass(frozen=True)
class LedgerPlace(Options):
    """Where the ledger is."""

    ledger: Annotated[
        str | Path | None, "The path of the ledger; default: in your data directory, or $SUNDOG_LEDGER."
    ] = None

    def open_ledger(self) -> "Ledger":
        """The ledger at the given path, or at the default one."""
        from sundog.private.ledger import Ledger

        return Ledger(None if self.ledger is None else Path(self.ledger))


@dataclass(frozen=True)
class Charged(LedgerPlace):
    """The ledger, and the account in it that is charged."""

    dataset: Annotated[str | None, "The ledger's account; default: the schema's name, else the file's name."] = None
    new_account: Annotated[bool, "Open a new account although its name looks like that of an existing one."] = False

    def open_ledger(self) -> "Ledger":
        """The ledger at the given path, or at the default one."""
        from sundog.private.ledger import Ledger

        return Ledger(None if self.ledger is None else Path(self.ledger), new_account=self.new_account)

    def account(self, schema_name: str | None, data: str | Path | None = None, before: "Released | None" = None) -> str:
        """The account's name: that of an earlier release, as given, the schema's, the data file's.

        Refused, before anything is read or spent, where there is none, or where it looks like that of an existing account.
        """
        from sundog.private.account_name import account_name

        earlier = None if before is None else before.dataset
        name = account_name(self.dataset, schema=schema_name, data=data, before=earlier)
        self.open_ledger().check_name(name)
        return name

    @staticmethod
    def to(ledger: "Ledger | str | Path | None", dataset: str | None, *, new_account: bool) -> "Charged":
        """The same, where a ledger that is open may be given too."""
        from sundog.private.ledger import Ledger

        if isinstance(ledger, Ledger):
            return Charged(ledger.path, dataset, new_account or ledger.new_account)
        return Charged(ledger, dataset, new_account)


@dataclass(frozen=True)
class Fitting(Options):
    """How synthetic rows are made of what was released."""

    method: Annotated[str, "The method; `sundog methods` and sundog.METHODS list them; RULE/GENERATOR joins two."] = (
        "auto"
    )
    settings: Annotated[
        Mapping[str, Any] | None, "Settings of the method, such as rows=1000 (see: sundog methods NAME)."
    ] = None
    public: Annotated[Any, "A public table of the same schema to start from (see: sundog methods)."] = None
    seed: Annotated[int | None, "Fixes generation and sampling; never the privacy noise."] = None
    ignore_unsupported: Annotated[
        bool, "Go on where the method cannot do all that the schema asks; the certificate says so."
    ] = False


@dataclass(frozen=True)
class Generation(Fitting):
    """The same, and what is measured for it."""

    workload: Annotated[Any, "What should come out right: a file (TOML; see: sundog workload list) or a Workload."] = (
        None
    )
    adjust: Annotated[
        str | None, "Measures that the rows are adjusted to, such as 'correlations: A, B' (see: sundog adjust)."
    ] = None
    adjust_share: Annotated[float, "The part of the budget that adjusting may spend.", Range(0.001, 0.999)] = 0.05


@dataclass(frozen=True)
class Purpose(Options):
    """What a run is for."""

    purpose: Annotated[str | None, "What it is for; the ledger and the certificate say it."] = None


@dataclass(frozen=True)
class Signing(Purpose):
    """What a certificate says of a release's purpose, and who signs it."""

    approved_by: Annotated[str | None, "Who approved the release; the certificate says it."] = None
    sign: Annotated[str | Path | None, "Sign the certificate with this Ed25519 private key (PEM)."] = None

    def check(self) -> None:
        """Refuse, before anything is spent, a key that cannot sign."""
        if self.sign is not None:
            from sundog.api.signing import check_private_key

            check_private_key(Path(self.sign))


def meanings(*groups: type) -> str:
    """The fields of these dataclasses and their meaning, one per line, for docstrings."""
    lines = []
    for group in groups:
        hints = get_type_hints(group, include_extras=True)
        lines += [f"        {field.name}: {get_args(hints[field.name])[1]}" for field in fields(group)]
    return "\n".join(lines)
