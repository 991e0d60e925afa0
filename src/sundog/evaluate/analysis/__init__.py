"""Analysis parity: the same analysis on real and on synthetic rows, estimates with intervals side by side.

Adoption studies name this first: would an analyst have reached the same conclusion? CONFIDENTIAL: it looks at real rows.
"""

from sundog.evaluate.analysis.default import default_analyses
from sundog.evaluate.analysis.parity import Parity, parity_of
from sundog.evaluate.analysis.request import Analysis, parse_analysis

__all__ = ["Analysis", "Parity", "default_analyses", "parity_of", "parse_analysis"]
