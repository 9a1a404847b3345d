"""The sentences about preferences: who wins, and what judges alone would have said."""

from tallystick.results import Interval, Unknown
from tallystick.verbs.score.preferences import (
    Swaps,
    preference_sentences,
    swap_note,
    without_preferences,
)
from tallystick.verbs.score.result import SystemRow


def row(score, ends, judge_only):
    return SystemRow(
        name="new over old",
        score=score,
        interval=ends,
        judge_only=judge_only,
        bias=Unknown("not asked"),
        bias_interval=Unknown("not asked"),
        n_outputs=100,
        n_labels=40,
        labels_worth=40.0,
        rank_interval=Unknown("not asked"),
        by_judge={},
        needed=Unknown("not asked"),
    )


def test_whoever_is_behind_is_told_from_the_side_of_the_winner():
    said = preference_sentences([row(0.3, Interval(0.2, 0.45), 0.6)], [], plan=None)
    answer = said.answer.replace("\u00a0", " ")
    assert answer == "old wins against new: 70.0 % [55.0, 80.0] (a tie counts half)."
    assert said.contrast.startswith("Your judges alone say the opposite: new would win")


def test_an_interval_that_holds_a_half_is_only_a_chance_to_win():
    said = preference_sentences([row(0.55, Interval(0.4, 0.7), 0.6)], [], plan=None)
    assert said.answer.startswith("new may win against old")
    assert said.contrast == ""


def test_without_human_preferences_there_is_no_win_rate():
    none = Unknown("there are none")
    said = without_preferences([row(none, none, 0.62)], "question")
    assert "That is not a win rate" in said.contrast
    assert said.next == "Next: let people compare 50 random questions per pair."


def test_swaps_are_told_only_where_there_are_some():
    assert swap_note(Swaps(items=0, changed={})) is None
    assert "20 items were shown in both orders" in swap_note(Swaps(items=20, changed={"gpt": 0.1}))
