"""Cells of votes, consensus and truth: counted once, equal to counting label by label."""

import numpy as np

from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge.few_labels import label_cells


def _panel() -> Panel:
    rng = np.random.default_rng(3)
    votes = {name: rng.choice(["x", "y", "z", "tie", None], 200).tolist() for name in "abc"}
    votes["gold"] = rng.choice(["x", "y", "z", None], 200).tolist()
    return Panel.of(Tally.of(votes), truth="gold", never_true=["tie"])


def test_cells_equal_those_counted_label_by_label() -> None:
    panel = _panel()
    chosen = np.random.default_rng(4).integers(0, 3, len(panel.counts))
    cells = label_cells(panel, chosen)
    voted, known = panel.codes >= 0, (panel.truth >= 0)[:, None]
    for c in range(3):
        mine, theirs = panel.codes == c, (chosen == c)[:, None]
        parts = (mine & theirs, mine & ~theirs, voted & ~mine & theirs, voted & ~mine & ~theirs)
        masks = (True, known, (panel.truth == c)[:, None])
        for found, mask in zip(cells[c], masks, strict=True):
            wanted = np.stack([panel.counts @ (part & mask) for part in parts], axis=1)
            assert found.tolist() == wanted.tolist()
