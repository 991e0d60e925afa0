"""Keys of several fields and unit keys as users meet them: read, checked, regenerated, certified and verified like single keys."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from keyed_tables import keyed_package, keyed_tables
from sundog.api.verify import verify
from sundog.cli.app import app
from sundog.errors import UserError
from sundog.private.ledger import Ledger

HOMES = 150


def homes(carried):
    """Homes of one to three persons, who have up to two cards; persons are numbered from 1 in each home, or over all."""
    persons = [(home, place) for home in range(HOMES) for place in range(1, 2 + home % 3)]
    numbers = {each: each[1] if carried == "composite" else k for k, each in enumerate(persons)}
    cards = [each for each in persons for _ in range((each[0] + each[1]) % 3)]
    return keyed_tables(
        [(home, "flat" if home % 2 else "house") for home in range(HOMES)],
        [(home, numbers[home, place], "fm"[place % 2]) for home, place in persons],
        [(each[0], numbers[each], "gold" if each[1] == 1 else "red") for each in cards],
        carried=carried,
    )


def written(folder, tables, document):
    for name, table in tables.items():
        pd.DataFrame(table).to_csv(folder / f"{name}.csv", index=False)
    (folder / "datapackage.json").write_text(json.dumps(document))
    return [str(folder / "datapackage.json"), "--dataset", "homes", "--ledger", str(folder / "ledger")]


@pytest.mark.parametrize("carried", ["composite", "unit key"])
def test_a_release_has_keys_that_fit(carried, tmp_path):
    call = written(tmp_path, homes(carried), keyed_package(carried, persons=3))
    out = tmp_path / "out"
    run = CliRunner().invoke(
        app, ["synthesize", *call, "--epsilon", "8", "--delta", "1e-6", "-o", str(out), "--seed", "1"]
    )
    assert run.exit_code == 0, run.output
    made = {name: pd.read_csv(out / f"synthetic.{name}.csv") for name in ("homes", "persons", "cards")}
    key = ["home", "number"]
    assert not made["persons"].duplicated(key if carried == "composite" else "number").any()
    if carried == "composite":
        assert (
            made["persons"]
            .groupby("home")["number"]
            .apply(lambda each: list(each) == list(range(1, len(each) + 1)))
            .all()
        )
    assert len(made["cards"]) > 20
    joined = made["cards"].merge(made["persons"], left_on=["home", "person"], right_on=key)
    assert len(joined) == len(made["cards"])
    resources = json.loads((out / "datapackage.json").read_text())["resources"]
    assert resources[1]["schema"]["primaryKey"] == (key if carried == "composite" else ["number"])
    certificate = json.loads((out / "certificate.json").read_text())
    assert certificate["restsOn"] == [
        "Keys of homes are present and unique: checked before measuring.",
        "Rows of cards carry the key of homes, and are joined by it too.",
    ]
    assert certificate["restsOn"][1] in (out / "certificate.html").read_text()
    assert "one value of 'homes.id' with every row that carries it" in certificate["claim"]
    assert verify(out, ledger=tmp_path / "ledger").differences == ()
    spoilt = made["cards"].assign(home=made["cards"]["home"].iloc[::-1].to_numpy())
    spoilt.to_csv(out / "synthetic.cards.csv", index=False)
    assert any("has no parent" in each for each in verify(out).differences)


def test_keys_that_repeat_are_refused_with_nothing_charged(tmp_path):
    tables = homes("alone")
    tables["persons"]["number"][5] = tables["persons"]["number"][4]
    call = written(tmp_path, tables, keyed_package("alone", persons=3))
    for command in ("synthesize", "measure"):
        target = tmp_path / "out" if command == "synthesize" else tmp_path / "released.json"
        with pytest.raises(UserError, match="table 'persons': its primaryKey 'number'") as refused:
            CliRunner().invoke(
                app, [command, *call, "--epsilon", "1", "--delta", "1e-6", "-o", str(target)], catch_exceptions=False
            )
        assert "Nothing was charged" in str(refused.value)
    account = Ledger(tmp_path / "ledger").account("homes")
    assert [entry.mechanism for entry in account.entries] == ["disclosed", "disclosed"]
    assert account.rho == 0
    assert not account.disclosed  # a bit is not a CONFIDENTIAL result
    check = CliRunner().invoke(app, ["check", str(tmp_path), "--schema", *call])
    assert "repeat a 'number'" in check.output
