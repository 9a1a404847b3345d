from tallystick.table import conclude, read
from tallystick.verbs.score import CAPABILITY
from tallystick.verbs.score.question import KIND, STRICT, ScoreQuestion, cases_of

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
    return data, conclude(CAPABILITY, data, ScoreQuestion())


def test_outputs_on_which_the_person_and_most_judges_differ_are_listed_by_kind():
    truth = ["pass"] * 20 + ["fail"] * 3 + [None] * 15 + ["pass", "pass"]
    data, result = answered(truth)
    cases = cases_of(result, data)
    assert dict(cases.kinds) == {KIND: 3, STRICT: 2}
    assert cases.line == (
        "5 of the 25 graded outputs where the person and most judges differ: 3 too kind, 2 too"
        " strict."
    )
    first = cases.cases[0]
    assert (first.item, first.of, first.kind) == ("q10", "a", KIND)
    assert first.summary == "person fail · judges 2 of 3 pass"
    assert first.votes == (
        ("person", "fail"),
        ("gpt", "pass"),
        ("claude", "pass"),
        ("llama", "fail"),
    )


def test_without_human_grades_there_is_nothing_to_list():
    data, result = answered([None] * 40)
    assert cases_of(result, data) is None


def test_the_folds_say_how_far_the_judges_are_off_and_which_pairs_are_settled():
    truth = ["pass"] * 20 + ["fail"] * 3 + [None] * 15 + ["pass", "pass"]
    _, result = answered(truth)
    titles = [section.title for section in result.folds()]
    assert titles[0] == "Systems"
    assert titles[-1] == "Judges"
    assert all(section.line for section in result.folds())
