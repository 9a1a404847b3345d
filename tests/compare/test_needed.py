import numpy as np

from tallystick.verbs.compare import evaluate


def table(n, lead, seed):
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    b, a = u < 0.2, (u >= 0.2) & (u < 0.4 + lead)
    return {"a": (a | (u > 0.7)).astype(int), "b": (b | (u > 0.7)).astype(int)}


def test_an_open_comparison_says_how_many_more_items_and_a_settled_one_nothing():
    open_ = evaluate(table(150, 0.06, 3))
    assert open_.decision == "undecided"
    assert open_.needed.count > 0
    assert "items" in str(open_.needed)
    assert evaluate(table(3000, 0.1, 1)).needed is None
