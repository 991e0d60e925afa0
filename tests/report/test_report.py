"""The public report: a function of released values, self-contained, bounded, escaped, right."""

import re

import numpy as np
import pytest

import noisy_pages
import sundog
from related_tables import DOCUMENT, permuted, related
from sundog.api.model import Model
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.private import noise
from sundog.queries import answer
from sundog.released import Payment
from sundog.report import bars, facts
from sundog.report.page import report_page, summary_fragment

ROWS = related(2000, 1)


def released(rows=ROWS, **how):
    return noisy_pages.released(rows, **how)


def test_the_same_release_and_seed_give_the_same_bytes():
    first, second = (Model.from_released(released(ways=(1,)), method="independent", seed=7) for _ in range(2))
    pages = [report_page(m.released, m.rows(300), method="independent") for m in (first, second)]
    assert pages[0] == pages[1]
    assert report_page(first.released, first.rows(300, seed=8), method="independent") != pages[0]


def test_no_part_of_it_depends_on_the_rows_but_through_the_measurements(monkeypatch, tmp_path):
    monkeypatch.setattr(noise, "add_gaussian", lambda counts, scale: np.full(len(counts), 50, dtype=np.int64))
    tables = [related(300, 1).to_arrow(), {"a": ["new"], "b": [None], "x": [10**9], "z": ["?"], "y": ["maybe"]}]
    pages = []
    for number, table in enumerate(tables):
        model = (
            sundog.Synthesizer(DOCUMENT, epsilon=1.0, delta=1e-9, seed=3, ledger=tmp_path / f"{number}.sqlite")
            .fit(table)
            .model
        )
        model.report(tmp_path / "report.html")
        pages.append((tmp_path / "report.html").read_bytes() + model._repr_html_().encode())
    assert pages[0] == pages[1]


def test_it_is_self_contained_and_says_the_guarantee():
    page = report_page(
        released(payments=[Payment("small#1", "gaussian", "a (4)", 0.02, 0.0, {"stddev": 5.0})]), ROWS, method="m"
    )
    assert not re.search(r"(https?:|src=|href=\"(?!#)|url\(|@import|<script|<link)", page)
    assert "(epsilon = 1, delta = 1e-09)-differential privacy" in page
    assert "at most 74 % sure" in page
    assert "What it does not cover" in page
    assert "small#1" in page
    assert "10 of 10 pairs were measured" in page
    assert page.count('class="chart"') == 5 + 6


def test_without_pairs_it_says_that_relations_are_not_taken_from_the_data():
    page = report_page(released(ways=(1,)), ROWS, method="independent")
    assert "No pair of columns was measured" in page


def test_a_column_that_was_not_measured_is_said_to_be_so():
    kept = released(ways=(1,)).with_measurements(released(ways=(1,)).measurements[:2])
    page = report_page(kept, ROWS, method="m")
    assert page.count("not measured") >= 3


def test_wide_tables_stay_small_and_names_cannot_break_the_page():
    random = np.random.default_rng(1)
    evil = "<script>alert('x')</script>"
    fields = [
        {"name": f"{evil} {k}", "type": "string", "categories": [f"<b>žluťoučký {j}" for j in range(40)]}
        for k in range(200)
    ]
    schema = Schema.from_json({"name": evil, "fields": fields})
    rows = Rows(schema, tuple(random.integers(0, 41, 300) for _ in fields))
    payments = [Payment(f"wide#{k}", "gaussian", f"{evil} {k}", 1e-4) for k in range(400)]
    page = report_page(released(rows, ways=(1,), schema=schema, payments=payments), rows, method="independent")
    assert len(page.encode()) < 800_000
    assert "<script" not in page
    assert "<b>ž" not in page
    assert "columns that differ most" in page
    assert "<script" not in summary_fragment(released(rows, ways=(1,), schema=schema), method="independent")


def test_column_facts_are_shares_with_the_right_bands():
    found = {f.column.name: f for f in facts.column_facts(released(ways=(1,), stddev=5.0), ROWS)}
    for each in found.values():
        assert each.synthetic.sum() == pytest.approx(1.0)
    assert found["b"].half_width == pytest.approx(1.96 * np.sqrt(25 + 1 / 12) / 2000, rel=0.01)
    assert found["z"].labels[-1] == "missing"
    assert len(found["z"].labels) == bars.BARS + 1
    assert found["x"].half_width.max() > found["b"].half_width.max()


def test_many_labels_become_one_bar_of_others():
    schema = Schema.from_json({"fields": [{"name": "c", "type": "string", "categories": [str(k) for k in range(50)]}]})
    rows = Rows(schema, (np.minimum(np.random.default_rng(1).geometric(0.2, 500) - 1, 49),))
    found = facts.column_facts(released(rows, ways=(1,), schema=schema, stddev=1.0), rows)[0]
    assert len(found.labels) == bars.LABELS + 1
    assert found.labels[-1] == "39 others"
    assert found.synthetic.sum() == pytest.approx(1.0)


def test_the_pair_that_was_broken_comes_first():
    broken = permuted(ROWS, "x")
    found = facts.pair_facts(released(), broken)
    assert "x" in found[0].columns
    assert found[0].disagreement > found[0].noise
    assert np.abs(found[0].deviations).max() > 3


@pytest.mark.parametrize("synthetic", [ROWS, related(900, 8), permuted(ROWS, "y")], ids=["same", "fresh", "broken"])
def test_the_error_bar_holds_for_95_of_100_answers(synthetic):
    shares = []
    for seed in range(12):
        release = released(seed=seed, stddev=6.0)
        bars = {line.name: line.error_bar for line in facts.class_facts(release, synthetic)}
        for m in release.measurements:
            ours = answer(m.query, synthetic) * (release.rows / len(synthetic))
            bar = bars[f"{len(m.query.axes)}-way marginal"]
            shares.append(np.abs(ours - answer(m.query, ROWS)) <= bar)
    assert np.concatenate(shares).mean() >= 0.95


def test_synthesizer_and_model_show_themselves_in_notebooks(tmp_path):
    model = sundog.Synthesizer(DOCUMENT, epsilon=1.0, delta=1e-9, ledger=tmp_path / "ledger.sqlite")
    assert "not fitted" in model._repr_html_()
    model.fit(ROWS.to_arrow())
    assert "1-way marginal" in model._repr_html_()
    assert len(model._repr_html_()) < 5000


def skewed_release(stddev=3.0):
    """Amounts that are mostly zero, measured in 20,000 cells."""
    field = {"name": "gain", "type": "integer", "constraints": {"minimum": 0, "maximum": 99_999, "required": True}}
    schema = Schema.from_json({"fields": [field]})
    random = np.random.default_rng(1)
    amounts = np.where(random.random(20_000) < 0.92, 0, random.lognormal(8, 1, 20_000)).astype(np.int64)
    rows = Rows(schema, (np.clip(amounts, 0, 99_999),))
    return released(rows, ways=(1,), schema=schema, stddev=stddev), rows


def test_amounts_that_are_mostly_zero_are_shown_in_ranges():
    release, rows = skewed_release()
    found = facts.column_facts(release, rows)[0]
    assert found.by_mass
    assert found.labels[0] == "0"
    assert 5 <= len(found.labels) <= 14
    assert found.synthetic.sum() == pytest.approx(1.0)
    codes = rows.codes[0]
    low, high = (int(part) for part in found.labels[2].split(" to "))
    assert found.synthetic[2] == pytest.approx(((codes >= low) & (codes <= high)).mean())
    assert np.abs(found.measured - found.synthetic)[1:].max() < 3 * found.half_width.max()
    page = report_page(release, rows, method="m")
    assert "in ranges of about equal mass" in page
    assert 'class="gap"' in page


def test_no_distance_is_absurd():
    noisy = released(ways=(1, 2), stddev=400.0)
    page = report_page(noisy, ROWS, method="m")
    told = [float(number) for number in re.findall(r"([0-9.]+)\u00a0% of the rows elsewhere", page)]
    assert len(told) > 10
    assert max(told) <= 100
    assert not re.search(r"\de-\d+\u00a0%", page)


def test_every_chart_has_its_values_as_a_table_and_every_table_a_caption():
    paid = [Payment("small#1", "gaussian", "a (4)", 0.02)]
    page = report_page(released(payments=paid), ROWS, method="m")
    assert page.count('<details class="values">') == page.count('class="chart"') == 11
    tables = re.findall(r"<table.*?</table>", page, re.S)
    assert all("<caption>" in table and 'scope="col"' in table and 'scope="row"' in table for table in tables)
    values = re.search(r"The values<span class=\"unseen\"> of b</span>.*?</table>", page, re.S)[0]
    share = ROWS.codes[1].mean()
    assert f'<td class="number">{100 * share:.1f}\u00a0%</td>' in values
    assert set(re.findall(r'href="#(.*?)"', page)) <= set(re.findall(r'id="(.*?)"', page))


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_the_contrast_that_wcag_asks_for():
    page = report_page(released(ways=(1,)), ROWS, method="m")
    schemes = re.findall(r":root \{ [^}]*\}", page)
    assert len(schemes) == 3
    for scheme in schemes:
        colour = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", scheme))
        for ink in ("ink", "soft", "sun", "alarm"):
            for paper in ("paper", "card"):
                light, dark = sorted((luminance(colour[ink]), luminance(colour[paper])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, paper, scheme)
