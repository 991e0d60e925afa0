"""plan, check and answer for linked tables."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sundog
from linked_tables import package, random_homes, tables_of
from sundog.cli.app import app
from sundog.errors import UserError


@pytest.fixture(scope="module")
def frames():
    return {name: pd.DataFrame(table) for name, table in tables_of(random_homes(3000, seed=2)).items()}


@pytest.fixture(scope="module")
def released(frames, tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    options = {"epsilon": 8.0, "delta": 1e-6, "dataset": "homes", "ledger": folder / "ledger", "seed": 1}
    model = sundog.Synthesizer(package(), **options).fit(frames)
    model.save(folder / "release")
    return folder / "release", sundog.load(folder / "release")


def per_home(frames, table, values):
    """The mean over homes of the mean over their rows."""
    return pd.Series(np.asarray(values, dtype=float)).groupby(frames[table]["parent"].to_numpy()).mean().mean()


def test_roots_are_counted_with_an_interval(released, frames):
    found = released[1].answer(by="homes.type", count=True).to_pandas().set_index("homes.type")
    for kind in ("flat", "house"):
        line = found.loc[kind]
        assert line["origin"] == "measured"
        assert abs(line["estimate"] - (frames["homes"]["type"] == kind).sum()) < 60
        assert line["low"] < line["estimate"] < line["high"]


def test_numbers_of_children_are_a_column(released, frames):
    found = released[1].answer(mean="homes.#persons").to_pandas()
    assert found["estimate"][0] == pytest.approx(len(frames["persons"]) / 3000, abs=0.05)


def test_rows_below_are_shared_among_their_roots(released, frames):
    found = released[1].answer(share="persons.sex=f", mean="persons.age").to_pandas()
    truth = [
        per_home(frames, "persons", frames["persons"]["sex"] == "f"),
        per_home(frames, "persons", frames["persons"]["age"]),
    ]
    assert list(found["estimate"]) == pytest.approx(truth, abs=0.05)
    table = released[1].answer(mean="persons.age", by="homes.type")
    assert "its rows in equal parts" in table.to_text()
    means = table.to_pandas().set_index("homes.type")["estimate"]
    assert means["house"] > means["flat"] + 0.5


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"by": "persons.sex"}, "rows cannot be counted"),
        ({"sum": "persons.age"}, "rows cannot be counted"),
        ({"mean": "age"}, "names no table"),
        ({"mean": "cards.age"}, "not in the schema"),
        ({"by": "persons.sex", "mean": "visits.day"}, "not in the schema"),
    ],
)
def test_what_cannot_be_asked_is_told(released, asked, words):
    with pytest.raises(UserError, match=words):
        released[1].answer(**asked)


def test_the_command_line_answers(released):
    run = CliRunner().invoke(app, ["answer", str(released[0]), "--by", "homes.type", "--count", "--json"])
    assert run.exit_code == 0, run.output
    assert len(json.loads(run.output)["answers"]) == 2
    text = CliRunner().invoke(
        app, ["answer", str(released[0]), "--mean", "persons.age", "--where", "homes.type = flat"]
    )
    assert "each record of 'homes'" in text.output.lower()


def test_plans_name_the_columns_of_all_views_and_fall_with_epsilon():
    made = sundog.plan(package(), rows=5000, epsilon=[0.5, 4])
    small, large = (each.expected for each in made.budgets)
    names = [column.name for column in small.columns]
    assert {"homes.type", "homes.#persons", "persons.age", "visits.#gap"} <= set(names)
    assert not any(name.endswith("@2") for name in names)
    pairs = {pair.columns for pair in small.pairs}
    assert {("persons.age", "homes.type"), ("persons.age", "persons.age@2"), ("visits.kind", "visits.kind@2")} <= pairs
    assert large.column_error < small.column_error
    assert large.pair_error < small.pair_error
    assert "persons.age" in made.to_text()
    needed = sundog.plan(package(), rows=5000, pair_error={"persons.age": 0.05}).needed
    assert needed is not None
    with pytest.raises(UserError, match="leave out --unit"):
        sundog.plan(package(), rows=5000, rows_per_unit=3)
    with pytest.raises(UserError, match="by 'auto' alone"):
        sundog.plan(package(), rows=5000, method="mst")


def broken(frames):
    """Tables in which one thing of each kind is wrong."""
    homes, persons, visits = frames["homes"].copy(), frames["persons"].copy(), frames["visits"]
    homes = pd.concat([homes, homes.iloc[:2]])  # two keys twice
    persons["parent"] = persons["parent"].astype(float)
    persons.iloc[0, persons.columns.get_loc("parent")] = np.nan
    persons.iloc[1, persons.columns.get_loc("parent")] = 99_999
    many = pd.DataFrame({"parent": [1] * 50, "day": [3] * 50, "kind": ["zzz"] * 50})
    return frames | {"homes": homes, "persons": persons, "visits": pd.concat([visits, many])}


def test_checks_count_cells_and_links(frames, tmp_path):
    found = sundog.check_table(broken(frames), package(persons=1, least=1), dataset="homes", ledger=tmp_path / "l")
    said = {name: {each.what: each.count for each in links} for name, links in found.links.items()}
    assert said["homes"] == {"repeat a 'id'": 2}
    assert said["persons"]["name no 'homes'"] == 1
    assert said["persons"]["have no parent in 'homes'"] == 1
    sizes = frames["persons"].iloc[2:].groupby("parent").size()
    assert said["persons"]["are beyond the maximumPerParent"] == int((sizes - 1).sum())
    assert said["persons"]["parents have fewer than 1 rows"] == 3000 - len(sizes)
    own = int((frames["visits"]["parent"] == 1).sum())
    assert said["visits"]["are beyond the maximumPerParent"] == 50 + own - 3
    assert said["cards"] == {} or set(said["cards"]) == {"have no parent in 'persons'"}
    kinds = {column.name: column for column in found.tables["visits"].columns}
    assert kinds["kind"].findings[0].count == 50
    assert "CONFIDENTIAL" in repr(found)
    assert "zzz" not in repr(found.tables) + str(found.links)


def test_the_command_line_checks(frames, tmp_path):
    for name, table in broken(frames).items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "datapackage.json").write_text(json.dumps(package()))
    call = ["check", str(tmp_path), "--schema", str(tmp_path / "datapackage.json"), "--ledger", str(tmp_path / "l")]
    run = CliRunner().invoke(app, call)
    assert run.exit_code == 0, run.output
    assert run.output.startswith("CONFIDENTIAL")
    assert "== visits" in run.output
    assert "have no parent in 'homes'" in run.output
    told = CliRunner().invoke(app, [*call, "--json"])
    assert json.loads(told.output)["links"]["homes"][0]["count"] == 2
    assert isinstance(CliRunner().invoke(app, [*call, "--unit", "id"]).exception, UserError)


def test_the_page_to_explore_shows_the_roots(released, tmp_path):
    released[1].explore(tmp_path / "explore.html")
    page = (tmp_path / "explore.html").read_text()
    assert "homes.type" in page
    assert "homes.#persons" in page
    assert "persons.sex" not in page


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["compare", "{released}/released.json"], "measure it by itself, with its own schema"),
        (["adjust", "{homes}", "--schema", "{package}", "--real", "{homes}"], "give that table's own schema"),
        (
            ["adjust", "{homes}", "--schema", "{one}", "--released", "{released}/released.json"],
            "measure one table by itself",
        ),
    ],
)
def test_what_is_for_one_table_says_what_to_do_and_spends_nothing(command, words, released, frames, tmp_path):
    document = package()
    names = {name: tmp_path / name for name in ("homes.csv", "package.json", "one.json", "ledger")}
    frames["homes"].to_csv(names["homes.csv"], index=False)
    names["package.json"].write_text(json.dumps(document))
    names["one.json"].write_text(json.dumps(document["resources"][0]["schema"]))
    places = {"released": released[0], "homes": names["homes.csv"], "package": names["package.json"]}
    given = [part.format(**places, one=names["one.json"]) for part in command]
    if command[0] == "adjust":
        given += ["--epsilon", "1", "--delta", "1e-6", "--ledger", str(names["ledger"])] if "--real" in given else []
        given += ["--measures", "columns", "-o", str(tmp_path / "out")]
    found = CliRunner().invoke(app, given)
    assert isinstance(found.exception, UserError)  # which the program ends with exit code 2 for
    assert words in str(found.exception)
    assert not names["ledger"].exists()
    assert not (tmp_path / "out").exists()
