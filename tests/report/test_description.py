"""What a release folder says of itself: a valid Data Package, and a page in plain words."""

import json

import sundog
from related_tables import DOCUMENT, related


def saved(tmp_path):
    model = sundog.Synthesizer(DOCUMENT, method="independent", epsilon=1.0, delta=1e-6).fit(related(300, 2).to_arrow())
    return model.save(tmp_path / "saved")


def test_the_data_package_describes_every_column(tmp_path):
    package = json.loads((saved(tmp_path) / "datapackage.json").read_text())
    (resource,) = package["resources"]
    assert [field["name"] for field in resource["schema"]["fields"]] == [field["name"] for field in DOCUMENT["fields"]]
    assert package["croissant"]["rai:hasSyntheticData"] is True
    again = sundog.Schema.from_json(resource["schema"])
    assert again.names == tuple(field["name"] for field in DOCUMENT["fields"])


def test_the_page_names_the_files_that_are_there(tmp_path):
    folder = saved(tmp_path)
    text = (folder / "README.txt").read_text()
    assert "differential privacy" in text
    assert "released.json" in text
    assert "adjust.json" not in text
