"""Whether the human grades can speak for all outputs: which outputs were chosen for grading."""

from __future__ import annotations

import numpy as np

from tallystick.errors import InputError
from tallystick.sampling.random_draw import OddDraw, odd_draw_in_parts
from tallystick.score.outputs import Floats, Ints, Outputs
from tallystick.score.units import Units

__all__ = ["check_draw", "draw_of", "split_outputs"]

_MOST_GRADES = 20
"""Different grades up to which each is looked at."""

_MOST_JUDGES = 12


def split_outputs(outputs: Outputs) -> Floats:
    """Return 1 for entries on which the judges disagree, 0 for the others."""
    low, high = np.full(len(outputs.counts), np.inf), np.full(len(outputs.counts), -np.inf)
    for j in range(len(outputs.judges)):
        low = np.fmin(low, outputs.grades[:, j])
        high = np.fmax(high, outputs.grades[:, j])
    return np.where(high > low, 1.0, 0.0)


def check_draw(outputs: Outputs, draw: str) -> None:
    """Refuse labels from which no mean can be learnt.

    Labels that stand only where judges disagree say nothing about the outputs on which the judges
    agree, which are usually most of them. With known probabilities they would.
    """
    if draw == "all":
        blank = outputs.n - outputs.n_labels
        if blank:
            raise InputError(
                f"label_draw all says that every output has a human grade, and {blank:,} of"
                f" {outputs.n:,} have none: fill them in, or say how they were chosen"
                " (--label-draw random or unknown)"
            )
        return
    if outputs.probability is not None or not outputs.n_labels:
        return
    split = split_outputs(outputs) > 0
    if (outputs.known & ~split & (outputs.counts > 0)).any():
        return
    found = draw_of(outputs)
    if found is not None:
        share = float(outputs.counts[split].sum()) / outputs.n
        raise InputError(
            f"{found}. All {outputs.n_labels:,} human grades are on outputs where the judges"
            f" disagree, which are {100 * share:.0f} % of the {outputs.n:,} outputs: they say"
            " nothing about the rest, so no score can be made of them. Grade outputs drawn at"
            " random, or give the probability with which each was chosen (--probability)"
        )


def draw_of(outputs: Outputs) -> OddDraw | None:
    """Return what the judges show of a draw that was not random, system by system.

    That people graded one system only is said elsewhere.
    """
    if outputs.probability is not None or not 0 < outputs.n_labels < outputs.n:
        return None
    codes, columns, labels = _codes(outputs)

    # Rows become patterns: a sum per pattern takes far less than one per row for every event.
    keys = np.zeros(len(codes), np.int64)
    for j in range(codes.shape[1]):
        keys = keys * (len(labels) + 1) + codes[:, j] + 1
    keys = (keys * len(outputs.systems) + outputs.system) * 2 + outputs.known
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return odd_draw_in_parts(
        codes[first],
        np.bincount(place, weights=outputs.counts).astype(np.float64),
        outputs.known[first],
        columns=columns,
        labels=labels,
        part=outputs.system[first],
        parts=outputs.systems,
    )


def _codes(outputs: Outputs) -> tuple[Ints, tuple[str, ...], tuple[str, ...]]:
    """Return what each judge says as codes, with the names of judges and labels.

    Grades of many values are cut at the median of the judges' mean: it says more, or at most that.
    """
    judges = outputs.judges[:_MOST_JUDGES]
    grades = outputs.grades[:, : len(judges)]
    units = Units(outputs.scale)
    seen = np.unique(grades[~np.isnan(grades)])
    if len(seen) > _MOST_GRADES:
        mean = np.nanmean(
            np.where(np.isnan(grades).all(axis=1, keepdims=True), 0.0, grades), axis=1
        )
        cut = float(np.median(mean))
        codes = (mean > cut).astype(np.int64)[:, None]
        shown = f"{units.value(cut):.4g}"
        return codes, ("the judges' mean",), (f"at most {shown}", f"more than {shown}")
    codes = np.where(np.isnan(grades), -1, np.searchsorted(seen, grades)).astype(np.int64)
    return codes, judges, tuple(_word(float(one), outputs, units) for one in seen)


def _word(grade: float, outputs: Outputs, units: Units) -> str:
    """Return how a grade is called."""
    words = {0.0: "fail", 1.0: "pass"} if outputs.votes else {}
    if outputs.preferences:
        words = {0.0: "loss", 0.5: "tie", 1.0: "win"}
    return words.get(grade, f"{units.value(grade):.4g}")
