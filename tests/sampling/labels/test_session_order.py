"""One rule for who is better: what label says after a batch is what any reader of it gets."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.duels import session_order
from tallystick.verbs.label import begin
from tests.score.test_labelling import outputs, run

ROLES = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}


@pytest.mark.parametrize("goal", ["difference", "best"])
def test_the_order_is_what_label_says(tmp_path, goal):
    rows, truth, _ = outputs()
    with begin(
        tmp_path / "s.label", rows, question="score", reading=ROLES, options={"goal": goal}
    ) as work:
        assert session_order(work.session, work.task).winner is None
        result = run(work, truth)
        order = session_order(work.session, work.task)
    assert order.winner == result.winner == "a"
    assert order.live[0]
    a, b = order.p_values[0, 1], order.p_values[1, 0]
    assert 2 * a <= 0.05 < b  # E reached 2/α for the first, as the stop rule asks


def test_a_stricter_level_may_leave_two_systems_open(tmp_path):
    rows, truth, _ = outputs()
    options = {"goal": "difference"}
    path = tmp_path / "s.label"
    with begin(path, rows, question="score", reading=ROLES, options=options) as work:
        run(work, truth)
        assert session_order(work.session, work.task, alpha=1e-6).winner is None


def test_evidence_of_a_pair_stops_when_one_of_them_leaves(tmp_path):
    """A system that has left counts with its guess, which is no label."""
    rows, truth, _ = outputs(300, quality={"a": 0.8, "b": 0.79, "c": 0.2})
    path = tmp_path / "s.label"
    with begin(path, rows, question="score", reading=ROLES, options={"goal": "best"}) as work:
        seen = []
        for _ in range(6):
            for ask in work.next():
                work.answer(ask.number, truth[ask.row].item(), reader="1")
            order = session_order(work.session, work.task)
            if not order.live[2]:
                seen.append(order.p_values[0, 2])
    assert len(seen) > 1
    assert np.ptp(seen) == 0
