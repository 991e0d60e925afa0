"""A process of its own that charges a ledger, for the tests that kill it, starve it of disk or run several at once.

Usage: charging.py LEDGER DATASET TIMES RHO [CRASH]. Prints one receipt number per acknowledged charge, then the first
refusal. CRASH stops the process dead in the last charge: "committed" before the log is folded in, "folded" before the
witness is written.
"""

import os
import sys
from pathlib import Path

from sundog.domain.unit import PrivacyUnit
from sundog.errors import UserError
from sundog.private import ledger as module
from sundog.private.accountant import Charge


def main(path, dataset, times, rho, crash=""):
    ledger = module.Ledger(Path(path))
    for turn in range(int(times)):
        if turn == int(times) - 1:
            _arm(crash)
        try:
            receipts = ledger.charge(dataset, [Charge("gaussian", float(rho), label="test")], unit=PrivacyUnit())
        except UserError as refused:
            sys.stdout.write(f"{type(refused).__name__}: {refused}\n")
            return
        sys.stdout.write(f"{receipts[0].number}\n")
        sys.stdout.flush()


def _arm(crash):
    if crash == "committed":
        module._append = _commit_and_die
    if crash == "folded":
        module.Ledger._write_witness = lambda *_, **__: os._exit(9)


def _commit_and_die(connection, rows):
    connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
    connection.execute("COMMIT")
    os._exit(9)


if __name__ == "__main__":
    main(*sys.argv[1:])
