"""Support per item."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.latent_headline import fit_unreadable, support


def test_printed_supports(four, gaps):
    found = support(fit_unreadable(four.codes, four.counts, n_labels=2))
    places = [four.names.index(name) for name in ("0000", "0001", "0011", "1110")]
    assert found.support[places, 1] == pytest.approx([0.0300, 0.2318, 0.4634, 0.7762], abs=5e-5)
    found = support(fit_unreadable(gaps.codes, gaps.counts, n_labels=3))
    assert found.support[gaps.names.index("012")] == pytest.approx(
        [0.3609, 0.3517, 0.2874], abs=5e-5
    )


def test_rows_sum_to_one_and_the_consensus_has_most_support(gaps):
    found = support(fit_unreadable(gaps.codes, gaps.counts, n_labels=3))
    assert found.support.sum(axis=1) == pytest.approx(np.ones(len(gaps.names)))
    assert (found.consensus == found.support.argmax(axis=1)).all()


def test_an_item_with_only_extra_votes_is_supported_by_the_model_alone(extra):
    codes = np.vstack((extra.codes, [[2, 2, 2]]))
    fit = fit_unreadable(codes, [*extra.counts, 1], n_labels=2, n_votes=3)
    found = support(fit)
    assert found.support[-1] == pytest.approx(fit.posterior[fit.at(0.4)][-1])
    assert found.support[-1].sum() == pytest.approx(1)
