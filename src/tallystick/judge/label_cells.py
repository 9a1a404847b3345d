"""Items by judge, by its vote and by the consensus, counted once for all labels.

Asking for each label anew costs the patterns times the labels: with 100 labels and 80,000 patterns
that took several seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.judge.ballots import Ballots, Ints

__all__ = ["LabelCells", "count_cells"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelCells:
    """Items by judge, by its vote and by the consensus; counted once for all labels.

    Parameters
    ----------
    sizes, labelled
        Judges x votes x labels of the consensus: items, and labelled ones.
    hits
        Judges x labels x 4: labelled items of each true label, in the cells of `on_label`.
    """

    sizes: Ints
    labelled: Ints
    hits: Ints

    @classmethod
    def of(cls, ballots: Ballots, chosen: Ints) -> LabelCells:
        """Count *ballots* against *chosen*, the consensus label of each pattern.

        >>> from tallystick.tally import Tally
        >>> votes = Tally.of({"a": [0, 1, 1], "b": [0, 1, 0], "gold": [0, None, 1]})
        >>> ballots = Ballots.of(votes, truth="gold")
        >>> LabelCells.of(ballots, ballots.codes[:, 0]).on_label(1)[0].tolist()
        [[2, 0, 0, 1], [1, 0, 1, 1]]
        """
        n_labels = len(ballots.classes)
        n_votes = n_labels + len(ballots.extras)
        known = ballots.truth >= 0
        sizes, labelled, hits = [], [], []
        for column in ballots.codes.T:
            voted = column >= 0
            cell = column * n_labels + chosen
            sizes.append(count_cells(ballots, voted, cell, n_votes * n_labels))
            labelled.append(count_cells(ballots, voted & known, cell, n_votes * n_labels))
            # Cells in the order of `on_label`: mine is the vote, theirs the consensus.
            wrong = 2 * (column != ballots.truth) + (chosen != ballots.truth)
            cell = ballots.truth * 4 + wrong
            hits.append(count_cells(ballots, voted & known, cell, n_labels * 4))
        shape = (len(ballots.names), n_votes, n_labels)
        return cls(
            sizes=np.reshape(sizes, shape),
            labelled=np.reshape(labelled, shape),
            hits=np.reshape(hits, (len(ballots.names), n_labels, 4)),
        )

    def on_label(self, c: int) -> tuple[Ints, Ints, Ints]:
        """Return judges x 4: items, labelled ones and those truly c.

        The cells: judge and consensus say c, only the judge, only the consensus, neither.
        """
        found = []
        for table in (self.sizes, self.labelled):
            both = table[:, c, c]
            mine, theirs = table[:, c].sum(axis=1), table[:, :, c].sum(axis=1)
            rest = table.sum(axis=(1, 2)) - mine - theirs + both
            found.append(np.stack((both, mine - both, theirs - both, rest), axis=1))
        return found[0], found[1], self.hits[:, c]


def count_cells(ballots: Ballots, where: NDArray[np.bool_], cell: Ints, size: int) -> Ints:
    """Return how many items lie in each cell, of those patterns *where* it is true."""
    counts = np.bincount(cell[where], weights=ballots.counts[where], minlength=size)
    return counts.astype(np.int64)
