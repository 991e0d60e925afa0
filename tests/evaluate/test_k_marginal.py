"""NIST's score against its definition, and the sub-sample that scores the same."""

import numpy as np
import pytest

from related_tables import SCHEMA, permuted, related
from sundog.domain.rows import Rows
from sundog.evaluate.base import Comparison
from sundog.evaluate.k_marginal import KMarginal, SubSample

REAL = related(4000, 1)


def test_the_score_is_500_times_two_less_the_mean_distance_of_densities():
    subject = Comparison(REAL, related(3000, 2))
    distances = []
    for first in range(len(subject.sizes)):
        for second in range(first):
            tables = []
            for cells in (subject.real_cells, subject.synthetic_cells):
                table = np.zeros((subject.sizes[first], subject.sizes[second]))
                np.add.at(table, (cells[first], cells[second]), 1 / cells.shape[1])
                tables.append(table)
            distances.append(np.abs(tables[0] - tables[1]).sum())
    assert KMarginal().score(subject).value == pytest.approx(500 * (2 - np.mean(distances)))


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_a_sub_sample_is_worth_about_its_own_share(share):
    chosen = np.random.default_rng(5).permutation(len(REAL))[: round(share * len(REAL))]
    part = Rows(SCHEMA, tuple(codes[chosen] for codes in REAL.codes))
    assert SubSample().score(Comparison(REAL, part)).value == pytest.approx(share, rel=0.3)


def test_a_table_without_relations_is_worth_little():
    assert SubSample().score(Comparison(REAL, permuted(REAL, "x"))).value < 0.3


def test_one_column_has_no_pairs():
    one = Rows(SCHEMA, REAL.codes)
    assert KMarginal().score(Comparison(one, one)).value == 1000
