"""sundog certificate: the certificate in words, and as an entry for OpenDP's registry, whose fields are these and no others."""

import json

import pytest
import yaml

import tables
from privacy.stand_ins import run_command

FIELDS = {
    "basic": {
        "name",
        "data_curators",
        "description",
        "intended_use",
        "data_product_type",
        "data_product_region",
        "data_product_sector",
        "publication_date",
    },
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {
        "privacy_unit",
        "privacy_unit_details",
        "number_of_privacy_units",
        "privacy_parameters",
        "privacy_parameters_details",
    },
    "deployment_model": {
        "model_name",
        "model_name_details",
        "trust_assumptions",
        "actors",
        "release_type",
        "release_type_details",
        "data_source_type",
        "data_source_type_details",
        "access_type",
        "access_type_details",
    },
    "implementation": {
        "preprocessing_and_hyperparameter_tuning",
        "mechanisms",
        "composition",
        "post_processing",
        "justification",
        "utility",
        "additional_information",
    },
    "administrative": {"evidence_sources", "status", "registry_authors", "tier"},
}
"""The registry's own, of its schema."""
TIERS_2_AND_3 = {
    "dp_variant": FIELDS["dp_variant"],
    "privacy_loss": FIELDS["privacy_loss"],
    "deployment_model": {"model_name", "release_type", "access_type", "trust_assumptions"},
    "implementation": FIELDS["implementation"] - {"additional_information"},
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    tables.write_csv(folder / "data.csv", tables.table(200))
    (folder / "schema.json").write_text(json.dumps(tables.DOCUMENT), encoding="utf-8")
    command = ("synthesize", "data.csv", "--schema", "schema.json", "--method", "independent")
    budget = ("--epsilon", "1", "--delta", "1e-9")
    assert run_command(folder, *command, *budget, "-o", "first").code == 0
    assert run_command(folder, *command, *budget, "-o", "out", "--purpose", 'a "test": # 1').code == 0
    return folder


def test_the_entry_has_the_registrys_fields_and_names_what_is_missing(place):
    outcome = run_command(place, "certificate", "out", "--registry", "-o", "entry.yaml")
    assert outcome.code == 0, outcome.stderr
    text = (place / "entry.yaml").read_text(encoding="utf-8")
    entry = yaml.safe_load(text)
    assert set(entry) == {"url_slug", "deployment"}
    parts = entry["deployment"]
    assert {name: set(part) - FIELDS[name] for name, part in parts.items()} == {name: set() for name in FIELDS}
    assert {name: fields - set(parts[name]) for name, fields in TIERS_2_AND_3.items()} == {
        n: set() for n in TIERS_2_AND_3
    }
    certificate = json.loads((place / "out" / "certificate.json").read_text())
    parameters = parts["privacy_loss"]["privacy_parameters"]
    assert parameters == {name: certificate[name] for name in ("epsilon", "delta", "rho")}
    assert parts["dp_variant"]["variant_name"] == "Approximate DP"
    assert parts["basic"]["intended_use"] == 'a "test": # 1'
    assert parts["basic"]["publication_date"] == certificate["date"]
    assert parts["deployment_model"]["release_type"] == "Many releases"
    assert "Gaussian noise" in parts["implementation"]["mechanisms"]
    assert parts["administrative"]["status"] == "Draft"
    for missing in ("data_curators", "justification", "trust_assumptions", "registry_authors"):
        assert missing in outcome.stdout
        assert f"{missing}:" in text.partition("url_slug")[0]
    assert "intended_use" not in outcome.stdout


def test_the_first_release_of_an_account_is_one_release_and_says_what_it_is_for_later(place):
    outcome = run_command(place, "certificate", "first", "--registry")
    entry = yaml.safe_load(outcome.stdout)
    assert entry["deployment"]["deployment_model"]["release_type"] == "One release"
    assert entry["deployment"]["basic"]["intended_use"] == "TO FILL IN"
    assert "intended_use" in outcome.stderr


def test_in_words(place):
    said = run_command(place, "certificate", "out").stdout
    certificate = json.loads((place / "out" / "certificate.json").read_text())
    assert certificate["claim"] in said
    assert 'a "test": # 1' in said
    assert "gaussian: " in said
    told = json.loads(run_command(place, "certificate", "out", "--json").stdout)
    assert told["rho"] == certificate["rho"]
    asked = json.loads(run_command(place, "certificate", "out", "--registry", "--json").stdout)
    assert asked["entry"]["deployment"]["privacy_loss"]["privacy_parameters"]["rho"] == certificate["rho"]


@pytest.mark.parametrize(
    "change", [{"account": 3}, {"disclosures": {"a": 1}}, {"versions": None, "date": 5}, {"method": []}]
)
def test_a_record_that_cannot_be_read_is_left_out(place, change):
    for name in ("released.json", "certificate.json"):
        (place / "odd").mkdir(exist_ok=True)
        (place / "odd" / name).write_bytes((place / "out" / name).read_bytes())
    document = json.loads((place / "odd" / "certificate.json").read_text()) | change
    (place / "odd" / "certificate.json").write_text(json.dumps(document))
    for arguments in (("certificate", "odd"), ("certificate", "odd", "--registry")):
        assert run_command(place, *arguments).code == 0


def test_what_is_no_release_is_refused(place):
    assert run_command(place, "certificate", ".").code == 2
    assert run_command(place, "certificate", "out", "-o", "x.yaml").code == 2
    inside = run_command(place, "certificate", "out", "--registry", "-o", "out/entry.yaml")
    assert inside.code == 2
    assert "lies in the release" in " ".join(inside.stderr.split())
