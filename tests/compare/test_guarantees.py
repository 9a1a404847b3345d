import numpy as np

from tallystick.verbs.compare import Board, evaluate


def test_sharper_guarantees_tell_at_least_as_many_pairs_apart():
    difficulty = np.random.default_rng(1).random((2000, 1))
    noise = np.random.default_rng(2).random((2000, 12))
    scores = (0.8 * difficulty + 0.2 * noise < np.linspace(0.4, 0.7, 12)).astype(float)
    rows = evaluate(Board(names=tuple(map(str, range(12))), scores=scores)).guarantees
    assert [row.guarantee for row in rows] == ["exact", "exact", "approximate"]
    assert rows[0].pairs < rows[1].pairs <= rows[2].pairs + 1
    assert all(row.adjacent <= 11 for row in rows)
