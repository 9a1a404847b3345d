"""Scores read from a labelling session: coverage of means and pairs, and what is claimed.

    python -m benchmarks.truth.score_session [--runs 1000] [--only TEXT] [--write]

simulates sessions of all three goals (mean, difference, best) on populations whose truth is known.
Drawing, stopping and betting are the library's own; the labels then go through
`SessionDraws` and `session_pairs` of `verbs.score.sessions`, as for a file. Every population is kept
under out/score-session/, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.known import known
from benchmarks.record import record
from benchmarks.truth.score_system_sets import NUMBERS, PAIRS, SEVERAL, SystemsSet, sets
from tallystick.results import Interval
from tallystick.sampling.label_accuracies import DrawJournal
from tallystick.sampling.label_best import advance, contested_draws, start
from tallystick.sampling.label_differences import SessionOrder, judged_difference
from tallystick.sampling.label_means import Apart
from tallystick.sampling.label_shares import planned_measure
from tallystick.sampling.label_strata import LabelProgress, draw_batch, next_batch, stop_reason
from tallystick.sampling.label_task import Read
from tallystick.table import read
from tallystick.verbs.score import CAPABILITY
from tallystick.verbs.score.labelling import labelling, rows_by_item
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.sessions import SessionDraws, session_pairs
from tallystick.verbs.score.systems import system_strata

CACHE = Path(__file__).resolve().parents[2] / "out" / "score-session"
ALPHA, FIXED, MOST = 0.05, 50, 400
VERSION = 1
"""Raise it when a method changes, so that no population of an older one is reused."""

GOALS = {
    "difference": (
        "ten points apart",
        "exact tie",
        "tie, one judge favours the second",
        "hidden losses on 3 %",
    ),
    "best": ("ten points apart", "exact tie", "useless judges", "5 spread"),
    "mean": ("ten points apart", "exact tie", "hidden losses on 3 %", "two of numbers, tied"),
}
"""The populations of each goal."""

Snapshot = tuple[SessionDraws, int]


class Remembered(SessionDraws):
    """Draws that compute each difference once: it is asked for twice here."""

    def difference(self, first: int, second: int, alpha: float) -> Interval | None:
        """Return the interval of a difference."""
        key = first, second, alpha
        kept: dict[tuple[int, int, float], Interval | None] = self.__dict__.setdefault("kept", {})
        if key not in kept:
            kept[key] = super().difference(first, second, alpha)
        return kept[key]


class Ground:
    """One population with everything that does not change from run to run."""

    def __init__(self, one: SystemsSet, goal: str) -> None:
        self.one, self.goal, self.outputs = one, goal, one.outputs
        self.truth = self.outputs.truth
        roles = {"item": "item", "system": "system", "judges": one.judges}
        blind = {name: column for name, column in one.table.items() if name != "human"}
        scale = (0.0, 1.0) if one.graded else None
        with read(blind, CAPABILITY.door, **roles) as data:
            self.task = labelling(data, ScoreQuestion(goal=goal, scale=scale))
        self.rows = None if goal == "mean" else rows_by_item(self.outputs)
        self.stratum = self.task.strata.of.astype(np.int64)
        if self.rows is not None:
            own = self.stratum[:, None]
            if goal == "best":
                own = system_strata(self.outputs)[self.rows]
            self.stratum = np.full(self.truth.size, -1, np.int64)
            self.stratum[self.rows] = own

    def draws(self, drawn: np.ndarray, order: SessionOrder | None) -> SessionDraws:
        """Return what score sees of a session in which these outputs were labelled."""
        truth = np.where(drawn, self.truth, np.nan)
        return Remembered(
            outputs=replace(self.outputs, truth=truth),
            stratum=self.stratum,
            drawn=drawn,
            apart=np.zeros(drawn.size, np.bool_),
            rows=self.rows,
            uniform=self.goal == "best",
            order=order,
        )


def difference_session(ground: Ground, rng: np.random.Generator) -> tuple[Snapshot, Snapshot]:
    """Label whole items in batches of 20, then 10, until the sign is decided."""
    task, rows = ground.task, known(ground.rows)
    gaps = ground.truth[rows[:, 0]] - ground.truth[rows[:, 1]]
    journal = DrawJournal.empty(task.strata.sizes)
    most = min(MOST, len(rows))
    fixed = stop = None
    while fixed is None or stop is None:
        n = journal.n_draws
        spread = task.spread(journal.stratum, gaps[journal.item], len(task.strata))
        size = next_batch(LabelProgress(labelled=n, left=most - n))
        journal = draw_batch(task.strata, journal, size=size, spread=spread, rng=rng)
        order = _sign(ground, journal, gaps)
        snapshot = ground.draws(_asked(ground, journal.item, None), order), journal.n_draws
        if journal.n_draws == FIXED:
            fixed = snapshot
        if stop is None and (order.winner is not None or journal.n_draws >= most):
            stop = snapshot
    return fixed, stop


def _sign(ground: Ground, journal: DrawJournal, gaps: np.ndarray) -> SessionOrder:
    """Say who is better, as the session does."""
    found = judged_difference(journal, gaps[journal.item], ground.task.measures[0].guess)
    names = ground.one.systems
    winner = {"first": names[0], "second": names[1]}.get(found.verdict or "")
    p = [1 / max(1.0, float(path.max())) for path in (found.first, found.second)]
    return SessionOrder(
        names=names,
        winner=winner,
        certain=found.certain,
        live=np.array([winner in (None, name) for name in names]),
        p_values=np.array([[1.0, p[0]], [p[1], 1.0]]),
        labelled=journal.n_draws,
        left=len(gaps) - journal.n_draws,
        missing=None,
        epsilon=0.0,
    )


def best_session(ground: Ground, rng: np.random.Generator) -> tuple[Snapshot, Snapshot]:
    """Label whole items in batches of 20, then 10, until a system is named."""
    task = ground.task
    truth = ground.truth[ground.rows]
    state = start(known(task.contest), epsilon=task.epsilon, alpha=ALPHA)
    asked = np.zeros(ground.truth.size, np.bool_)
    fixed = stop = None
    while fixed is None or stop is None:
        live, n = state.live, state.drawn.size
        if stop is None:
            batch = contested_draws(state, size=20 if not n else 10, rng=rng)
            asked = asked | _asked(ground, batch, live)
            state = advance(state, batch, np.where(live, truth[batch], np.nan))
            n = state.drawn.size
        else:  # the fixed size lies beyond the stop: label on, uniformly, for it alone
            extra = rng.choice(
                np.setdiff1d(np.arange(len(truth)), state.drawn), FIXED - n, replace=False
            )
            asked, n = asked | _asked(ground, extra, live), FIXED
        order = SessionOrder(
            names=task.names,
            winner=None if state.named is None else task.names[state.named],
            certain=False,
            live=state.live,
            p_values=np.exp(-np.maximum(state.log_ahead, 0.0)),
            labelled=n,
            left=len(truth) - n,
            missing=None,
            epsilon=task.epsilon,
            best=state,
        )
        if n == FIXED:
            fixed = ground.draws(asked.copy(), order), n
        if stop is None and (state.named is not None or n >= len(truth)):
            stop = ground.draws(asked.copy(), order), n
    return fixed, stop


def mean_session(ground: Ground, rng: np.random.Generator) -> tuple[Snapshot, Snapshot]:
    """Label outputs until every system is known to ± 5 points."""
    task = ground.task
    journal = DrawJournal.empty(task.strata.sizes)
    none = Apart(known=0, total=0.0, sampled=task.strata.n_items)
    fixed, half = None, None
    total = task.strata.n_items
    while True:
        n = journal.n_draws
        now = LabelProgress(labelled=n, left=total - n, half_width=half, target=0.05)
        size = next_batch(now)
        if n < 2 * FIXED < n + size:  # a batch ends at the fixed size
            size = 2 * FIXED - n
        codes = ground.truth[journal.item]
        spread = task.spread(journal.stratum, codes, len(task.strata))
        journal = draw_batch(task.strata, journal, size=size, spread=spread, rng=rng)
        n = journal.n_draws
        codes = ground.truth[journal.item]
        seen = Read(
            units=journal.item,
            answers=np.repeat(codes[:, None, None], 2, axis=2),
            skipped=np.zeros(n, np.bool_),
            unresolved=0,
        )
        ends = [planned_measure(task, seen, one, none)[1] for one in task.measures]
        widths = [one.width for one in ends if isinstance(one, Interval)]
        half = max(widths) / 2 if len(widths) == len(ends) else None
        snapshot = ground.draws(_drawn(ground, journal.item), None), n
        if n == 2 * FIXED:
            fixed = snapshot
        done = LabelProgress(labelled=n, left=total - n, half_width=half, target=0.05)
        if stop_reason(done) in ("precision", "certain") and fixed is not None:
            return fixed, snapshot


def _drawn(ground: Ground, units: np.ndarray) -> np.ndarray:
    drawn = np.zeros(ground.truth.size, np.bool_)
    drawn[units] = True
    return drawn


def _asked(ground: Ground, items: np.ndarray, live: np.ndarray | None) -> np.ndarray:
    rows = known(ground.rows)[items]
    rows = rows if live is None else rows[:, live]
    return _drawn(ground, rows.ravel())


# -- what score says of a session


class Counts:
    """What was covered, claimed and how wide it was, summed over runs."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.gap = ground.one.differences()
        self.mean = ground.one.truth.mean(axis=0)
        k = self.mean.size
        self.held = np.zeros(k)
        self.seen = np.zeros(k)
        self.sums = dict.fromkeys(
            ("runs", "labels", "pairs", "wide", "decided", "wrong", "named", "far"), 0.0
        )

    def add(self, snapshot: Snapshot) -> None:
        """Count what score says of one session."""
        draws, labelled = snapshot
        question = ScoreQuestion()
        systems = draws.systems(ALPHA)
        for s, one in enumerate(systems):
            if one.score is not None:
                self.seen[s] += 1
                self.held[s] += _within(one.interval, self.mean[s])
        pairs = session_pairs(draws, systems, question)
        count = len(pairs)
        # The interval as computed, before it is made to agree with the verdict about 0.
        raw = [
            draws.difference(pair.first, pair.second, ALPHA / count) or pair.interval
            for pair in pairs
        ]
        sums = self.sums
        sums["runs"] += 1
        sums["labels"] += labelled
        sums["pairs"] += all(
            _within(interval, self.gap[pair.first, pair.second])
            for interval, pair in zip(raw, pairs, strict=True)
        )
        sums["wide"] += float(np.mean([interval.width / 2 for interval in raw]))
        settled = [pair.sign(ALPHA) for pair in pairs]
        sums["decided"] += float(np.mean([sign != 0 for sign in settled]))
        sums["wrong"] += any(
            sign and sign * self.gap[pair.first, pair.second] <= 1e-12
            for sign, pair in zip(settled, pairs, strict=True)
        )
        if draws.order is not None and draws.order.winner is not None:
            place = draws.order.names.index(draws.order.winner)
            sums["named"] += 1
            sums["far"] += bool(self.mean[place] < self.mean.max() - draws.order.epsilon - 1e-12)

    def row(self) -> dict[str, float]:
        """Return shares and means over the runs."""
        runs = self.sums["runs"]
        share = {name: value / runs for name, value in self.sums.items() if name != "runs"}
        cover = self.held / np.maximum(self.seen, 1)
        return share | {"mean": float(cover.mean()), "worst": float(cover.min())}


def _within(interval: Interval, value: float) -> bool:
    return interval.low - 1e-9 <= value <= interval.high + 1e-9


SESSIONS: dict[str, Callable[[Ground, np.random.Generator], tuple[Snapshot, Snapshot]]] = {
    "difference": difference_session,
    "best": best_session,
    "mean": mean_session,
}


def measure(one: SystemsSet, goal: str, runs: int, seed: int) -> dict[str, Any]:
    """Run many sessions of one goal on one population."""
    ground = Ground(one, goal)
    key = [sum(map(ord, goal)), sum(map(ord, one.name))]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
    counts = Counts(ground), Counts(ground)
    for _ in range(runs):
        for count, snapshot in zip(counts, SESSIONS[goal](ground, rng), strict=True):
            count.add(snapshot)
    return {"fixed": counts[0].row(), "stop": counts[1].row()}


def populations() -> list[tuple[str, SystemsSet]]:
    made = {one.name: one for one in (*sets(PAIRS), *sets(SEVERAL), *sets(NUMBERS))}
    return [(goal, made[name]) for goal, names in GOALS.items() for name in names]


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for goal, one in populations():
        if options.only and options.only not in f"{goal} {one.name}":
            continue
        path = CACHE / ("".join(c if c.isalnum() else "-" for c in f"{goal} {one.name}") + ".json")
        settings = {"version": VERSION, "runs": options.runs, "seed": options.seed}
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        if kept is None or kept["settings"] != settings:
            kept = {"settings": settings, **measure(one, goal, options.runs, options.seed)}
            CACHE.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(kept), encoding="utf-8")
        print(goal, one.name, kept["fixed"], kept["stop"], file=sys.stderr)
        rows.append(_row(goal, one, kept["fixed"], kept["stop"]))
    return rows


def _row(goal: str, one: SystemsSet, fixed: dict[str, Any], stop: dict[str, Any]) -> dict[str, Any]:
    line = {
        "goal": goal,
        "set": one.name,
        "k": one.truth.shape[1],
        "means at 50": f"{_short(fixed['mean'])}/{_short(fixed['worst'])}",
        "at the stop": f"{_short(stop['mean'])}/{_short(stop['worst'])}",
        "pairs at 50": _short(fixed["pairs"]),
        "at stop": _short(stop["pairs"]),
        "± at 50": _short(fixed["wide"]),
        "± at stop": _short(stop["wide"]),
        "units at stop": round(stop["labels"]),
        "settled": _short(stop["decided"]),
        "wrong order": _short(stop["wrong"]),
    }
    if goal == "best":
        line["too far behind"] = _short(stop["far"])
    return line


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


NOTES = [
    "Coverage at nominal .95, {runs} sessions on each set. means: mean over the systems and the "
    "worst system. pairs: the share of sessions whose intervals hold the true differences of all "
    "pairs at once, before they are made to agree with the verdict about 0; ± is their mean "
    "half-width.",
    "at 50: 50 items labelled for all systems, or 100 outputs for the goal mean, whatever was "
    "seen. at the stop: where label stops: the verdict is reached (difference, best; at most 400 "
    "items, or all), or every system is known to ± 5 points (mean). units: items, or outputs for "
    "the goal mean.",
    "settled: share of the pairs that are ordered at the stop; wrong order: share of sessions in "
    "which any pair is ordered wrongly, where an exact tie makes every order wrong. For difference "
    "and best, score orders by the anytime evidence of the session itself, so both verbs say the "
    "same. too far behind: the system that the session named is more than 2 points behind the "
    "best.",
    "The intervals of pairs are approximate and made for a size that is given. Where a session of "
    "the goal best stops on an exact tie they cover a little less than .95; there they are shown "
    "with 0 inside, since nobody is ahead.",
    "Until now the difference was treated as a share of (D + 1)/2 in each stratum, so that every "
    "tie counted as a coin toss: ± .25 to .29 at 50 items on sets like these.",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--only", default="", help="goals and sets whose name holds this text")
    parser.add_argument(
        "--write", action="store_true", help="write benchmarks/results/score-session.json"
    )
    options = parser.parse_args()
    rows = run(options)
    notes = [note.format(runs=options.runs) for note in NOTES]
    record("score-session", "Scores read from a labelling session", rows, notes=notes)


if __name__ == "__main__":
    main()
