"""Commands with option values from the whole float range, and the law that each call keeps.

It ends with 0, 2 or 3 and a sentence; and the ledger is as before, byte by byte, unless a measurement was made, which is then kept.
"""

import json
import math
import random
import shutil
import struct

import linked_tables
from laws.test_settings import QUICK
from privacy.stand_ins import run_command
from sundog.methods.recipes import METHODS
from sundog.methods.settings import method_settings
from sundog.private.entries import FREE
from sundog.private.ledger import Ledger

ODD = [
    0.0, -0.0, 5e-324, 1e-310, 2.3e-308, 1e-300, 1e-160, 1e-60, 1e-40, 1e-25, 1e-20, 1e-13, 1e-9, 1e-6, 0.001, 0.05, 0.5, 1.0, 1.0 - 2**-53,
    2.0, 10.0, 1000.0, 1e6, 5e11, 1e13, 1e20, 1e60, 1e154, 1e300, 1.7e308, -1.0, -1e-300, -1e300, math.inf, -math.inf, math.nan,
]  # fmt: skip
FIELDS = [
    {"name": "smoker", "type": "boolean"},
    {"name": "grade", "categories": ["low", "high"], "constraints": {"required": True}},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
]
OPEN = [
    {"name": "grade", "type": "string"},
    {"name": "age", "type": "integer"},
    {"name": "who", "type": "string", "identifier": True},
]
IMPOSSIBLE = [
    {"name": "no low", "kind": "impossible", "where": {"grade": "low"}},
    {"name": "no high", "kind": "impossible", "where": {"grade": "high"}},
]
SCHEMAS = {
    "schema.json": {"name": "flat", "targets": ["smoker"], "fields": FIELDS},
    "impossible.json": {"name": "flat", "fields": FIELDS, "constraints": IMPOSSIBLE},
    "open.json": {"name": "flat", "fields": OPEN},
    "homes/datapackage.json": linked_tables.package(),
}
PLAIN = ("independent", "auto")
"""Methods that need no compiler, for the quick form."""


def write_world(folder):
    """A flat table, a synthetic one, linked tables, and their schemas."""
    (folder / "homes").mkdir()
    for name, document in SCHEMAS.items():
        (folder / name).write_text(json.dumps(document))
    draw = random.Random(1)
    lines = [
        f"{draw.choice(['true', 'false', ''])},{draw.choice(['low', 'high'])},{draw.randrange(100)},p{k % 15}"
        for k in range(40)
    ]
    for name in ("data.csv", "synthetic.csv"):
        (folder / name).write_text("\n".join(["smoker,grade,age,who", *lines]) + "\n")
    for name, columns in linked_tables.tables_of(linked_tables.random_homes(15)).items():
        rows = zip(*columns.values(), strict=True)
        (folder / "homes" / f"{name}.csv").write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n")  # fmt: skip


class Calls:
    """Random calls of every command that charges, plans or limits; the n-th call has an account of its own."""

    def __init__(self, seed, methods=tuple(METHODS)):
        self.draw, self.methods, self.number = random.Random(seed), methods, 0

    def value(self):
        """A float: an odd one, one of a usual size, or any bits."""
        kind = self.draw.random()
        if kind < 0.5:
            return self.draw.choice(ODD)
        if kind < 0.65:
            return 10 ** self.draw.uniform(-3, 1)
        return struct.unpack("d", self.draw.randbytes(8))[0]

    def whole(self):
        return self.draw.choice([0, 1, 2, 3, 10, 2**40, 2**40 + 1, 2**63, 10**30, -1])

    def usual(self, chance):
        """A value, or with this chance nothing."""
        return None if self.draw.random() < chance else self.value()

    def budget(self):
        """rho, or epsilon with delta, or odd mixtures; and what the owner says yes to."""
        kind = self.draw.random()
        rho, epsilon = (self.value(), None) if kind < 0.5 else (None, self.value())
        delta = self.draw.choice([1e-9, 1e-9, None, self.value()]) if epsilon is not None else self.usual(0.8)
        if kind > 0.97:
            rho = self.value()
        told = {"--rho": rho, "--epsilon": epsilon, "--delta": delta, "--rows-about": 40 if kind < 0.2 else None}
        yes = ["--yes"] if self.draw.random() < 0.9 else []
        return [*options(told), "--neighbours", self.draw.choice(["add-remove", "replace"]), *yes]

    def unit(self):
        return ["--unit", "who", "--rows-per-unit", self.whole()] if self.draw.random() < 0.2 else []

    def generation(self):
        """A method, quick; one of its settings at any value; and what is adjusted."""
        method = self.draw.choice(self.methods)
        settings = dict(QUICK.get(method, {}))
        if self.draw.random() < 0.3:
            settings[self.draw.choice([*method_settings(METHODS[method]), "rows"])] = self.value()
        made = ["--method", method]
        for name, value in settings.items():
            made += ["--set", f"{name}={json.dumps(value)}"]
        if self.draw.random() < 0.15:
            made += ["--adjust", "columns", *options({"--adjust-share": self.usual(0.3)})]
        return made

    def __call__(self):
        """The words of the next call, and where it keeps what it measured."""
        self.number += 1
        place, account = f"out{self.number}", ["--dataset", f"d{self.number}"]
        made = self.draw.choices(list(DOORS.values()), weights=list(DOORS))[0](self, place)
        spends = made[0] in ("synthesize", "measure", "adjust") or made[1] == "complete"
        return [str(word) for word in (*made, *(account if spends else []))], place


def options(given):
    """Options with a value, in the form that also takes a negative number."""
    return [f"{name}={value}" for name, value in given.items() if value is not None]


def synthesize(calls, place):
    schema = "impossible.json" if calls.draw.random() < 0.1 else "schema.json"
    dry = ["--dry-run"] if calls.draw.random() < 0.2 else []
    rows = [f"--rows={calls.whole()}"] if calls.draw.random() < 0.1 else []
    return [
        "synthesize",
        "data.csv",
        "--schema",
        schema,
        "-o",
        place,
        *calls.budget(),
        *calls.unit(),
        *calls.generation(),
        *dry,
        *rows,
    ]


def measure(calls, place):
    return [
        "measure",
        "data.csv",
        "--schema",
        "schema.json",
        "-o",
        f"{place}/released.json",
        *calls.budget(),
        *calls.unit(),
        *calls.generation(),
    ]


def linked(calls, place):
    return ["measure", "homes", "--schema", "homes/datapackage.json", "-o", f"{place}/released.json", *calls.budget()]


def adjust(calls, place):
    noise = ["--noise", calls.draw.choice(["gaussian", "laplace"])]
    matching = options({"--trust": calls.draw.choice([None, None, "off"])})
    wanted = calls.draw.choice(
        ["columns", "correlations: smoker, age", "means: age by smoker", "marginals: grade, smoker"]
    )
    return ["adjust", "synthetic.csv", "--schema", "schema.json", "--real", "data.csv", "--measures", wanted, "-o", place, *noise, *matching, *calls.budget(), *calls.unit()]  # fmt: skip


def complete(calls, place):
    return [
        "schema",
        "complete",
        "data.csv",
        "--schema",
        "open.json",
        "-o",
        f"{place}/schema.json",
        *calls.budget(),
        *calls.unit(),
    ]


def limit(calls, place):
    del place
    given = calls.budget()
    return [
        "ledger",
        "limit",
        "limited",
        *(word for word in given if word.startswith(("--rho", "--epsilon", "--delta", "--yes"))),
    ]


def planned(calls, place):
    del place
    told = {"--rows": calls.draw.choice([1, 40, 10**9, 2**40, 10**30, 0]), "--delta": calls.usual(0.5)}
    return ["plan", "schema.json", f"--epsilon={calls.value()!r}", *options(told), f"--rows-per-unit={calls.whole()}"]


def audited(calls, place):
    del place
    told = {
        "--rho": calls.usual(0.4),
        "--epsilon": calls.usual(0.7),
        "--delta": calls.usual(0.5),
        "--confidence": calls.usual(0.5),
    }
    return ["audit", "mechanism", "--method", "independent", "--runs=20", *options(told)]


DOORS = {
    0.32: synthesize,
    0.15: measure,
    0.03: linked,
    0.2: adjust,
    0.14: complete,
    0.07: limit,
    0.08: planned,
    0.01: audited,
}
"""Commands, and how often each is called."""


def entries(folder):
    ledger = folder / "ledger.sqlite"
    accounts = Ledger(ledger).known() if ledger.exists() else []
    return sorted((entry for account in accounts for entry in account.entries), key=lambda entry: entry.number)


def check_call(folder, words, place, *, before):
    """One call keeps the law; the entries of the ledger after it."""
    ledger = folder / "ledger.sqlite"
    held = ledger.read_bytes() if ledger.exists() else None
    (folder / place).mkdir()
    done = run_command(folder, *words)
    said = f"{' '.join(words)}: {done.code}: {done.stderr[-300:]}"
    assert done.code in (0, 2, 3), said
    assert "No such option" not in done.stderr, said
    assert "Traceback" not in done.stderr + done.stdout, said
    after = entries(folder)
    charged = [entry for entry in after[len(before) :] if entry.mechanism not in FREE]
    kept = [*(folder / place).rglob("released.json"), *(folder / place).glob("schema.json")]
    assert not (charged and "impossible.json" in words), f"charged, though no row can exist: {said}"
    assert bool(charged) == bool(kept), f"charged {len(charged)} times, kept {len(kept)} files: {said}"
    if not charged and words[:2] != ["ledger", "limit"]:
        assert (ledger.read_bytes() if ledger.exists() else None) == held, f"the ledger changed: {said}"
    if charged and kept[0].name == "released.json":
        told = json.loads(kept[0].read_text())
        assert len(told["payments"]) >= len(charged), f"not all that was paid for is kept: {said}"
    shutil.rmtree(folder / place)
    return after


def check_option_values(folder, seed, number, methods=PLAIN):
    """That many random calls keep the law; how many of them charged something."""
    write_world(folder)
    calls, before, spent = Calls(seed, methods), [], 0
    for _ in range(number):
        words, place = calls()
        after = check_call(folder, words, place, before=before)
        spent += len(after) > len(before)
        before = after
    return spent
