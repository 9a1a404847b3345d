"""Slices of a labelling session: the strata cut by the slice, and no order that was not asked."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import score
from tallystick.results import Interval, Unknown
from tallystick.verbs.label import begin
from tests.score.test_labelling import outputs, run

ROLES = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}


def sliced(folder, goal, topics):
    """Label 150 items of two topics; return the answer by topic, the truth, and the topics."""
    rows, truth, _ = outputs()
    topic = np.repeat(topics, 2)
    rows = {**rows, "topic": topic.tolist()}
    path = folder / "s.label"
    with begin(path, rows, question="score", reading=ROLES, options={"goal": goal}) as work:
        run(work, truth)
        drawn = np.zeros(truth.size, bool)
        drawn[[ask.row for ask in work.session.asks]] = True
        strata = work.session.strata().astype(int)
    result = score(rows, truth_file=str(path), by="topic", **ROLES)
    return result, truth, topic, np.array(rows["system"]), drawn, strata


@pytest.mark.parametrize("goal", ["mean", "difference", "best"])
def test_every_slice_has_the_scores_of_its_own_items(tmp_path, goal):
    topics = np.where(np.arange(150) < 60, "x", "y")
    result, truth, topic, system, *_ = sliced(tmp_path, goal, topics)
    assert [one.label for one in result.slices] == ["x", "y"]
    for one in result.slices:
        for row in one.answer.systems:
            mine = (topic == one.label) & (system == row.name)
            assert isinstance(row.interval, Interval)
            assert row.interval.level == pytest.approx(0.975)
            assert truth[mine].mean() in row.interval
            assert row.n_outputs == mine.sum()


@pytest.mark.parametrize("goal", ["difference", "best"])
def test_inside_a_slice_nobody_is_named(tmp_path, goal):
    topics = np.where(np.arange(150) % 2, "x", "y")
    result, *_ = sliced(tmp_path, goal, topics)
    assert result.decision == "decided"
    for one in result.slices:
        assert one.answer.decision == "undecided"
        [pair] = one.answer.pairs
        assert not pair.settled
        assert pair.interval.low <= 0 <= pair.interval.high


def test_a_slice_without_a_label_has_no_score(tmp_path):
    rows, truth, _ = outputs(60)
    path = tmp_path / "s.label"
    with begin(path, rows, question="score", reading=ROLES) as work:
        for ask in work.next(20):
            work.answer(ask.number, truth[ask.row].item(), reader="1")
        asked = {ask.item for ask in work.session.asks}
    rare = next(item for item in rows["item"] if item not in asked)
    rows["topic"] = ["rare" if item == rare else "x" for item in rows["item"]]
    result = score(rows, truth_file=str(path), by="topic", **ROLES)
    by_name = {one.label: one.answer for one in result.slices}
    assert all(isinstance(row.score, Unknown) for row in by_name["rare"].systems)
    assert isinstance(by_name["x"].systems[0].score, float)
