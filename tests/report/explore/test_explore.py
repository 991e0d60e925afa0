"""explore.html: a function of released values, self-contained, small, and safe with any label."""

import base64
import hashlib
import json
import re
import zlib

import numpy as np
import pytest

import stays
import sundog
from noisy_pages import EVIL, released
from related_tables import DOCUMENT, related
from sundog.domain import Schema
from sundog.domain.axis import Axis
from sundog.domain.rows import Rows
from sundog.private import noise
from sundog.report.explore import explore_page
from sundog.report.explore.columns import EXACT, coded
from sundog.report.explore.pack import LARGEST, Pack

ROWS = related(600, 1)


def document_of(page):
    return json.loads(re.search(r'<script type="application/json" id="document">(.*?)</script>', page, re.S)[1])


def segments_of(page):
    document = document_of(page)
    packed = base64.b64decode(re.search(r'id="packed">(.*?)</script>', page, re.S)[1])
    data, at, made = zlib.decompress(packed), 0, []
    for width, count in document["pack"]:
        planes = np.frombuffer(data, np.uint8, width * count, at).reshape(width, count).astype(np.int64)
        made.append(sum(plane << (8 * k) for k, plane in enumerate(planes)))
        at += width * count
    assert at == len(data)
    return document, made


def test_numbers_come_out_as_they_went_in():
    pack = Pack()
    given = [np.array([0, 1, 255]), np.array([256, 70_000, 3]), np.array([2**50 + 1, 0]), np.array([], dtype=int)]
    for numbers in given:
        pack.add(numbers)
    data, at = zlib.decompress(base64.b64decode(pack.text())), 0
    for (width, count), numbers in zip(pack.shape, given, strict=True):
        planes = np.frombuffer(data, np.uint8, width * count, at).reshape(width, count)
        assert [sum(int(planes[k, i]) << (8 * k) for k in range(width)) for i in range(count)] == numbers.tolist()
        at += width * count
    with pytest.raises(ValueError, match="packed number"):
        pack.add(np.array([-1]))


def test_counts_beyond_what_a_script_can_count_are_cut():
    """A tampered release may hold any whole number."""
    document, segments = segments_of(explore_page(released(ROWS, ways=(1,), stddev=1e17), ROWS, method="m"))
    assert max(segments[table["count"]["above"]].max() for table in document["tables"]) == LARGEST - 1


def test_the_rows_can_be_read_back():
    document, segments = segments_of(explore_page(released(ROWS), ROWS, method="m"))
    for column, codes in zip(document["columns"], ROWS.codes, strict=True):
        assert (np.cumsum(segments[column["values"]])[segments[column["places"]]] == codes).all()


def test_the_same_release_and_rows_give_the_same_bytes():
    pages = [explore_page(released(ROWS), ROWS, method="m") for _ in range(2)]
    assert pages[0] == pages[1]


def pages_of_two_tables(monkeypatch, tmp_path, measured):
    monkeypatch.setattr(noise, "add_gaussian", measured)
    tables = [related(300, 1).to_arrow(), {"a": ["new"], "b": [None], "x": [10**9], "z": ["?"], "y": ["maybe"]}]
    for number, table in enumerate(tables):
        spent = tmp_path / f"{number}.sqlite"
        model = sundog.Synthesizer(DOCUMENT, epsilon=1.0, delta=1e-9, seed=3, ledger=spent).fit(table).model
        model.explore(tmp_path / "explore.html")
        yield (tmp_path / "explore.html").read_bytes()


def test_no_part_of_it_depends_on_the_private_rows_but_through_the_measurements(monkeypatch, tmp_path):
    first, second = pages_of_two_tables(monkeypatch, tmp_path, lambda counts, scale: np.full(len(counts), 50))
    assert first == second


def test_measurements_without_noise_would_be_seen_on_it(monkeypatch, tmp_path):
    """The mutant that the test above must be able to kill."""
    exact = lambda counts, scale: np.asarray(counts, dtype=np.int64)  # noqa: E731
    first, second = pages_of_two_tables(monkeypatch, tmp_path, exact)
    assert first != second


def test_it_loads_nothing_and_its_policy_names_its_own_style_and_script():
    page = explore_page(released(ROWS), ROWS, method="m")
    assert not re.search(r"(https?:(?!//www\.w3\.org/2000/svg)|src=|url\(|@import|<link|\bstyle=)", page)
    assert set(re.findall(r'href="(.*?)"', page)) == {"#result", "#codebook"}
    policy = re.search(r'Security-Policy" content="(.*?)"', page)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    for name, text in (
        ("style", re.search(r"<style>(.*?)</style>", page, re.S)[1]),
        ("script", re.search(r"<script>(.*?)</script>", page, re.S)[1]),
    ):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_no_label_or_name_can_break_out_of_the_page():
    fields = [{"name": f"{label} {k}", "type": "string", "categories": EVIL} for k, label in enumerate(EVIL[:6])]
    schema = Schema.from_json({"name": EVIL[0], "fields": fields})
    rows = Rows(schema, tuple(np.random.default_rng(k).integers(0, len(EVIL), 200) for k in range(6)))
    page = explore_page(released(rows, ways=(1,), schema=schema), rows, method=EVIL[0])
    assert page.count("<script") == page.count("</script") == 3
    assert "<b>\u2028" not in page
    assert "\u2028" not in page[page.index('id="document"') :]
    assert "x" * 121 not in page
    names = document_of(page)["columns"][0]["axes"][0]["names"]
    assert EVIL[0] in names
    assert EVIL[5] in names


def test_fifty_thousand_rows_of_fifteen_columns_stay_under_3_mb_and_none_is_left_out():
    random = np.random.default_rng(1)
    fields = [
        {"name": f"n{k}", "type": "number", "constraints": {"minimum": -1e6, "maximum": 1e9}, "sundog": {"decimals": 2}}
        for k in range(15)
    ]
    schema = Schema.from_json({"fields": fields})
    top = schema.columns[0].size
    rows = Rows(schema, tuple(random.integers(0, top, 50_000) for _ in fields))
    page = explore_page(released(rows, ways=(1,), schema=schema), rows, method="m")
    assert len(page.encode()) < 3_000_000
    assert "drawn at random" not in page
    assert "n3 to 4 digits" in page


def test_larger_tables_are_sampled_and_the_page_says_so():
    fields = [{"name": f"c{k}", "type": "string", "categories": [str(j) for j in range(200)]} for k in range(40)]
    schema = Schema.from_json({"fields": fields})
    random = np.random.default_rng(1)
    rows = Rows(schema, tuple(random.integers(0, 201, 60_000) for _ in fields))
    page = explore_page(released(rows, ways=(1,), schema=schema), rows, method="m")
    assert len(page.encode()) < 3_000_000
    document, segments = segments_of(page)
    kept = len(segments[document["columns"][0]["places"]])
    assert 20_000 < kept < 60_000
    assert f"60,000 rows; this page holds {kept:,} of them" in page
    assert document["scale"] == pytest.approx(released(rows, ways=(1,), schema=schema).rows / kept)


def test_cut_numbers_stay_in_their_cells_and_keep_four_digits():
    schema = Schema.from_json(
        {"fields": [{"name": "n", "type": "integer", "constraints": {"minimum": -50_000, "maximum": 5_000_000}}]}
    )
    column = schema.columns[0]
    codes = np.random.default_rng(1).integers(0, column.size, 3 * EXACT)
    axis = Axis.cut(column, [0, 50_000, 123_457, 2_000_001])
    made = coded(column, codes, [axis])
    assert made.cut == "to 4 digits"
    assert (axis.cells(made.values)[made.places] == axis.cells(codes)).all()
    back = made.values[made.places]
    assert (back <= codes).all()
    assert ((back == column.missing) == (codes == column.missing)).all()
    there = codes != column.missing
    assert ((codes - back)[there] <= np.maximum(np.abs(codes[there] - 50_000) / 999, 1)).all()
    four = 2_345_000 + 50_000  # the code of a number of four digits
    assert ((back >= four) == (codes >= four)).all()


def test_moments_are_cut_to_a_unit_of_the_calendar():
    bounds = {"minimum": "2020-01-01T00:00:00", "maximum": "2020-12-31T23:59:59", "required": True}
    schema = Schema.from_json({"fields": [{"name": "t", "type": "datetime", "constraints": bounds}]})
    column = schema.columns[0]
    codes = np.random.default_rng(1).integers(0, column.size, 2 * EXACT)
    made = coded(column, codes, [Axis.of(column, 5)])
    assert made.cut == "to the hour"
    assert len(made.values) <= EXACT


def test_a_release_without_a_number_of_rows_or_tables_still_has_a_page():
    bare = released(ROWS, ways=())
    document = document_of(explore_page(bare, ROWS, method="m"))
    assert not document["rowsKnown"]
    assert document["tables"] == []
    assert len(document["columns"]) == 5


def test_weights_count():
    weights = np.linspace(0, 3, len(ROWS))
    weighted = Rows(ROWS.schema, ROWS.codes, weights)
    document, segments = segments_of(explore_page(released(ROWS), weighted, method="m"))
    back = segments[document["weights"]["of"]] * document["weights"]["unit"]
    assert back == pytest.approx(weights, abs=3 / 60_000)
    assert document["scale"] == pytest.approx(released(ROWS).rows / weights.sum())


def test_fields_given_by_distances_can_be_looked_at_too():
    model = sundog.Synthesizer(stays.DOCUMENT, epsilon=3.0, delta=1e-9, seed=1, method="independent")
    model.fit(stays.table(300))
    rows = model.model.rows(200)
    page = explore_page(model.released, rows, method="independent")
    document, segments = segments_of(page)
    wide = rows.widened()
    assert [column["asked"] for column in document["columns"]] == list(wide.schema.names)
    last = document["columns"][-1]
    assert (np.cumsum(segments[last["values"]])[segments[last["places"]]] == wide.codes[-1]).all()
    assert "follows from another field and its distance from it" in page


def test_merged_labels_that_are_long_say_how_many_they_are():
    labels = [f"{k:03d} {'long ' * 20}" for k in range(60)]
    schema = Schema.from_json({"fields": [{"name": "c", "type": "string", "categories": labels}]})
    rows = Rows(schema, (np.random.default_rng(1).integers(0, 60, 500),))
    column = document_of(explore_page(released(rows, ways=(1,), schema=schema), rows, method="m"))["columns"][0]
    merged = [name for name in column["axes"][column["beside"]]["names"] if name.endswith(" more")]
    assert len(merged) == 1
    assert merged[0].endswith(" and 37 more")
