"""Where the calls went, against the optimum, and what plain sampling would have given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.sampling import FAILED, Strata, difficulty_cells
from tallystick.shift.items import Items
from tallystick.shift.optimal import optimal_allocation, optimal_loss
from tallystick.shift.result import Stratum
from tallystick.shift.verdict_notes import stratum_name
from tallystick.stats.ustat import uncertainty, uncertainty_score

__all__ = ["allocation_path", "baselines", "strata_rows"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
POINTS, LINES = 40, 12
"""How much of the path a picture shows."""


def strata_rows(
    items: Items, strata: Strata, asked: IntArray, codes: IntArray
) -> tuple[Stratum, ...]:
    """Return every stratum, with the optimal allocation at the uncertainty that was seen."""
    of = strata.of[asked]
    told = codes != FAILED
    number = len(strata)
    flips = None
    if items.old is not None:
        flips = np.bincount(of[told & (codes != items.old[asked])], minlength=number)
    sigma = _sigma(items, strata, asked, codes)
    best = optimal_allocation(strata.shares, sigma, calls=len(asked))
    n, m = np.bincount(of, minlength=number), np.bincount(of[told], minlength=number)
    return tuple(
        Stratum(
            name=name,
            items=int(strata.sizes[k]),
            asked=int(n[k]),
            answered=int(m[k]),
            flips=None if flips is None else int(flips[k]),
            optimal=round(float(best[k]), 1),
        )
        for k, name in enumerate(_names(items, strata))
    )


def allocation_path(
    items: Items, strata: Strata, asked: IntArray, codes: IntArray
) -> dict[str, list[Any]]:
    """Return how often the largest strata were asked, by question: figure 4 (g) of [CZZ22]_."""
    names = _names(items, strata)
    largest = np.sort(np.argsort(-strata.sizes, kind="stable")[:LINES])
    best = optimal_allocation(strata.shares, _sigma(items, strata, asked, codes), calls=len(asked))
    at = np.unique(np.linspace(1, len(asked), min(POINTS, len(asked))).astype(int))
    path: dict[str, list[Any]] = {"question": [], "asked": [], "stratum": [], "optimal": []}
    for k in largest:
        done = np.cumsum(strata.of[asked] == k)
        for question in at:
            path["question"].append(int(question))
            path["asked"].append(int(done[question - 1]))
            path["stratum"].append(f"{k}: {names[k]}")
            path["optimal"].append(round(float(best[k]), 1) if question == at[-1] else None)
    return path


def baselines(items: Items, strata: Strata, asked: IntArray, codes: IntArray) -> dict[str, float]:
    r"""Return the squared Frobenius error that plain sampling would have with as many answers.

    Uniform: :math:`(1 - \varphi)(1 - \sum C_{ij}^2)/n`. Proportional over the paper's cells (true
    label by third of confidence): :math:`(1 - \varphi) \sum p_k \sigma_k^2/n`. Optimal, over the
    same cells: Lemma 1's :math:`(\sum p_k \sigma_k)^2/n`, with replacement as in the paper. The
    distribution of answers in every cell is read from the answers, each weighted by the items that
    it stands for.
    """
    told = codes != FAILED
    asked, codes = asked[told], codes[told]
    weight = (strata.shares / np.maximum(np.bincount(strata.of[asked], minlength=len(strata)), 1))[
        strata.of[asked]
    ]
    rank = np.zeros(len(items)) if items.confidence is None else items.confidence
    compact = np.unique(items.truth, return_inverse=True)[1]
    cells = difficulty_cells(compact, rank, bins=1 if items.confidence is None else 3)
    J = len(items.labels) + 1
    table = np.bincount(
        cells.of[asked] * J + codes, weights=weight, minlength=len(cells) * J
    ).reshape(-1, J)
    total = table.sum(axis=1, keepdims=True)
    share = np.where(total > 0, table / np.where(total > 0, total, 1.0), np.eye(J)[0])
    sigma2 = uncertainty_score(share / share.sum(axis=1, keepdims=True))
    n, p = len(asked), cells.shares
    flat = np.bincount(items.flat(np.zeros(len(items), np.intp))[asked] + codes, weights=weight)
    left = 1 - n / len(items)
    return {
        "uniform": float(left * max(0.0, 1 - (flat**2).sum()) / n),
        "proportional": float(left * (p * sigma2).sum() / n),
        "optimal": optimal_loss(p, np.sqrt(sigma2), calls=n),
    }


def _sigma(items: Items, strata: Strata, asked: IntArray, codes: IntArray) -> FloatArray:
    """Return the root of each stratum's uncertainty, of changes where old answers are known."""
    told = codes != FAILED
    of, codes, asked = strata.of[asked][told], codes[told], asked[told]
    width = len(items.labels) + 1
    flat = items.truth[asked] * width + codes
    # A change is a pair (old, new); all that did not change is one outcome.
    if items.old is not None:
        flat = np.where(codes == items.old[asked], -1, flat * width + items.old[asked])
    seen, code = np.unique(flat, return_inverse=True)
    table = np.zeros((len(strata), len(seen)))
    np.add.at(table, (of, code), 1)
    return np.asarray(np.sqrt(np.nan_to_num(uncertainty(table), nan=1.0)))


def _names(items: Items, strata: Strata) -> list[str]:
    """Name every stratum by what its items have in common."""
    order = np.argsort(strata.of, kind="stable")
    return [_name(items, part) for part in np.split(order, np.cumsum(strata.sizes)[:-1])]


def _name(items: Items, part: IntArray) -> str:
    old = None
    if items.old is not None:
        before = np.unique(items.old[part])
        right = items.old[part] == items.truth[part]
        old = (
            f"was {items.columns[before[0]]}"
            if len(before) == 1
            else "was wrong"
            if not right.any()
            else "mixed"
        )
    span = None
    if items.confidence is not None:
        span = float(items.confidence[part].min()), float(items.confidence[part].max())
    labels = [items.labels[code] for code in np.unique(items.truth[part])]
    return stratum_name(labels, old, span)
