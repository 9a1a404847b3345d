"""A number among scores that may stand for "no answer": asked about, because it decides who wins.

A harness writes -1 where a call failed and a form writes 0 where nobody graded. Averaged as scores
they change the answer, and nothing in the answer shows it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results.numbers import count

__all__ = ["refuse_codes"]

Floats = npt.NDArray[np.float64]

_CODES = (-1.0, -9.0, -99.0, -999.0, -9999.0, 0.0, 99.0, 999.0, 9999.0)
"""Numbers that people write for no answer."""
_LEAST = 0.005
"""Share of a model's scores from which a code changes an answer."""
_LARGEST_GRADE = 10.0


def refuse_codes(names: Sequence[str], scores: Floats, *, source: str) -> None:
    """Refuse scores among which one number stands apart like a code for no answer.

    A negative code stands apart from scores that are otherwise 0 or more, and any code from scores
    that lie further from it than from one another. 0 is a score of most scales, so it is asked
    about only beside grades: whole numbers up to 10.

    Parameters
    ----------
    names, scores
        The models and their scores, items x models, NaN for none.
    source
        How messages call the table.

    Examples
    --------
    >>> scores = np.array([[0, 1], [1, -1], [1, 1], [0, 0]], dtype=float)
    >>> refuse_codes(["a", "b"], scores, source="t.csv")
    Traceback (most recent call last):
        ...
    tallystick.errors.InputError: t.csv: 'b' holds -1 in 1 of 4 cells, and all other scores lie between 0 and 1. If -1 means no answer, add --missing -1; if it is a score, declare the range (--bounds -1,1)
    """
    known = scores[~np.isnan(scores)]
    for code in _CODES:
        rest = known[known != code]
        if rest.size == known.size or rest.size < 2:
            continue
        low, high = float(rest.min()), float(rest.max())
        if low == high or not _stands_apart(code, rest):
            continue
        shares = (scores == code).mean(axis=0)
        j = int(np.argmax(shares))
        if shares[j] < _LEAST:
            continue
        many, of = int((scores[:, j] == code).sum()), int((~np.isnan(scores[:, j])).sum())
        whole = f"{min(code, low):g},{max(code, high):g}"
        raise InputError(
            f"{source}: {names[j]!r} holds {code:g} in {count(many)} of {count(of)} cells, and all"
            f" other scores lie between {low:g} and {high:g}. If {code:g} means no answer, add"
            f" --missing {code:g}; if it is a score, declare the range (--bounds {whole})"
        )


def _stands_apart(code: float, rest: Floats) -> bool:
    """Say whether *code* is not one of the scale that the *rest* of the scores are on."""
    low, high = float(rest.min()), float(rest.max())
    if code < 0 <= low:
        return True
    if code == 0 and (high > _LARGEST_GRADE or bool((rest != np.floor(rest)).any())):
        return False
    gap = max(low - code, code - high)
    return gap >= high - low and gap >= 3 * float(np.diff(np.unique(rest)).max())
