from tallystick.table import conclude, read
from tallystick.verbs.compare import CAPABILITY, CompareQuestion
from tallystick.verbs.compare.labels import cases_of

N = 60


def answered(**more):
    truth = ["x", "y", "z"] * (N // 3)
    table = {
        "id": [f"q{i}" for i in range(N)],
        "a": truth,
        "b": [label if i % 4 else "w" for i, label in enumerate(truth)],
        "c": ["x"] * N,
        "truth": truth,
        **more,
    }
    data = read(table, CAPABILITY.door, models=("a", "b", "c"), truth="truth", item="id")
    return data, conclude(CAPABILITY, data, CompareQuestion())


def test_the_items_on_which_the_two_best_differ_are_those_that_the_verdict_counts():
    data, result = answered()
    cases = cases_of(result, data)
    assert (result.pairs[0].a_only, result.pairs[0].b_only) == (15, 0)
    assert cases.kinds == (("only a right", 15),)
    assert cases.line == "a and b differ on 15 items: 15 only a gets right, 0 only b."
    assert cases.cases[0].summary == "true x · 2 of 3 models right"
    assert cases.cases[0].votes == (("true", "x"), ("a", "x"), ("b", "w"), ("c", "x"))


def test_scores_without_a_truth_have_no_items_to_list():
    table = {"a": [0.5, 0.7] * 20, "b": [0.4, 0.9] * 20}
    data = read(table, CAPABILITY.door, models=("a", "b"))
    assert cases_of(conclude(CAPABILITY, data, CompareQuestion()), data) is None


def test_page_and_terminal_show_the_board_and_every_pair():
    _, result = answered()
    models, pairs = result.folds()
    assert [row["model"] for row in models.rows] == ["a", "b", "c"]
    assert models.units["score"] == "share"
    assert pairs.line == f"{result.pairs_told} of 3 pairs are told apart."
    assert pairs.rows[0]["pair"] == "a − b"
    assert (pairs.rows[0]["only first"], pairs.rows[0]["only second"]) == (15, 0)
    shown = str(result)
    assert all(f"{a} − {b}  " in shown for a, b in ("ab", "ac", "bc"))


def test_the_verdict_is_told_line_by_line():
    truth = ["x", "y", "z"] * (N // 3)
    _, result = answered(a=["w" if i == 1 else label for i, label in enumerate(truth)])
    assert result.opening.answer.startswith("a is the best of three models: 98.3% [")
    assert result.opening.contrast.startswith("It beats b by 23.3 points")
    assert result.verdict.startswith("a is the best of three models: 98.3% [")
