"""explore.html in a real browser, where one is installed: what it shows equals the answer machinery and pandas on the file."""

import shutil

import numpy as np
import pandas as pd
import pytest

from noisy_pages import EVIL, released
from related_tables import SCHEMA, related
from sundog.api.answer import Answers, Asked, question_of
from sundog.domain import Schema
from sundog.domain.rows import Rows
from sundog.estimate.guesses import guessed_answer, misfit_of
from sundog.estimate.questions import by_axes
from sundog.report.explore import explore_page

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright's Python package")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None, reason="needs a Chromium browser; none is installed"),
]

ROWS = related(900, 2)
RELEASED = released(ROWS, but={("b", "y")})


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("page") / "explore.html"
    made.write_text(explore_page(RELEASED, ROWS, method="m"), encoding="utf-8")
    return made


@pytest.fixture
def opened(browser, path):
    yield from _open(browser, path)


def _open(browser, path, **settings):
    """The page, which must ask for nothing but itself and complain of nothing."""
    page = browser.new_page(**settings)
    heard, asked = [], []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: heard.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("#result table")
    yield page
    assert heard == []
    assert asked == [path.as_uri()]
    page.close()


def ask(page, **choices):
    for name, words in choices.items():
        page.select_option(f"#{name}", label=words)


def where(page, column, sign, value):
    page.click("#add")
    line = page.locator("#conditions > div").last
    line.locator("select").nth(0).select_option(label=column)
    line.locator("select").nth(1).select_option(label=sign)
    field = line.locator("span > *")
    if field.evaluate("each => each.tagName") == "SELECT":
        field.select_option(label=value)
    else:
        field.fill(value)


def number(text):
    return float(text.replace(",", "").replace("\u00a0%", "").replace("%", ""))


def shown(page):
    """{label: (estimate, low, high, rows)} of a table with one side."""
    made = {}
    for row in page.locator("#result tbody tr").all():
        cells = row.locator("td").all_inner_texts()
        low, high = cells[2].split(" to ")
        made[row.locator("th").inner_text()] = (number(cells[1]), number(low), number(high), number(cells[3]))
    return made


def crossed(page):
    """{(line, column): (estimate, low, high)} of a table with two sides."""
    heads = page.locator("#result thead th").all_inner_texts()[1:]
    made = {}
    for row in page.locator("#result tbody tr").all():
        label = row.locator("th").inner_text()
        for head, cell in zip(heads, row.locator("td").all(), strict=True):
            low, high = cell.locator("small").inner_text().split(" to ")
            made[label, head] = (number(cell.locator("b").inner_text()), number(low), number(high))
    return made


def machinery(**asked):
    return Answers(RELEASED, lambda: ROWS).ask(question_of(SCHEMA, Asked(**asked)))


def test_a_column_shows_what_the_answer_machinery_says(opened):
    ask(opened, down="a")
    found = shown(opened)
    expected = machinery(by="a").lines
    assert list(found) == [line.cell[0] for line in expected]
    for line in expected:
        estimate, low, high, _ = found[line.cell[0]]
        assert (estimate, low, high) == pytest.approx((line.estimate, line.low, line.high), abs=1)
    assert opened.locator("#origin b").inner_text() == "measured"


@pytest.mark.parametrize(("down", "across"), [("a", "y"), ("y", "a")])
def test_a_measured_pair_in_both_directions(opened, down, across):
    ask(opened, down=down, across=across)
    found = crossed(opened)
    for line in machinery(by=(down, across)).lines:
        assert found[line.cell] == pytest.approx((line.estimate, line.low, line.high), abs=1)
    ask(opened, statistic="share within the line")
    found = crossed(opened)
    for line in machinery(by=down, share=across).lines:
        place = (line.cell[0], line.statistic.rpartition(" = ")[2])
        expected = [100 * each for each in (line.estimate, line.low, line.high)]
        assert found[place] == pytest.approx(expected, abs=0.11)


def test_a_measured_mean(opened):
    ask(opened, down="y", statistic="mean of x")
    found = shown(opened)
    for line in machinery(by="y", mean="x").lines:
        assert opened.locator("#origin b").inner_text() == line.origin != "synthetic"
        assert found[line.cell[0]][:3] == pytest.approx((line.estimate, line.low, line.high), rel=1e-3)


def test_a_filtered_cross_tabulation_equals_pandas_on_the_file(opened, tmp_path):
    from pyarrow import csv

    csv.write_csv(ROWS.to_text(), tmp_path / "synthetic.csv")
    table = pd.read_csv(tmp_path / "synthetic.csv")
    ask(opened, down="a", across="b")
    where(opened, "x", ">=", "40")
    where(opened, "z", "<=", "0.7")
    kept = table[(table.x >= 40) & (table.z <= 0.7)]
    expected = pd.crosstab(kept.a.fillna("missing"), kept.b)
    scale = RELEASED.rows / len(ROWS)
    found = crossed(opened)
    for (down, across), (estimate, low, high) in found.items():
        exact = expected.loc[down, across] if down in expected.index else 0
        assert estimate == pytest.approx(exact * scale, abs=0.51)
        assert low <= estimate <= high
    assert sum(each[0] for each in found.values()) == pytest.approx(len(kept) * scale, abs=4)
    assert opened.locator("#origin b").inner_text() == "synthetic"
    assert f"{len(kept)} of {len(table)} synthetic rows" in opened.locator("#said").inner_text()


@pytest.mark.parametrize(
    ("choices", "asked"),
    [
        ({"down": "b", "statistic": "count"}, {"by": "b"}),
        ({"down": "b", "statistic": "mean of x"}, {"by": "b", "mean": "x"}),
        ({"down": "b", "across": "y", "statistic": "share within the line"}, {"by": "b", "share": "y"}),
    ],
)
def test_guesses_have_the_intervals_of_the_answer_machinery(opened, choices, asked):
    where(opened, "a", "=", "q")
    where(opened, "z", ">=", "0.3")
    ask(opened, **choices)
    answers = Answers(RELEASED, lambda: ROWS)
    question = question_of(SCHEMA, Asked(where="a = q and z >= 0.3", **asked))
    by, statistic = by_axes(answers.evidence, question, SCHEMA), question.statistics[0]
    expected = guessed_answer(ROWS, misfit_of(answers.evidence, ROWS), question, statistic, by=by)
    unit = 100 if statistic.kind == "share" else 1
    found = [each[:3] for each in (crossed(opened) if "across" in choices else shown(opened)).values()]
    wanted = np.stack([expected.estimate.ravel(), expected.low.ravel(), expected.high.ravel()], axis=1) * unit
    assert np.array(found) == pytest.approx(
        wanted, rel=1e-3, abs={"count": 0.51, "mean": 1e-3, "share": 0.051}[statistic.kind]
    )


def test_a_pair_that_was_not_measured_is_marked_as_a_guess(opened):
    ask(opened, down="b", across="y")
    assert opened.locator("#origin b").inner_text() == "synthetic"
    ask(opened, across="x")
    assert opened.locator("#origin b").inner_text() == "measured"
    ask(opened, source="synthetic rows alone")
    assert opened.locator("#origin b").inner_text() == "synthetic"


def test_the_command_line_it_names_is_one_that_answers(opened):
    ask(opened, down="b", statistic="mean of x")
    where(opened, "a", "=", "q")
    words = opened.locator("#command code").inner_text()
    assert words == "sundog answer FOLDER --mean x --by b --where 'a = q'"


def test_it_works_by_keyboard_alone(opened):
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent") == "Skip to the numbers"
    opened.keyboard.press("Tab")
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.id") == "down"
    opened.keyboard.press("ArrowDown")
    assert opened.locator("#result caption").inner_text() == "Count by b"
    for _ in range(5):
        opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.id") == "add"
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.activeElement.getAttribute('aria-label')") == "column"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_nothing_is_wider_than_the_screen(browser, path, scheme):
    for page in _open(browser, path, viewport={"width": 420, "height": 800}, color_scheme=scheme):
        for across in ("(none)", "x"):
            ask(page, across=across)
            assert page.evaluate("document.documentElement.scrollWidth") <= 420
            wide = "[...document.querySelectorAll('.wide')].every(each => each.scrollWidth <= each.clientWidth + 1)"
            assert page.evaluate(wide)


def test_on_paper_there_is_the_table_and_the_codebook_without_controls(opened):
    opened.emulate_media(media="print", color_scheme="dark")
    assert not opened.locator(".controls").is_visible()
    assert opened.locator("#result table").is_visible()
    assert opened.locator("#codebook").is_visible()
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_labels_are_text_whatever_they_hold(browser, tmp_path):
    fields = [
        {"name": name, "type": "string", "categories": EVIL} for name in ("<img src=x onerror=alert(2)>", "b,c 'd'")
    ]
    schema = Schema.from_json({"name": EVIL[0], "fields": fields})
    rows = Rows(schema, tuple(np.random.default_rng(k).integers(0, len(EVIL), 200) for k in range(2)))
    path = tmp_path / "explore.html"
    path.write_text(explore_page(released(rows, schema=schema), rows, method=EVIL[0]), encoding="utf-8")
    for page in _open(browser, path, viewport={"width": 420, "height": 800}):
        found = page.locator("#result tbody th").all_inner_texts()
        assert found[:2] == EVIL[:2]
        assert page.locator("#result b, #result img, #result script").count() == 0
        ask(page, across="b,c 'd'")
        assert page.evaluate("document.documentElement.scrollWidth") <= 420
        assert page.locator("h1").inner_text() == EVIL[0]
