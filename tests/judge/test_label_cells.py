"""Cells of votes, consensus and truth: counted once, equal to counting label by label."""

import numpy as np

from tallystick.table import Tally
from tallystick.verbs.judge.ballots import Ballots, LabelCells, count_cells


def _ballots() -> Ballots:
    rng = np.random.default_rng(3)
    votes = {name: rng.choice(["x", "y", "z", "tie", None], 200).tolist() for name in "abc"}
    votes["gold"] = rng.choice(["x", "y", "z", None], 200).tolist()
    return Ballots.of(Tally.of(votes), truth="gold", never_true=["tie"])


def test_cells_equal_those_counted_label_by_label() -> None:
    ballots = _ballots()
    chosen = np.random.default_rng(4).integers(0, 3, len(ballots.counts))
    cells = LabelCells.of(ballots, chosen)
    voted, known = ballots.codes >= 0, (ballots.truth >= 0)[:, None]
    for c in range(3):
        mine, theirs = ballots.codes == c, (chosen == c)[:, None]
        parts = (mine & theirs, mine & ~theirs, voted & ~mine & theirs, voted & ~mine & ~theirs)
        masks = (True, known, (ballots.truth == c)[:, None])
        for found, mask in zip(cells.on_label(c), masks, strict=True):
            wanted = np.stack([ballots.counts @ (part & mask) for part in parts], axis=1)
            assert found.tolist() == wanted.tolist()


def test_only_the_named_patterns_are_counted() -> None:
    ballots = _ballots()
    where = ballots.codes[:, 0] >= 0
    found = count_cells(ballots, where, ballots.codes[:, 0], 4)
    assert found.sum() == ballots.voted[0]
    assert found[3] == ballots.counts[ballots.codes[:, 0] == 3].sum()
