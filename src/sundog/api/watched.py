"""A run of the pipeline that is watched from outside: every question that the curator was asked, with what it let out.

The curator is the real one: a watched one has its state and its methods, and keeps a copy of proposals (public values of the
method) beside what came back (released). Only audits on made-up tables use it.
"""

from typing import Any

from sundog.api.synthesizer import Synthesizer
from sundog.audit.evidence import Transcript
from sundog.private.curator import Curator
from sundog.private.table import PrivateTable
from sundog.queries import Query
from sundog.released import Scores, Selection


class WatchedCurator(Curator):
    """A curator that remembers what it was asked to choose and to score."""

    def __init__(self, watched: Curator) -> None:
        vars(self).update(vars(watched))
        self.choices: list[tuple[Selection, tuple[Query, ...]]] = []
        self.scored: list[tuple[Selection, Scores]] = []

    def select(self, selection: Selection, rho: float) -> list[Query]:
        """As the curator does; the result is remembered."""
        chosen = super().select(selection, rho)
        self.choices.append((selection, tuple(chosen)))
        return chosen

    def score(self, selection: Selection, rho: float) -> Scores:
        """As the curator does; the result is remembered."""
        scores = super().score(selection, rho)
        self.scored.append((selection, scores))
        return scores


class WatchedSynthesizer(Synthesizer):
    """A synthesizer whose runs leave a transcript."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._watched: WatchedCurator | None = None

    def _curator(self, table: PrivateTable) -> Curator:
        self._watched = WatchedCurator(super()._curator(table))
        return self._watched

    @property
    def transcript(self) -> Transcript:
        """All that the last fit let out."""
        assert self._watched is not None  # noqa: S101 - a fit comes first
        return Transcript(self.released, tuple(self._watched.choices), tuple(self._watched.scored))
