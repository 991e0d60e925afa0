"""CONTRIBUTING.md is true: the parts that it shows are registered and go through the laws of the built-in ones."""

import pytest

from laws.generator_laws import ROWS, what_is_supported_is_fitted
from laws.query_examples import EXAMPLES, SCHEMA, Case, cases
from laws.query_laws import LAWS
from markdown_pages import ROOT, blocks, run_python
from sundog import Synthesizer
from sundog.errors import UserError
from sundog.evaluate import REAL, Comparison
from sundog.generate import GENERATORS
from sundog.queries import CLASSES, Marginal

PAGE = ROOT / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def parts():
    names: dict[str, object] = {}
    for block in blocks(PAGE):
        if block.language == "python":
            run_python(block, names, PAGE)
    return names


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_the_query_keeps_every_law(parts, law, monkeypatch):
    monkeypatch.setitem(CLASSES, "even", parts["Even"])
    monkeypatch.setitem(EXAMPLES, "even", [Case(parts["Even"](("age",)))])
    law(cases()["even-0"])


def test_the_generator_fits_what_it_supports(parts, monkeypatch):
    monkeypatch.setitem(GENERATORS, "shuffled", parts["Shuffled"])
    queries = [Marginal.of(SCHEMA, name) for name in SCHEMA.names]
    assert all(parts["Shuffled"]().supports(query) for query in queries)
    what_is_supported_is_fitted(parts["Shuffled"](), queries)


def test_the_source_is_fitted_as_one_table(parts):
    table = ROWS.to_arrow()
    source = parts["Several"](table.slice(0, 300), table.slice(300))
    settings = {"rho": 1e6, "method": "independent", "confirmed": True}
    model = Synthesizer(SCHEMA, dataset="several", **settings).fit(source).model
    assert model.answer().to_arrow()["estimate"][0].as_py() == pytest.approx(len(table), abs=2)
    with pytest.raises(UserError, match="unit column"):
        Synthesizer(SCHEMA, dataset="units", unit="age", **settings).fit(source)


def test_the_metric_scores(parts, monkeypatch):
    metric = parts["RowsRatio"]()
    monkeypatch.setitem(REAL, metric.name, metric)
    assert REAL["rows_ratio"].score(Comparison(ROWS, ROWS)).value == 0.0
