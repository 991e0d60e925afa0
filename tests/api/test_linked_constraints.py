"""Constraints across tables hold in every synthetic set of tables, whatever the real ones say; and verify finds it where they do not."""

import json

import numpy as np
import pandas as pd
import pytest

import sundog
from linked_tables import below, key, label, number
from sundog.api.verify import verify
from sundog.domain.contradictions import refuse_contradictions
from sundog.domain.linked.package import Package
from sundog.domain.linked.views import LinkedSchema
from sundog.errors import UserError

DAYS = {"minimum": "2020-01-01", "maximum": "2021-12-31", "required": True}
RULES = [
    {"name": "after birth", "kind": "compare", "left": "visits.day", "operator": ">=", "right": "patients.born", "offset": "2 weeks"},
    {"name": "before death", "kind": "compare", "left": "visits.day", "operator": "<=", "right": "patients.died"},
    {"name": "younger", "kind": "compare", "left": "children.age", "operator": "<=", "right": "patients.age", "offset": -15},
    {"name": "same ward", "kind": "compare", "left": "tests.ward", "operator": "=", "right": "patients.ward"},
    {"name": "one head", "kind": "count", "table": "children", "where": {"role": "head"}, "minimum": 1, "maximum": 1},
    {"name": "few babies", "kind": "count", "table": "children", "where": {"age": {"maximum": 2}, "sex": "f"}, "maximum": 1},
    {"name": "no blood", "kind": "impossible", "where": {"tests.kind": "blood", "patients.sex": "m"}},
    {"name": "cost", "kind": "sum", "weights": {"tests.cost": 1, "visits.fee": 2}, "maximum": 150},
]  # fmt: skip


def package(rules=RULES):
    return {
        "name": "ward",
        "constraints": rules,
        "resources": [
            {
                "name": "patients",
                "schema": {
                    "primaryKey": ["id"],
                    "fields": [
                        key("id"),
                        number("age", 0, 99),
                        label("sex", "f", "m"),
                        label("ward", "a", "b", "c"),
                        {"name": "born", "type": "date", "constraints": DAYS | {"minimum": "2019-01-01"}},
                        {"name": "died", "type": "date", "constraints": {**DAYS, "required": False}},
                    ],
                    "constraints": [{"kind": "compare", "left": "born", "operator": "<=", "right": "died"}],
                },
            },
            {
                "name": "children",
                "maximumPerParent": 4,
                "schema": {
                    "foreignKeys": below("patients"),
                    "fields": [
                        key("parent"), number("age", 0, 60), label("sex", "f", "m"), label("role", "head", "other", "guest"),
                    ],
                },
            },
            {
                "name": "visits",
                "maximumPerParent": 5,
                "orderBy": ["day"],
                "schema": {
                    "primaryKey": ["id"],
                    "foreignKeys": below("patients"),
                    "fields": [
                        key("id"), key("parent"), number("fee", 0, 50), {"name": "day", "type": "date", "constraints": DAYS},
                        {"name": "left", "type": "date", "constraints": {**DAYS, "maximum": "2022-03-01"}},
                    ],
                    "constraints": [{"name": "stay", "kind": "compare", "left": "left", "operator": ">=", "right": "day"}],
                },
            },
            {
                "name": "tests",
                "maximumPerParent": 3,
                "schema": {
                    "foreignKeys": below("visits"),
                    "fields": [
                        key("parent"), label("kind", "blood", "scan", "talk"), label("ward", "a", "b", "c"), number("cost", 0, 200),
                    ],
                },
            },
        ],
    }  # fmt: skip


def frames(patients=400, seed=0):
    """Tables that break every rule now and then."""
    draw = np.random.default_rng(seed)
    day = lambda number: (np.datetime64("2019-01-01") + draw.integers(0, 1000, size=number)).astype(str)  # noqa: E731
    children, visits = draw.integers(0, 5, size=patients), draw.integers(0, 6, size=patients)
    home, stay = np.repeat(np.arange(patients), children), np.repeat(np.arange(patients), visits)
    born = day(patients)
    made = {
        "patients": {
            "id": np.arange(patients), "age": draw.integers(0, 100, size=patients),
            "sex": draw.choice(["f", "m"], size=patients), "ward": draw.choice(["a", "b", "c"], size=patients),
            "born": born, "died": np.where(draw.random(patients) < 0.5, day(patients), ""),
        },
        "children": {
            "parent": home, "age": draw.integers(0, 61, size=len(home)) // draw.integers(1, 20, size=len(home)), "sex": draw.choice(["f", "m"], size=len(home)),
            "role": draw.choice(["head", "other", "guest"], size=len(home)),
        },
        "visits": {
            "id": np.arange(len(stay)), "parent": stay, "fee": draw.integers(0, 51, size=len(stay)), "day": day(len(stay)),
            "left": day(len(stay)),
        },
    }  # fmt: skip
    test = np.repeat(np.arange(len(stay)), draw.integers(0, 4, size=len(stay)))
    made["tests"] = {
        "parent": test, "kind": draw.choice(["blood", "scan", "talk"], size=len(test)),
        "ward": draw.choice(["a", "b", "c"], size=len(test)), "cost": draw.integers(0, 201, size=len(test)),
    }  # fmt: skip
    return {name: pd.DataFrame(table) for name, table in made.items()}


def broken(made):
    """How often each rule is broken, worked out from the values alone."""
    patients, children, visits, tests = (made[name] for name in ("patients", "children", "visits", "tests"))
    born, died, day, left = (
        pd.to_datetime(part) for part in (patients["born"], patients["died"], visits["day"], visits["left"])
    )
    of = visits["parent"].map(pd.Series(np.arange(len(patients)), index=patients["id"])).to_numpy()
    in_visit = tests["parent"].map(pd.Series(np.arange(len(visits)), index=visits["id"])).to_numpy()
    patient = patients.iloc[of[in_visit]].reset_index(drop=True)
    own = patients.iloc[children["parent"].to_numpy() - patients["id"].iloc[0]].reset_index(drop=True)
    heads = (children["role"] == "head").groupby(children["parent"]).sum()
    babies = ((children["age"] <= 2) & (children["sex"] == "f")).groupby(children["parent"]).sum()
    return {
        "after birth": int((day < born.to_numpy()[of] + pd.Timedelta(days=14)).sum()),
        "before death": int((day > died.to_numpy()[of]).sum()),
        "younger": int((children["age"] > own["age"] - 15).sum()),
        "same ward": int((tests["ward"].reset_index(drop=True) != patient["ward"]).sum()),
        "one head": int((heads != 1).sum()),
        "few babies": int((babies > 1).sum()),
        "no blood": int(((tests["kind"].reset_index(drop=True) == "blood") & (patient["sex"] == "m")).sum()),
        "cost": int((tests["cost"].to_numpy() + 2 * visits["fee"].to_numpy()[in_visit] > 150).sum()),
        "stay": int((left < day).sum()),
        "own": int((died < born).sum()),
        "order": int((~day.groupby(visits["parent"]).apply(lambda days: days.is_monotonic_increasing)).sum()),
    }


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ward")
    maker = sundog.Synthesizer(package(), epsilon=2.0, delta=1e-6, dataset="ward", ledger=folder / "ledger", seed=1)
    return maker.fit(frames())


@pytest.mark.parametrize("rows", [None, 150, 900])
def test_every_rule_holds_in_every_set_of_tables(model, rows):
    assert all(broken(frames()).values())  # the real tables break each
    assert broken(model.sample(rows)) == dict.fromkeys(broken(frames()), 0)


def test_rows_are_kept_and_not_dropped(model):
    made = model.sample()
    sizes = made["visits"].groupby("parent").size().reindex(made["patients"]["id"], fill_value=0)
    real = frames()["visits"].groupby("parent").size().reindex(range(400), fill_value=0)
    shares = [side.value_counts(normalize=True).reindex(range(6), fill_value=0) for side in (sizes, real)]
    assert 0.5 * abs(shares[0] - shares[1]).sum() < 0.12


def test_verify_finds_rules_that_were_broken_afterwards(model, tmp_path):
    from sundog.api.writing import write_linked

    model.save(tmp_path / "release")
    write_linked(model.model.rows(), tmp_path / "release", format="csv")
    place = tmp_path / "release" / "synthetic.children.csv"
    children = pd.read_csv(place)
    children.assign(role="head").to_csv(place, index=False)
    certificate = tmp_path / "release" / "certificate.json"
    document = json.loads(certificate.read_text())
    document["files"] |= {path.name: "" for path in (tmp_path / "release").glob("synthetic.*")}
    certificate.write_text(json.dumps(document))
    found = [each for each in verify(tmp_path / "release").differences if "across tables" in each]
    assert len(found) == 1
    assert "'one head'" in found[0]


WRONG = {
    "one table": ({"kind": "compare", "left": "visits.day", "operator": "<=", "right": "visits.left"}, "about 'visits' alone"),
    "cousins": ({"kind": "compare", "left": "children.age", "operator": "<=", "right": "visits.fee"}, "one that it lies below"),
    "a kind for one table": ({"kind": "determines", "columns": ["patients.ward"], "column": "visits.fee"}, "that table's schema"),
    "an unknown field": ({"kind": "compare", "left": "visits.when", "operator": "<=", "right": "patients.born"}, "not a modelled field"),
    "an unknown key": ({"kind": "compare", "left": "visits.day", "operator": "<=", "right": "patients.born", "note": "x"}, "note"),
    "no kind": ({"left": "visits.day"}, "kind"),
    "no list": ("x", "must be a list"),
    "a word for an offset": ({"kind": "compare", "left": "visits.day", "operator": ">=", "right": "patients.born", "offset": "soon"}, "a span such as"),
    "an offset of labels": ({"kind": "compare", "left": "tests.ward", "operator": "=", "right": "patients.ward", "offset": 1}, "leave out its 'offset'"),
    "what cannot be": ({"kind": "compare", "left": "children.age", "operator": ">", "right": "patients.age", "offset": 70}, "no row within"),
    "a sum with the order": ({"kind": "sum", "columns": ["visits.day", "visits.left", "patients.born"], "minimum": 1}, "orders 'visits'"),
    "a count of roots": ({"kind": "count", "table": "patients", "where": {"sex": "f"}, "maximum": 1}, "has no parent"),
    "a count in no table": ({"kind": "count", "table": "nope", "where": {"sex": "f"}, "maximum": 1}, "has no parent"),
    "a count of days": ({"kind": "count", "table": "visits", "where": {"day": "2020-03-03"}, "maximum": 1}, "cannot be counted"),
    "a count of nothing": ({"kind": "count", "table": "children", "where": {}, "maximum": 1}, "where"),
    "a count of all": ({"kind": "count", "table": "children", "where": {"sex": ["f", "m"]}, "maximum": 1}, "lower maximumPerParent"),
    "more than there may be": ({"kind": "count", "table": "children", "where": {"sex": "f"}, "minimum": 2}, "minimumPerParent is 0"),
    "upside down": ({"kind": "count", "table": "children", "where": {"sex": "f"}, "minimum": 1, "maximum": 0}, "below its minimum"),
    "half a child": ({"kind": "count", "table": "children", "where": {"sex": "f"}, "maximum": 0.5}, "maximum"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_before_anything_is_spent(name):
    rule, words = WRONG[name]
    with pytest.raises(UserError, match=words):
        Package.from_json(package(rule if isinstance(rule, str) else [{"name": "the rule", **rule}]))


def test_a_statistic_cannot_be_protected():
    document = package()
    document["resources"][1]["schema"]["constraints"] = [{"kind": "protected", "weights": {"age": 1}, "threshold": 0.5}]
    with pytest.raises(UserError, match="only the method 'privpgd'"):
        Package.from_json(document)


def test_the_rules_are_released_and_read_again():
    facts = Package.from_json(package())
    assert Package.from_json(facts.document).rules == facts.rules
    assert len(facts.rules) == len(RULES)


def test_counts_that_contradict_each_other_are_told(tmp_path):
    rules = [
        {"name": "a", "kind": "count", "table": "children", "where": {"role": "head"}, "minimum": 1},
        {"name": "b", "kind": "count", "table": "children", "where": {"role": "head"}, "maximum": 0},
    ]
    with pytest.raises(
        UserError, match=r"constraints 'b', 'a': they contradict each other: no row of table 'children'"
    ):
        sundog.Synthesizer(package(rules), epsilon=1.0, delta=1e-6, dataset="w", ledger=tmp_path / "l")
    assert not (tmp_path / "l").exists()


NO_ONE_ELSE = {"name": "no one else", "kind": "impossible", "where": {"role": ["other", "guest"]}}
HEADS = {"name": "heads", "kind": "count", "table": "children", "where": {"role": "head"}}


@pytest.mark.parametrize(
    "rules",
    [
        [HEADS | {"maximum": 1}],  # of two rows one is a head: the other must be something else
        [
            HEADS | {"minimum": 2},
            HEADS | {"name": "young heads", "where": {"role": "head", "age": {"maximum": 30}}, "maximum": 1},
        ],
    ],
)
def test_rows_that_a_count_leaves_no_place_are_refused(rules):
    document = package(rules)
    children = document["resources"][1]
    children["minimumPerParent"] = 2
    refuse_contradictions(LinkedSchema.from_document(document))
    old = {"name": "no old heads", "kind": "impossible", "where": {"role": "head", "age": {"minimum": 31}}}
    children["schema"]["constraints"] = [NO_ONE_ELSE, old]
    with pytest.raises(UserError, match=r"'no one else'.*no row of table 'children'"):
        refuse_contradictions(LinkedSchema.from_document(document))


def test_a_row_that_cannot_stand_beside_any_record_above_is_refused():
    late = {
        "name": "late",
        "kind": "compare",
        "left": "visits.day",
        "operator": ">",
        "right": "patients.born",
        "offset": "730 days",
    }
    early = {
        "name": "early",
        "kind": "compare",
        "left": "patients.born",
        "operator": ">=",
        "right": "visits.day",
        "offset": -730,
    }
    refuse_contradictions(LinkedSchema.from_document(package([*RULES, late])))
    with pytest.raises(
        UserError, match=r"constraints 'late', 'early': they contradict each other: no row of table 'visits'"
    ):
        refuse_contradictions(LinkedSchema.from_document(package([*RULES, late, early])))
