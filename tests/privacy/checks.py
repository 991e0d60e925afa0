"""The checks that every release must pass. Each raises AssertionError; test_mutants.py shows what each of them kills."""

import contextlib
import functools
import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from unittest import mock

import numpy as np
from scipy import stats

import extreme_cells
from privacy import worlds
from privacy.stand_ins import ONE_WAY, TINY, TWO_WAY, VALUES, MemoryLedger, Recorder, curator, exact_inputs, run_command
from privacy.worlds import DATA, SCHEMA, TYPED, write
from sundog.domain import Categorical, Schema
from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private import noise
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.queries import Cells, Marginal, answer, sensitivity
from sundog.released import Selection
from sundog.report.certificate import certificate
from sundog.sources import open_table

ROWS = list(itertools.product(VALUES["c"], VALUES["n"]))
BASES = [[], [("a", 0), ("b", 3)], [("a", 2), ("a", 2), (None, None), ("new", "?")]]
TWO_CELLS = Cells(TWO_WAY, np.array([0, 4]))
"""Two cells, chosen together and measured as one query; rows lie in both."""
UNITS = {
    "one row added or removed": PrivacyUnit("add-remove"),
    "one row replaced": PrivacyUnit("replace"),
    "a unit of 2 rows added or removed": PrivacyUnit("add-remove", "u", 2),
    "a unit of 2 rows replaced": PrivacyUnit("replace", "u", 2),
}


# --- sensitivities, by going through all rows and all pairs of rows -------------------------------------------------


def check_sensitivity(query, schema=TINY, values=VALUES):
    """The stated sensitivities equal the largest change that any row makes, from raw values on."""
    rows = list(itertools.product(*(values[name] for name in schema.names)))
    encoded = open_table(
        {name: list(column) for name, column in zip(schema.names, zip(*rows, strict=True), strict=True)}
    )
    codes = np.stack(encoded.read(schema).codes).T
    vectors = np.array([_answer_of(query, schema, row) for row in np.unique(codes, axis=0)])
    changes = {"add-remove": vectors, "replace": (vectors[:, None] - vectors[None]).reshape(-1, query.size)}
    for relation, change in changes.items():
        size = np.abs(change)
        assert query.sensitivity_squared(relation) == (size**2).sum(axis=1).max(), relation
        assert query.sensitivity_l1(relation) == size.sum(axis=1).max(), relation
        assert query.sensitivity_linf(relation) == size.max(), relation


def check_unit_sensitivity(query, unit, schema=TINY):
    """No unit can change the answer by more than is stated for it: all its sets of rows against all others."""
    sizes = [range(column.size) for column in schema.columns]
    vectors = sorted({tuple(_answer_of(query, schema, row).tolist()) for row in itertools.product(*sizes)})
    nothing = (0,) * query.size
    most = unit.rows if unit.column is not None else 1
    held = {
        tuple(map(sum, zip(nothing, *rows, strict=True)))
        for count in range(most + 1)
        for rows in itertools.combinations_with_replacement(vectors, count)
    }
    others = {nothing} if unit.neighbours == "add-remove" else held if unit.column is not None else set(vectors)
    ours = held if unit.column is not None or unit.neighbours == "add-remove" else set(vectors)
    changes = [[abs(a - b) for a, b in zip(left, right, strict=True)] for left in ours for right in others]
    said = "one unit changes more than is stated"
    assert sensitivity.squared(query, unit) >= max(sum(size**2 for size in change) for change in changes), said
    assert sensitivity.l1(query, unit) >= max(map(sum, changes)), said
    assert sensitivity.linf(query, unit) >= max(map(max, changes)), said


def _answer_of(query, schema, row):
    from sundog.domain.rows import Rows

    return answer(query, Rows(schema, tuple(np.array([code]) for code in row)))


FOUR = Schema(tuple(Categorical(name, labels=(0, 1)) for name in "abcd"))
WIDER = tuple(Marginal.of(FOUR, *names) for names in ("abcd", "abd", "acd"))


def check_wider_scores(unit):
    """No row, in any small table, moves the scores of tables of three and four columns together by more than is paid for."""
    codes = list(itertools.product((0, 1), repeat=4))
    counts = [np.stack([_answer_of(query, FOUR, row) for row in codes]) for query in WIDER]
    estimates = [np.arange(query.size) % 3 for query in WIDER]

    def scores(rows):
        held = [own[list(rows)].sum(axis=0) for own in counts]
        return np.array([np.abs(own - known).sum() for own, known in zip(held, estimates, strict=True)])

    paid = sum(sensitivity.block_l1(query, unit) ** 2 for query in WIDER)
    for base in itertools.combinations_with_replacement(range(16), 2):
        with_one = [scores((*base, row)) for row in range(16)]
        without = [scores(base)] if unit.neighbours == "add-remove" else with_one
        moved = max(((one - other) ** 2).sum() for one in with_one for other in without)
        assert moved <= paid, "one unit moves the scores of wider tables more than is paid for"


# --- the ledger: what was charged is what the noise is worth --------------------------------------------------------

CANDIDATES = (*ONE_WAY, TWO_WAY)
ESTIMATES = tuple(np.array([0] * (query.size - 1) + [9], dtype=np.int64) for query in CANDIDATES)
"""Below the counts in every cell but the last: so a row that moves out of the last raises every error twice."""


def do_everything(curator):
    """Every way to spend: unequal shares, repeated queries, choices and scores with weights and penalties."""
    curator.measure(ONE_WAY, 0.5, shares=[1, 3])
    curator.measure([TWO_WAY, TWO_WAY], 0.5)
    curator.measure([*ONE_WAY, TWO_WAY], 0.3, kind="laplace")
    curator.measure_adjustments([TWO_WAY], 0.1, shares=[1.0])
    for score in ("L1", "Linf"):
        curator.select(Selection(CANDIDATES, ESTIMATES, 1, score), 0.3)
        curator.select(Selection(CANDIDATES, ESTIMATES, 2, score, weights=(1, 3, 2), penalties=(0, 5, 1)), 0.3)
        curator.score(Selection(CANDIDATES, ESTIMATES, 1, score, weights=(1, 3, 2)), 0.3)
    curator.measure(curator.select(Selection((TWO_CELLS,), (np.array([0, 1000]),), 2), 0.3), 0.2)


def check_charges_cover_the_noise(unit):
    """The charged rho of every noise call equals k D^2 / (2 s^2), with D the largest change between all neighbours."""
    ledger = MemoryLedger()
    with Recorder()() as seen:
        do_everything(curator(BASES[1], unit=unit, ledger=ledger))
    assert len(seen.calls) == len(ledger.charges), "noise was drawn that nobody paid for"
    for number, (call, charge) in enumerate(zip(seen.calls, ledger.charges, strict=True)):
        assert charge.mechanism == call.kind
        square = max(_change_squared(call.kind, *(side[number] for side in pair)) for pair in _neighbours(unit))
        needed = call.k * Fraction(square) / (2 * Fraction(call.scale) ** 2)
        assert Fraction(charge.rho) >= needed, f"{charge.label}: charged {charge.rho}, spent {float(needed)}"
        assert math.isclose(charge.rho, needed, rel_tol=1e-9), f"{charge.label}: {charge.rho} for {float(needed)}"


def _change_squared(kind, left, right):
    change = np.abs(left - right)
    if kind == "laplace":
        return int(change.sum()) ** 2
    return int(change.max()) ** 2 if kind == "exponential" else int((change**2).sum())


def _neighbours(unit):
    """All pairs of neighbours, each as the exact vectors that reach the noise."""
    for tables in _tables(unit.column, unit.rows):
        if unit.neighbours == "add-remove":
            yield from ((tables[0], other) for other in tables[1:])
        else:
            yield from itertools.combinations(tables if unit.column else tables[1:], 2)


@functools.cache
def _tables(column, most):
    """Around every base table: what reaches the noise when one unit holds nothing, or any of a few rows.

    With a unit column a unit may hold more rows than are looked at. The relation does not matter to exact answers.
    """
    unit, few = PrivacyUnit("add-remove", column, most), [("a", 0), ("b", 3), (None, None)]
    counts = range(2 if column is None else most + 2)
    own = [rows for count in counts for rows in itertools.combinations_with_replacement(few, count)]
    bases = BASES if column is None else BASES[2:]
    return [[exact_inputs(_joined(base, rows, unit), do_everything, unit=unit) for rows in own] for base in bases]


def _joined(base, rows, unit):
    if unit.column is None:
        return [*base, *rows]
    return [*((*row, f"other {k}") for k, row in enumerate(base)), *((*row, "me") for row in rows)]


def check_charged_before_noise(path, unit, action=do_everything):
    """At the moment of every noise call its charge is on disk, and in the end the certificate says the same sum."""
    with Recorder(entries=lambda: len(Ledger(path).account("tiny").entries))() as seen:
        made = curator(BASES[2], unit=unit, ledger=Ledger(path), delta=1e-6, thresholds=5e-7)
        action(made)
    for number, call in enumerate(seen.calls, start=1):
        assert call.entries >= number, "noise was drawn before its charge was on the ledger"
    account, released = Ledger(path).account("tiny"), made.released()
    assert len(account.entries) == len(seen.calls) == len(released.payments)
    assert account.exact_rho == sum(Fraction(payment.rho) for payment in released.payments)
    assert account.exact_delta == sum(Fraction(payment.delta) for payment in released.payments)
    assert Fraction(released.guarantee.rho) >= account.exact_rho
    assert math.isclose(released.guarantee.rho, account.exact_rho, rel_tol=1e-12)
    assert account.exact_rho <= Fraction(made.spending.total_rho)
    assert account.unit == unit
    document = certificate(released)
    assert document["rho"] == released.guarantee.rho
    assert [line["rho"] for line in document["payments"]] == [entry.rho for entry in account.entries]


# --- unknown categories: thresholds -------------------------------------------------------------------------------

DELTA = 0.01


def find_categories(curator):
    """Pay for the values of a column."""
    return curator.categories("c", 0.5, delta=DELTA)


def check_categories_are_covered(unit):
    """The charge covers the largest change of all counts together, and a unit's own values pass at most at delta."""
    ledger = MemoryLedger()
    with Recorder()() as seen:
        find_categories(curator(_joined(BASES[2], [], unit), unit=unit, ledger=ledger, delta=0.5, thresholds=0.1))
    (call,), (charge,) = seen.calls, ledger.charges
    assert (charge.mechanism, charge.delta) == ("threshold", DELTA)
    counts = _counts_by_value(unit)
    pairs = [(counts[0], other) for other in counts[1:]]
    pairs = pairs if unit.neighbours == "add-remove" else list(itertools.combinations(counts, 2))
    square = max(sum((left[value] - right[value]) ** 2 for value in left | right) for left, right in pairs)
    needed = Fraction(square) / (2 * Fraction(call.scale) ** 2)
    assert Fraction(charge.rho) >= needed, f"{charge.label}: charged {charge.rho}, spent {float(needed)}"
    assert math.isclose(charge.rho, needed, rel_tol=1e-9), f"{charge.label}: {charge.rho} for {float(needed)}"
    _check_threshold(counts, call.scale, charge.details["threshold"])


def _counts_by_value(unit):
    """How often each value occurs when one unit holds nothing, or up to one row more than are looked at."""
    most = 1 if unit.column is None else unit.rows + 1
    values = ["mine", "also mine", "a"]
    own = [rows for count in range(most + 1) for rows in itertools.combinations_with_replacement(values, count)]
    tables = [_joined(BASES[2], [(value, 0) for value in rows], unit) for rows in own]
    sources = [open_table({"c": [row[0] for row in rows], "u": [row[-1] for row in rows]}) for rows in tables]
    return [Counter(source.value_counts("c", unit)) for source in sources]


def _check_threshold(counts, scale, threshold):
    """Some value that no one else holds passes with probability <= delta: count + noise, rounded, reaches the threshold."""
    for found in counts:
        own = [count for value, count in found.items() if value not in counts[0]]
        missed = np.prod([stats.norm.cdf((threshold - 0.5 - count) / scale) for count in own])
        assert 1 - missed <= DELTA, f"{own} pass a threshold of {threshold} with probability {1 - missed}"


# --- the transcript, audited as Gaussian DP -------------------------------------------------------------------------

CONFIDENCE = 1 - 1e-6
"""Of each of two bounds that must both fail. For 1,500 runs at rho 2, exactly: an honest mechanism is found wrong with probability
2e-12, noise that is too small by the square root of 2 is missed with 5e-12."""


def check_audit(query, pair, unit, *, rho, runs=1500):
    """No attack on the noisy answers of two neighbouring tables does better than mu = sqrt(2 rho) allows.

    The same query is measured `runs` times in one call, each at its own rho: the noise path of the curator, once per
    run, without opening the table again. The attack is the likelihood ratio of the two exact answers.
    """
    left, right = (_transcript(query, rows, unit, rho=rho, runs=runs) for rows in pair)
    direction = exact_answer(query, pair[1], unit) - exact_answer(query, pair[0], unit)
    middle = (exact_answer(query, pair[1], unit) + exact_answer(query, pair[0], unit)) @ direction / 2
    true_positives, false_positives = ((side @ direction > middle).sum() for side in (right, left))
    found = lower_mu(int(true_positives), int(false_positives), runs)
    assert found <= math.sqrt(2 * rho), f"the attack shows mu > {found:.3f}, and {math.sqrt(2 * rho):.3f} was paid for"
    return found


def lower_mu(true_positives, false_positives, runs):
    """PhiInv(TPR) - PhiInv(FPR), with Clopper-Pearson bounds that hold together at CONFIDENCE."""
    tail = (1 - CONFIDENCE) / 2
    low = stats.beta.ppf(tail, true_positives, runs - true_positives + 1) if true_positives else 0.0
    high = stats.beta.isf(tail, false_positives + 1, runs - false_positives) if false_positives < runs else 1.0
    return float(stats.norm.ppf(low) - stats.norm.ppf(high))


def _transcript(query, rows, unit, *, rho, runs):
    made = curator(rows, unit=unit, rho=2 * rho * runs).measure([query] * runs, rho * runs)
    return np.stack([measurement.values for measurement in made])


def exact_answer(query, rows, unit):
    return exact_inputs(rows, lambda made: made.measure([query], 1.0), unit=unit)[0]


# --- non-interference: with constants in place of noisy answers, no two tables can be distinguished --------------------


@contextlib.contextmanager
def constants():
    """Rows are read, charges written and noise drawn as ever; only then is the result thrown away for a constant."""
    top_k, categories = noise.top_k, Curator.categories

    def adding(kind, add):
        def constant(counts, scale):
            add(counts, scale)
            return np.arange(10, 10 + len(counts), dtype=np.int64)

        return mock.patch.object(noise, f"add_{kind}", constant)

    def choose(scores, k, *, scale):
        top_k(scores, k, scale=scale)
        return list(range(min(k, len(scores))))

    def name(self, column, rho, *, delta):
        categories(self, column, rho, delta=delta)
        return ("first", "second")

    with (
        adding("gaussian", noise.add_gaussian),
        adding("laplace", noise.add_laplace),
        mock.patch.object(noise, "top_k", choose),
        mock.patch.object(Curator, "categories", name),
    ):
        yield


def check_noninterference(folder, worlds, *commands, document=None, inputs=(DATA, SCHEMA, *TYPED), code=0):
    """Every file, name, size, word, exit code and ledger entry is the same for every world."""
    seen = {}
    for number, (name, lines) in enumerate(worlds.items()):
        place = write(folder / str(number), lines, document)
        with constants():
            seen[name] = [run_command(place, *command, inputs=inputs) for command in commands]
    first, *others = seen
    for outcome in seen[first]:
        assert outcome.code == code, outcome.stderr
    for other in others:
        for here, there in zip(seen[first], seen[other], strict=True):
            assert there.code == here.code, f"{other}: exit code {there.code}: {there.stderr}"
            assert (there.stdout, there.stderr) == (here.stdout, here.stderr), f"{other}: other words"
            assert list(there.files) == list(here.files), f"{other}: other files"
            for file, content in here.files.items():
                assert there.files[file] == content, f"{other}: {file} differs"
            assert there.ledger == here.ledger, f"{other}: another ledger"
    return seen[first]


def check_typed_files(folder, kinds=None):
    """The same of Parquet files: no cell of any type decides anything."""
    _check_typed(folder, *worlds.typed_files(folder, kinds), TYPED[0])


def check_typed_databases(folder):
    """The same of databases."""
    _check_typed(folder, *worlds.typed_databases(), TYPED[1])


def _check_typed(folder, every, schema, name):
    command = ("measure", name, "--schema", SCHEMA, "--method", "independent", "--rho", "1", "--neighbours", "replace")
    check_noninterference(folder, every, (*command, "-o", "released.json"), document=schema.to_json())


def check_every_row_counts(folder, kinds=None):
    """A row with cells that cannot be read is a row: the number of rows under "replace" is that of the records."""
    every, schema = worlds.typed_files(folder, kinds)
    every["extreme cells"](folder)
    found = open_table(folder / TYPED[0]).add_up(schema, PrivacyUnit(), add=_add_rows, size=1)[0]
    assert found == extreme_cells.ODD + 2, f"{found} of {extreme_cells.ODD + 2} rows counted"


OFFSETS = Schema.from_json(
    {
        "fields": [
            {"name": "a", "type": "date", "constraints": {"minimum": "2023-01-01", "maximum": "2023-12-31"}},
            {"name": "b", "type": "date", "relativeTo": "a", "offset": {"minimum": 0, "maximum": 20}},
            {"name": "c", "type": "datetime", "relativeTo": "b", "offset": {"minimum": 0, "maximum": "2 days"}},
            {"name": "n", "type": "number", "constraints": {"minimum": 0, "maximum": 9}, "sundog": {"decimals": 2}},
            {"name": "m", "type": "integer", "relativeTo": "n", "offset": {"minimum": -3, "maximum": 3}},
        ]
    }
)
CELLS = {
    "a": ["2023-02-01", "2023-05-05", None, "", "x", "9999-12-31", "2023-02-01"],
    "b": ["2023-02-04", "2023-05-30", "2023-01-01", None, "2023-01-02", "0001-01-01", "2023-02-01"],
    "c": ["2023-02-05T10:00:00", "2023-05-30T00:00:01", "", "\x00", "2023-01-02", None, "2023-02-01T23:59:59"],
    "n": ["1.255", "-4", "1e300", "nan", None, "3", "-1e300"],
    "m": ["2", "9", "-1e300", "1", "4", "", "7"],
}


def check_distances_are_of_their_own_row(table=CELLS):
    """The codes of a table with offsets are those of each of its records alone, in whatever order they come."""
    whole = open_table(table).read(OFFSETS)
    count = len(table["a"])
    for order in (range(count), reversed(range(count))):
        places = list(order)
        turned = open_table({name: [cells[k] for k in places] for name, cells in table.items()}).read(OFFSETS)
        for row, place in enumerate(places):
            alone = open_table({name: [cells[place]] for name, cells in table.items()}).read(OFFSETS)
            for column, codes, others, own in zip(OFFSETS.names, whole.codes, turned.codes, alone.codes, strict=True):
                same = codes[place] == others[row] == own[0]
                assert same, f"{column}: another record decides the code of a row"


def _add_rows(rows, totals):
    totals[0] += len(rows)


# --- a secret in a cell appears nowhere -----------------------------------------------------------------------------

TOKEN = "Zq7xSECRETx0451"


def check_no_token(outcome, code, token=TOKEN):
    """The token is in no file, name, word or ledger entry, and the run ended like any other."""
    assert outcome.code == code, f"exit code {outcome.code}: {outcome.stderr}"
    assert "Traceback" not in outcome.stderr
    for spelled in _spellings(token):
        assert spelled not in outcome.everything, f"{spelled!r} got out"


def _spellings(token):
    yield token.encode()
    yield token.lower().encode()
    yield token.encode("utf-16-le")
    yield json.dumps(token)[1:-1].encode()


def check_quiet_failure(action, token=TOKEN):
    """Whatever the action raises, and all that hangs on it, is free of the token; what it returns, too."""
    error, result = None, None
    try:
        result = action()
    except BaseException as raised:
        error = raised
    assert error is None or isinstance(error, UserError), f"{type(error).__name__} is no sentence for users"
    for one in _chain(error):
        shown = f"{one} {one!r} {one.args} {getattr(one, '__notes__', '')}"
        assert token not in shown, f"in a {type(one).__name__}"
    return result


def _chain(error):
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    return seen


# --- choices --------------------------------------------------------------------------------------------------------


def check_choices(runs):
    """The curator's choices follow the exponential mechanism at the scale that its ledger entries state.

    It fails if Pearson's test, whose p-values are rough this far out, is below 1e-8 twice: a false alarm less than once in 1e11.
    """
    for _ in range(2):
        p_value, said = _choices(runs)
        if p_value > 1e-8:
            return
    raise AssertionError(said)


def _choices(runs):
    unit, seen, chosen, charges = PrivacyUnit("replace"), Recorder(), Counter(), []
    selection = Selection(CANDIDATES, ESTIMATES, 1, "Linf", weights=(1, 2, 1))
    with seen():
        for _ in range(runs // 100):
            made = curator([("a", 0)] * 3 + [("b", 3)] * 2, unit=unit, rho=10.0)
            chosen.update(made.select(selection, 0.05).pop().columns for _ in range(100))
            charges += made.spending.ledger.charges
    (scores,), (scale,) = {tuple(call.exact) for call in seen.calls}, {call.scale for call in seen.calls}
    ((rho, sensitivity),) = {(charge.rho, charge.details["sensitivity"]) for charge in charges}
    squared = Fraction(sensitivity) ** 2 / (2 * Fraction(rho))
    assert math.isclose(scale**2, squared, rel_tol=1e-9), "the noise is not of the scale that was paid for"
    weights = np.exp((np.array(scores) - max(scores)) / math.sqrt(squared))
    expected = weights / weights.sum() * runs
    observed = np.array([chosen[query.columns] for query in CANDIDATES])
    assert expected.min() > 20, "the candidates must all have a chance"
    return stats.chisquare(observed, expected).pvalue, f"{observed} chosen, {expected} expected"
