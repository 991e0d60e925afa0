"""The kinds of inputs of linked tables: packages, tables, releases, arguments, calls in Python and pages of the studio."""

import json
from functools import cache
from pathlib import Path

import numpy as np

from fuzz import linked_files, packages
from fuzz.inputs import dump, rng
from fuzz.mutations import mutate, mutate_bytes

BUDGET = ("--rho", "0.5", "--set", "passes=1")
PACKAGE = "datapackage.json"


def package(number, folder):
    """A malformed package over sound tables: checked, planned, and spent on."""
    draw, place = rng("package", number), Path(folder)
    document = packages.any_of(draw)
    if draw.random() < 0.25:
        (place / PACKAGE).write_bytes(packages.text_of(draw, document))
    else:
        dump(place / PACKAGE, packages.malformed(draw, document))
    for name, table in linked_files.sound(draw).items():
        linked_files.write_csv(draw, place / f"{name}.csv", table)
    yield _spending(draw, ".")
    more = (
        ("schema", "check", PACKAGE),
        ("plan", PACKAGE, "--rows", "50", "--epsilon", "1,2"),
        ("check", ".", "--schema", PACKAGE),
        ("synthesize", ".", *BUDGET, "-o", "dry", "--dry-run"),
        ("plan", PACKAGE, "--rows", "50", "--column-error", "5%"),
    )
    yield draw.choice(more)
    if number % 50 == 7:
        yield "schema", "review", PACKAGE, "--keep", "visits.day", "-o", "reviewed.json"


def _spending(draw, data):
    if draw.random() < 0.7:
        return "measure", data, "--schema", PACKAGE, *BUDGET, "-o", "released.json"
    return "synthesize", data, "--schema", PACKAGE, *BUDGET, "-o", "out", "--rows", "5"


def linked_tables(number, folder):
    """Malformed tables of a sound package, as files, in a database, or with nasty keys."""
    draw, place = rng("linked-tables", number), Path(folder)
    document = packages.any_of(draw, paths=False)
    tables = linked_files.nasty(draw, linked_files.sound(draw))
    if packages.is_bare(document):
        tables.pop("patients")
    damaged = draw.random() < 0.4
    where = _written(draw, place, tables, damaged=damaged)
    dump(place / PACKAGE, document)
    yield _spending(draw, where)
    if number % 4 == 0:
        yield "check", where, "--schema", PACKAGE, "-o", "found.json"
    if number % 16 == 1 and not (place / "out").exists():
        _put_release(place)
        yield "evaluate", "--real", where, "--synthetic", "out", "--schema", PACKAGE, "--no-learning"
    if number % 16 == 2:
        yield "measure", where, "--schema", PACKAGE, *BUDGET, "--neighbours", "replace", "-o", "other.json"


def _written(draw, place, tables, *, damaged):
    """The tables as files of a folder, or in one database; what names them on a command line."""
    kind = draw.choice(["folder", "folder", "duckdb", "sqlite"])
    if kind == "folder":
        linked_files.write_folder(draw, place, tables, damaged=damaged)
        return "."
    write = linked_files.write_duckdb if kind == "duckdb" else linked_files.write_sqlite
    write(draw, place / f"data.{kind}", tables, damaged=damaged)
    return f"data.{kind}"


@cache
def _released():
    """A release of the sound package with a measurement of every column and a pair of every view, the same on every machine."""
    from sundog.domain.linked.views import LinkedSchema
    from sundog.domain.unit import PrivacyUnit
    from sundog.methods.linked import first_names, pairs
    from sundog.queries import Marginal
    from sundog.released import Guarantee, Measurement, Payment, Released
    from sundog.released.per_view import shared

    draw, schema = np.random.default_rng(0), LinkedSchema.from_document(packages.sound())
    measured = []
    for view in schema.views:
        flat = schema.of_view(view)
        asked = [(name,) for name in first_names(view, schema)] + pairs(view)[:3]
        for query in (shared(Marginal.of(flat, *names), view) for names in asked):
            values = draw.integers(-2, 30, query.size) * query.scale
            measured.append(Measurement(query, values, 2.5 * query.scale, f"ward#{len(measured)}"))
    payments = tuple(Payment(each.receipt, "gaussian", "x", 0.01, 0.0, {"cells": 3}) for each in measured)
    unit = PrivacyUnit("add-remove", "patients.id", 1, below=True)
    guarantee = Guarantee(
        unit, "zcdp", 0.01 * len(measured), epsilon=9.0, delta=1e-6, keys={"patients": "checked", "visits": "ensured"}
    )
    return Released(schema, tuple(measured), guarantee, payments=payments, dataset="ward", noise="n").to_json()


def linked_release(number, folder):
    """A tampered released.json of linked tables: generated from, asked, compared."""
    draw, place = rng("linked-release", number), Path(folder)
    changes = draw.choice([1, 1, 3])
    document = mutate(draw, _released(), changes) if draw.random() < 0.7 else _other_schema(draw)
    if draw.random() < 0.1:
        (place / "released.json").write_bytes(packages.text_of(draw, _released()))
    else:
        dump(place / "released.json", document)
    if number % 2:
        yield "generate", "released.json", "-o", "out", "--seed", "1", "--set", "passes=1", "--rows", "8"
    else:
        yield "answer", "released.json", *_question(draw)
    if number % 16 == 3:
        yield "answer", "out", *_question(draw)
    if number % 16 == 5:
        yield "verify", "out"
    if number % 16 == 7:
        yield "compare", "released.json", "--method", "independent"


def _other_schema(draw):
    """Measurements beside a package that was changed after them."""
    document = json.loads(json.dumps(_released()))
    changed = packages.malformed(draw, document["schema"])
    return document | {"schema": changed}


NAMES = (
    "patients.sex",
    "patients.born",
    "visits.fee",
    "visits.day",
    "tests.kind",
    "kin.age",
    "kin.elder",
    "patients.#visits",
)
NAMES += (
    "visits.#gap",
    "visits.#place",
    "kin.age@2",
    "kin.age@-",
    "visits#",
    "patients.id",
    "nothing.x",
    "",
    ".",
    "sex",
    "*",
)


def _question(draw):
    given = []
    for _ in range(draw.randint(1, 3)):
        name = draw.choice(NAMES)
        given += draw.choice(
            [
                ("--by", name),
                ("--by", ",".join(draw.sample(NAMES, 3))),
                ("--mean", name),
                ("--sum", name),
                ("--share", draw.choice([name, f"{name}=f", f"{name}="])),
                ("--quantile", f"{name}={draw.choice(['0.5', '0,1', '2', '0.1,0.1', '', 'x'])}"),
                (
                    "--where",
                    f"{name} {draw.choice(['= f', '>= 2', 'is missing', '= ' + 'x' * 5000, '> 2024-01-05 and', '(' * 999])}",
                ),
                ("--confidence", draw.choice(["0", "1", "0.5", "nan", "2", "1e-300", "0.9999999999999999"])),
                ("--count",),
            ]
        )
    return given


@cache
def _folder():
    """The files of a sound release, certificate and pages and all."""
    import tempfile

    from fuzz.worker import _command

    with tempfile.TemporaryDirectory() as held:
        place = Path(held)
        dump(place / "released.json", _released())
        made = (
            "generate",
            place / "released.json",
            "-o",
            place / "out",
            "--seed",
            "1",
            "--set",
            "passes=1",
            "--rows",
            "12",
        )
        code, said = _command(made)
        if code:
            raise RuntimeError(said)
        return {path.name: path.read_bytes() for path in (place / "out").iterdir()}


def release_folder(number, folder):
    """A tampered folder of a release: verified, asked, evaluated, described."""
    draw, place = rng("release-folder", number), Path(folder) / "out"
    held = dict(_folder())
    for _ in range(draw.randint(1, 2)):
        _tampered(draw, held)
    place.mkdir()
    for name, content in held.items():
        if content is None:
            (place / name).mkdir(exist_ok=True)
        else:
            (place / name).write_bytes(content)
    yield "verify", "out"
    if number % 4 == 1:
        yield "answer", "out", *_question(draw)
    if number % 4 == 2:
        yield "certificate", "out"
    if number % 16 == 3:
        yield "generate", "out/released.json", "-o", "out", "--resume"
    if number % 16 == 7:
        yield "generate", "out/released.json", "-o", "out", "--force", "--rows", "4", "--set", "passes=1"
    if number % 16 == 11:
        yield lambda: _loaded(place)


def _loaded(place):
    import sundog

    sundog.load(place).sample(4)


def _tampered(draw, held):
    """One file changed, gone, added, emptied, a folder, or a JSON document with anything anywhere."""
    name = draw.choice([name for name, content in held.items() if content is not None])
    what = draw.randrange(7)
    if what == 0:
        del held[name]
    elif what == 1:
        held[draw.choice(["more.txt", "synthetic.kin.parquet", "synthetic.csv", ".hidden", "certificate.sig"])] = held[
            name
        ]
    elif what == 2:
        held[name] = draw.choice(
            [b"", b"\x00", None, held[draw.choice([each for each in held if held[each]] or [name])]]
        )
    elif what in (3, 4) and any(each.endswith(".json") and held[each] for each in held):
        name = draw.choice([each for each in held if each.endswith(".json") and held[each]])
        try:
            held[name] = (
                json.dumps(mutate(draw, json.loads(held[name]))).replace('"DEEP"', "[" * 9999).encode(errors="replace")
            )
        except (ValueError, RecursionError):
            held[name] = mutate_bytes(draw, held[name])
    else:
        tables = [each for each in held if each.startswith("synthetic.") and held[each]]
        name = draw.choice(tables) if tables and draw.random() < 0.5 else name
        held[name] = mutate_bytes(draw, held[name], changes=3)


def _put_release(place):
    """A sound release of the package beside the private tables."""
    (place / "out").mkdir()
    for name, content in _folder().items():
        (place / "out" / name).write_bytes(content)


COMMANDS = (
    ("synthesize", ".", *BUDGET, "-o", "out", "--rows", "4"),
    ("synthesize", ".", "--epsilon", "1", "--delta", "1e-6", "-o", "out", "--dry-run"),
    ("measure", ".", "--schema", PACKAGE, *BUDGET, "-o", "made.json"),
    ("measure", ".", "--epsilon", "1", "--delta", "1e-6", "-o", "made.json"),
    ("generate", "released.json", "-o", "out", "--rows", "4", "--set", "passes=1"),
    ("answer", "released.json", "--by", "patients.sex"),
    ("plan", PACKAGE, "--rows", "50"),
    ("check", ".", "--schema", PACKAGE, "-o", "found.json"),
    ("evaluate", "--real", ".", "--synthetic", "out", "--schema", PACKAGE, "--no-learning"),
    ("verify", "out"),
)
OPTIONS = (
    "--rows", "--epsilon", "--delta", "--rho", "--seed", "--rows-per-unit", "--unit", "--dataset", "--method", "--set",
    "--adjust", "--workload", "--public", "--neighbours", "--format", "--delimiter", "--encoding", "-o", "--ledger",
    "--schema", "--sql", "--where", "--purpose", "--key", "--by", "--mean",
)  # fmt: skip
VALUES = (
    "1e20", "100000000000000000000", "-1", "0", "nan", "inf", "1e-400", "1e-310", "1e300", "", " ", "passes=0", "passes=1e9",
    "tolerance=nan", ".", "..", "/", "/dev/null", "kin.csv", PACKAGE, "released.json", "out", "a" * 300, "é\u202e", "visits",
    "patients.id", "kin.age", "add-remove", "replace", "0.5", "3", "parquet", "SELECT 1", "mst", "auto", "independent", "*", "~",
)  # fmt: skip


def linked_command(number, folder):
    """Odd arguments of commands that take linked tables."""
    draw, place = rng("linked-command", number), Path(folder)
    dump(place / PACKAGE, packages.sound())
    dump(place / "released.json", _released())
    for name, table in linked_files.sound(draw).items():
        linked_files.write_csv(draw, place / f"{name}.csv", table)
    base = list(draw.choice(COMMANDS))
    if "out" in base and base[0] in ("evaluate", "verify"):
        _put_release(place)
    for _ in range(draw.choice([1, 1, 2])):
        if draw.random() < 0.7:
            base += [draw.choice(OPTIONS), draw.choice(VALUES)]
        else:
            base[draw.randrange(1, len(base))] = draw.choice(VALUES)
    yield base


def linked_frames(number, folder):
    """Frames of any library, with columns of any type and nasty keys, given to Python; or what is no frame at all."""
    draw = rng("linked-frames", number)
    document = packages.any_of(draw)
    bare = packages.is_bare(document)
    document = packages.malformed(draw, document) if draw.random() < 0.2 else document
    tables = linked_files.sound(draw) if draw.random() < 0.2 else linked_files.nasty(draw, linked_files.sound(draw))
    frames = {name: _frame(draw, table) for name, table in tables.items() if not (bare and name == "patients")}
    if draw.random() < 0.15:
        frames = _no_frames(draw, frames)
    yield lambda: _fitted(document, frames)
    if number % 4 == 0:
        yield lambda: _checked(document, frames)
    if number % 16 == 1:
        yield lambda: _evaluated(document, frames)


def _frame(draw, table):
    """The columns as pandas, polars, Arrow or a dictionary; with object cells, an index, or a name for all columns in pandas."""
    import pandas as pd

    made = linked_files.arrow_table(draw, table)
    rows = made.num_rows
    objects = {name: [*cells, *[None] * (rows - len(cells))] for name, cells in table.items()}
    build = draw.choice(
        [
            made.to_pandas,
            lambda: made.to_pandas().set_index(made.to_pandas().columns[0]),
            lambda: pd.DataFrame(objects, dtype=object),
            lambda: made.to_pandas().set_axis([made.column_names[0]] * made.num_columns, axis=1),
            lambda: _polars(made),
            lambda: _polars(made).lazy(),
            lambda: made,
            made.to_reader,
            lambda: dict(table),
            lambda: {name: np.array(cells, dtype=object) for name, cells in table.items()},
        ]
    )
    try:
        return build()
    except NotImplementedError:  # a type that the library does not take
        return made


def _polars(made):
    """In polars, without the columns that it does not take: it panics."""
    import polars as pl

    odd = [field.name for field in made.schema if str(field.type).startswith(("decimal256", "map", "fixed_size"))]
    return pl.from_arrow(made.drop_columns(odd))


def _no_frames(draw, frames):
    victim = draw.choice(list(frames))
    odd = draw.choice(
        [None, 3, "nothing.csv", "kin", b"x", [], {}, object(), [1, 2], float("nan"), {"a": 1}, np.zeros(3)]
    )
    return draw.choice(
        [odd, {**frames, victim: odd}, {**frames, victim: odd}, {**frames, "more": odd}, list(frames.values())]
    )


def _fitted(document, frames):
    import sundog

    options = {"rho": 0.5, "dataset": "ward", "settings": {"passes": 1}, "seed": 1}
    sundog.Synthesizer(document, **options).fit(frames).sample(4)


def _checked(document, frames):
    import sundog

    repr(sundog.check_table(frames, document, dataset="ward"))


def _evaluated(document, frames):
    import sundog

    repr(sundog.evaluate_linked(frames, frames, schema=document, dataset="ward", learning=False))


def linked_studio(number, folder):
    """A malformed package or malformed tables in the studio: its pages, its plan, and at times a run."""
    draw, place = rng("linked-studio", number), Path(folder)
    document = packages.any_of(draw)
    dump(place / PACKAGE, packages.malformed(draw, document) if draw.random() < 0.5 else document)
    tables = linked_files.sound(draw)
    for name, table in (tables if draw.random() < 0.5 else linked_files.nasty(draw, tables)).items():
        linked_files.write_csv(draw, place / f"{name}.csv", table)
    yield lambda: _visited(draw, place, run=number % 4 == 0)


def _visited(draw, place, *, run):
    """Every page of one package; what the studio says is printed, and what it refuses is refused here."""
    from studio_visits import BUDGET as FORM
    from studio_visits import charge, client_of, place_of
    from sundog.studio import jobs, worker

    jobs._spawn = worker.main  # in this process, which was forked
    client = client_of(place)
    at = place_of(_answered(client.post("/tables", data={"data": str(place / draw.choice([PACKAGE, ""]))})))
    for page in ("", "/schema", "/schema/document", "/check", "/plan", "/run", "/release"):
        _answered(client.get(f"{at}{page}"))
    plan = {name: value for name, value in FORM.items() if name != "method"} | {"folder": str(place / "out")}
    _answered(client.post(f"{at}/plan", data=plan))
    if run:
        _answered(client.post(f"{at}/run", data=charge(client, at)))
        _answered(client.get(f"{at}/release"))


def _answered(answer):
    from sundog.errors import UserError

    print(answer.text)
    if answer.status_code >= 500:
        raise RuntimeError(f"status {answer.status_code}")
    if answer.status_code >= 400:
        raise UserError(f"refused with status {answer.status_code}")
    return answer


KINDS = {
    "package": package,
    "linked-tables": linked_tables,
    "linked-release": linked_release,
    "release-folder": release_folder,
    "linked-command": linked_command,
    "linked-frames": linked_frames,
    "linked-studio": linked_studio,
}
