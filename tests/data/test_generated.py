from __future__ import annotations

import numpy as np
import pytest

from tallystick.table.capability import draw_answers, draw_truth

N = 40_000


def test_labels_come_in_their_shares() -> None:
    truth = draw_truth(N, (0.6, 0.3, 0.1), np.random.default_rng(0))
    # Five standard errors of the largest share.
    np.testing.assert_allclose(np.bincount(truth) / N, (0.6, 0.3, 0.1), atol=5 * 0.5 / N**0.5)


@pytest.mark.parametrize("shared", [0.0, 0.7, 1.0])
def test_the_accuracy_holds_whatever_is_shared(shared: float) -> None:
    draw = np.random.default_rng(1)
    truth, hard = draw_truth(N, (0.5, 0.3, 0.2), draw), draw.standard_normal(N)
    said = draw_answers(truth, 0.8, 3, draw, hard=hard, shared=shared)
    assert (said == truth).mean() == pytest.approx(0.8, abs=5 * 0.4 / N**0.5)


def test_wrong_answers_are_spread_over_the_other_labels() -> None:
    draw = np.random.default_rng(2)
    said = draw_answers(np.zeros(N, np.int64), 0.4, 4, draw)
    np.testing.assert_allclose(np.bincount(said) / N, (0.4, 0.2, 0.2, 0.2), atol=5 * 0.5 / N**0.5)


def test_sharing_all_luck_means_the_same_items_are_missed_and_none_means_independence() -> None:
    draw = np.random.default_rng(3)
    truth, hard = np.zeros(N, np.int64), draw.standard_normal(N)

    def both_wrong(shared: float) -> float:
        wrong = [draw_answers(truth, 0.8, 2, draw, hard=hard, shared=shared) for _ in range(2)]
        return float((wrong[0] & wrong[1]).mean())

    assert both_wrong(1.0) == pytest.approx(0.2, abs=5 * 0.4 / N**0.5)
    assert both_wrong(0.0) == pytest.approx(0.04, abs=5 * 0.2 / N**0.5)
    assert 0.05 < both_wrong(0.5) < 0.19
