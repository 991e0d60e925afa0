"""Class-conditional queries of soft rows: ranges and halfspaces whose members are counted by label."""

from sundog.generate.projection.forms import halfspaces, ranges
from sundog.generate.projection.forms.members import Member, Membership, member_form
from sundog.queries import Conditional, Halfspaces, Ranges

INNER: dict[type, Membership] = {Ranges: ranges.MEMBERSHIP, Halfspaces: halfspaces.MEMBERSHIP}


def _membership(query: Conditional) -> tuple[Membership, Member]:
    return INNER[type(query.inner)], Member(query.inner, query.label)


FORM = member_form(_membership)
