"""Hostile answers in every form: what is wrong is told in a sentence, and no answer is a fault of ours."""

import re

import pytest

from studio_visits import BUDGET, drafted, reviewed
from sundog.studio.app import AT, DONE

pytestmark = pytest.mark.usefixtures("at_once")
VALUES = [
    "",
    "\u00b2",
    "9" * 5000,
    "-1",
    "1e400",
    "nan",
    "{{ 7 * 7 }}",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "a\0b",
    "\u202e",
    "[" * 5000,
]
NAMES = (
    *BUDGET,
    *(
        "data",
        "dataset",
        "sql",
        "picked",
        "picked_sql",
        "folder",
        "delimiter",
        "encoding",
        "quote",
        "escape",
        "file",
        "place",
    ),
    *(
        "answer",
        "because",
        "missing_values",
        "role",
        "type",
        "minimum",
        "maximum",
        "labels",
        "bins",
        "decimals",
        "resolution",
    ),
    *(
        "kind",
        "left",
        "operator",
        "right",
        "columns",
        "where",
        "weights",
        "threshold",
        "equals",
        "unit",
        "rows_per_unit",
        "rows",
    ),
    *(
        "adjust",
        "workload",
        "sign",
        "set:rows",
        "set:",
        "run",
        "shown",
        "key",
        "derived",
        "offset_minimum",
        "relative_to",
    ),
)
LEAVES_ALONE = ("/tables/drop", f"{AT}/remove", f"{AT}/jobs/{{job}}/stop")


@pytest.mark.parametrize("ready", [drafted, reviewed])
def test_no_answer_is_a_fault(client, data, ready):
    at = ready(client, data)
    asked = [path for path in DONE if path not in LEAVES_ALONE and "release" not in path]
    for value in VALUES:
        for path in asked:
            form = dict.fromkeys(NAMES, value) | ({"kind": "compare"} if "constraints" in path else {})
            answer = client.post(re.sub(r"\{place:int\}", "1", path.replace(AT, at)), data=form)
            assert answer.status_code < 500, (path, value[:20])
            assert "fault in Sundog" not in answer.text, (path, value[:20])
            assert "<script>alert(1)" not in answer.text, (path, value[:20])
            assert ">49<" not in answer.text, path
