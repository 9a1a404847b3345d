"""One rule for who is better: what label says after a batch is what any reader of it gets."""

from __future__ import annotations

import numpy as np

from tallystick.sampling.duels import session_order
from tallystick.verbs.label import begin
from tests.score.test_labelling import outputs

ROLES = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}


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
