"""A small fixed part of the fuzzing that `make audit` does: every input ends in a result or a message.

The numbers of inputs that once ended in a fault are here too.
"""

import contextlib
import random

import pytest

from fuzz.kinds import FULL, KINDS, _plain_release, _release
from fuzz.mutations import mutate
from fuzz.run import fuzz
from fuzz.worker import Ended
from sundog import Schema, UserError
from sundog.released import Released

pytestmark = pytest.mark.forks
ONCE_WRONG = {"schema": (42,), "released": (1,), "parquet": (19,), "ledger": (0, 3, 10, 21, 22), "workload": (34, 70)}
PARTS = {
    "schema": (FULL, Schema.from_json),
    "released": (_release(), Released.from_json),
    "tables": (_plain_release(), Released.from_json),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_input_ends_in_a_result_or_a_message(kind):
    for ended in fuzz(kind, sorted({*range(4), *ONCE_WRONG.get(kind, ())})):
        assert not ended.fault, ended


@pytest.mark.parametrize("part", PARTS)
def test_readers_refuse_in_words_or_read(part):
    base, read = PARTS[part]
    for number in range(200):
        document = mutate(random.Random(f"{part} {number}"), base)
        if isinstance(document, dict):
            with contextlib.suppress(UserError):
                read(document)


def _unchecked(monkeypatch):
    """Tables are read for the first time after the charge."""
    monkeypatch.setattr("sundog.sources.linked.LinkedSource.check_keys", lambda self: None)


def _quoting(monkeypatch):
    """A refusal that quotes the keys which it is about."""

    def refuse(table, keys):
        raise UserError(f"table {table.name!r}: found {keys.to_pylist()}.")

    monkeypatch.setattr("sundog.sources.linked.refuse_repeated", refuse)


@pytest.mark.parametrize(
    ("mutant", "number", "seen"),
    [(_unchecked, 8, "exit code 2 after a charge"), (_quoting, 4, "a message quotes a private row")],
)
def test_a_wrong_program_is_seen(mutant, number, seen, monkeypatch):
    (sound,) = fuzz("linked-tables", [number])
    assert not sound.fault
    mutant(monkeypatch)
    (wrong,) = fuzz("linked-tables", [number])
    assert wrong.broken == seen
    assert wrong.fault


def test_a_fault_is_seen():
    """Exit 1, a crash, too long and too much memory are faults; the three exit codes are not."""
    for code in (0, 2, 3):
        assert not Ended(0, code, 1.0, 10, "").fault
    for ended in (
        Ended(0, 1, 1.0, 0, ""),
        Ended(0, -11, 0.0, 0, ""),
        Ended(0, 0, 31.0, 0, ""),
        Ended(0, 2, 1.0, 3 * 10**9, ""),
        Ended(0, 2, 1.0, 0, "", broken="a traceback"),
    ):
        assert ended.fault


def test_the_worker_survives_a_crash_and_a_fault_in_the_program(tmp_path, monkeypatch):
    import faulthandler
    import os

    from fuzz import worker

    def case(number, folder):
        if number == 1:
            faulthandler.disable()  # this process was forked: its crash is meant, and frightens whoever reads the output
            os.abort()
        yield ("methods",) if number != 2 else ("fails",)

    def command(arguments):
        return (1, "a fault") if arguments == ("fails",) else (0, "")

    monkeypatch.setattr(worker, "_command", command)
    codes = [ended.code for ended in worker.run_all(range(4), case, folder=str(tmp_path))]
    assert codes == [0, -6, 1, 0]
