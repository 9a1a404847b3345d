"""The order of the systems: ranks, contenders and tiers, from the pairs that are settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.sampling.labels.session_order import SessionOrder
from tallystick.score.system_pair import SystemPair
from tallystick.score.systems import System
from tallystick.stats.ranks import ranks

__all__ = ["Known", "ranked", "sign_of"]


@dataclass(frozen=True)
class Known:
    """What is known of the order: names and rank intervals."""

    order: tuple[int, ...]
    rank: Mapping[int, tuple[int, int]]
    contenders: tuple[str, ...]
    tiers: tuple[tuple[str, ...], ...]


def ranked(
    systems: Sequence[System],
    pairs: Sequence[SystemPair],
    alpha: float,
    session: SessionOrder | None = None,
) -> Known:
    """Return ranks, contenders and tiers of the systems that have a score.

    A system without one may stand anywhere: it is a contender, and widens every rank. Whom a
    labelling session has named comes first, and whom it has thrown out is no contender.
    """
    graded = [s for s, one in enumerate(systems) if one.score is not None]
    blank = len(systems) - len(graded)
    named = None if session is None else session.winner
    order = sorted(graded, key=lambda s: (systems[s].name != named, -float(systems[s].score or 0)))
    place = {s: i for i, s in enumerate(graded)}
    first = np.array([place[pair.first] for pair in pairs], dtype=np.intp)
    second = np.array([place[pair.second] for pair in pairs], dtype=np.intp)
    sign = [sign_of(pair, alpha) for pair in pairs]
    found = ranks(first, second, sign, [place[s] for s in order])
    names = [systems[s].name for s in graded]
    contenders, tiers = found.named(names)
    rest = tuple(one.name for one in systems if one.score is None)
    low = {s: int(found.low[i]) for s, i in place.items()}
    if session is not None:
        out = [name for name, live in zip(session.names, session.live, strict=True) if not live]
        left = tuple(name for name in contenders if name not in out)
        contenders = left or contenders
        low = {s: max(2, rank) if systems[s].name in out else rank for s, rank in low.items()}
    return Known(
        order=tuple(order),
        rank={s: (low[s], max(low[s], int(found.high[i]) + blank)) for s, i in place.items()},
        contenders=(*contenders, *rest),
        tiers=tiers,
    )


def sign_of(pair: SystemPair, alpha: float) -> int:
    """Return 1 or -1 where the order is shown: by the session, or by the test as displayed."""
    if pair.decided is not None:
        return pair.decided
    if pair.adjusted_p > alpha or pair.interval.low < 0 < pair.interval.high:
        return 0
    return int(np.sign(pair.difference))
