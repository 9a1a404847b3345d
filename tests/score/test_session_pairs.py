"""Pairs from a labelling session: what label has said is never withdrawn, and intervals are short."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import score
from tallystick.sampling.duels import session_order
from tallystick.table import read
from tallystick.verbs.label import SessionSettings, begin
from tallystick.verbs.score import CAPABILITY
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.sessions import session_draws, session_pairs
from tests.score.test_labelling import outputs, run

ROLES = {"system": "system", "judges": ("gpt", "claude"), "item": "item"}
CLOSE = {"a": 0.75, "b": 0.68}
THREE = {"a": 0.85, "b": 0.8, "c": 0.5}


def labelled(folder, rows, truth, *, goal, most=None, **settings):
    """Label until the session stops, or *most* items; return its file and its own answer."""
    path = folder / "s.label"
    with begin(
        path,
        rows,
        question="score",
        reading=ROLES,
        options={"goal": goal},
        settings=SessionSettings(**settings),
    ) as work:
        if most is None:
            return path, run(work, truth)
        for ask in work.next(most * len(set(rows["system"]))):
            work.answer(ask.number, truth[ask.row].item(), reader="1")
        return path, work.result()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("goal", ["difference", "best"])
def test_two_systems_are_settled_by_both_verbs_or_by_none(tmp_path, goal, seed):
    rows, truth, _ = outputs(120, seed=seed, quality=CLOSE)
    path, found = labelled(tmp_path, rows, truth, goal=goal, most=None if seed % 2 else 40)
    result = score(rows, truth_file=str(path), **ROLES)
    [pair] = result.pairs
    assert result.decision == found.decision
    assert (result.needed is None) == (found.needed is None)
    if found.winner is None:
        assert not pair.settled
        assert pair.interval.low <= 0 <= pair.interval.high
        assert "labelling session" in result.sentences.next
    else:
        assert result.systems[0].name == found.winner
        assert f"{found.winner} is " in result.verdict
        assert "The labelling session settled it after" in result.verdict
    if found.winner is not None and goal == "difference":
        assert (pair.a, pair.settled) == (found.winner, True)
        assert result.contenders == (found.winner,)


def test_the_best_of_three_is_named_by_both_verbs(tmp_path):
    rows, truth, _ = outputs(250, seed=0, quality=THREE)
    path, found = labelled(tmp_path, rows, truth, goal="best")
    result = score(rows, truth_file=str(path), **ROLES)
    assert found.winner is not None
    assert result.decision == "decided"
    assert result.systems[0].name == found.winner
    assert f"{found.winner} is the best of three systems" in result.verdict
    for pair in result.pairs:
        shares = [truth[np.array(rows["system"]) == name].mean() for name in (pair.a, pair.b)]
        assert shares[0] - shares[1] in pair.interval
    for row in result.systems:
        assert truth[np.array(rows["system"]) == row.name].mean() in row.interval


def test_fifty_items_bound_a_difference_far_better_than_a_share_of_halves(tmp_path):
    rows, truth, _ = outputs(300, quality={"a": 0.7, "b": 0.65})
    path, found = labelled(tmp_path, rows, truth, goal="difference", most=50)
    [pair] = score(rows, truth_file=str(path), **ROLES).pairs
    assert pair.common_labels == 50
    assert pair.interval.width / 2 < 0.2  # (D + 1)/2 as a share gave .32
    [lead] = found.measures  # and label shows the same interval, but for 0, which it may leave out
    ends = sorted(abs(end) for end in lead.interval)
    assert max(abs(end) for end in pair.interval) == pytest.approx(ends[1], abs=1e-9)


def test_judges_left_out_today_do_not_change_what_the_session_has_settled(tmp_path):
    rows, truth, _ = outputs(150)
    path, found = labelled(tmp_path, rows, truth, goal="difference")
    result = score(rows, truth_file=str(path), **{**ROLES, "judges": ("claude",)})
    assert (result.decision, result.contenders) == ("decided", (found.winner,))


def test_a_verdict_stands_when_later_labels_turn_the_estimate(tmp_path):
    """The first items say a, all later ones say b: the evidence of its time is not withdrawn."""
    n = 60
    rows = {
        "item": [f"i{i // 2}" for i in range(2 * n)],
        "system": ["a", "b"] * n,
        "gpt": [1] * (2 * n),
        "claude": [1] * (2 * n),
    }
    path = tmp_path / "s.label"
    options = {"goal": "difference"}
    with begin(path, rows, question="score", reading=ROLES, options=options) as work:
        lead = 0
        while lead >= 0:
            settled = work.standing().winner is not None
            step = -1 if settled else 1
            for ask in work.next(2):
                work.answer(ask.number, int((ask.system == "a") != settled), reader="1")
            lead += step
        found = work.result()
    result = score(rows, truth_file=str(path), **ROLES)
    [pair] = result.pairs
    assert found.winner == "a" == result.systems[0].name
    assert (pair.a, pair.settled) == ("a", True)
    assert pair.difference < 0  # and the table hides nothing
    assert pair.interval.low <= pair.difference <= pair.interval.high


def test_a_stricter_level_than_that_of_the_contest_is_not_claimed(tmp_path):
    rows, truth, _ = outputs(250, seed=1, quality={"a": 0.8, "b": 0.78})
    path, found = labelled(tmp_path, rows, truth, goal="best")
    strict = score(rows, truth_file=str(path), alpha=0.0001, **ROLES)
    assert found.winner is not None
    assert "settled it" not in strict.verdict


def test_a_tie_on_every_item_is_said_to_be_one(tmp_path):
    rows, _, _ = outputs(30)
    truth = np.ones(60, int)
    truth[:2] = 0  # both outputs of one item
    path, found = labelled(tmp_path, rows, truth, goal="difference", most=30)
    result = score(rows, truth_file=str(path), **ROLES)
    assert found.winner == "neither"
    assert result.verdict.startswith("Neither a nor b is better on these items.")
    assert result.decision == "decided"


def test_p_values_are_those_of_the_anytime_evidence(tmp_path):
    rows, truth, _ = outputs(200, quality=THREE)
    path, _ = labelled(tmp_path, rows, truth, goal="best")
    with read(rows, CAPABILITY.door, truth_file=str(path), **ROLES) as data:
        from tallystick.table.panel_grades import read_outputs
        from tallystick.verbs.score.labelling import session_task

        held = read_outputs(data, scale=None)
        draws = session_draws(data, held, ScoreQuestion())
        pairs = session_pairs(draws, draws.systems(0.05), ScoreQuestion())
        order = session_order(data.session, session_task(data, data.session, scale=held.scale))
    for pair in pairs:
        both = order.p_values[pair.first, pair.second], order.p_values[pair.second, pair.first]
        assert pair.p_value == pytest.approx(min(1.0, 2 * min(both)))
        assert pair.adjusted_p >= pair.p_value
