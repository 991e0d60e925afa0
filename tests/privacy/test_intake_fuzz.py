"""Whatever a file holds, drafting and checking it end in a result or a sentence, and quote nothing on the screen."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sundog
from privacy.checks import TOKEN
from privacy.stand_ins import run_command
from sundog.domain import Schema

cells = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [b"1,5", b"31.12.2020", b"$1,000.50", b"\xff\xfe", b'"', b'""', b"\\", b"0012", b"\x00", b"ja", b"-9"]
    ),
)
lines = st.lists(st.lists(cells, max_size=5).map(b",".join), max_size=12)


@settings(max_examples=25, deadline=None)
@given(lines=lines, first=st.sampled_from([b"a,b,c", b"a;b;c", b"1,2,3", b"a", b"\xe4,b", b'"a', b""]))
def test_any_bytes_can_be_drafted_and_checked(tmp_path_factory, lines, first):
    folder = tmp_path_factory.mktemp("any")
    path = folder / "t.csv"
    path.write_bytes(b"\n".join([first, *lines]) + b"\n")
    try:
        document = sundog.draft_schema(path, ledger=folder / "l")
        schema = Schema.from_json(document)
    except sundog.UserError:
        return
    found = sundog.check_table(path, schema, ledger=folder / "l")
    for column in found.columns:
        parts = (column.read, column.missing, column.unreadable, column.unknown_label, column.clamped)
        assert sum(parts) == pytest.approx(1.0 if found.rows else 0.0)
        assert column.clamped == 0, "a draft's bounds hold all that it read"


def test_a_draft_with_a_secret_in_every_column_says_nothing_of_it(tmp_path):
    rows = "".join(f"{TOKEN}{k},{TOKEN},1{TOKEN},{TOKEN} {TOKEN} {TOKEN} {TOKEN} {k}\n" for k in range(80))
    (tmp_path / "t.csv").write_text(f"a,b,c,d\n{rows}")
    for command in (
        ("schema", "draft", "t.csv", "-o", "d.json", "--json"),
        ("check", "t.csv", "--schema", "d.json", "--json"),
        ("check", "t.csv", "--schema", "d.json", "--unit", "a"),
    ):
        outcome = run_command(tmp_path, *command)
        assert outcome.code == 0, outcome.stderr
        assert TOKEN not in outcome.stdout + outcome.stderr + json.dumps(outcome.ledger)
