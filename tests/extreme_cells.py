"""Every engine type with ordinary cells and with its extreme ones. Importable as `extreme_cells`."""

import datetime as dt
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from sundog.domain import Schema

TOKEN = "Zq7SECRET"
ROLES = {
    "label": {"categories": ["1", "true", "2020-01-05", "12:00:00", "a"]},
    "code": {"type": "integer", "categories": [1, 2]},
    "integer": {"type": "integer", "constraints": {"minimum": 0, "maximum": 10}},
    "number": {"type": "number", "constraints": {"minimum": 0, "maximum": 10}, "sundog": {"decimals": 1}},
    "boolean": {"type": "boolean"},
    "date": {"type": "date", "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31"}},
    "european date": {
        "type": "date",
        "format": "%d/%m/%Y",
        "constraints": {"minimum": "0001-01-01", "maximum": "9999-12-31"},
    },
    "moment": {
        "type": "datetime",
        "constraints": {"minimum": "2020-01-01T00:00:00", "maximum": "2020-12-31T00:00:00"},
        "sundog": {"resolution": 60},
    },
    "time": {"type": "time", "sundog": {"resolution": 60}},
    "required": {"type": "integer", "constraints": {"minimum": 0, "maximum": 10, "required": True}},
}
DOCUMENT = {
    "name": "extremes",
    "missingValues": ["", "-9", "n/a", "1e40"],
    "fields": [{"name": name, **role} for name, role in ROLES.items()],
}
SCHEMA = Schema.from_json(DOCUMENT)

I32, I64 = np.iinfo(np.int32), np.iinfo(np.int64)
MOMENTS = [1_577_923_200, 0]
"""2020-01-02 and 1970-01-01 in seconds."""


def _raw(kind, numbers):
    """An array from the numbers that store it, whatever they mean."""
    bits = kind.bit_width
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.array(numbers, f"int{bits}").tobytes())])


def _text(kind, cells):
    """Text from bytes that need not be UTF-8."""
    offsets = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    plain = pa.Array.from_buffers(pa.string(), len(cells), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(cells))])
    return plain if kind == pa.string() else plain.cast(pa.large_string()) if kind == pa.large_string() else plain


BAD_TEXT = [b"\xff\xfe" + TOKEN.encode(), b"\xed\xa0\x80", b"\x00", b"x" * 70_000, b"\xc3", b"9" * 400, b"1e999", b"-9"]
BAD_TEXT += [
    b"infinity",
    b"-nan",
    b"294247-01-10",
    b"99999-01-01",
    b"12:00:00+99",
    b"5881580-07-11",
    b"290309-12-22 (BC)",
]


def arrow():
    """Name -> (ordinary, extreme) arrays of one type, for every Arrow type whose cells are single values."""
    found = {}
    for bits in (8, 16, 32, 64):
        for kind in (f"int{bits}", f"uint{bits}"):
            info = np.iinfo(kind)
            found[kind] = (pa.array(np.array([1, 2], kind)), pa.array(np.array([info.min, info.max], kind)))
    for kind in ("float16", "float32", "float64"):
        info = np.finfo(kind)
        cells = [info.min, info.max, info.tiny, info.eps, np.inf, -np.inf, np.nan, -0.0]
        found[kind] = (pa.array(np.array([1, 2.5], kind)), pa.array(np.array(cells, kind)))
    for unit, factor in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        ends = [I64.min, I64.min + 1, I64.max - 1, I64.max, 253402300800 * factor % I64.max, -62135596801]
        for zone in (None, "UTC", "Europe/Berlin"):
            kind = pa.timestamp(unit, zone)
            found[str(kind)] = (_raw(kind, [second * factor for second in MOMENTS]), _raw(kind, ends))
        found[f"duration {unit}"] = (_raw(pa.duration(unit), [factor, 2 * factor]), _raw(pa.duration(unit), ends))
    for kind, noon in ((pa.time32("s"), 43_200), (pa.time32("ms"), 43_200_000)):
        found[str(kind)] = (_raw(kind, [0, noon]), _raw(kind, [I32.min, -1, noon * 2, I32.max]))
    for kind, noon in ((pa.time64("us"), 43_200 * 10**6), (pa.time64("ns"), 43_200 * 10**9)):
        found[str(kind)] = (_raw(kind, [0, noon]), _raw(kind, [I64.min, -1, noon * 2, I64.max]))
    found["date32"] = (_raw(pa.date32(), [18_263, 0]), _raw(pa.date32(), [I32.min, I32.min + 1, I32.max, -719_163]))
    found["date64"] = (_raw(pa.date64(), [18_263 * 86_400_000, 0]), _raw(pa.date64(), [I64.min, I64.max, 1, -1]))
    return found | _arrow_exact() | _arrow_text() | _arrow_folded()


def _arrow_exact():
    found = {}
    for kind in (pa.decimal128(38, 0), pa.decimal256(76, 0)):
        large = Decimal("9" * kind.precision)
        found[str(kind)] = (pa.array([1, 2], kind), pa.array([large, large.copy_negate(), Decimal(-9)], kind))
    for kind in (pa.decimal128(38, 38), pa.decimal256(76, 76)):
        tiny = Decimal(1).scaleb(-kind.scale)
        found[str(kind)] = (
            pa.array([0, 0], kind),
            pa.array([tiny, tiny.copy_negate(), Decimal("0." + "9" * kind.scale)], kind),
        )
    beyond = np.array([I64.max] * 6, np.int64).tobytes()  # more digits than the type declares
    broken = pa.Array.from_buffers(pa.decimal128(5, 2), 3, [None, pa.py_buffer(beyond)])
    found["decimal beyond its digits"] = (pa.array([1, 2], pa.decimal128(5, 2)), broken)
    found["bool"] = (pa.array([True, False]), pa.array([None, True]))
    found["null"] = (pa.nulls(2), pa.nulls(1))
    return found


def _arrow_text():
    found = {
        str(kind): (pa.array(["1", "a"], kind), _text(kind, BAD_TEXT)) for kind in (pa.string(), pa.large_string())
    }
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        found[str(kind)] = (pa.array([b"1", b"a"], kind), pa.array(BAD_TEXT, kind))
    fixed = pa.binary(2)
    found[str(fixed)] = (pa.array([b"10", b"20"], fixed), pa.array([b"\xff\xfe", b"\x00\x00"], fixed))
    view = _text(pa.string(), BAD_TEXT).cast(pa.binary()).cast(pa.binary_view())
    found["string_view"] = (pa.array(["1", "a"], pa.string_view()), view.view(pa.string_view()))
    return found


def _arrow_folded():
    bad = _text(pa.string(), BAD_TEXT)
    words = pa.concat_arrays([pa.array(["1", "a"]), bad])
    folded = words.dictionary_encode()
    moments = pa.array([0, I64.max, I64.min]).view(pa.timestamp("s"))
    outside = pa.DictionaryArray.from_arrays(pa.array([0, 1, 9, -1], pa.int8()), pa.array(["1", "a"]), safe=False)
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None, None], pa.int8()), pa.array([], pa.string()))
    holes = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), pa.array(["1", "a", None]))
    runs = pc.run_end_encode(pa.array([1.0, 1.0, np.inf, np.nan]))
    found = {"folded text": folded, "folded moments": moments.take(pa.array([0, 0, 1, 2])).dictionary_encode()}
    found |= {"indices that point nowhere": outside, "no words": empty, "words with holes": holes, "runs": runs}
    return {name: (array.slice(0, 2), array.slice(2)) for name, array in found.items()}


DUCK = {
    "TINYINT": ("1", "'-128', 127"),
    "BIGINT": ("1", "'-9223372036854775808', 9223372036854775807"),
    "UBIGINT": ("1", "0, 18446744073709551615"),
    "HUGEINT": ("1", "'-170141183460469231731687303715884105728', 170141183460469231731687303715884105727, -9"),
    "UHUGEINT": ("1", "0, 340282366920938463463374607431768211455"),
    "BIGNUM": ("1", "340282366920938463463374607431768211456789, -9"),
    "DECIMAL(38,0)": ("1", "99999999999999999999999999999999999999, -9"),
    "DECIMAL(38,38)": ("0", "0.00000000000000000000000000000000000001"),
    "DECIMAL(4,1)": ("1", "999.9, -999.9"),
    "FLOAT": ("1", "'infinity', '-infinity', 'nan', 3.4e38, 1e-45"),
    "DOUBLE": ("1", "'infinity', '-infinity', 'nan', 1.7e308, 5e-324"),
    "BOOLEAN": ("true", "NULL"),
    "VARCHAR": ("'a'", f"'{TOKEN}', '1e999', chr(0), '' || repeat('9',500) || '', 'infinity', '99999-01-01'"),
    "BLOB": ("'a'", r"'\xFF\xFE', '\x00', ''"),
    "BIT": ("'1'", "('1' || repeat('01',200))"),
    "UUID": ("'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    "DATE": ("'2020-01-05'", "'infinity', '-infinity', '5881580-07-10', '5877642-06-25 (BC)'"),
    "TIME": ("'12:00:00'", "'24:00:00', '00:00:00', '23:59:59.999999'"),
    "TIME_NS": ("'12:00:00'", "'00:00:00', '23:59:59.999999999'"),
    "TIMETZ": ("'12:00:00'", "'00:00:00+15:59:59', '24:00:00-15:59:59'"),
    "TIMESTAMP": (
        "'2020-01-05'",
        "'infinity', '-infinity', '294247-01-10 04:00:54.775806', '290309-12-22 (BC) 00:00:00'",
    ),
    "TIMESTAMP_S": ("'2020-01-05'", "'infinity', '-infinity', '290000-01-01', '290309-12-22 (BC) 00:00:00'"),
    "TIMESTAMP_MS": ("'2020-01-05'", "'infinity', '-infinity', '294247-01-10 04:00:54', '290309-12-22 (BC) 00:00:00'"),
    "TIMESTAMP_NS": ("'2020-01-05'", "'infinity', '-infinity', '1677-09-22', '2262-04-11 23:47:16.854775806'"),
    "TIMESTAMPTZ": ("'2020-01-05'", "'infinity', '-infinity', '294247-01-10 04:00:54.775806+00'"),
    f"ENUM('a', '{TOKEN}', '1e999', '')": ("'a'", f"'{TOKEN}', '1e999', ''"),
    "JSON": ("'1'", "'[1]', '{}', '\"a\"', 'null'"),
}
"""DuckDB type -> (an ordinary cell, the extreme ones) in SQL."""

LONE = TOKEN + "\ud800"
PANDAS = {
    "category of ints and text": lambda odd: pd.Series([1, 2, *[TOKEN] * odd], dtype="category"),
    "category of text": lambda odd: pd.Series(
        pd.Categorical.from_codes([0, 1, *[2] * odd], pd.Index(["1", "a", *[LONE] * odd], dtype=object))
    ),
    "category of objects": lambda odd: pd.Series([1, "a", *[(TOKEN,)] * odd], dtype="category"),
    "category of intervals": lambda odd: pd.cut(pd.Series([1.0, 2.0, *[np.inf] * odd]), [0, 1, 5, np.inf]),
    "category of floats": lambda odd: pd.Series([1.0, 2.0, *[np.inf] * odd], dtype="category"),
    "string[python]": lambda odd: pd.Series(["1", "a", *[LONE] * odd], dtype=pd.StringDtype("python")),
    "<U": lambda odd: np.array(["1", "a", *[LONE] * odd]),
    "S": lambda odd: np.array([b"1", b"a", *[b"\xff"] * odd]),
    "Int64": lambda odd: pd.Series([1, 2, *[I64.min] * odd], dtype="Int64"),
    "UInt64": lambda odd: pd.Series([1, 2, *[2**64 - 1] * odd], dtype="UInt64"),
    "boolean": lambda odd: pd.Series([True, False, *[None] * odd], dtype="boolean"),
    "Float32": lambda odd: pd.Series([1, 2, *[np.inf] * odd], dtype="Float32"),
    "complex": lambda odd: np.array([1, 2, *[complex(np.nan, np.inf)] * odd], complex),
    "longdouble": lambda odd: np.array([1, 2, *[np.finfo(np.longdouble).max] * odd], np.longdouble),
    "timedelta": lambda odd: pd.Series(np.array([1, 2, *[I64.max] * odd], "timedelta64[s]")),
    "period": lambda odd: pd.Series([pd.Period("2020-01-05", "D"), *[pd.NaT] * odd], dtype="period[D]"),
    "interval": lambda odd: pd.Series(pd.arrays.IntervalArray.from_tuples([(0, 1), (1, 2), *[(0, np.inf)] * odd])),
    "sparse": lambda odd: pd.Series(pd.arrays.SparseArray([1.0, 0.0, *[np.inf] * odd])),
    "zoned": lambda odd: pd.Series(
        pd.to_datetime(["2020-01-05", *["2262-04-11"] * odd]).tz_localize("America/New_York")
    ),
    **{
        f"datetime64[{unit}]": lambda odd, unit=unit: np.array(
            [
                np.datetime64("2020-01-05", unit),
                *[np.datetime64(number, unit) for number in [I64.max, I64.min + 1] * odd],
            ]
        )
        for unit in ("Y", "M", "D", "h", "m", "s", "ms", "us", "ns")
    },
    "objects": lambda odd: pd.Series(
        [1, "a", *[dt.timedelta.max, dt.time(1, tzinfo=dt.UTC), dt.date.min, Decimal("1e400"), LONE] * odd],
        dtype=object,
    ),
}
"""pandas and NumPy columns with no odd cell (0) or some (1)."""

POLARS = {
    "Int128": lambda odd: pl.Series([1, 2, *[2**127 - 1, -9] * odd], dtype=pl.Int128),
    "UInt128": lambda odd: pl.Series([1, 2, *[2**128 - 1] * odd], dtype=pl.UInt128),
    "Decimal": lambda odd: pl.Series([Decimal(1), *[Decimal("9" * 38)] * odd], dtype=pl.Decimal(38, 0)),
    "Date": lambda odd: pl.Series([18_263, *[I32.max, I32.min] * odd], dtype=pl.Int32).cast(pl.Date),
    "Time": lambda odd: pl.Series([dt.time(12), *[dt.time.max] * odd]),
    **{
        f"Datetime {unit}": lambda odd, unit=unit: pl.Series([0, *[I64.max, I64.min] * odd]).cast(pl.Datetime(unit))
        for unit in ("ms", "us", "ns")
    },
    **{
        f"Duration {unit}": lambda odd, unit=unit: pl.Series([0, *[I64.max, I64.min] * odd]).cast(pl.Duration(unit))
        for unit in ("ms", "us", "ns")
    },
    "zoned": lambda odd: pl.Series([0, *[I64.max, I64.min] * odd]).cast(pl.Datetime("ms", "Europe/Berlin")),
    "Categorical": lambda odd: pl.Series(["1", "a", *[TOKEN] * odd], dtype=pl.Categorical),
    "Enum": lambda odd: pl.Series(["1", "a", *[TOKEN] * odd], dtype=pl.Enum(["1", "a", TOKEN])),
    "Binary": lambda odd: pl.Series([b"1", b"a", *[b"\xff"] * odd]),
    "Object": lambda odd: pl.Series([1, "a", *[LONE, object()] * odd], dtype=pl.Object),
    "Null": lambda odd: pl.Series([None] * (2 + odd)),
}
"""polars columns with no odd cell (0) or some (1)."""

ARROW = arrow()
ODD = max(len(extreme) for _, extreme in ARROW.values())


STORED = ("label", "number", "moment", "time")
"""Roles enough for files: what a file adds is its reader."""


def wide(kinds, odd, roles=tuple(ROLES)):
    """All these types in these roles, side by side: two ordinary rows, then `odd` extreme ones."""
    arrays = {}
    for kind in kinds:
        ordinary, extreme = ARROW[kind]
        chunks = [ordinary, *[extreme] * ODD]
        column = pa.chunked_array(chunks).slice(0, len(ordinary) + odd)
        arrays |= {f"{kind}: {role}": column for role in roles}
    return pa.Table.from_arrays(list(arrays.values()), names=list(arrays))


def wide_schema(kinds, roles=tuple(ROLES)):
    fields = [{"name": f"{kind}: {role}", **ROLES[role]} for kind in kinds for role in roles]
    return Schema.from_json(DOCUMENT | {"fields": fields})


def writable(write, path):
    """The Arrow types of which a writer knows the type and the values."""
    found = []
    for kind in ARROW:
        try:
            write(wide([kind], ODD, STORED), path)
        except (pa.ArrowException, TypeError):
            continue
        found.append(kind)
    return found


def write_duckdb(path, kinds, *, odd, roles=tuple(ROLES)):
    """A database whose table holds these DuckDB types in these roles: an ordinary row, then extreme ones if `odd`."""
    rows = 1 + max(len(DUCK[kind][1].split(", ")) for kind in kinds)
    columns = []
    for kind in kinds:
        ordinary, extreme = DUCK[kind]
        cells = [ordinary, *extreme.split(", ")] if odd else [ordinary]
        listed = ", ".join(f"CAST({cell} AS {kind})" for cell in (cells * rows)[:rows])
        columns += [f'unnest([{listed}]) AS "{kind}: {role}"' for role in roles]
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {', '.join(columns)}")
