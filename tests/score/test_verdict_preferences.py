"""The sentences about preferences: who wins, and what judges alone would have said."""

from tallystick.results import Interval, Unknown
from tallystick.table.panel_grades import Swaps
from tallystick.verbs.score.result import SystemPairRow, SystemRow
from tallystick.verbs.score.verdict import preference_sentences, swap_note, without_preferences


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
    settled = SystemPairRow(
        a="old",
        b="new",
        difference=0.4,
        interval=Interval(0.1, 0.6),
        p_value=0.01,
        adjusted_p=0.01,
        judge_only_difference=-0.2,
        verdict="old is better",
        needed=Unknown("not asked"),
        common_labels=40,
    )
    said = preference_sentences([row(0.3, Interval(0.2, 0.45), 0.6)], [settled], "")
    answer = said.answer.replace("\u00a0", " ")
    assert answer == "old wins against new: 70.0% [55.0, 80.0] (a tie counts half)."
    assert said.contrast.startswith("Your judges alone say the opposite: new would win")


def test_an_interval_that_holds_a_half_is_only_a_chance_to_win():
    said = preference_sentences([row(0.55, Interval(0.4, 0.7), 0.6)], [], "")
    assert said.answer.startswith("new may win against old")
    assert said.contrast == ""


def test_a_pair_that_is_not_settled_among_all_is_no_win():
    said = preference_sentences([row(0.7, Interval(0.55, 0.8), 0.6)], [], "")
    assert said.answer.startswith("new may win against old")


def test_without_human_preferences_there_is_no_win_rate():
    none = Unknown("there are none")
    said, needed = without_preferences([row(none, none, 0.62)], "question")
    assert "That is not a win rate" in said.contrast
    assert said.next == "Next: let people compare 50 random questions per pair."
    assert needed.count == 50


def test_swaps_are_told_only_where_there_are_some():
    assert swap_note(Swaps(items=0, changed={})) == ()
    assert (
        "20 items were shown in both orders" in swap_note(Swaps(items=20, changed={"gpt": 0.1}))[0]
    )
