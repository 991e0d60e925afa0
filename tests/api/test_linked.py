"""Linked tables as users meet them: in Python and on the command line, with tables that hold surprises."""

import json

import numpy as np
import pandas as pd
import pytest

import sundog
from linked_tables import package, random_homes, tables_of
from sundog.api.verify import verify
from sundog.errors import UserError


@pytest.fixture(scope="module")
def frames():
    return {name: pd.DataFrame(table) for name, table in tables_of(random_homes(400, seed=3)).items()}


def synthesizer(folder, **changes):
    options = {"epsilon": 2.0, "delta": 1e-6, "dataset": "homes", "ledger": folder / "ledger", "seed": 1} | changes
    return sundog.Synthesizer(package(), **options)


@pytest.fixture(scope="module")
def saved(frames, tmp_path_factory):
    folder = tmp_path_factory.mktemp("linked")
    model = synthesizer(folder).fit(frames)
    model.save(folder / "release")
    return folder, model


def test_sample_gives_frames_by_name(saved):
    _, model = saved
    made = model.sample(50)
    assert list(made) == ["homes", "persons", "visits", "cards"]
    assert all(isinstance(table, pd.DataFrame) for table in made.values())
    assert len(made["homes"]) == 50


def test_a_saved_model_gives_the_same_tables(saved):
    folder, model = saved
    loaded = sundog.load(folder / "release")
    assert loaded.note == ""
    for name, table in loaded.sample(30, seed=5).items():
        pd.testing.assert_frame_equal(table.to_pandas(), model.sample(30, seed=5)[name])
    (folder / "release" / "fitted.npz").unlink()
    again = sundog.load(folder / "release")
    assert "fitted again" in again.note
    assert again.sample(30, seed=5)["persons"].equals(loaded.sample(30, seed=5)["persons"])


def test_the_guarantee_is_for_a_root_with_everything_below_it(saved):
    _, model = saved
    assert (
        "one value of 'homes.id' with every row that carries it added or removed"
        in model.released.guarantee.unit.describe()
    )
    assert model.released.guarantee.rho <= model.privacy.budget().total_rho("gaussian")


def test_evaluation_is_confidential_and_recorded(saved, frames):
    folder, model = saved
    found = sundog.evaluate_linked(
        frames, model.sample(), schema=package(), dataset="homes", ledger=folder / "ledger", learning=False
    )
    assert found.brand.startswith("CONFIDENTIAL")
    values = {(score.table, score.name): score.value for score in found.scores}
    assert set(values) >= {("persons", "siblings"), ("persons", "parent and child"), ("homes", "children per parent")}
    assert all(0 <= value <= 1 for value in values.values())
    same = sundog.evaluate_linked(
        frames, frames, schema=package(), dataset="homes", ledger=folder / "ledger", learning=False
    )
    assert all(score.value == 0 for score in same.scores)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "id"}, "leave out --unit"),
        ({"method": "mst"}, "by 'auto' alone"),
        ({"adjust": "correlations: a, b"}, "for one table"),
        ({"settings": {"rows": 3}}, "no setting 'rows'"),
    ],
)
def test_what_linked_tables_cannot_do_is_refused_before_spending(options, words, tmp_path):
    with pytest.raises(UserError, match=words):
        synthesizer(tmp_path, **options)
    assert not (tmp_path / "ledger").exists()


def test_a_table_that_is_not_there_is_named(frames, tmp_path):
    with pytest.raises(UserError, match="'cards' is not among"):
        synthesizer(tmp_path).fit({name: table for name, table in frames.items() if name != "cards"})
    with pytest.raises(UserError, match=r"table 'persons'.*lacks the column 'age'"):
        synthesizer(tmp_path).fit(frames | {"persons": frames["persons"].drop(columns="age")})


SURPRISES = {
    "no children at all": lambda f: f | {name: f[name].iloc[:0] for name in ("persons", "visits", "cards")},
    "one parent with thousands": lambda f: f | {"visits": pd.DataFrame({"parent": [1] * 3000, "day": [5] * 3000, "kind": ["a"] * 3000})},
    "orphans only": lambda f: f | {"persons": f["persons"].assign(parent=-1)},
    "one root": lambda f: f | {"homes": f["homes"].iloc[:1]},
    "no roots": lambda f: f | {"homes": f["homes"].iloc[:0]},
    "keys with gaps as floats": lambda f: f | {"visits": f["visits"].assign(parent=f["visits"]["parent"].astype(float).where(f["visits"]["day"] < 9, np.nan))},
}  # fmt: skip


@pytest.mark.parametrize("name", SURPRISES)
def test_surprises_end_in_tables(name, frames, tmp_path):
    made = synthesizer(tmp_path).fit(SURPRISES[name](frames)).sample()
    assert set(made["persons"]["parent"]) <= set(made["homes"]["id"])


def test_a_release_without_children_is_verified_remade_and_evaluated(frames, tmp_path):
    from typer.testing import CliRunner

    from sundog.cli.app import app

    empty = SURPRISES["no children at all"](frames)
    write(tmp_path, empty)
    out, ledger = tmp_path / "out", ["--ledger", str(tmp_path / "ledger")]
    call = ["synthesize", str(tmp_path), "--epsilon", "20", "--yes", "--delta", "1e-6", "-o", str(out), *ledger]
    made = CliRunner().invoke(app, call)
    assert made.exit_code == 0, made.output
    assert verify(out, ledger=tmp_path / "ledger").differences == ()
    cards = out / "synthetic.cards.csv"
    cards.write_text(cards.read_text().splitlines()[0] + "\n")
    changed = ("was changed after it was certified.", "it is not what the recorded measurements, method and seed give.")
    assert [each for each in verify(out).differences if not each.endswith(changed)] == []  # no rows are no fault
    page = (out / "report.html").read_text()
    assert "In short" in page
    assert "<summary>The values" in page
    schema = ["--schema", str(tmp_path / "datapackage.json")]
    compared = CliRunner().invoke(app, ["evaluate", "--real", str(tmp_path), "--synthetic", str(out), *schema, *ledger])
    assert compared.exit_code == 0
    assert "not compared: 'persons'" in compared.output
    remade = CliRunner().invoke(app, ["generate", str(out / "released.json"), "-o", str(tmp_path / "again")])
    assert remade.exit_code == 0


@pytest.mark.parametrize("odd", [None, 3, ["homes.csv"]])
def test_what_are_no_synthetic_tables_is_refused(odd, frames, own_ledger):
    with pytest.raises(UserError, match="the synthetic tables are a"):
        sundog.evaluate_linked(frames, odd, schema=package(), dataset="homes")
    assert not own_ledger.exists()


def test_the_file_of_one_table_is_refused(frames, tmp_path):
    write(tmp_path, frames)
    with pytest.raises(UserError, match="is no folder; give the folder in which all tables lie"):
        synthesizer(tmp_path).fit(tmp_path / "persons.csv")


def test_keys_with_odd_characters_in_a_database(frames, tmp_path):
    import duckdb

    odd = ["a,b", 'q"', "é ü", "line\nend", " lead", "0", "00", "NaN", "null", "x'y", "\t", "1e5"]
    name = {k: f"{odd[k % len(odd)]}|{k}" for k in range(1, 500_000)}
    held = {table: rows.copy() for table, rows in frames.items()}
    for table, key in (
        ("homes", "id"),
        ("persons", "parent"),
        ("visits", "parent"),
        ("persons", "id"),
        ("cards", "parent"),
    ):
        held[table][key] = held[table][key].map(name)
    place = tmp_path / "homes.duckdb"
    connection = duckdb.connect(str(place))
    for table, rows in held.items():
        connection.register("given", rows)
        connection.execute(f'CREATE TABLE "{table}" AS SELECT * FROM given')
        connection.unregister("given")
    connection.close()
    options = {
        "epsilon": 4.0,
        "delta": 1e-6,
        "dataset": "homes",
        "ledger": tmp_path / "l",
        "seed": 1,
        "neighbours": "replace",
    }
    made = sundog.Synthesizer(package(kind="string"), **options).fit(str(place)).sample()
    plain = sundog.Synthesizer(package(), **options | {"ledger": tmp_path / "m"}).fit(frames).sample()
    counts = [len(side["persons"]) / len(side["homes"]) for side in (made, plain)]
    assert counts[0] == pytest.approx(counts[1], abs=0.25)  # no link is lost
    assert counts[0] == pytest.approx(len(frames["persons"]) / 400, abs=0.25)


def test_keys_as_text(frames, tmp_path):
    text = {
        name: table.astype({key: str for key in ("id", "parent") if key in table}) for name, table in frames.items()
    }
    model = sundog.Synthesizer(package(kind="string"), epsilon=1.0, delta=1e-6, dataset="homes", ledger=tmp_path / "l")
    made = model.fit(text).sample(20)
    assert set(made["persons"]["parent"]) <= set(made["homes"]["id"])
    assert made["homes"]["id"][0] == "01"


def write(folder, frames):
    document = package()
    for resource in document["resources"]:
        resource["path"] = f"{resource['name']}.csv"
        frames[resource["name"]].to_csv(folder / resource["path"], index=False)
    (folder / "datapackage.json").write_text(json.dumps(document))


def test_the_command_line_makes_verifies_and_remakes_a_release(frames, tmp_path):
    from typer.testing import CliRunner

    from sundog.cli.app import app

    write(tmp_path, frames)
    ledger = ["--ledger", str(tmp_path / "ledger")]
    run = CliRunner().invoke
    out = tmp_path / "out"
    made = run(app, ["synthesize", str(tmp_path), "--epsilon", "1", "--delta", "1e-6", "-o", str(out), *ledger])
    assert made.exit_code == 0, made.output
    assert {path.name for path in out.glob("synthetic.*")} == {f"synthetic.{name}.csv" for name in frames}
    assert verify(out, ledger=tmp_path / "ledger").holds
    remade = run(app, ["generate", str(out / "released.json"), "-o", str(tmp_path / "again"), "--rows", "9"])
    assert remade.exit_code == 0, remade.output
    assert len(pd.read_csv(tmp_path / "again" / "synthetic.homes.csv")) == 9
    told = run(
        app,
        ["evaluate", "--real", str(tmp_path), "--synthetic", str(out), "--schema", str(tmp_path / "datapackage.json"),
         "--no-learning", *ledger],
    )  # fmt: skip
    assert told.exit_code == 0
    assert "CONFIDENTIAL" in told.output
    assert "siblings" in told.output
    persons = pd.read_csv(out / "synthetic.persons.csv")
    persons.assign(parent=0).to_csv(out / "synthetic.persons.csv", index=False)
    assert any("has no parent" in each for each in verify(out).differences)


@pytest.mark.parametrize("harm", ["views", "plain"])
def test_a_release_whose_scores_were_mixed_is_refused(saved, harm):
    from sundog.released import Released

    folder, _ = saved
    document = json.loads((folder / "release" / "released.json").read_text())
    first, second = document["scores"][:2]
    other = second["candidates"][0] if harm == "views" else first["candidates"][0]["marginal"]
    first["candidates"][-1] = other
    with pytest.raises(UserError, match="several views" if harm == "views" else "shared queries"):
        Released.from_json(document)


def test_a_root_with_a_key_alone_keeps_people_together(frames, tmp_path):
    document = package()
    document["resources"] = [document["resources"][0], document["resources"][2]]
    document["resources"][0]["schema"]["fields"] = document["resources"][0]["schema"]["fields"][:1]
    model = sundog.Synthesizer(document, epsilon=5.0, delta=1e-6, dataset="v", ledger=tmp_path / "l", seed=1)
    made = model.fit({"visits": frames["visits"]}).sample()
    assert list(made["homes"].columns) == ["id"]
    real, drawn = (
        table.groupby("parent").size().value_counts(normalize=True) for table in (frames["visits"], made["visits"])
    )
    assert abs(real - drawn.reindex(real.index, fill_value=0)).max() < 0.12


def test_a_root_with_a_key_alone_takes_no_table(frames, tmp_path):
    document = package()
    document["resources"] = [document["resources"][0], document["resources"][2]]
    document["resources"][0]["schema"]["fields"] = document["resources"][0]["schema"]["fields"][:1]
    model = sundog.Synthesizer(document, epsilon=5.0, delta=1e-6, dataset="v", ledger=tmp_path / "l")
    with pytest.raises(UserError, match="nothing but its key"):
        model.fit({"homes": frames["homes"], "visits": frames["visits"]})
