"""Sizes that users ask for: whole, within bounds, within memory; refused before anything is spent or allocated."""

import subprocess
import sys

import numpy as np
import pytest

from sundog import Ledger, Marginal, Schema, Synthesizer, UserError, sizes
from sundog.domain.unit import PrivacyUnit
from sundog.methods.compare import compare
from sundog.postprocess.match import Matching
from sundog.queries.workload import Workload
from sundog.released import Guarantee, Released, Selection
from sundog.sizes import refuse_beyond_memory, whole_number

FIELDS = [{"name": "x", "type": "integer", "constraints": {"minimum": 0, "maximum": 99, "required": True}}]
SCHEMA = Schema.from_json({"name": "counts", "fields": FIELDS})
NOT_WHOLE = (1.01, 2.0, "2", True, None, float("nan"), np.float64(2), np.bool_(True))
EMPTY = Released(SCHEMA, (), Guarantee(PrivacyUnit(), "gaussian", 1.0), public_rows=3)
COUNTS = {
    "rows per unit": lambda value: PrivacyUnit("replace", "x", value),
    "rows of a match": lambda value: Matching(rows=5 if value is None else value),
    "folds": lambda value: compare(EMPTY, folds=value),
    "k of a selection": lambda value: Selection((Marginal.of(SCHEMA, "x"),), (np.zeros(100, dtype=int),), value),
    "k of a workload": lambda value: Workload.marginals(SCHEMA, k=value),
    "count of ranges": lambda value: Workload.prefixes(SCHEMA, count=value),
    "directions": lambda value: Workload.halfspaces(SCHEMA, directions=value),
}


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3)])
def test_whole_numbers_of_python_and_numpy_are_ints(value):
    assert type(whole_number("n", value)) is int
    assert PrivacyUnit("replace", "x", value) == PrivacyUnit("replace", "x", 3)


@pytest.mark.parametrize("value", NOT_WHOLE)
def test_what_is_not_whole_is_refused(value):
    with pytest.raises(UserError, match=r"n: found .*; it must be a whole number"):
        whole_number("n", value)


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [1.01, 2.5, "2", True])
def test_every_public_count_is_whole(name, value):
    with pytest.raises(UserError, match="it must be a whole number"):
        COUNTS[name](value)


def test_a_workload_cannot_ask_for_more_than_can_be_fitted():
    with pytest.raises(UserError, match="count: found 1e\\+20; it must be at most"):
        Workload.prefixes(SCHEMA, count=10**20)
    assert Workload.halfspaces(SCHEMA, directions=2, thresholds=2, seed=10**20).cells == 4


def test_a_fraction_of_a_row_per_unit_spends_nothing(own_ledger):
    with pytest.raises(UserError, match=r"rows.per.unit.?: found 1\.01"):
        Synthesizer(SCHEMA, rho=0.5, unit="x", rows_per_unit=1.01)
    assert Ledger().accounts() == []
    assert not own_ledger.exists()


def test_what_memory_cannot_hold_is_refused_before_it_is_made(monkeypatch):
    monkeypatch.setattr(sizes, "memory", lambda: 10**9)
    monkeypatch.setattr(sizes, "_used", lambda: 3 * 10**8)
    refuse_beyond_memory("rows", 7 * 10**8, remedy="Ask for fewer.")
    with pytest.raises(
        UserError, match=r"would need 0\.8 GB of memory; .* may use 1 GB, and uses 0\.3 GB already\. Ask for"
    ):
        refuse_beyond_memory("rows", 8 * 10**8, remedy="Ask for fewer.")


def test_memory_in_use_is_what_this_process_holds():
    before = sizes._used()
    held = np.ones(10**7)
    assert before > 10**7
    assert 0.9 * held.nbytes < sizes._used() - before < 1.5 * held.nbytes


def test_memory_is_what_this_process_may_use():
    sizes.memory.cache_clear()
    assert 10**8 < sizes.memory() < 2**50


def test_a_number_beyond_all_floats_is_refused_in_words():
    with pytest.raises(UserError, match="n: found a number beyond 1e300; it must be at most 5"):
        whole_number("n", 10**400, most=5)


@pytest.mark.parametrize(
    ("own", "limits", "wanted"),
    [
        ("0::/", {"memory.max": "700"}, [700]),
        ("0::/user/run-7.scope", {"user/memory.max": "800", "user/run-7.scope/memory.max": "900"}, [800, 900]),
        ("4:memory:/a\n3:cpu:/b", {"memory/a/memory.limit_in_bytes": "500", "b/memory.max": "1"}, [500]),
        ("0::/user", {"user/memory.max": "max"}, []),
        ("", {}, []),
    ],
)
def test_limits_of_control_groups_are_found_at_every_level(tmp_path, monkeypatch, own, limits, wanted):
    (tmp_path / "own").write_text(own)
    for name, limit in limits.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(limit + "\n")
    monkeypatch.setattr(sizes, "_OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(sizes, "_CGROUPS", tmp_path / "groups")
    assert sorted(set(sizes._container_limits())) == wanted


@pytest.mark.parametrize(("limit", "refused"), [(10**9, True), (64 * 10**9, False), (None, False)])
def test_too_little_address_space_is_said_before_a_library_aborts(monkeypatch, limit, refused):
    monkeypatch.setattr(sizes, "_limits", lambda: [] if limit is None else [limit])
    if not refused:
        sizes.refuse_little_room()
        return
    with pytest.raises(UserError, match=r"may reserve 1 GB of address space \(ulimit -v\)"):
        sizes.refuse_little_room()


def test_a_run_with_a_gigabyte_of_address_space_ends_with_a_message(tmp_path):
    """A process of its own: native libraries would abort it without a word."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9)); from sundog.cli.app import main; main()"
    command = [sys.executable, "-c", code, "schema", "draft", "absent.csv", "-o", str(tmp_path / "draft.json")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Raise that limit" in done.stderr
