"""A release that was changed in any way is distinguished from one that was not."""

import hashlib
import json
import shutil
import subprocess

import pytest

import sundog
from related_tables import DOCUMENT, related
from sundog.api.verify import verify
from sundog.errors import UserError
from sundog.methods.recipes import METHODS
from sundog.released import Released

openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture
def release(tmp_path, run_sundog):
    """A release on disk, made as a user makes one, and its ledger."""
    from pyarrow import csv

    csv.write_csv(related(400, 1).to_text(), tmp_path / "data.csv")
    (tmp_path / "schema.json").write_text(json.dumps(DOCUMENT))
    run_sundog(
        tmp_path,
        "synthesize data.csv --schema schema.json --method independent --epsilon 1 --delta 1e-6 -o out --seed 1 "
        "--purpose teaching --approved-by board",
    )
    return tmp_path / "out"


@pytest.fixture
def run_sundog(monkeypatch, own_ledger):
    from typer.testing import CliRunner

    from sundog.cli.app import app

    def run(folder, line, *, code=0):
        monkeypatch.chdir(folder)
        made = CliRunner().invoke(app, line.split())
        assert made.exit_code == code, made.output + repr(made.exception)
        return made

    return run


def test_an_untouched_release_holds_also_against_its_ledger(release, own_ledger):
    found = verify(release, ledger=own_ledger)
    assert found.holds, found.differences
    assert [each.what for each in found.established] == [
        "files",
        "statements",
        "rows",
        "tables",
        "receipts",
        "certificate",
    ]
    assert found.not_established == ()


def test_the_certificate_holds_the_record(release):
    document = json.loads((release / "certificate.json").read_text())
    assert (document["purpose"], document["approvedBy"]) == ("teaching", "board")
    assert document["account"]["epsilonBefore"] == 0
    assert document["account"]["epsilonAfter"] == pytest.approx(1.0, rel=1e-3)
    assert set(document["files"]) == {path.name for path in release.iterdir()} - {"certificate.json"}
    assert "teaching" in (release / "certificate.html").read_text()


def change(name, old, new):
    def changed(folder):
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return changed


def certify_again(folder):
    """Whoever tampers may also bring the hashes up to date, and the page."""
    from sundog.api.release import hashes
    from sundog.report.certificate import PAGE, sealed

    document = json.loads((folder / "certificate.json").read_text())
    document["files"] = {name: digest for name, digest in hashes(folder).items() if name != PAGE}
    for name, text in sealed(document).items():
        (folder / name).write_text(text)


def lower_the_claim(folder):
    document = json.loads((folder / "released.json").read_text())
    document["guarantee"]["rho"] /= 2
    (folder / "released.json").write_text(json.dumps(document))
    certify_again(folder)


def rewrite(folder, **guarantee):
    """Measurements that claim something else, and a certificate that says the same."""
    from sundog import load
    from sundog.report.certificate import certificate
    from sundog.report.description import write_description

    document = json.loads((folder / "released.json").read_text())
    document["guarantee"] |= guarantee
    released = Released.from_json(document)
    released.save(folder / "released.json")
    said = json.loads((folder / "certificate.json").read_text())
    said |= certificate(released, method=said["method"])
    (folder / "certificate.json").write_text(json.dumps(said))
    model = load(folder)
    model.report(folder / "report.html")
    model.explore(folder / "explore.html")
    write_description(folder, released, method=said["method"])
    certify_again(folder)


def put_a_link(folder):
    (folder / "README.txt").rename(folder.parent / "elsewhere.txt")
    (folder / "README.txt").symlink_to(folder.parent / "elsewhere.txt")


def break_a_row(folder):
    lines = (folder / "synthetic.csv").read_text().splitlines()
    lines[1] = ",".join(["nonsense"] * len(lines[0].split(",")))
    (folder / "synthetic.csv").write_text("\n".join(lines) + "\n")
    certify_again(folder)


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (change("report.html", "<h1>", "<h1> "), "report.html: it was changed"),
        (change("explore.html", "<h1>", "<h1> "), "explore.html: it was changed"),
        (lambda folder: (folder / "explore.html").unlink(), "explore.html: the certificate names it"),
        (lambda folder: (folder / "report.html").unlink(), "report.html: the certificate names it"),
        (lambda folder: (folder / "real.csv").write_text("a"), "real.csv: no part of a release"),
        (
            lambda folder: (folder / "adjust.json").write_text("{}"),
            "adjust.json: a file that the certificate does not name",
        ),
        (change("certificate.json", '"epsilon": ', '"epsilon": 0.1, "was": '), "its 'epsilon' is not what"),
        (lower_the_claim, "its 'rho' is not what released.json says"),
        (break_a_row, "synthetic.csv"),
        (change("certificate.html", "epsilon", "epsi1on"), "certificate.html: it was changed"),
        (put_a_link, "README.txt: it is a link"),
        (lambda folder: rewrite(folder, epsilon=0.01), "it claims epsilon 0.01, and rho"),
        (lambda folder: rewrite(folder, delta_spent=1e-9), "its thresholds spent delta 0, and it claims 1e-09"),
    ],
)
def test_what_was_changed_is_named(release, tamper, told):
    tamper(release)
    found = verify(release)
    assert any(told in difference for difference in found.differences), found.differences


def test_receipts_of_another_ledger_are_told(release, tmp_path):
    found = verify(release, ledger=tmp_path / "another.sqlite")
    assert any("the ledger has no such entry" in difference for difference in found.differences)


PERSON = {"neighbours": "add-remove", "column": "id", "rows": 1}


def test_another_unit_than_the_ledger_knows_is_told(release, own_ledger):
    """Whoever holds the release reads that a person is protected, where a row was paid for."""
    rewrite(release, unit=PERSON)
    assert verify(release, quick=True).holds, "only the ledger knows"
    found = verify(release, ledger=own_ledger)
    assert any("another unit is protected" in difference for difference in found.differences)


def test_other_noise_than_was_paid_for_is_told(release, own_ledger):
    document = json.loads((release / "released.json").read_text())
    document["payments"][0]["details"]["stddev"] *= 2
    (release / "released.json").write_text(json.dumps(document))
    rewrite(release)
    found = verify(release, ledger=own_ledger)
    assert any("something else was paid for" in difference for difference in found.differences)


def test_a_certificate_leads_to_no_file_outside_its_folder(release):
    (release.parent / "secret.csv").write_text("Zq7SECRET\n")
    document = json.loads((release / "certificate.json").read_text())
    document["files"]["synthetic./../../secret.csv"] = "0"
    (release / "certificate.json").write_text(json.dumps(document))
    found = verify(release)
    assert found.differences[0] == "synthetic./../../secret.csv: the certificate names it, and it is not there."
    assert not any("secret" in each.says for each in found.established)


def test_payments_that_do_not_add_up_are_told(release):
    released = Released.load(release / "released.json")
    document = released.to_json()
    document["payments"] = document["payments"][1:]
    (release / "released.json").write_text(json.dumps(document))
    certify_again(release)
    assert any("its payments add up to" in difference for difference in verify(release).differences)


def test_a_folder_without_a_certificate_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"holds no certificate\.json"):
        verify(tmp_path)


def test_the_command_says_what_differs_and_exits_with_2(release, run_sundog):
    said = run_sundog(release.parent, "verify out").output
    assert "Nothing differs; see what is not established." in said
    assert "somebody able to rewrite the whole folder could have changed everything" in said
    quick = json.loads(run_sundog(release.parent, "verify out --quick --json").output)
    assert [each["what"] for each in quick["notEstablished"]] == ["rows", "origin"]
    assert quick["notEstablished"][0]["files"] == ["synthetic.csv", "report.html", "explore.html", "fitted.npz"]
    (release / "report.html").write_text("")
    made = run_sundog(release.parent, "verify out --json", code=2)
    assert json.loads(made.output)["holds"] is False


@openssl
def test_a_signature_is_made_and_checked(release, tmp_path, run_sundog):
    pytest.importorskip("cryptography")
    for name in ("key", "other"):
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", tmp_path / f"{name}.pem"], check=True)
        public = ["openssl", "pkey", "-in", tmp_path / f"{name}.pem", "-pubout", "-out", tmp_path / f"{name}.pub"]
        subprocess.run(public, check=True)
    run_sundog(tmp_path, "generate out/released.json --method independent -o signed --sign key.pem")
    found = verify(tmp_path / "signed", key=tmp_path / "key.pub")
    assert found.holds
    assert not found.not_established
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", tmp_path / "key.pub", "-outform", "DER"], capture_output=True, check=True
    )
    signature = next(each for each in found.established if each.what == "signature")
    assert signature.facts["key"] == hashlib.sha256(der.stdout).hexdigest()
    assert not verify(tmp_path / "signed", key=tmp_path / "other.pub").holds
    assert not verify(release, key=tmp_path / "key.pub").holds
    with pytest.raises(UserError, match=r"no Ed25519 private key|no key in PEM"):
        sundog_sign(tmp_path / "key.pub")


def sundog_sign(key):
    from sundog.api.options import Signing

    Signing(sign=key).check()


def test_saving_from_python_is_certified_too(tmp_path):
    model = sundog.Synthesizer(DOCUMENT, method="independent", epsilon=1.0, delta=1e-6).fit(related(300, 2).to_arrow())
    model.save(tmp_path / "saved")
    assert verify(tmp_path / "saved").holds


def made(folder, run_sundog, *commands):
    """A release by commands, from the small table."""
    from pyarrow import csv

    csv.write_csv(related(400, 1).to_text(), folder / "data.csv")
    csv.write_csv(related(300, 2).to_text(), folder / "public.csv")
    (folder / "schema.json").write_text(json.dumps(DOCUMENT))
    for command in commands:
        run_sundog(folder, command)
    return folder / "out"


SYNTHESIZE = "synthesize data.csv --schema schema.json --epsilon 1 --delta 1e-6"
WAYS = {
    "rows and format": [f"{SYNTHESIZE} --method independent --rows 77 --format parquet -o out"],
    "a condition": [
        f"{SYNTHESIZE} --method independent -o first",
        "generate first/released.json --method mst --rows 30 --where b=u -o out",
    ],
    "adjusted in the same run": [f"{SYNTHESIZE} --method mst --adjust columns -o out"],
    "a public table": [f"{SYNTHESIZE} --method auto --public public.csv -o out"],
    "settings": [f"{SYNTHESIZE} --method private-gsd --set rows=200 -o out"],
}


@pytest.mark.parametrize("way", WAYS)
def test_whatever_was_asked_for_is_recorded_and_drawn_again(tmp_path, run_sundog, way):
    found = verify(made(tmp_path, run_sundog, *WAYS[way]))
    assert found.holds, found.differences
    assert [each.what for each in found.not_established] == ["origin"]
    rows = next(each for each in found.established if each.what == "rows")
    assert any(name.startswith("synthetic.") for name in rows.facts["files"])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_draws_the_same_again(tmp_path, run_sundog, method):
    found = verify(made(tmp_path, run_sundog, f"{SYNTHESIZE} --method {method} -o out"))
    assert found.holds, found.differences
    assert [each.what for each in found.not_established] == ["origin"]


@pytest.mark.parametrize("resample", ["weights", "systematic"])
def test_an_adjusted_table_is_named_and_its_page_drawn_again(tmp_path, run_sundog, own_ledger, resample):
    adjust = (
        "adjust first/synthetic.csv --schema schema.json --real data.csv --measures columns --epsilon 1 --delta 1e-6 "
        f"--before first/released.json --closest --resample {resample} -o out"
    )
    folder = made(tmp_path, run_sundog, f"{SYNTHESIZE} --method independent -o first", adjust)
    found = verify(folder, ledger=own_ledger)
    assert found.holds, found.differences
    assert [each.facts["files"] for each in found.not_established] == [["adjusted.csv", "adjust.json"]]
    change("explore.html", "</body>", "<script></script></body>")(folder)
    certify_again(folder)
    assert "explore.html: it is not the page of adjusted.csv." in verify(folder).differences
    (folder / "report.html").write_text("")
    certify_again(folder)
    assert "report.html: such a release does not hold it." in verify(folder).differences


def test_a_fit_that_ctrl_c_ended_is_not_drawn_again(tmp_path, run_sundog, monkeypatch):
    from sundog.generate.genetic.search import _Progress

    monkeypatch.setattr(_Progress, "reason_to_stop", lambda self: "time cap")
    folder = made(tmp_path, run_sundog, f"{SYNTHESIZE} --method private-gsd -o out")
    monkeypatch.undo()
    found = verify(folder)
    assert found.holds
    assert found.not_established[0].facts["why"] == "ended early"


def test_a_ledger_tells_its_certificate_from_another(release, own_ledger):
    """Also from one that fits together in every way: another purpose, say."""
    document = json.loads((release / "certificate.json").read_text())
    (release / "certificate.json").write_text(json.dumps(document | {"purpose": "sales"}))
    certify_again(release)
    assert verify(release, quick=True).holds
    found = verify(release, quick=True, ledger=own_ledger)
    assert any("the receipt of another certificate" in each for each in found.differences)


def test_a_receipt_of_a_certificate_costs_nothing_and_is_no_run(release, own_ledger):
    from sundog.private.ledger import Ledger
    from sundog.private.runs import runs_of

    account = Ledger(own_ledger).account("small")
    entry = account.entries[-1]
    assert (entry.mechanism, entry.rho, entry.delta, entry.unit) == ("certified", 0, 0, None)
    assert entry.details["sha256"] == hashlib.sha256((release / "certificate.json").read_bytes()).hexdigest()
    assert [run.charges for run in runs_of(account, delta=None)] == [len(account.entries) - 1]


def test_saving_a_synthesizer_leaves_a_receipt(tmp_path, own_ledger):
    made = sundog.Synthesizer(DOCUMENT, method="independent", epsilon=1.0, delta=1e-6).fit(related(300, 2).to_arrow())
    for name in ("one", "two"):
        made.save(tmp_path / name)
        found = verify(tmp_path / name, ledger=own_ledger)
        assert found.holds
        assert not found.not_established
