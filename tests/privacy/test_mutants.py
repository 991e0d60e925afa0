"""Wrong mechanisms, each killed by a named check: a check that kills nothing would be worth nothing."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from privacy import checks, worlds
from privacy.stand_ins import TINY, TWO_WAY, run_command
from privacy.test_audit import PAIRS
from privacy.test_sensitivity import SIGMOID
from private import checks_noise
from private.test_curator import QUESTIONS, check_order
from sundog.domain.unit import PrivacyUnit
from sundog.private import curator as curator_module
from sundog.private import noise
from sundog.private.account import Receipt
from sundog.private.curator import Curator
from sundog.private.ledger import Ledger
from sundog.private.spending import Spending
from sundog.queries import Cells, Joined, Marginal, Parity, sensitivity
from sundog.released import Released
from sundog.sources import batches, duck, encode, files
from sundog.sources.duck import DuckTable
from sundog.sources.encode import encode_sql
from sundog.sources.plain import plain_type

GAUSSIAN, SCALE, COST, TOP_K = noise.add_gaussian, noise.gaussian_scale, noise.gaussian_cost, noise.top_k
ADD, REPLACE = PrivacyUnit("add-remove"), PrivacyUnit("replace")
SYNTHESIZE = (
    "synthesize",
    worlds.DATA,
    "--schema",
    worlds.SCHEMA,
    "--method",
    "independent",
    "--rho",
    "0.5",
    "--seed",
    "5",
    "-o",
    "out",
)


SEEN = {
    "interference": r"^(new categories|more rows|all equal|no rows|extreme cells): (exit code|other words|other files|another ledger|.* differs)",
    "check_typed_files": "^extreme cells: exit code 2",
    "check_typed_databases": "^extreme cells: exit code 2",
    "check_distances_are_of_their_own_row": "another record decides",
    "check_every_row_counts": r"\d+ of \d+ rows counted",
    "quoted": "got out",
    "audit": "the attack shows mu >",
    "check_gaussian": "does not follow its law",
    "check_selection": "does not follow its law",
    "check_choices": "chosen, .* expected",
    "check_charges_cover_the_noise": r"charged .*, spent|nobody paid| for \d",
    "check_charged_before_noise": "before its charge was on the ledger",
    "check_order": "not in order",
    "check_categories_are_covered": r"pass a threshold|charged .*, spent",
    "check_sensitivity": "add-remove|replace",
    "check_unit_sensitivity": "one unit changes more than is stated",
    "check_wider_scores": "more than is paid for",
}
"""What each check says when it sees what it is there to see."""


def killed(check, *arguments, **options):
    """The check fails, and by what it is there to see."""
    with pytest.raises(AssertionError, match=SEEN[check.__name__]):
        check(*arguments, **options)


# --- the noise itself -----------------------------------------------------------------------------------------------


def audit(name="a row in an empty table", rho=2.0, runs=1500):
    query, pair, unit = PAIRS[name]
    checks.check_audit(query, pair, unit, rho=rho, runs=runs)


WRONG_NOISE = {
    "noise halved": lambda counts, scale: GAUSSIAN(counts, scale / 2),
    "stddev / sqrt 2": lambda counts, scale: GAUSSIAN(counts, scale / math.sqrt(2)),
    "no noise": lambda counts, scale: np.array(counts),
}


@pytest.mark.parametrize("mutant", WRONG_NOISE)
def test_wrong_noise_is_killed_by_the_audit_and_by_the_law(monkeypatch, mutant):
    monkeypatch.setattr(noise, "add_gaussian", WRONG_NOISE[mutant])
    killed(audit)
    killed(checks_noise.check_gaussian, 1.7, draws=20_000)


def test_noise_that_repeats_from_stretch_to_stretch_is_killed_by_the_law(monkeypatch):
    """Threads that drew the same numbers would do that."""
    drawn = noise._drawn
    monkeypatch.setattr(noise, "_drawn", lambda make, cells: np.resize(drawn(make, min(cells, noise.STRETCH)), cells))
    killed(checks_noise.check_gaussian, 1.7)


def test_reused_noise_is_killed_by_the_law(monkeypatch):
    kept = {}

    def reused(counts, scale):
        if (len(counts), scale) not in kept:
            kept[len(counts), scale] = GAUSSIAN(np.zeros(len(counts), dtype=np.int64), scale)
        return counts + kept[len(counts), scale]

    monkeypatch.setattr(noise, "add_gaussian", reused)
    killed(checks_noise.check_gaussian, 1.7, draws=20_000)


# --- sensitivities --------------------------------------------------------------------------------------------------


def test_a_marginal_without_root_two_is_killed_by_enumeration_ledger_and_audit(monkeypatch):
    monkeypatch.setattr(Marginal, "sensitivity_squared", lambda self, neighbours: Fraction(1))
    killed(checks.check_sensitivity, TWO_WAY)
    killed(checks.check_charges_cover_the_noise, REPLACE)
    killed(audit, "a row replaced", runs=4000)


def test_chosen_cells_at_the_price_of_one_are_killed_by_enumeration_and_ledger(monkeypatch):
    monkeypatch.setattr(Cells, "sensitivity_squared", lambda self, neighbours: Fraction(1))
    killed(checks.check_sensitivity, checks.TWO_CELLS)
    killed(checks.check_charges_cover_the_noise, REPLACE)


def test_joined_cells_at_the_price_of_one_are_killed_by_enumeration(monkeypatch):
    query = Joined(TWO_WAY, tuple(cell % 3 for cell in range(TWO_WAY.size)))
    checks.check_sensitivity(query)
    monkeypatch.setattr(Joined, "sensitivity_squared", lambda self, neighbours: Fraction(1))
    killed(checks.check_sensitivity, query)


def test_joined_cells_that_count_a_row_twice_are_killed_by_enumeration(monkeypatch):
    query = Joined(TWO_WAY, tuple(cell % 3 for cell in range(TWO_WAY.size)))
    right = Joined.add

    def twice(self, rows, totals):
        right(self, rows, totals)
        right(self, rows, totals)

    monkeypatch.setattr(Joined, "add", twice)
    killed(checks.check_sensitivity, query)


def test_parities_at_the_price_of_one_row_are_killed_by_enumeration(monkeypatch):
    query = Parity(TWO_WAY)
    checks.check_sensitivity(query)
    right = Parity.sensitivity_squared
    monkeypatch.setattr(Parity, "sensitivity_squared", lambda self, neighbours: right(self, "add-remove"))
    killed(checks.check_sensitivity, query)


def test_blocks_chosen_together_at_the_price_of_the_first_are_killed_by_the_ledger_check(monkeypatch):
    squared = sensitivity.squared
    first = lambda query, unit: squared(query.subset([0]) if isinstance(query, Cells) else query, unit)  # noqa: E731
    monkeypatch.setattr(sensitivity, "squared", first)
    killed(checks.check_charges_cover_the_noise, REPLACE)


def test_closed_bins_are_killed_by_enumeration(monkeypatch):
    def closed(self, rows, totals):
        half_open(self, rows, totals)
        for axis in self.axes:
            codes = rows.column(axis.column)
            for start in (axis.starts or ())[1:]:  # a boundary point counts in the cell below, too
                totals[max(0, int(axis.cells(np.array([start]))[0]) - 1)] += int((codes == start).sum())

    half_open = Marginal.add
    monkeypatch.setattr(Marginal, "add", closed)
    killed(checks.check_sensitivity, Marginal.of(TINY, "n"))


def test_rows_per_unit_forgotten_is_killed_by_the_ledger_check(monkeypatch):
    most = sensitivity.most
    monkeypatch.setattr(sensitivity, "most", lambda norm, unit, **power: most(norm, replace(unit, rows=1), **power))
    killed(checks.check_charges_cover_the_noise, PrivacyUnit("add-remove", "u", 2))
    killed(checks.check_categories_are_covered, PrivacyUnit("add-remove", "u", 2))


def test_a_unit_that_may_change_its_number_of_rows_is_killed_by_enumeration(monkeypatch):
    """Only the norm of replacing is taken for units that are replaced."""
    monkeypatch.setattr(PrivacyUnit, "relations", property(lambda self: (self.neighbours,)))
    killed(checks.check_unit_sensitivity, SIGMOID, PrivacyUnit("replace", "u", 2))


def test_rows_per_unit_forgotten_is_killed_by_enumeration(monkeypatch):
    monkeypatch.setattr(sensitivity, "most", lambda norm, unit, power=1: max(map(norm, unit.relations)))
    killed(checks.check_unit_sensitivity, TWO_WAY, PrivacyUnit("add-remove", "u", 2))


def test_units_that_are_not_bounded_are_killed_by_the_ledger_check(monkeypatch):
    checks._tables.cache_clear()
    stream = DuckTable._stream
    monkeypatch.setattr(DuckTable, "_stream", lambda self, parts, _: stream(self, parts, PrivacyUnit()))
    killed(checks.check_charges_cover_the_noise, PrivacyUnit("add-remove", "u", 2))
    checks._tables.cache_clear()


def test_an_l1_score_with_root_two_is_killed_by_the_ledger_check(monkeypatch):
    monkeypatch.setattr(sensitivity, "block_l1", lambda query, unit: Fraction(14143, 10000))
    killed(checks.check_charges_cover_the_noise, REPLACE)


def test_scores_of_wider_tables_with_root_two_are_killed_by_enumeration(monkeypatch):
    monkeypatch.setattr(sensitivity, "block_l1", lambda query, unit: Fraction(14143, 10000))
    killed(checks.check_wider_scores, REPLACE)


def test_scores_of_wider_tables_paid_for_once_are_killed_by_enumeration(monkeypatch):
    monkeypatch.setattr(sensitivity, "block_l1", lambda query, unit: Fraction(len(query.columns) > 3))
    killed(checks.check_wider_scores, ADD)


def test_laplace_noise_by_the_l2_norm_is_killed_by_the_ledger_check(monkeypatch):
    monkeypatch.setattr(Marginal, "sensitivity_l1", lambda self, neighbours: Fraction(14143, 10000))
    killed(checks.check_charges_cover_the_noise, REPLACE)


# --- calibration and charges ----------------------------------------------------------------------------------------


def test_d_for_d_squared_is_killed_by_the_ledger_check(monkeypatch):
    monkeypatch.setattr(noise, "gaussian_scale", lambda square, rho: SCALE(Fraction(math.sqrt(square)), rho))
    monkeypatch.setattr(noise, "gaussian_cost", lambda square, scale: COST(Fraction(math.sqrt(square)), scale))
    killed(checks.check_charges_cover_the_noise, REPLACE)


def test_top_k_without_root_k_is_killed_by_the_ledger_check_and_by_the_law(monkeypatch):
    monkeypatch.setattr(noise, "top_k_scale", lambda bound, k, *, rho: SCALE(Fraction(bound) ** 2, rho))
    monkeypatch.setattr(noise, "top_k_cost", lambda bound, k, *, scale: COST(Fraction(bound) ** 2, scale))
    killed(checks.check_charges_cover_the_noise, ADD)
    killed(checks_noise.check_selection, [0, 2, 4], 2, scale=3.0, draws=2000)


def test_half_of_the_cost_is_killed_by_the_ledger_check(monkeypatch):
    monkeypatch.setattr(noise, "gaussian_cost", lambda square, scale: COST(square, scale) / 2)
    killed(checks.check_charges_cover_the_noise, ADD)


def test_measuring_again_uncharged_is_killed_by_the_ledger_check(monkeypatch):
    def twice(*given, **options):
        made = measure(*given, **options)
        for one in made:
            noise.add_gaussian(one.values, one.stddev)
        return made

    measure = Curator._measure
    monkeypatch.setattr(Curator, "_measure", twice)
    killed(checks.check_charges_cover_the_noise, ADD)


def test_charging_after_the_noise_is_killed_by_the_order_check(monkeypatch, own_ledger):
    """The charges of one step are written when the next one begins."""
    waiting, charge = [], Ledger.charge

    def later(self, dataset, charges, **options):
        receipts = charge(self, dataset, waiting.pop(), **options) if waiting else []
        waiting.append(charges)
        return [*receipts, *(Receipt(dataset, number) for number in range(len(charges)))][-len(charges) :]

    monkeypatch.setattr(Ledger, "charge", later)
    killed(checks.check_charged_before_noise, own_ledger, ADD)


def test_looking_before_paying_is_killed_by_the_order_of_steps(monkeypatch):
    def looking_first(self, schema, queries, **options):
        self._counted(schema, queries)
        return measure(self, schema, queries, **options)

    measure = Curator._measure
    monkeypatch.setattr(Curator, "_measure", looking_first)
    killed(check_order, QUESTIONS["measure"])


def test_a_question_without_noise_is_killed_by_the_order_of_steps(monkeypatch):
    monkeypatch.setattr(Curator, "score", lambda self, selection, rho: self._scores(selection))
    killed(check_order, QUESTIONS["score"])


def test_a_low_threshold_is_killed_by_the_categories_check(monkeypatch):
    threshold = noise.threshold
    monkeypatch.setattr(noise, "threshold", lambda scale, delta, *, rows: threshold(scale, delta, rows=1) - 1)
    killed(checks.check_categories_are_covered, ADD)
    killed(checks.check_categories_are_covered, PrivacyUnit("replace", "u", 2))


# --- choices --------------------------------------------------------------------------------------------------------


def test_a_noiseless_choice_is_killed_by_the_law(monkeypatch):
    monkeypatch.setattr(noise, "top_k", lambda scores, k, *, scale: np.argsort(-scores, kind="stable")[:k].tolist())
    killed(checks.check_choices, runs=600)


def test_permute_and_flip_charged_as_exponential_is_killed_by_the_law(monkeypatch):
    def permute_and_flip(scores, k, *, scale):
        import secrets

        random = np.random.default_rng(secrets.randbits(64))
        while True:
            for index in random.permutation(len(scores)):
                if random.random() < math.exp((scores[index] - max(scores)) / scale):
                    return [int(index)]

    monkeypatch.setattr(noise, "top_k", permute_and_flip)
    killed(checks_noise.check_selection, [0, 2, 4, 6], 1, scale=3.0, draws=10_000)


# --- leaks ----------------------------------------------------------------------------------------------------------


def interference(folder, names=("base", "new categories", "more rows")):
    every = worlds.any_size()
    checks.check_noninterference(folder, {name: every[name] for name in names}, SYNTHESIZE)


def test_nothing_is_killed_without_a_mutant(tmp_path):
    interference(tmp_path)


def test_a_domain_from_the_data_is_killed_by_noninterference(monkeypatch, tmp_path):
    """The largest value seen becomes the upper bound of a column."""

    def narrow(self, table, schema, **options):
        rows = curator_module.open_private(table).read(schema)
        seen = int(max(rows.column("age"), default=0))
        columns = tuple(replace(column, upper=seen) if column.name == "age" else column for column in schema.columns)
        init(self, table, replace(schema, columns=columns), **options)

    init = Curator.__init__
    monkeypatch.setattr(Curator, "__init__", narrow)
    killed(interference, tmp_path, ("base", "all equal", "no rows"))


def test_the_true_number_of_rows_is_killed_by_noninterference(monkeypatch, tmp_path):
    def count(self):
        return int(self._source.add_up(self.schema, self.unit, add=curator_module._add_length, size=1)[0])

    monkeypatch.setattr(Curator, "count", count)
    killed(interference, tmp_path)


def test_an_output_as_long_as_the_data_is_killed_by_noninterference(monkeypatch, tmp_path):
    lengths, answers = [], Curator._answers

    def remember(self, schema, queries):
        exact = answers(self, schema, queries)
        lengths.append(int(exact[0].sum()))
        return exact

    monkeypatch.setattr(Curator, "_answers", remember)
    monkeypatch.setattr(Released, "rows", property(lambda self: max(lengths[-1], 1)))
    killed(interference, tmp_path)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_word_about_the_rows_is_killed_by_noninterference(monkeypatch, tmp_path, stream):
    import sys

    answers = Curator._answers

    def talk(self, schema, queries):
        exact = answers(self, schema, queries)
        print(f"read {exact[0].sum()} rows", file=getattr(sys, stream))
        return exact

    monkeypatch.setattr(Curator, "_answers", talk)
    killed(interference, tmp_path)


def test_an_unknown_value_that_is_refused_is_killed_by_noninterference(monkeypatch, tmp_path):
    from sundog.errors import UserError

    answers = Curator._answers

    def strict(self, schema, queries):
        exact = answers(self, schema, queries)
        if exact[1][-1] == len(queries):
            return exact
        if any(query.columns == ("region",) and counts[-1] > 30 for query, counts in zip(queries, exact, strict=True)):
            raise UserError("a value is not in its list of categories")
        return exact

    monkeypatch.setattr(Curator, "_answers", strict)
    killed(interference, tmp_path)


def test_a_ledger_that_tells_of_rows_is_killed_by_noninterference(monkeypatch, tmp_path):
    init, charge, held = Curator.__init__, Spending.charge, []

    def remember(self, *given, **options):
        held.append(self)
        init(self, *given, **options)

    def tell(self, charges):
        source, schema = held[-1]._source, held[-1].schema
        total = source.add_up(schema, self.unit, add=curator_module._add_length, size=1)[0]
        return charge(self, [replace(one, details={**one.details, "rows": int(total)}) for one in charges])

    monkeypatch.setattr(Curator, "__init__", remember)
    monkeypatch.setattr(Spending, "charge", tell)
    killed(interference, tmp_path)


def quoted(folder, lines, code=0):
    outcome = run_command(worlds.write(folder, lines), *SYNTHESIZE, inputs=(worlds.DATA,))
    checks.check_no_token(outcome, code)


TOKEN_LINE = [*worlds.any_size()["base"], b",".join([checks.TOKEN.encode()] * 9)]


def test_no_secret_gets_out_without_a_mutant(tmp_path):
    quoted(tmp_path, TOKEN_LINE)


def test_a_log_that_quotes_a_cell_is_killed_by_the_token_check(monkeypatch, tmp_path):
    batches = DuckTable._batches

    def log(self, schema, unit):
        import sys

        for (value,) in self.connection.sql(f"SELECT {self.raw['region'].sql} FROM {self.relation}").fetchall():
            print(f"unknown label {value}", file=sys.stderr)  # noqa: T201
        yield from batches(self, schema, unit)

    monkeypatch.setattr(DuckTable, "_batches", log)
    killed(quoted, tmp_path, TOKEN_LINE)


def test_a_message_that_quotes_the_engine_is_killed_by_the_token_check(monkeypatch, tmp_path):
    from contextlib import contextmanager

    from sundog.errors import UserError

    @contextmanager
    def loud(self):
        try:
            yield
        except Exception as error:
            raise UserError(f"the engine failed: {error}") from error

    monkeypatch.setattr(DuckTable, "quiet_failures", loud)
    failing = "CASE WHEN {0} = '" + checks.TOKEN + "' THEN CAST({0} AS DOUBLE) ELSE 0 END"
    monkeypatch.setattr("sundog.sources.duck.encode_sql", lambda column, raw: failing.format(raw.sql))
    killed(quoted, tmp_path, TOKEN_LINE, code=2)


def test_exact_counts_in_a_file_are_killed_by_noninterference(monkeypatch, tmp_path):
    answers = Curator._answers

    def cache(self, schema, queries):
        exact = answers(self, schema, queries)
        np.save("cache.npy", np.concatenate(exact))
        return exact

    monkeypatch.setattr(Curator, "_answers", cache)
    killed(interference, tmp_path)


# --- one cell: it neither stops a run nor takes its row away --------------------------------------------------------


FEW = ["timestamp[ms]", "string", "decimal128(38, 0)", "time64[us]"]


def engines_own_reader(paths, kind):
    connection = duck.connect()
    relation = f"read_parquet('{paths[0]}')"
    return DuckTable(connection, relation, duck.raw_columns(connection, relation), label="the table")


def test_a_reader_that_checks_cells_is_killed_by_extreme_cells(monkeypatch, tmp_path):
    """The engine's own reader of Parquet, which was used before: it fails at text that is no text, and on overflow."""
    monkeypatch.setattr(files, "open_columnar", engines_own_reader)
    killed(checks.check_typed_files, tmp_path, FEW)


def test_batches_that_are_not_made_plain_are_killed_by_extreme_cells(monkeypatch, tmp_path):
    monkeypatch.setattr(batches, "plain", lambda array: array.cast(plain_type(array.type)))
    killed(checks.check_typed_files, tmp_path, FEW)


def test_casts_that_may_fail_are_killed_by_extreme_cells(monkeypatch, tmp_path):
    monkeypatch.setattr(duck, "encode_sql", lambda *given: encode_sql(*given).replace("TRY(", "("))
    killed(checks.check_typed_databases, tmp_path)


def test_rows_that_are_skipped_are_killed_by_counting(monkeypatch, tmp_path):
    whole = batches._batches
    monkeypatch.setattr(batches, "_batches", lambda *given: (batch.drop_null() for batch in whole(*given)))
    killed(checks.check_every_row_counts, tmp_path, FEW)


# --- offsets: a distance is of its own record -----------------------------------------------------------------------

UNITS = encode.units_sql
OTHER_ROWS = {
    "the base of the row before": "lag({0}, 1, 0) OVER ()",
    "the base of the first row": "first_value({0}) OVER ()",
    "the mean of all bases": "CAST(avg({0}) OVER () AS BIGINT)",
    "the last base that is known": "COALESCE({0}, max({0}) OVER ())",
}


@pytest.mark.parametrize("mutant", OTHER_ROWS)
def test_a_distance_that_looks_at_another_row_is_killed_by_isolation(monkeypatch, mutant):
    def wrong(column, raw, *, farthest):
        made = UNITS(column, raw, farthest=farthest)
        return f"({OTHER_ROWS[mutant].format(made)})" if column.name == "a" else made

    monkeypatch.setattr(encode, "units_sql", wrong)
    killed(checks.check_distances_are_of_their_own_row)
