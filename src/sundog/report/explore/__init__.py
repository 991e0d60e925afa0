"""explore.html: one page to look at every column and pair with intervals, and to filter and cross-tabulate synthetic rows."""

from sundog.report.explore.page import explore_page, write_explore

__all__ = ["explore_page", "write_explore"]
