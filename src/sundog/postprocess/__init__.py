"""Post-processing: what may be done to synthetic rows after they are drawn. Synthetic rows and released values only."""

from sundog.postprocess.constraints import enforce, violations
from sundog.postprocess.match import Matching, NotMet

__all__ = ["Matching", "NotMet", "enforce", "violations"]
