"""Fields as forms: what is not changed stays, what is wrong is told, and nothing read from the rows outlives being left out."""

import pytest
from starlette.datastructures import FormData

from sundog.domain.review import Review
from sundog.errors import UserError
from sundog.studio import field_forms as forms

WHY = {"origin": "fromData"}
DOCUMENT = {
    "name": "visits",
    "missingValues": [""],
    "fields": [
        {
            "name": "age",
            "type": "integer",
            "constraints": {"minimum": 0, "maximum": 97, "required": True},
            "sundog": WHY,
        },
        {"name": "sex", "type": "string", "categories": ["f", "m"], "sundog": WHY, "why": "Labels."},
        {
            "name": "in",
            "type": "date",
            "constraints": {"minimum": "2020-01-01", "maximum": "2024-12-31"},
            "sundog": WHY,
        },
        {
            "name": "out",
            "type": "date",
            "constraints": {"minimum": "2020-01-01", "maximum": "2024-12-31"},
            "sundog": WHY,
        },
        {
            "name": "code",
            "type": "integer",
            "categories": [{"value": 1, "label": "one"}, {"value": 2, "label": "two"}],
            "sundog": WHY,
        },
        {
            "name": "paid",
            "type": "number",
            "decimalChar": ",",
            "constraints": {"minimum": 0, "maximum": 9.5},
            "sundog": {**WHY, "decimals": 2},
        },
    ],
}


def form_of(place, **changes):
    """The form of a field as a browser sends it back: ticks that are off are not sent."""
    values = forms.shown(DOCUMENT["fields"][place], []) | {"because": "the codebook"} | changes
    return FormData({name: "yes" if value is True else value for name, value in values.items() if value is not False})


def answered(place, **changes):
    review = forms.answered(Review(DOCUMENT), place, form_of(place, **changes))
    return review.document["fields"][place]


@pytest.mark.parametrize("place", range(len(DOCUMENT["fields"])))
def test_a_form_that_is_sent_back_changes_nothing_but_the_review(place):
    before = {key: value for key, value in DOCUMENT["fields"][place].items() if key != "why"}
    own = before["sundog"] | {"origin": "reviewed", "publicBecause": "the codebook"}
    assert answered(place) == before | {"sundog": own}


def test_bounds_labels_and_missing_cells():
    assert answered(0, maximum="120")["constraints"] == {"minimum": 0, "maximum": 120, "required": True}
    assert answered(0, missing=True)["constraints"] == {"minimum": 0, "maximum": 97}
    assert answered(1, labels="f\r\nm\r\n x \r\n")["categories"] == ["f", "m", "x"]
    assert answered(1, ordered=True)["categoriesOrdered"] is True
    assert answered(4, labels="1\n2\n3")["categories"] == [1, 2, 3]
    assert answered(1, missing_values="NA\n-")["missingValues"] == ["NA", "-"]
    assert answered(5, decimals="1")["sundog"]["decimals"] == 1


def test_a_column_that_is_left_out_declares_nothing_of_the_rows():
    assert answered(1, role="left-out") == {
        "name": "sex",
        "type": "string",
        "identifier": True,
        "sundog": {"origin": "reviewed"},
    }
    assert answered(0, role="regenerated")["sundog"] == {"regenerate": True, "origin": "reviewed"}
    assert "constraints" not in answered(0, role="regenerated")


def test_computed_columns_and_offsets():
    assert answered(0, role="derived", derived="year(out) - year(in)", because="")["derived"] == "year(out) - year(in)"
    made = answered(3, role="offset", relative_to="in", offset_minimum="0", offset_maximum="90")
    assert (made["relativeTo"], made["offset"]) == ("in", {"minimum": 0, "maximum": 90})
    row = forms.rows_of({**DOCUMENT, "fields": [*DOCUMENT["fields"][:3], made]})[3]
    assert (row.role, row.domain) == ("offset", "distance from in: 0 to 90 days")


def test_targets_come_and_go():
    review = forms.answered(Review(DOCUMENT), 1, form_of(1, target=True))
    assert review.document["targets"] == ["sex"]
    back = FormData({name: value for name, value in form_of(1).items() if name != "target"})
    assert "targets" not in forms.answered(review, 1, back).document


@pytest.mark.parametrize(
    ("place", "changes", "said"),
    [
        (0, {"because": " "}, "say why its domain is public"),
        (0, {"maximum": "-5"}, "no value lies between"),
        (0, {"maximum": ""}, "constraints.maximum is missing"),
        (1, {"labels": ""}, "needs 'categories'"),
        (2, {"minimum": "soon"}, "not an ISO date"),
        (0, {"role": "king"}, "lacks a kind or a role"),
        (3, {"role": "offset", "relative_to": "in"}, "offset"),
    ],
)
def test_wrong_answers_are_told(place, changes, said):
    with pytest.raises(UserError, match=said):
        answered(place, **changes)
