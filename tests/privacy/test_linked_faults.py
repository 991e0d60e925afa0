"""Wrong versions of every rule for linked tables break the law on the seeded databases on which it holds.

The faults are those of mutation/named.toml that begin with "linked:"; each is put in, and the pack of databases that sees it is counted.
"""

import functools

import pytest

from mutation.faults import fault_in, named
from privacy.linked_law import FAILED
from privacy.test_linked_laws import check_short

SEEN_IN = {
    "keys are not checked": "texts",
    "missing keys pass the check": "texts",
    "only the root's key is checked": "types",
    "one child that carries the root's key is enough": "some children with the unit's key",
    "NULL is a key": "missing keys of parents",
    "missing keys of every form are one key": "texts",
    "NaN is a key": "NaN",
    "NaN and NaT in lists are texts": "missing cells of lists",
    "a declared missing text is a key": "types of Python",
    "a declared missing number is a key": "types",
    "quoted empty text is a key": "texts",
    "all rows of a parent are used": "texts",
    "the bound is on a parent's key in all units together": "types in one column",
    "the first rows of a table are used": "texts",
    "which rows are used depends on how many there are": "texts",
    "which rows are used depends on the keys of others": "texts",
    "equal places in a sequence follow the order of the table": "types in one column",
    "rows are joined without the key of their unit": "types in one column",
    "rows that name another unit than their parent's are kept": "types in one column",
    "parts of a key are joined without a separator": "keys of several parts",
    "parts of a key are separated by a colon alone": "keys of several parts",
    "numbers of two keys are added": "types in one column",
    "keys are compared without spaces around them": "texts",
    "keys are compared without case": "case",
    "keys are compared in one normal form": "normal forms",
    "keys are compared as numbers": "texts",
    "keys are cut to a thousand bytes": "very long keys",
    "keys end at a zero byte": "zero bytes",
    "rows are shared among all units": "texts",
    "rows are shared below a parent": "types in one column",
    "a missing key of the root is a unit": "missing keys of units",
}
"""Which pack sees a fault. Where the generator changes, `linked_audit.py --faults` helps to find another."""


@functools.cache
def faults():
    return {fault.name.removeprefix("linked: "): fault for fault in named() if fault.name.startswith("linked: ")}


@pytest.mark.parametrize("name", SEEN_IN)
def test_wrong_versions_are_found(name, tmp_path):
    with fault_in(faults()[name]), pytest.raises(AssertionError):
        check_short(SEEN_IN[name], tmp_path)


def test_every_fault_is_tried():
    assert set(faults()) == set(SEEN_IN)


def test_a_run_that_rows_stop_is_found(tmp_path):
    with fault_in(faults()["all rows of a parent are used"]), pytest.raises(AssertionError, match=FAILED):
        check_short("texts", tmp_path)
