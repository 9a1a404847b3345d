from tallystick.table import conclude, read
from tallystick.verbs.shift import CAPABILITY
from tallystick.verbs.shift.answer import cases_of
from tallystick.verbs.shift.question import ShiftQuestion

N = 120


def answered():
    truth = ["x", "y"] * (N // 2)
    old = ["x" if i % 10 == 1 else label for i, label in enumerate(truth)]
    new = ["y" if i % 10 in (0, 1) else label for i, label in enumerate(old)]
    table = {"id": [f"q{i}" for i in range(N)], "truth": truth, "old": old, "new": new}
    data = read(table, CAPABILITY.door, item="id", truth="truth", old="old", new="new")
    return data, conclude(CAPABILITY, data, ShiftQuestion(deterministic=True))


def test_the_items_whose_answer_changed_are_listed_by_what_became_of_them():
    data, result = answered()
    cases = cases_of(result, data)
    assert cases.kinds == (("became wrong", 12), ("became right", 12))
    assert cases.line == "24 of 120 answers changed: 12 became wrong, 12 became right."
    assert cases.cases[0].summary == "x → y · true x"


def test_the_folds_are_what_changed_which_answers_moved_and_what_was_asked():
    _, result = answered()
    titles = [section.title for section in result.folds()]
    assert titles == ["What changed", "Answers", "Questions"]
    assert result.folds()[0].units == {"change": "points"}
    assert result.figures()[0].unit == "points"
