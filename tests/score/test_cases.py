from tallystick.table import conclude, read
from tallystick.verbs.score import CAPABILITY
from tallystick.verbs.score.question import ScoreQuestion

JUDGES = ("gpt", "claude", "llama")


def answered(truth):
    n = len(truth)
    table = {
        "question": [f"q{i // 2}" for i in range(n)],
        "system": ["a", "b"] * (n // 2),
        "gpt": ["pass"] * (n - 2) + ["fail", "fail"],
        "claude": ["pass"] * (n - 2) + ["fail", "fail"],
        "llama": ["fail"] * n,
        "human": truth,
    }
    data = read(
        table, CAPABILITY.door, item="question", system="system", judges=JUDGES, truth="human"
    )
    return conclude(CAPABILITY, data, ScoreQuestion())


def test_the_folds_say_how_far_the_judges_are_off_and_which_pairs_are_settled():
    truth = ["pass"] * 20 + ["fail"] * 3 + [None] * 15 + ["pass", "pass"]
    result = answered(truth)
    titles = [section.title for section in result.folds()]
    assert titles[0] == "Systems"
    assert titles[-1] == "Judges"
    assert all(section.line for section in result.folds())
