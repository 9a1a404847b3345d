"""Journals whose draws are prescribed, as the printed test vectors are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tallystick.sampling.draws import DrawJournal, drawing_probabilities, share_spread

Scripted = Callable[..., tuple[DrawJournal, np.ndarray]]


@pytest.fixture(scope="session")
def scripted() -> Scripted:
    """Draw the strata and values that two functions of t prescribe, freezing at the given draws."""

    def build(sizes, stratum, value, n, *, freeze, rule=share_spread):
        left = np.array(sizes)
        batch = np.searchsorted(freeze, np.arange(n), side="right") - 1
        where, q, values, spreads = [], [], [], []
        for t in range(n):
            if batch[t] == len(spreads):
                seen = np.array(where, dtype=int)
                spreads.append(rule(seen, np.array(values, dtype=float), len(sizes)))
            h = stratum(t)
            q.append(float(drawing_probabilities(left, spreads[-1])[h]))
            where.append(h)
            values.append(float(value(t)))
            left[h] -= 1
        journal = DrawJournal(
            sizes=np.array(sizes),
            item=np.arange(n),
            stratum=np.array(where, dtype=np.int64),
            q=np.array(q),
            batch=batch,
            spreads=np.array(spreads),
        )
        return journal, np.array(values)

    return build
