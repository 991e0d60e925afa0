"""What every class of queries must keep to. Each law takes a case and fails by an assertion; LAWS names them all."""

import json

import numpy as np

from laws.query_examples import ALL_ROWS, NORMS, SCHEMA, SIZES
from sundog.domain.rows import Rows
from sundog.queries import CLASSES, answer, load_query

RELATIONS = ("add-remove", "replace")


def some_rows(count, seed=0):
    random = np.random.default_rng(seed)
    return Rows(SCHEMA, tuple(random.integers(0, size, count) for size in SIZES))


def pick(rows, places):
    return Rows(rows.schema, tuple(codes[places] for codes in rows.codes))


def vectors(query):
    """What every possible row adds, one row after the other."""
    return np.stack([answer(query, pick(ALL_ROWS, [row])) for row in range(len(ALL_ROWS))])


def enumerated(query):
    """The sensitivities by going through all rows, or all pairs of rows."""
    rows = vectors(query)
    changes = {"add-remove": rows, "replace": (rows[:, None] - rows[None]).reshape(-1, query.size)}
    found = {}
    for relation, change in changes.items():
        size = np.abs(change)
        found[relation] = {
            "squared": (change**2).sum(axis=1).max(),
            "l1": size.sum(axis=1).max(),
            "linf": size.max(),
            "block": size.reshape(len(size), -1, query.block).sum(axis=2).max(),
        }
    return found


def stated(query, relation):
    return {
        "squared": query.sensitivity_squared(relation),
        "l1": query.sensitivity_l1(relation),
        "linf": query.sensitivity_linf(relation),
        "block": query.block_l1(relation),
    }


def sensitivities_are_those_of_enumeration(case):
    found = enumerated(case.query)
    for relation in RELATIONS:
        claim = stated(case.query, relation)
        for norm in NORMS:
            exact = int(found[relation][norm])
            assert claim[norm] >= exact, f"{relation} {norm}: {claim[norm]} is stated, a row reaches {exact}"
            if norm not in case.loose:
                assert claim[norm] == exact, f"{relation} {norm}: {claim[norm]} is stated, rows reach only {exact}"


def answers_add_up(case):
    rows = some_rows(30)
    whole = answer(case.query, rows)
    assert whole.dtype == np.int64
    assert whole.shape == (case.query.size,)
    single = sum(answer(case.query, pick(rows, [row])) for row in range(30))
    np.testing.assert_array_equal(whole, single)
    totals = whole.copy()
    case.query.add(rows, totals)
    np.testing.assert_array_equal(totals, 2 * whole)
    np.testing.assert_array_equal(answer(case.query, pick(rows, np.empty(0, int))), 0)


def batches_do_not_matter(case):
    rows = some_rows(60, seed=1)
    whole = answer(case.query, rows)
    for seed in range(8):
        random = np.random.default_rng(seed)
        cuts = np.sort(random.integers(0, 61, random.integers(0, 6)))
        totals = np.zeros(case.query.size, dtype=np.int64)
        for part in np.split(random.permutation(60), cuts):
            small = Rows(SCHEMA, tuple(codes[part].astype(np.uint8) for codes in rows.codes))
            case.query.add(small, totals)
        np.testing.assert_array_equal(totals, whole)


def answers_stay_within_bounds(case):
    rows, most = vectors(case.query), case.query.sensitivity_linf("add-remove")
    assert np.abs(rows).max() <= most
    if most == 1:
        assert set(np.unique(rows)) <= {0, 1}
    if case.query.partition:
        assert (rows.sum(axis=1) == 1).all()


def blocks_are_coherent(case):
    query, rows = case.query, some_rows(30, seed=4)
    assert query.size % query.block == 0
    blocks, keys = query.size // query.block, query.block_keys()
    assert len(keys) == blocks
    table = answer(query, rows).reshape(blocks, query.block)
    chosen_sets = [list(range(blocks)), [blocks - 1], list(range(0, blocks, 2))]
    for chosen in chosen_sets:
        part = query.subset(chosen)
        assert part.size == len(chosen) * part.block
        assert part.block_keys() == [keys[block] for block in chosen]
        np.testing.assert_array_equal(answer(part, rows).reshape(len(chosen), -1), table[chosen])
        for relation in RELATIONS:
            assert part.block_l1(relation) <= query.block_l1(relation)


def saving_and_loading_changes_nothing(case):
    document = json.loads(json.dumps(case.query.to_json()))
    assert CLASSES[document["query"]] is type(case.query)
    again = load_query(document, SCHEMA)
    assert again.to_json() == case.query.to_json()
    assert again.block_keys() == case.query.block_keys()
    assert (again.columns, again.size, again.block) == (case.query.columns, case.query.size, case.query.block)
    np.testing.assert_array_equal(answer(again, ALL_ROWS), answer(case.query, ALL_ROWS))
    for relation in RELATIONS:
        assert stated(again, relation) == stated(case.query, relation)


def descriptions_are_readable(case):
    words = case.query.describe()
    assert words.isprintable()
    assert 5 <= len(words) <= 120
    assert not any(part in words for part in ("array(", " at 0x", "None", "{", "["))


def vectors_are_what_single_rows_add(case):
    assert np.array_equal(case.query.vectors(ALL_ROWS), vectors(case.query))


LAWS = {
    law.__name__: law
    for law in (
        sensitivities_are_those_of_enumeration,
        answers_add_up,
        vectors_are_what_single_rows_add,
        batches_do_not_matter,
        answers_stay_within_bounds,
        blocks_are_coherent,
        saving_and_loading_changes_nothing,
        descriptions_are_readable,
    )
}
