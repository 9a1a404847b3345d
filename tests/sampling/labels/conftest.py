"""Journals whose draws are prescribed, as the printed test vectors are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tallystick.sampling.draws import DrawJournal, drawing_probabilities
from tallystick.sampling.votes import Draw
from tallystick.sampling.draws import share_spread

Scripted = Callable[..., tuple[DrawJournal, np.ndarray]]


@pytest.fixture(scope="session")
def scripted() -> Scripted:
    """Draw the strata and values that two functions of t prescribe, freezing at the given draws."""

    def build(sizes, stratum, value, n, *, freeze, rule=share_spread):
        left = np.array(sizes)
        batch = np.searchsorted(freeze, np.arange(n), side="right") - 1
        draws, values, spreads = [], [], []
        for t in range(n):
            if batch[t] == len(spreads):
                where = np.array([draw.stratum for draw in draws], dtype=int)
                spreads.append(rule(where, np.array(values, dtype=float), len(sizes)))
            h = stratum(t)
            q = drawing_probabilities(left, spreads[-1])[h]
            draws.append(Draw(t=t, item=t, stratum=h, q=float(q), batch=int(batch[t])))
            values.append(float(value(t)))
            left[h] -= 1
        return DrawJournal.of(sizes, draws, spreads), np.array(values)

    return build
