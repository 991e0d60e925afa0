"""What a schema or a workload asks and a method cannot do is refused before anything is spent, or named on the certificate."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from example_tables import SCHEMA, table
from sundog import Model, Schema, Synthesizer, UserError, load
from sundog.cli.app import app
from sundog.methods.checks import unsupported
from sundog.methods.recipes import METHODS, recipe_of
from sundog.private.ledger import Ledger
from sundog.queries.workload import Workload

PROTECTED = {"name": "old", "kind": "protected", "weights": {"size": 1}, "threshold": 0.5}
PULLED = {"name": "cap", "kind": "sum", "columns": ["size"], "maximum": 900, "strength": 0.5}


def asking(*constraints):
    return Schema.from_json(SCHEMA.to_json() | {"constraints": list(constraints)})


def made(schema, tmp_path, **options):
    return Synthesizer(schema, rho=0.5, dataset="d", seed=1, ledger=tmp_path / "ledger.db", **options)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("constraint", [PROTECTED, PULLED], ids=["protected", "strength"])
def test_only_privpgd_is_asked_for_what_only_it_can_do(method, constraint, tmp_path):
    schema = asking(constraint)
    if method == "privpgd":
        made(schema, tmp_path, method=method)
        return
    with pytest.raises(UserError, match=f"{constraint['name']!r} is not .*Methods that can do all: privpgd") as refused:
        made(schema, tmp_path, method=method)
    assert refused.value.exit_code == 2
    assert not (tmp_path / "ledger.db").exists()


def test_what_is_declared_without_pull_or_push_is_no_request():
    quiet = asking(PROTECTED | {"strength": 0}, PULLED | {"strength": 0}, {**PULLED, "strength": None})
    for recipe in METHODS.values():
        assert unsupported(recipe, quiet, recipe.queries(quiet)) == ()


def test_privpgd_with_a_workload_of_the_users_own_does_not_measure_the_statistic(tmp_path):
    schema = asking(PROTECTED)
    with pytest.raises(UserError, match="'old' is not protected"):
        made(schema, tmp_path, method="privpgd", workload=Workload.marginals(schema, k=2))


def test_the_certificate_names_what_was_not_done(tmp_path):
    schema = asking(PROTECTED, PULLED)
    fitted = made(schema, tmp_path, method="independent", ignore_unsupported=True).fit(table(60))
    sentences = ("The statistic 'old' is not protected.", "The strength of 'cap' is not used")
    folder = fitted.save(tmp_path / "out")
    remark = json.loads((folder / "certificate.json").read_text())["remark"]
    assert all(sentence in remark for sentence in sentences)
    assert "is not protected" in (folder / "certificate.html").read_text()
    assert load(folder).unsupported == fitted.model.unsupported != ()
    with pytest.raises(UserError, match="is not protected"):
        Model.from_released(fitted.released, method="independent")
    with pytest.raises(UserError, match="is not protected"):  # it was never measured
        Model.from_released(fitted.released, method="privpgd")


def test_the_command_refuses_with_exit_code_2_and_goes_on_where_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text(json.dumps(asking(PROTECTED).to_json()))
    (tmp_path / "data.csv").write_text("colour,warm,size,grade\n" + "red,true,7,4\n" * 30)
    given = ["synthesize", "data.csv", "--schema", "schema.json", "--rho", "0.5", "--method", "independent"]
    given += ["--ledger", "ledger.db", "--dataset", "d", "-o", "out", "--json"]
    refused = CliRunner().invoke(app, given)
    assert refused.exception.exit_code == 2
    assert not (tmp_path / "ledger.db").exists()
    done = CliRunner().invoke(app, [*given, "--ignore-unsupported"])
    assert json.loads(done.stdout)["unsupported"] == ["The statistic 'old' is not protected."]
    assert Ledger(tmp_path / "ledger.db").accounts() == ["d"]


@pytest.mark.parametrize(
    ("method", "kind", "found"),
    [
        ("mst/private-gsd", "triples", "cannot choose the query"),
        ("auto/private-gsd", "triples", "cannot choose the query"),
        ("aim/private-gsd", "ranges", "cannot choose the query"),
        ("auto/private-gsd", "ranges", "cannot choose the query"),
        ("mst", "ranges", "cannot use the query"),
    ],
)
def test_queries_that_a_rule_would_pass_over_are_refused(method, kind, found, tmp_path):
    workload = Workload.marginals(SCHEMA, k=3) if kind == "triples" else Workload.ranges(SCHEMA, count=4)
    with pytest.raises(UserError, match=f"{found}.*private-gsd"):
        made(SCHEMA, tmp_path, method=method, workload=workload)
    assert not (tmp_path / "ledger.db").exists()


def test_a_public_table_that_is_empty_or_of_no_use_is_refused(tmp_path):
    with pytest.raises(UserError, match="cannot start from a public table; methods that can: auto, mst"):
        made(SCHEMA, tmp_path, method="privpgd", public=table(5))
    empty = {name: [] for name in SCHEMA.names}
    with pytest.raises(UserError, match="has no rows"):
        made(SCHEMA, tmp_path, method="mst", public=empty)


def test_weights_that_a_rule_cannot_use_are_refused(tmp_path):
    pairs = Workload.marginals(SCHEMA, k=2)
    weighted = Workload(SCHEMA, pairs.queries, tuple(np.arange(1.0, len(pairs.queries) + 1)))
    for name, recipe in METHODS.items():
        able = hasattr(recipe.rule, "weighted")
        if not all(recipe.generator.supports(query) for query in pairs.queries):
            continue
        if able:
            assert made(SCHEMA, tmp_path, method=name, workload=weighted).recipe.rule.weights == weighted.weights
        else:
            with pytest.raises(UserError, match="cannot weight queries"):
                made(SCHEMA, tmp_path, method=name, workload=weighted)
    assert recipe_of("mst").rule == METHODS["mst"].rule


def test_a_model_that_could_not_be_fitted_is_refused_before_paying(tmp_path):
    wide = {"type": "integer", "constraints": {"minimum": 0, "maximum": 99, "required": True}}
    schema = Schema.from_json({"fields": [wide | {"name": f"n{k}"} for k in range(9)]})
    with pytest.raises(UserError, match=r"a model of about .* MB; at most 32 are allowed"):
        made(schema, tmp_path, method="private-gsd/mst")
    assert not (tmp_path / "ledger.db").exists()
    for fine in ("mst", "aim", "mwem-pgm", "private-gsd"):
        made(schema, tmp_path, method=fine)
    made(SCHEMA, tmp_path, method="private-gsd/mst")
