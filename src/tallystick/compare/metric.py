"""What a score is called, and pass@k of several runs per item; `data.direction` says which way is
better.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tallystick.errors import InputError
from tallystick.stats.replicates import PassKind

__all__ = ["Better", "PassMetric", "split_metric"]

Better: TypeAlias = Literal["higher", "lower"]

_PASS = re.compile(r"pass(?P<sign>[@^])(?P<k>\d+)(?::(?P<base>.+))?")
_RATINGS = frozenset(
    {"elo", "bradley-terry", "bradley_terry", "bt", "rating", "glicko", "trueskill"}
)


@dataclass(frozen=True)
class PassMetric:
    """pass@k (at least one of k runs is right) or pass^k (all k are).

    Parameters
    ----------
    kind
        ``pass@k`` or ``pass^k``.
    k
        Attempts.
    """

    kind: PassKind
    k: int

    def __str__(self) -> str:
        return self.kind.replace("k", str(self.k))


def split_metric(metric: str | None) -> tuple[PassMetric | None, str | None]:
    """Split ``pass@5:match`` into pass@5 and the score that it is made of.

    A rating model is refused: it claims an order that the battles of a pair do not show.

    Examples
    --------
    >>> split_metric("pass@5:match")
    (PassMetric(kind='pass@k', k=5), 'match')
    >>> split_metric("pass^2"), split_metric("exact_match")
    ((PassMetric(kind='pass^k', k=2), None), (None, 'exact_match'))
    """
    if metric is None:
        return None, None
    if metric.strip().lower() in _RATINGS:
        raise InputError(
            f"metric {metric!r} is a rating model, which Tallystick does not fit: a rating assumes"
            " that strength is one number. Compare the battles pair by pair: leave out --metric"
        )
    found = _PASS.fullmatch(metric.strip())
    if found is None:
        return None, metric
    k = int(found["k"])
    if k < 1:
        raise InputError(f"metric {metric!r} asks for {k} runs: k must be at least 1")
    return PassMetric("pass@k" if found["sign"] == "@" else "pass^k", k), found["base"]
