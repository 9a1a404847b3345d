"""Real judges with a known truth; skipped where the data is not there."""

from pathlib import Path

from tallystick.results import Unknown
from tallystick.verbs.score import evaluate


def test_labels_on_one_of_four_systems_score_that_one_and_say_so(shared_data: Path):
    result = evaluate(
        str(shared_data / "score" / "arena_4systems.csv.gz"),
        item="prompt_id",
        system="system",
        judges="judge_score",
        truth="oracle_label",
        scale=(0, 1),
    )
    assert result.verdict.startswith("base scores 75.5")
    assert [row.name for row in result.systems if not isinstance(row.score, Unknown)] == ["base"]
    assert result.pairs == ()
    assert result.decision == "undecided"
    base = result.system("base")
    assert base.judge_only not in base.interval
