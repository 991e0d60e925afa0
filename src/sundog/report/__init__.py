"""The report: what was released at what cost, and how well the synthetic rows follow it. Public values only."""

from sundog.report.explore import explore_page, write_explore
from sundog.report.page import report_page, summary_fragment, write_report

__all__ = ["explore_page", "report_page", "summary_fragment", "write_explore", "write_report"]
