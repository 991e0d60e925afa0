"""Every law on every example of every registered class of queries."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laws.query_examples import EXAMPLES, NORMS, Case, cases, random_query
from laws.query_laws import LAWS, RELATIONS, enumerated, stated
from sundog.queries import CLASSES


def test_every_registered_class_has_examples():
    assert set(EXAMPLES) == set(CLASSES)
    assert {name.split("-")[0] for name in cases()} == set(CLASSES)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("case", cases().values(), ids=cases())
def test_law(case, law):
    law(case)


def test_every_class_reaches_each_of_its_stated_sensitivities_somewhere():
    for name, examples in EXAMPLES.items():
        for norm in NORMS:
            assert any(norm not in case.loose for case in examples), f"{name}: {norm} is never shown to be reached"


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60, derandomize=True)
def test_no_random_query_moves_more_than_it_states(seed):
    query = random_query(seed)
    found = enumerated(query)
    for relation in RELATIONS:
        claim = stated(query, relation)
        for norm in NORMS:
            assert claim[norm] >= int(found[relation][norm]), f"{query.describe()}: {relation} {norm}"


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=25, derandomize=True)
def test_random_queries_keep_the_other_laws(seed):
    case = Case(random_query(seed), NORMS, "random boundaries")
    for name in (
        "answers_add_up",
        "batches_do_not_matter",
        "answers_stay_within_bounds",
        "saving_and_loading_changes_nothing",
    ):
        LAWS[name](case)
