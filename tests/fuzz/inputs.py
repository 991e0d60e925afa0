"""What every kind of input is made with: a random source per number, JSON as anybody may write it, columns of any type."""

import json
import random
from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa


def rng(kind, number):
    return random.Random(f"{kind} {number}")


def dump(path, document):
    """JSON as Python writes it, with what JSON does not know (NaN, lone surrogates) as it comes."""
    text = json.dumps(document).replace('"DEEP"', "[" * 100_000 + "]" * 100_000)
    path.write_text(text, encoding="utf-8", errors="replace")


def odd_column(draw, rows):
    kinds = (
        lambda: pa.array([None] * rows),
        lambda: pa.array([draw.choice([None, [1], [1, 2]]) for _ in range(rows)]),
        lambda: pa.array([draw.choice([None, {"a": 1}]) for _ in range(rows)], pa.struct([("a", pa.int64())])),
        lambda: pa.array([[("k", draw.randrange(9))] for _ in range(rows)], pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([draw.choice(["a", None, "01", "x" * 999]) for _ in range(rows)]).dictionary_encode(),
        lambda: pa.array([Decimal(draw.randrange(10**9)) / 100 for _ in range(rows)], pa.decimal128(38, 10)),
        lambda: pa.array([Decimal(draw.randrange(10**9)) for _ in range(rows)], pa.decimal256(60, 3)),
        lambda: pa.array([draw.randrange(-(2**62), 2**62) for _ in range(rows)], pa.int64()),
        lambda: pa.array([draw.randrange(2**63, 2**64) for _ in range(rows)], pa.uint64()),
        lambda: pa.array(np.array([draw.random() for _ in range(rows)], dtype=np.float16)),
        lambda: pa.array([draw.choice([float("nan"), float("inf"), -0.0, 1e308]) for _ in range(rows)]),
        lambda: pa.array([date(draw.choice([1, 1970, 2021, 9999]), 1, 1) for _ in range(rows)]),
        lambda: pa.array([draw.randrange(-(2**62), 2**62) for _ in range(rows)], pa.timestamp("us")),
        lambda: pa.array([datetime(2021, 1, 1)] * rows, pa.timestamp("ns", "Europe/Paris")),
        lambda: pa.array([draw.randrange(86400) for _ in range(rows)], pa.time32("s")),
        lambda: pa.array([draw.randrange(10**6) for _ in range(rows)], pa.duration("ms")),
        lambda: pa.array([bytes([draw.randrange(256)]) * 5 for _ in range(rows)], pa.binary()),
        lambda: pa.array([bytes(16)] * rows, pa.binary(16)),
        lambda: pa.array([draw.choice([True, False, None]) for _ in range(rows)]),
        lambda: pa.array(["\ufffd\u0000" * draw.randrange(3) for _ in range(rows)], pa.large_string()),
    )
    return draw.choice(kinds)()
