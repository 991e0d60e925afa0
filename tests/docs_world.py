"""The files that the pages' examples speak of: `visits.csv`, `schema.json`, `release` and so on, made once per session."""

import contextlib
import importlib.util
import json
import os
import shutil
from pathlib import Path
from unittest import mock

import duckdb
import pyarrow.csv
import pyarrow.parquet

from markdown_pages import ROOT, run_sundog

ROWS = 1500
BUDGET = ("--schema", "schema.json", "--epsilon", "1", "--delta", "1e-9")
WORKLOAD = '[[queries]]\nkind = "marginals"\nk = 2\ncolumns = ["sex", "smoker", "admitted"]\n'
LATER = [{"name": "age of smokers", "kind": "impossible", "where": {"smoker": True, "age": {"maximum": 9}}}]
METADATA = {"tables": {"visits": {"columns": {"age": {"sdtype": "numerical"}, "sex": {"sdtype": "categorical"}}}}}


def example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make(folder: Path) -> Path:
    """Everything, in a new folder; the caller copies it."""
    data, schema = example("clinic_visits").write(folder, rows=ROWS, seed=1)
    data.rename(folder / "visits.csv")
    schema.rename(folder / "schema.json")
    table = pyarrow.csv.read_csv(
        folder / "visits.csv", convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    )
    (folder / "visits").mkdir()
    pyarrow.parquet.write_table(table, folder / "visits" / "part-1.parquet")
    with duckdb.connect(str(folder / "clinic.duckdb")) as database:
        database.register("given", table)
        database.execute("CREATE TABLE visits AS SELECT * FROM given")
    example("patients_and_visits").write(folder / "linked", patients=300, seed=1)
    document = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    _json(folder / "later.json", document | {"constraints": LATER})
    _json(folder / "open.json", document | {"fields": [_opened(field) for field in document["fields"]]})
    _json(folder / "metadata.json", METADATA)
    (folder / "workload.toml").write_text(WORKLOAD, encoding="utf-8")
    with contextlib.chdir(folder), mock.patch.dict(os.environ, {"SUNDOG_LEDGER": str(folder / "ledger.sqlite")}):
        _released()
    shutil.copy(folder / "release" / "synthetic.csv", folder / "theirs.csv")
    clinic = example("clinic_visits")
    pyarrow.csv.write_csv(clinic.make_table(ROWS // 3, seed=2), folder / "held_out.csv")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def _released():
    """A key pair, a signed release by the quickest method, measurements, and a draft."""
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    public = key.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    Path("key.pem").write_bytes(private)
    Path("key.pub.pem").write_bytes(public)
    _do("synthesize", "visits.csv", *BUDGET, "--method", "independent", "--sign", "key.pem", "-o", "release")
    _do("measure", "visits.csv", *BUDGET, "--method", "independent", "-o", "released.json")
    _do("schema", "draft", "visits.csv", "-o", "draft.json")


def _do(*words):
    code, out, err = run_sundog([*words])
    assert code == 0, f"sundog {' '.join(words)}: {out}{err}"


def _opened(field):
    """Two fields lack what `schema complete` finds."""
    if field["name"] == "reason":
        return {"name": "reason", "type": "string"}
    return {"name": "bmi", "type": "number", "sundog": {"decimals": 1}} if field["name"] == "bmi" else field


def _json(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")
