"""All that ever leaves the private zone, and what may be asked of it: public values only."""

from sundog.released.measurement import Guarantee, Measurement, NoiseKind, Payment, Scores
from sundog.released.proposal import Proposal, Score, Selection
from sundog.released.released import Released

__all__ = ["Guarantee", "Measurement", "NoiseKind", "Payment", "Proposal", "Released", "Score", "Scores", "Selection"]
