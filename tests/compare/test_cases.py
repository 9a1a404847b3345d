from tallystick.table import conclude, read
from tallystick.verbs.compare import CAPABILITY, CompareQuestion

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
    return conclude(CAPABILITY, data, CompareQuestion())


def test_page_and_terminal_show_the_board_and_every_pair():
    result = answered()
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
    result = answered(a=["w" if i == 1 else label for i, label in enumerate(truth)])
    assert result.opening.answer.startswith("a is the best of three models: 98.3% [")
    assert result.opening.contrast.startswith("It beats b by 23.3 points")
    assert result.verdict.startswith("a is the best of three models: 98.3% [")


def test_a_truth_that_equals_one_model_everywhere_decides_nothing():
    result = answered()
    assert result.decision == "undecided"
    assert "look like a copy" in result.verdict
