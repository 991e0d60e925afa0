"""Linked tables that are made up: many roots, for time and memory; and families whose members depend on each other, beside the public ones."""

from typing import Any

import numpy as np

CHILDREN = 5
COLUMNS = 15
Tables = tuple[dict[str, Any], dict[str, dict[str, np.ndarray]]]
"""A package, and frames by name."""


def many(roots: int, seed: int) -> Tables:
    """This many roots with 5 children of 15 columns each; every second column is a number, the others are labels.

    Every third column depends on the root; of the numbers, those that do are alike among siblings too.
    """
    draw = np.random.default_rng(seed)
    kind = draw.integers(0, 6, size=roots)
    level = draw.normal(size=roots)
    place = np.repeat(np.arange(roots), CHILDREN)
    below: dict[str, np.ndarray] = {}
    fields = []
    for k in range(COLUMNS):
        if k % 2:
            steps = 50 * (k + 1)
            own = draw.normal(size=len(place)) + (level[place] + kind[place] / 3) * (k % 3 == 0)
            below[f"c{k}"] = np.clip(steps / 2 + steps / 8 * own, 0, steps).astype(int)
            fields.append(_number(f"c{k}", 0, steps))
        else:
            below[f"c{k}"] = (draw.integers(0, 4 + k, size=len(place)) + kind[place] * (k % 3 == 0)) % (4 + k)
            fields.append(_labels(f"c{k}", range(4 + k)))
    frames = {"root": {"id": np.arange(roots), "kind": kind}, "child": {"parent": place, **below}}
    return _package("many", [_labels("kind", range(6))], fields, most=CHILDREN), frames


def families(roots: int, seed: int) -> Tables:
    """This many families of 1 to 6 members, who share an origin and a level and differ more by role the larger the family is.

    The members have no order. Of their ten columns, four depend on the other members, two on the family's region, and four on other columns alone.
    """
    draw = np.random.default_rng(seed)
    region, size = draw.choice(8, size=roots, p=_falling(8)), 1 + draw.binomial(5, 0.3, size=roots)
    wealth = draw.gamma(3.0, 1.0, size=roots) * (1 + region / 8)
    place = np.repeat(np.arange(roots), size)
    rank = np.arange(len(place)) - np.repeat(np.cumsum(size) - size, size)
    shared = draw.choice(12, size=roots, p=_falling(12))
    origin = np.where(draw.random(len(place)) < 0.85, shared[place], draw.choice(12, size=len(place), p=_falling(12)))
    role = np.where(rank == 0, 0, np.where((rank == 1) & (draw.random(len(place)) < 0.7), 1, 2 + (rank > 3)))
    born = draw.integers(25, 70, size=roots)[place] - np.where(role < 2, 0, 28)
    age = np.clip(born + draw.normal(0, 4, size=len(place)), 0, 99).astype(int)
    work = np.where((age > 18) & (age < 66), draw.integers(0, 5, size=len(place)), 5 + (age > 65))
    income = np.where(work < 5, draw.gamma(2.0, 8.0, size=len(place)) * wealth[place] / 3, 0.0)
    below = {
        "origin": origin,
        "role": role,
        "age": age,
        "level": np.clip(10 * wealth[place] + draw.normal(0, 8, size=len(place)), 0, 200).astype(int),
        "work": work,
        "income": np.clip(income, 0, 500).astype(int),
        "hours": np.where(work < 5, 20 + 5 * work + draw.integers(0, 10, size=len(place)), 0),
        "sex": draw.integers(0, 2, size=len(place)),
        "speech": np.where(draw.random(len(place)) < 0.6, region[place], origin % 8),
        "cover": (draw.random(len(place)) < np.clip(wealth[place] / 8, 0, 1)).astype(int),
    }
    labels = {"origin": 12, "role": 4, "work": 7, "sex": 2, "speech": 8, "cover": 2}
    most = {"age": 99, "level": 200, "income": 500, "hours": 60}
    fields = [_labels(name, range(labels[name])) if name in labels else _number(name, 0, most[name]) for name in below]
    above = {
        "region": region,
        "wealth": np.clip(10 * wealth, 0, 300).astype(int),
        "rooms": np.clip(size + draw.poisson(1, size=roots), 1, 9),
    }
    root = [_labels("region", range(8)), _number("wealth", 0, 300), _number("rooms", 1, 9)]
    frames = {"root": {"id": np.arange(roots), **above}, "child": {"parent": place, **below}}
    return _package("families", root, fields, most=6, least=1), frames


def _falling(number: int) -> np.ndarray:
    """Shares of labels, each rarer than the one before."""
    return 0.75 ** np.arange(number) / sum(0.75 ** np.arange(number))


def _package(
    name: str, root: list[dict[str, Any]], child: list[dict[str, Any]], *, most: int, least: int = 0
) -> dict[str, Any]:
    link = {"fields": "parent", "reference": {"resource": "root", "fields": "id"}}
    return {
        "name": name,
        "resources": [
            {"name": "root", "schema": {"primaryKey": "id", "fields": [_key("id"), *root]}},
            {
                "name": "child",
                "maximumPerParent": most,
                "minimumPerParent": least,
                "schema": {"foreignKeys": [link], "fields": [_key("parent"), *child]},
            },
        ],
    }


def _key(name: str) -> dict[str, Any]:
    return {"name": name, "type": "integer", "identifier": True}


def _labels(name: str, labels: range) -> dict[str, Any]:
    return {"name": name, "type": "integer", "categories": list(labels), "constraints": {"required": True}}


def _number(name: str, least: int, most: int) -> dict[str, Any]:
    return {"name": name, "type": "integer", "constraints": {"required": True, "minimum": least, "maximum": most}}
