"""Slices of a labelling session: the same draws, read inside each slice.

A session was drawn without looking at slices. Inside a stratum every output (or item) was equally
likely, so those that fall into a slice are a uniform draw from that part of the stratum, whatever
their number. Each slice is therefore scored on the strata cut by the slice, at alpha divided by the
number of slices. Its rule of stopping speaks for all items together: inside a slice a session of
the goals difference and best orders nobody, and shows how large the differences may be.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import TallystickError
from tallystick.results import Slice
from tallystick.sampling.labels.session_order import SessionOrder
from tallystick.score.assemble import score_outputs
from tallystick.score.from_session import SessionDraws
from tallystick.score.labelling import rows_by_item
from tallystick.score.question import ScoreQuestion

__all__ = ["session_slices"]


def session_slices(draws: SessionDraws, question: ScoreQuestion) -> tuple[Slice, ...]:
    """Answer for every slice of the outputs; blank ones come last, as one slice."""
    outputs = draws.outputs
    if outputs.slice is None:
        return ()
    codes = [code for code in range(len(outputs.slices)) if (outputs.slice == code).any()]
    codes += [-1] if (outputs.slice < 0).any() else []
    asked = replace(question, alpha=question.alpha / max(1, len(codes)))
    found = []
    for code in codes:
        label = None if code < 0 else outputs.slices[code]
        try:
            part = _part(draws, np.asarray(outputs.slice == code))
            found.append(Slice(label, score_outputs(part.outputs, asked, draws=part)))
        except TallystickError as error:
            found.append(Slice(label, str(error)))
    return tuple(found)


def _part(draws: SessionDraws, chosen: NDArray[np.bool_]) -> SessionDraws:
    """Return the draws inside a slice, with no evidence on who is better there."""
    outputs = draws.outputs.part(chosen)
    return replace(
        draws,
        outputs=outputs,
        values=draws.values[chosen],
        stratum=draws.stratum[chosen],
        drawn=draws.drawn[chosen],
        apart=draws.apart[chosen],
        rows=None if draws.rows is None else rows_by_item(outputs),
        order=None if draws.order is None else _no_order(draws.order),
    )


def _no_order(order: SessionOrder) -> SessionOrder:
    return replace(
        order,
        winner=None,
        certain=False,
        live=np.ones_like(order.live),
        p_values=np.ones_like(order.p_values),
        left=0,
        missing=None,
        best=None,
    )
