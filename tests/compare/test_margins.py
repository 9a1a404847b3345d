import numpy as np
import pytest

from tallystick.verbs.compare import Board, CompareQuestion, evaluate, gate_estimate


def margin(board, left, right, **options):
    return gate_estimate(board, left, right, **options).interval


def scores(n=400, seed=0):
    return np.random.default_rng(seed).random((n, 2))


def test_right_and_wrong_rest_on_exact_intervals_if_they_must():
    board = Board(names=("x", "y"), scores=(scores() < 0.7).astype(float))
    sure = CompareQuestion(certified=True)
    assert margin(board, "x", "y", question=sure).method == "exact-score"
    assert margin(board, "x", None, question=sure).method == "clopper-pearson"
    assert margin(board, "x", "y").method == "tango"
    assert margin(board, "x", None).method == "few labels"


def test_a_margin_turns_with_its_sides():
    board = Board(names=("x", "y"), scores=scores(), clusters=tuple(map(str, np.arange(400) % 40)))
    one, other = margin(board, "x", "y"), margin(board, "y", "x")
    assert np.allclose((one.low, one.high), (-other.high, -other.low))


def test_scores_in_bounds_rest_on_t_and_on_bernstein_if_they_must():
    board = Board(names=("x", "y"), scores=scores())
    for certified, kind in (
        (False, ("t", "approximate")),
        (True, ("empirical-bernstein", "exact")),
    ):
        question = CompareQuestion(bounds=(0.0, 1.0), certified=certified)
        for right in ("y", None):
            found = margin(board, "x", right, question=question)
            assert (found.method, found.guarantee) == kind
        said = " ".join(evaluate(board, question=question).assumptions)
        assert ("Bernstein" in said) is certified


def test_unbounded_scores_name_their_assumption():
    board = Board(names=("x", "y"), scores=scores())
    for right in ("y", None):
        assert margin(board, "x", right).guarantee == "under"


@pytest.mark.parametrize("certified", [False, True])
@pytest.mark.parametrize(
    ("wins", "losses", "n"), [(5, 0, 10), (6, 0, 10), (9, 2, 30), (12, 3, 100), (30, 15, 400)]
)
def test_verdict_interval_and_gate_say_the_same(wins, losses, n, certified):
    x = np.zeros((n, 2))
    x[:wins, 0] = 1
    x[wins : wins + losses, 1] = 1
    board, settings = Board(names=("x", "y"), scores=x), CompareQuestion(certified=certified)
    found = margin(board, "x", "y", question=settings)
    result = evaluate(board, question=settings)
    assert tuple(result.pairs[0].interval) == tuple(found)
    assert (0 in found) == ("We cannot tell" in result.verdict) == (result.decision == "undecided")
    assert (0 in found) == (result.pairs[0].p_value > 0.05)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["counts", "grades", "numbers", "clusters", "labels"])
def test_of_many_models_too_verdicts_and_printed_intervals_say_the_same(kind, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (48, 1)) + rng.normal(np.linspace(0, 0.8, 5), 0.6, (48, 5))
    table = {f"m{j}": x[:, j] for j in range(5)}
    options = {}
    if kind != "numbers":
        right = (x > 0).astype(int) if kind != "grades" else np.clip(np.round(x + 2), 0, 4) / 4
        table = {f"m{j}": right[:, j] for j in range(5)}
    if kind == "clusters":
        table, options = {**table, "doc": np.arange(48) // 4}, {"cluster": "doc"}
    if kind == "labels":
        table["truth"] = [1 if i < 30 else None for i in range(48)]
        options = {"truth": "truth"}
    result = evaluate(table, models=tuple(f"m{j}" for j in range(5)), **options)
    for pair in result.pairs:
        assert (pair.verdict == "not settled") == (0 in pair.simultaneous)
        assert (pair.p_value > 0.05) == (0 in pair.interval)


def test_no_decision_rests_on_an_interval_that_holds_zero():
    """With very many disagreements McNemar's test is the sharper one by a hair."""
    x = np.zeros((40_000, 2))
    x[:10_140, 0] = 1
    x[10_140:20_000, 1] = 1
    result = evaluate(Board(names=("x", "y"), scores=x), question=CompareQuestion(certified=True))
    assert result.pairs[0].p_value <= 0.05
    assert 0 in result.pairs[0].interval
    assert result.decision == "undecided"
    assert result.contenders == ("x", "y")


def skewed(n=40, seed=0, shift=1.5):
    rng = np.random.default_rng(seed)
    common = rng.normal(6, 1.2, n)
    return {"old": np.exp(common), "new": np.exp(common - shift + rng.normal(0, 0.3, n))}


def test_a_gate_without_an_offset_rests_on_the_typical_ratio_where_the_mean_is_not_settled():
    gates = ("new <= old", "new >= old", "old >= new")
    result = evaluate(skewed(), lower_is_better=True, gates=gates)
    assert result.estimand == "ratio"
    assert [gate.passed for gate in result.gates] == [True, False, True]
    assert result.gates[0].estimate == pytest.approx(result.pairs[0].ratio)
    assert result.gates[0].text.startswith("typical ratio 0.2")
    assert result.gates[2].estimate == pytest.approx(1 / result.pairs[0].ratio)


def test_a_gate_about_means_stays_open_where_the_mean_is_not_settled():
    """The board lists geometric means there, and a gate on them would answer another question."""
    gates = ("new <= old - 1", "new <= 1e9", "new >= 1e9")
    result = evaluate(skewed(), lower_is_better=True, gates=gates)
    assert [gate.passed for gate in result.gates] == [None, None, None]
    assert all("the mean is not settled" in gate.text for gate in result.gates)
    with_zeros = skewed()
    with_zeros["new"][0] = 0.0
    result = evaluate(with_zeros, lower_is_better=True, gates=("new <= old",))
    assert result.estimand == "signs"
    assert result.gates[0].passed is None
