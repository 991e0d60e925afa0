"""A release folder is an allow-list: one release, nothing stale, nothing foreign, nothing confidential."""

import json
import os
import stat
import subprocess
import sys

import pytest

import tables
from privacy.stand_ins import ledger_of, run_command
from sundog import Synthesizer, UserError
from sundog.api.release_folder import check_release_folder, refuse_inside_release
from sundog.report.release_files import FILES, needs_rows

METHOD = ("--method", "independent", "--schema", "schema.json")


@pytest.fixture
def place(tmp_path):
    tables.write_csv(tmp_path / "data.csv", tables.table(200))
    (tmp_path / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    return tmp_path


def synthesize(place, *options, rho="0.5", out="out"):
    return run_command(place, "synthesize", "data.csv", *METHOD, "--rho", rho, "-o", out, *options)


def told(outcome):
    return " ".join(outcome.stderr.split())


def test_rows_of_an_earlier_run_do_not_stay_beside_a_later_certificate(place):
    assert synthesize(place, "--format", "parquet", rho="1").code == 0
    assert synthesize(place, "--force", rho="0.1").code == 0
    found = {path.name for path in (place / "out").iterdir()}
    assert "synthetic.csv" in found
    assert "synthetic.parquet" not in found
    assert found <= set(FILES)
    certificate = json.loads((place / "out" / "certificate.json").read_text())
    assert certificate["rho"] <= 0.1


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("entry", ["evaluation.html", ".hidden", "notes/page.html"])
def test_a_folder_with_anything_else_is_refused_before_anything_is_spent(place, entry, force):
    (place / "out" / entry).parent.mkdir(parents=True)
    (place / "out" / entry).write_text("CONFIDENTIAL")
    outcome = synthesize(place, *force)
    assert outcome.code == 2
    assert "which is no part of a release" in told(outcome)
    assert outcome.ledger == []
    assert (place / "out" / entry).read_text() == "CONFIDENTIAL"


@pytest.mark.parametrize("target", ["out/page.html", "out/deep/er/page.html"])
def test_nothing_is_written_into_a_release_or_below_it(place, target):
    assert synthesize(place).code == 0
    spent = synthesize(place).ledger
    page = (
        "evaluate",
        "--real",
        "data.csv",
        "--synthetic",
        "out/synthetic.csv",
        "--schema",
        "schema.json",
        "--html",
        target,
    )
    for command in (
        page,
        ("schema", "draft", "data.csv", "-o", target),
        ("measure", "data.csv", *METHOD, "--rho", "0.1", "-o", target),
        ("synthesize", "data.csv", *METHOD, "--rho", "0.1", "-o", target),
        ("ledger", "export", "-o", target),
    ):
        outcome = run_command(place, *command)
        assert outcome.code == 2, command
        assert "lies in the release" in told(outcome)
        assert outcome.ledger == spent
        assert not (place / target).exists()


@pytest.mark.parametrize("option", [("--ledger", "out/ledger.sqlite"), ("--ledger", "out/deep/ledger.sqlite")])
def test_the_ledger_does_not_lie_in_the_release(place, option):
    outcome = synthesize(place, *option)
    assert outcome.code == 2
    assert "which is to be released" in told(outcome)
    assert not (place / "out").exists() or not list((place / "out").iterdir())


def test_the_private_table_is_never_replaced(place):
    (place / "out").mkdir()
    (place / "data.csv").rename(place / "out" / "synthetic.csv")
    before = (place / "out" / "synthetic.csv").read_bytes()
    outcome = run_command(place, "synthesize", "out/synthetic.csv", *METHOD, "--rho", "1", "-o", "out", "--force")
    assert outcome.code == 2
    assert "which is to be released" in told(outcome)
    assert (place / "out" / "synthetic.csv").read_bytes() == before


def test_a_release_can_be_generated_again_from_its_own_measurements(place):
    assert synthesize(place).code == 0
    before = (place / "out" / "released.json").read_bytes()
    again = run_command(place, "generate", "out/released.json", "--method", "independent", "-o", "out", "--force")
    assert again.code == 0, again.stderr
    assert json.loads((place / "out" / "released.json").read_bytes()) == json.loads(before)


def test_what_was_paid_for_does_not_lie_beside_rows_of_the_release_it_replaces(place, monkeypatch):
    assert synthesize(place, rho="1").code == 0

    def fail(*args, **kwargs):
        raise UserError("stopped")

    monkeypatch.setattr("sundog.generate.independent.Independent.fit", fail)
    assert synthesize(place, "--force", rho="0.1").code == 2
    assert {path.name for path in (place / "out").iterdir()} == {"released.json"}
    assert json.loads((place / "out" / "released.json").read_text())["guarantee"]["rho"] <= 0.1


def of(place, *parts):
    return json.loads(place.joinpath(*parts).read_text())


def test_force_keeps_the_measurements_that_were_paid_for_beside_the_folder(place):
    first, second = (synthesize(place, "--force", rho=rho).files["out/released.json"] for rho in ("1", "0.5"))
    last = synthesize(place, "--force", rho="0.1")
    assert (place / "out.earlier" / "1" / "released.json").read_bytes() == first
    assert (place / "out.earlier" / "2" / "released.json").read_bytes() == second
    assert of(place, "out.earlier", "1", "certificate.json")["rho"] > 0.9
    assert str(place / "out.earlier") in last.stdout
    assert not any(needs_rows(path.name) for path in (place / "out.earlier" / "1").iterdir())
    assert {path.name for path in (place / "out").iterdir()} <= set(FILES)
    assert run_command(place, "verify", "out", "--ledger", "ledger.sqlite").code == 0
    again = ("generate", "out.earlier/1/released.json", "--method", "independent", "-o", "again")
    assert run_command(place, *again).code == 0


def test_measure_keeps_them_too(place):
    command = ("measure", "data.csv", *METHOD, "--rho", "0.5", "-o", "m.json", "--force")
    first = run_command(place, *command).files["m.json"]
    run_command(place, *command)
    assert (place / "m.json.earlier" / "1" / "m.json").read_bytes() == first
    assert (place / "m.json").read_bytes() != first


def test_what_is_measured_once_is_not_kept_twice(place):
    """The same measurements, generated from again, are no earlier ones; those of another folder make this one's so."""
    assert synthesize(place).code == 0
    assert synthesize(place, out="other").code == 0
    again = ("generate", "out/released.json", "--method", "independent", "-o", "out", "--force")
    assert run_command(place, *again).code == 0
    assert not (place / "out.earlier").exists()
    before = (place / "out" / "released.json").read_bytes()
    replaced = ("generate", "other/released.json", "--method", "independent", "-o", "out", "--force")
    assert run_command(place, *replaced).code == 0
    assert (place / "out.earlier" / "1" / "released.json").read_bytes() == before


KILLED = """
import os, sys
from sundog.cli import app
from sundog.generate.independent import Independent
Independent.fit = lambda *_, **__: os._exit(9)
sys.argv = ["sundog", *sys.argv[1:]]
app.main()
"""


def test_a_run_that_is_killed_loses_nothing_that_was_paid_for(place):
    before = synthesize(place, rho="1").files["out/released.json"]
    arguments = ("synthesize", "data.csv", *METHOD, "--rho", "0.1", "-o", "out", "--force")
    ledger = os.environ | {"SUNDOG_LEDGER": str(place / "ledger.sqlite")}
    ended = subprocess.run([sys.executable, "-c", KILLED, *arguments], cwd=place, env=ledger, check=False)
    assert ended.returncode == 9
    assert (place / "out.earlier" / "1" / "released.json").read_bytes() == before
    assert {path.name for path in (place / "out").iterdir()} == {"released.json"}
    made = of(place, "out", "released.json")
    assert 0 < made["guarantee"]["rho"] <= 0.1
    spent = sum(entry["rho"] for entry in ledger_of(place))
    assert spent == pytest.approx(made["guarantee"]["rho"] + json.loads(before)["guarantee"]["rho"])


def test_a_file_that_was_being_written_does_not_stop_the_next_run(place):
    assert synthesize(place).code == 0
    (place / "out" / "released.json.part").write_text("half of")
    assert synthesize(place, "--force").code == 0
    assert not (place / "out" / "released.json.part").exists()


def test_a_place_beside_which_nothing_can_be_kept_is_refused_before_anything_is_spent(place):
    spent = synthesize(place).ledger
    (place / "out.earlier").write_text("mine")
    outcome = synthesize(place, "--force")
    assert outcome.code == 2
    assert "are to be kept in" in told(outcome)
    assert outcome.ledger == spent


def test_links_and_roundabout_paths_are_seen_through(place):
    assert synthesize(place).code == 0
    (place / "link").symlink_to(place / "out")
    for path in (place / "link" / "x", place / "out" / ".." / "out" / "x"):
        with pytest.raises(UserError, match="lies in the release"):
            refuse_inside_release(path)
    (place / "loop").symlink_to(place / "loop")
    outcome = synthesize(place, out="loop")
    assert outcome.code == 2
    assert "cannot be written" in told(outcome)


def test_saving_in_python_keeps_to_the_same_list(tmp_path):
    fields = [{"name": "x", "type": "boolean", "constraints": {"required": True}}]
    made = Synthesizer({"name": "s", "fields": fields}, rho=1.0, method="independent").fit({"x": [True, False] * 9})
    folder = made.save(tmp_path / "model")
    made.save(folder)
    (folder / "synthetic.csv").write_text("x\n")
    with pytest.raises(UserError, match=r"holds 'synthetic\.csv' of an earlier release; save into an empty folder"):
        made.save(folder)
    (folder / "synthetic.csv").rename(folder / "mine.csv")
    with pytest.raises(UserError, match="which is no part of a release"):
        made.save(folder)
    with pytest.raises(UserError, match="lies in the release"):
        made.save(folder / "below")


def test_an_empty_or_absent_folder_will_do(tmp_path):
    check_release_folder(tmp_path, force=False)
    check_release_folder(tmp_path / "absent", force=False)


@pytest.mark.parametrize("umask", [0o000, *(pytest.param(mask, marks=pytest.mark.long) for mask in (0o022, 0o077))])
def test_confidential_files_are_the_owners_alone_under_any_umask(place, umask):
    """Also where a file that all may read, or a link to one, is replaced."""
    assert synthesize(place, out="made").code == 0
    (place / "draft.json").write_text("old")
    (place / "draft.json").chmod(0o666)
    (place / "elsewhere").write_text("kept")
    (place / "page.html").symlink_to(place / "elsewhere")
    before = os.umask(umask)
    try:
        assert run_command(place, "schema", "draft", "data.csv", "-o", "draft.json", "--force").code == 0
        page = (
            "--real",
            "data.csv",
            "--synthetic",
            "made/synthetic.csv",
            "--schema",
            "schema.json",
            "--html",
            "page.html",
        )
        assert run_command(place, "evaluate", *page, "--no-learning", "--force").code == 0
    finally:
        os.umask(before)
    for name in ("draft.json", "page.html"):
        assert stat.S_IMODE((place / name).lstat().st_mode) == 0o600
    assert (place / "elsewhere").read_text() == "kept"
