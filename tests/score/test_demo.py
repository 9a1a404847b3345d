"""The demonstration: judges alone name the wrong winner, the corrected score the right one."""

import pytest

from tallystick.verbs.score import evaluate
from tallystick.verbs.score.question import PASSES, demo


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_judges_alone_name_the_wrong_winner(seed):
    shown = demo(seed)
    result = evaluate(dict(shown.table), **shown.options)
    judged = max(result.systems, key=lambda row: row.judge_only)
    assert judged.name == "system-a"
    assert result.systems[0].name == "system-b" == max(PASSES, key=PASSES.get)
    assert "another winner" in result.verdict
    assert result.n_labels == 60
    assert result.n_items == 2001
    for row in result.systems:
        assert abs(PASSES[row.name] - row.score) < 0.25


def test_the_same_seed_is_the_same_table():
    assert demo(3).table == demo(3).table


def test_the_command_can_be_typed():
    assert demo(0).command()[:4] == ["--item", "question", "--system", "system"]
