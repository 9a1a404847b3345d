"""Tallystick beside truescore, judgy, cje-eval, ppi-python and judgekeeper, on the same draws.

Every package is called as its readme says, none is written out again. Two questions: the true pass
rate of 2,000 outputs from one judge and m human grades, and the accuracy of three judges from m
labels. Draws are made once and given to all.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version

import numpy as np

from benchmarks.known import known
from benchmarks.record import record

ITEMS = 2000
DRAWS = 100
SLOW = 25
"""Draws of a package that takes seconds for each."""

CELLS = tuple((rate, m) for rate in (0.6, 0.9) for m in (30, 100))
SENSITIVITY, SPECIFICITY = 0.93, 0.65

Ends = tuple[float, float]


def main() -> None:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    scored = {name: _Held() for name in SCORES}
    for rate, m in CELLS:
        for number, draw in enumerate(_outputs(rate, m)):
            for name, (call, most) in SCORES.items():
                if number < most:
                    scored[name].add((rate, m), call, draw)
    rows = [_row(name, scored[name]) for name in SCORES]
    record(
        "peers-one-run",
        "Peers, one run: the pass rate of 2,000 outputs from one judge and few human grades",
        rows,
        notes=(
            f"{DRAWS} draws per cell ({SLOW} for cje-eval), the same for all; the judge passes"
            f" {SENSITIVITY:.0%} of the good and {1 - SPECIFICITY:.0%} of the bad outputs.",
            "Coverage of 95% intervals for the pass rate of these outputs, and mean width in"
            " points; a draw that a package refuses counts as refused, not as missed.",
            "Binomial error of a coverage of .95 over 100 draws: ± .043.",
        ),
    )
    judged = {name: _Held() for name in JUDGES}
    for panel in _panel(50):
        for name, (grade, most) in JUDGES.items():
            if panel[2] < most:
                judged[name].add(("judges", 50), grade, panel)
    record(
        "peers-one-run-judges",
        "Peers, one run: the accuracy of three judges from 50 labels on 1,000 items",
        [_row(name, held) for name, held in judged.items()],
        notes=(
            f"{DRAWS} draws, three judges each. Coverage and width of the 95% interval of a"
            " judge's accuracy on these items. judgekeeper reports an accuracy without an interval;"
            " here its own Wilson function makes one from the labelled items.",
        ),
    )


class _Held:
    """What a package gave, by cell."""

    def __init__(self) -> None:
        self.cells: dict[tuple[float | str, int], list[tuple[bool, float]]] = {}
        self.refused = 0
        self.seconds = 0.0
        self.calls = 0

    def add(
        self,
        cell: tuple[float | str, int],
        call: Callable[..., list[tuple[Ends, float]]],
        draw: object,
    ) -> None:
        began = time.perf_counter()
        self.calls += 1
        try:
            found = call(draw)
        except (ValueError, ZeroDivisionError):
            self.refused += 1
            return
        finally:
            self.seconds += time.perf_counter() - began
        for (low, high), true in found:
            self.cells.setdefault(cell, []).append((low <= true <= high, high - low))


def _row(name: str, held: _Held) -> dict[str, object]:
    row: dict[str, object] = {"package": name}
    for cell, found in held.cells.items():
        rate, m = cell
        title = f"{rate:.0%} pass, {m} grades" if isinstance(rate, float) else f"{m} labels"
        inside, width = np.mean([one[0] for one in found]), np.mean([one[1] for one in found])
        row[title] = f"{inside:.2f}, {100 * width:.1f}"
    row["refused"] = f"{held.refused} of {held.calls}"
    row["ms per call"] = f"{1000 * held.seconds / max(1, held.calls):.1f}"
    return row


def _outputs(rate: float, m: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return the judge's votes, the truth, and which outputs are graded, draw by draw."""
    for number in range(DRAWS):
        rng = np.random.default_rng([int(100 * rate), m, number])
        truth = (rng.random(ITEMS) < rate).astype(int)
        passes = np.where(truth == 1, SENSITIVITY, 1 - SPECIFICITY)
        votes = (rng.random(ITEMS) < passes).astype(int)
        yield votes, truth, rng.choice(ITEMS, m, replace=False)


def _panel(m: int) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    for number in range(DRAWS):
        rng = np.random.default_rng([m, number])
        truth = (rng.random(1000) < 0.7).astype(int)
        blind = (truth == 0) & (rng.random(1000) < 0.15)
        votes = np.column_stack(
            [np.where(blind, 1, truth ^ (rng.random(1000) < slip)) for slip in (0.08, 0.14, 0.2)]
        )
        yield votes, np.column_stack([truth, rng.permutation(1000) < m]), number


# -- the pass rate


def _ours(draw: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[tuple[Ends, float]]:
    from tallystick.verbs import score

    votes, truth, graded = draw
    human: list[int | None] = [None] * ITEMS
    for row in graded.tolist():
        human[row] = int(truth[row])
    table = {"item": np.arange(ITEMS), "system": ["a"] * ITEMS, "judge": votes, "human": human}
    found = score.evaluate(table, item="item", system="system", judges=["judge"], truth="human")
    interval = known(found.systems[0].interval)
    return [((interval.low, interval.high), float(truth.mean()))]


def _truescore(draw: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[tuple[Ends, float]]:
    from truescore import ppi_estimate

    votes, truth, graded = draw
    found = ppi_estimate(votes.astype(float), truth[graded].astype(float), graded)
    return [((found.low, found.high), float(truth.mean()))]


def _judgy(draw: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[tuple[Ends, float]]:
    from judgy import estimate_success_rate

    votes, truth, graded = draw
    np.random.seed(0)  # noqa: NPY002  # judgy draws from the global state
    _, low, high = estimate_success_rate(
        truth[graded], votes[graded], votes, bootstrap_iterations=2000
    )
    return [((low, high), float(truth.mean()))]


def _cje(draw: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[tuple[Ends, float]]:
    from cje import calibrated_mean_ci

    votes, truth, graded = draw
    labels = np.full(ITEMS, np.nan)
    labels[graded] = truth[graded]
    low, high = calibrated_mean_ci(votes.astype(float), labels).ci
    return [((low, high), float(truth.mean()))]


def _ppi(draw: tuple[np.ndarray, np.ndarray, np.ndarray]) -> list[tuple[Ends, float]]:
    from ppi_py import ppi_mean_ci

    votes, truth, graded = draw
    rest = np.delete(votes, graded).astype(float)
    ends = ppi_mean_ci(truth[graded].astype(float), votes[graded].astype(float), rest, alpha=0.05)
    low, high = np.ravel(ends)
    return [((float(low), float(high)), float(truth.mean()))]


# -- the accuracy of judges


def _ours_judges(draw: tuple[np.ndarray, np.ndarray, int]) -> list[tuple[Ends, float]]:
    from tallystick.verbs import judge

    votes, marked, _ = draw
    truth, labelled = marked[:, 0], marked[:, 1].astype(bool)
    gold = [int(label) if ok else None for label, ok in zip(truth, labelled, strict=True)]
    table = {**{f"j{k}": votes[:, k] for k in range(3)}, "gold": gold}
    found = judge.evaluate(table, judges=["j0", "j1", "j2"], truth="gold")
    right = (votes == truth[:, None]).mean(axis=0)
    return [
        ((interval.low, interval.high), float(right[k]))
        for k, interval in enumerate(known(row.interval) for row in found.judges)
    ]


def _judgekeeper(draw: tuple[np.ndarray, np.ndarray, int]) -> list[tuple[Ends, float]]:
    from judgekeeper.metrics import agreement, wilson

    votes, marked, _ = draw
    truth, labelled = marked[:, 0], marked[:, 1].astype(bool)
    words = np.array(["fail", "pass"])
    human = words[truth[labelled]].tolist()
    found = []
    for k in range(3):
        found_here = agreement(human, words[votes[labelled, k]].tolist(), "pass", "fail")
        own = wilson(round(found_here["accuracy"] * found_here["n"]), found_here["n"])
        right = float((votes[:, k] == truth).mean())
        found.append(((float(own["lo"]), float(own["hi"])), right))
    return found


SCORES = {
    "tallystick": (_ours, DRAWS),
    f"truescore {version('truescore')}": (_truescore, DRAWS),
    f"judgy {version('judgy')}": (_judgy, DRAWS),
    f"cje-eval {version('cje-eval')}": (_cje, SLOW),
    f"ppi-python {version('ppi-python')}": (_ppi, DRAWS),
}
JUDGES = {
    "tallystick": (_ours_judges, DRAWS),
    f"judgekeeper {version('judgekeeper')}": (_judgekeeper, DRAWS),
}

if __name__ == "__main__":
    main()
