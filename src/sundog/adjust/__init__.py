"""Adjusters: what may be done to synthetic rows after they are drawn. Public zone: synthetic rows and released values only."""

from sundog.adjust.constraints import enforce, violations

__all__ = ["enforce", "violations"]
