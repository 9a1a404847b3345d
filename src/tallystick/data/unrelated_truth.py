"""True labels that agree with nobody, while the columns agree with one another.

Labels that were joined one row too far, or sorted apart from their table, are as good as random.
Every judge then looks no better than chance. Judges that share errors can do that too, so this is a
warning, and what every interval rests on.
"""

from __future__ import annotations

import numpy as np

from tallystick.data.answer_counts import AnswerCounts
from tallystick.data.detect.beyond_chance import beyond_chance, kappas
from tallystick.data.detect.sample import Codes

__all__ = ["is_unrelated", "unrelated_truth"]

_MOST_COLUMNS = 40
_LOOKED = 20_000
"""Labelled rows that are looked at."""

_MOST_LABELS = 30
"""Different labels above which columns are compared as numbers elsewhere, not here."""

_SHOWS = 4.0
"""Standard errors at which a truth would show, if the columns were as good as they agree."""

_CHANCE = 2.0


def unrelated_truth(counts: AnswerCounts) -> str | None:
    """Return the truth, if it agrees with no column although the columns agree with one another.

    Examples
    --------
    >>> from tallystick.data import read
    >>> from tallystick.data.answer_counts import answer_counts
    >>> gpt, claude = [0, 1, 1, 0, 1] * 20, [0, 1, 1, 0, 0] * 20
    >>> table = {"gpt": gpt, "claude": claude, "gold": [0, 1, 1, 1, 0, 0, 0] * 14 + [1, 0]}
    >>> unrelated_truth(answer_counts(read(table, truth="gold", judges=("gpt", "claude"))))
    'gold'
    """
    if len(counts.columns) < 2:
        return None
    codes = counts.rows(_LOOKED)[:, : 1 + _MOST_COLUMNS]
    return counts.truth if is_unrelated(codes) else None


def is_unrelated(codes: Codes) -> bool:
    r"""Say whether the first column agrees with no other, while the others agree.

    Two columns that are right with independent errors and agree with kappa :math:`\kappa` each
    agree with the truth with about :math:`\sqrt\kappa`, which *n* rows show at
    :math:`\sqrt{n \kappa}` standard errors.
    """
    if codes.max(initial=-1) >= _MOST_LABELS:
        return False
    votes = codes[:, 1:]
    pairs = kappas(votes)[np.triu_indices(votes.shape[1], 1)]
    pairs = pairs[np.isfinite(pairs)]
    if not pairs.size:
        return False
    # Columns that only seem to agree prove nothing: two standard errors are taken off.
    kappa = max(float(pairs.mean()) - _CHANCE / np.sqrt(len(codes)), 0.0)
    if np.sqrt(len(codes) * kappa) < _SHOWS:
        return False
    return bool(np.abs(beyond_chance(codes[:, 0], votes)[1]).max() < _CHANCE)
