"""Parents of codes: the longest beginning that enough codes share."""

from sundog.domain.drafting.hierarchy import with_parents


def test_a_code_that_is_its_own_beginning_has_no_parent():
    codes = ["E11", "E11.0", "E11.1", "E11.2", "I10", "I10.0", "I10.1", "I10.2"]
    listed, why = with_parents(codes)
    assert listed[0] == {"value": "E11"}
    assert listed[1] == {"value": "E11.0", "parent": "E11"}
    assert "first 4 characters, 2 groups" in why


def test_codes_that_share_no_beginning_stay_as_they_are():
    assert with_parents(["A1", "B2", "C3", "D4"]) == (["A1", "B2", "C3", "D4"], "")
    assert with_parents([]) == ([], "")
