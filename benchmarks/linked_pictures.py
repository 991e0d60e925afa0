"""Distributions of linked tables that people know: age gaps in households, balances and days between transactions per account.

Each is a histogram of the real tables and one of the synthetic ones; `linked.py` leaves a picture of every one.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

Frames = Mapping[str, pd.DataFrame]
ADULT = 18


def pictures(name: str, real: Frames, synthetic: Frames) -> dict[str, dict[str, Any]]:
    """For every distribution of a package its bins, the shares of both sides in them, and their total variation."""
    found = {}
    for title, (cuts, values) in DISTRIBUTIONS.get(name, {}).items():
        shares = [_shares(values(side), np.asarray(cuts, dtype=float)) for side in (real, synthetic)]
        found[title] = {
            "real": dict(zip(map(str, cuts[:-1]), shares[0], strict=True)),
            "synthetic": dict(zip(map(str, cuts[:-1]), shares[1], strict=True)),
            "tv": 0.5 * sum(abs(a - b) for a, b in zip(*shares, strict=True)),
        }
    return found


def _shares(values: np.ndarray, cuts: np.ndarray) -> list[float]:
    inside = np.clip(values[~np.isnan(values)], cuts[0], np.nextafter(cuts[-1], cuts[0]))
    counts = np.histogram(inside, cuts)[0]
    return [float(count) for count in counts / max(counts.sum(), 1)]


def _households(tables: Frames) -> pd.DataFrame:
    """Persons, with the first one of their household beside each."""
    persons = tables["persons"].sort_values(["household_id", "SPORDER"]).reset_index(drop=True)
    place = persons.groupby("household_id").cumcount()
    first = persons[place == 0].set_index("household_id")[["AGEP", "MAR"]].add_suffix("_first")
    return persons.assign(place=place).join(first, on="household_id")


def _couples(tables: Frames) -> np.ndarray:
    """The first two of a household, both married: years that the first one is older."""
    persons = _households(tables)
    both = (persons["place"] == 1) & (persons["MAR"] == "1") & (persons["MAR_first"] == "1")
    return (persons["AGEP_first"] - persons["AGEP"])[both].to_numpy(float)


def _children(tables: Frames) -> np.ndarray:
    """Minors of a household: years that its first person is older."""
    persons = _households(tables)
    minors = (persons["place"] > 0) & (persons["AGEP"] < ADULT)
    return (persons["AGEP_first"] - persons["AGEP"])[minors].to_numpy(float)


def _transactions(tables: Frames) -> pd.DataFrame:
    ordered = tables["transactions"].sort_values(["account_id", "date"], kind="stable")
    return ordered.assign(date=pd.to_datetime(ordered["date"]))


def _balances(tables: Frames) -> np.ndarray:
    return _transactions(tables).groupby("account_id")["balance"].mean().to_numpy(float)


def _gaps(tables: Frames) -> np.ndarray:
    made = _transactions(tables)
    return made.groupby("account_id")["date"].diff().dt.days.to_numpy(float)


def _longest(tables: Frames) -> np.ndarray:
    made = _transactions(tables)
    return made["date"].groupby(made["account_id"]).apply(lambda days: days.diff().dt.days.max()).to_numpy(float)


Distribution = tuple[list[int], Callable[[Frames], np.ndarray]]
ACS: dict[str, Distribution] = {
    "couples age gap": (list(range(-20, 22, 2)), _couples),
    "first person older than minors": (list(range(-20, 85, 5)), _children),
}
DISTRIBUTIONS: dict[str, dict[str, Distribution]] = {
    "acs2024_ny": ACS,
    "acs2024_wy": ACS,
    "berka_transactions": {
        "mean balance per account": (list(range(-10_000, 110_000, 5_000)), _balances),
        "days between transactions": ([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40], _gaps),
        "longest gap per account": (list(range(0, 66, 3)), _longest),
    },
}
