"""What synthetic rows are taken to be wrong by: the noise of what they were fitted to, and their misfit."""

import numpy as np
import pytest

from noisy_releases import QUERIES, ROWS, release
from sundog.estimate.evidence import Evidence
from sundog.estimate.guesses import NOTHING_KNOWN, UNSEEN, misfit_of


def test_rows_that_fit_are_as_uncertain_as_what_they_were_fitted_to():
    """The real rows themselves have no misfit, and yet a count that was not measured has the noise of those that were."""
    found = {stddev: misfit_of(Evidence(release(1, stddevs=(stddev,) * len(QUERIES))), ROWS) for stddev in (2.0, 20.0)}
    wide = [query.size for query in QUERIES if len(query.columns) > 1]
    for stddev, misfit in found.items():
        assert misfit.noise == pytest.approx(stddev**2 * np.mean(wide) / len(ROWS), rel=0.2)
    counts = np.array([10.0, 100.0])
    assert (found[20.0].variance(counts) > found[2.0].variance(counts)).all()
    fits = found[20.0]
    least = (fits.scale + UNSEEN * fits.noise) * counts
    assert (fits.variance(counts) >= least * (1 - 1e-9)).all()


def test_where_no_relation_was_released_nothing_is_known():
    single = [query for query in QUERIES if len(query.columns) == 1]
    known = release(1, stddevs=(2.0,) * len(QUERIES))
    alone = known.with_measurements(tuple(m for m in known.measurements if m.query in single))
    misfit = misfit_of(Evidence(alone), ROWS)
    assert (misfit.relative, misfit.noise) == (NOTHING_KNOWN**2, 0.0)
