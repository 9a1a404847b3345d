"""Labels that were there already: what each rule promises, and what it costs to ignore it.

What is declared goes through the rule of ``label`` itself (`use_existing`): it says what becomes
the first draws, what is counted apart and what is doubted. The sessions of one row run side by
side, through the library's formulas, in batches of 10.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.record import kept_row
from benchmarks.truth.label_sets import Population, Table, populations
from tallystick.sampling.draws import DrawJournal, drawing_probabilities
from tallystick.sampling.bets import rectified_steps
from tallystick.sampling.planned import Apart
from tallystick.sampling.bets import anytime_share
from tallystick.sampling.planned import planned_shares
from tallystick.sampling.stopping import FIRST
from tallystick.sampling.tasks import LabelTask, class_measure
from tallystick.verbs.label.begin import Existing, Use, use_existing

TARGET, THERE, COMPLAINTS, BATCH = 0.05, 60, 3.0, 10
LOW, AGAIN = 0.945, 5
SETS = ("rte", "llmbar", "adult", "good3", "useless", "rare 2 %", "adverse", "N = 150")


@dataclass(frozen=True)
class Case:
    """How labels came to be, what the user says of it, and whether we believe what is said."""

    name: str
    made: str
    origin: str
    believed: bool = False

    @property
    def honest(self) -> bool:
        """Whether what is said of the labels is true."""
        return self.origin in (self.made, "unknown") or self.made == "none"


CASES = (
    Case("none", "none", "random"),
    Case("random, said so", "random", "random"),
    Case("random, nothing said", "random", "unknown"),
    Case("among disagreements, said so", "disagreements", "disagreements"),
    Case("complaints, nothing said", "complaints", "unknown"),
    Case("complaints, called random", "complaints", "random"),
    Case("complaints, taken as random", "complaints", "random", believed=True),
)


def existing(*, runs: int, rng: np.random.Generator) -> Table:
    del rng  # rows have seeds of their own
    rows = []
    for one in populations():
        if one.name in SETS and one.votes is not None:
            # Each row has draws of its own, so a call that was stopped can go on (--keep FILE).
            for case in CASES:
                own = np.random.default_rng([19, *f"{one.name}, {case.name}".encode()])
                row = kept_row(f"{one.name}, {case.name}", partial(_row, one, case, runs, own))
                rows += [row] if row else []
    for case in CASES:
        mine = [row for row in rows if row["labels there"] == case.name]
        worst = {
            "cover at stop": min(row["cover at stop"] for row in mine),
            "again": min((row.get("again") or row["cover at stop"]) for row in mine),
            "ever missed": max(row["ever missed"] for row in mine),
        }
        rows.append({"set": "worst of all", "labels there": case.name, **worst})
    notes = [
        f"{runs} sessions each, to ± {100 * TARGET:g} points on the share of ones. {THERE} labels "
        "(a fifth of the items if these are fewer) are there when a session begins. more labels: "
        "the mean number that was drawn besides. ever missed: the truth is outside the anytime "
        "interval when the session stops; it never grows, so it was outside at some time.",
        f"complaints: an item that fails is {COMPLAINTS:g} times as likely to be labelled. called "
        "random: the user says --label-draw random, and the rule doubts it where the judges see "
        "that it cannot be (doubted: share of sessions); then the labels are counted apart. taken "
        "as random: the same without that doubt, which no option of label does. The doubt is raised "
        "at four standard errors in what the judges say, so it rarely saves a user who says what "
        "is not true: without --label-draw the labels are counted apart, and the promise holds.",
        f"Cells of honest cases below {LOW} were measured again on {AGAIN} times as many fresh "
        "sessions (again; the last rows take these where there are some): the lowest of many "
        "short runs is too low by luck.",
        "Labels of unknown origin are known exactly and leave the population; the rest is drawn "
        "from. Labels among disagreements are the first draws of strata that are cut in two by "
        "whether the judges disagree.",
    ]
    return "label-existing", "Labels that were there already", rows, notes


def _row(one: Population, case: Case, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    """Measure one row; a cell that looks low is measured again, since the lowest of many is."""
    row = _measured(one, case, runs, rng)
    if case.honest and row["cover at stop"] < LOW:
        row["again"] = _measured(one, case, AGAIN * runs, rng)["cover at stop"]
    return row


def _measured(one: Population, case: Case, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    there = [_there(one, case.made, rng) for _ in range(runs)]
    uses = [_used(one, case, items) for items in there]
    found = _sessions(one, there, uses, rng)
    doubted = np.mean([use.origin != case.origin for use in uses])
    return {
        "set": one.name,
        "labels there": case.name,
        "doubted": float(doubted) if case.name == "complaints, called random" else "",
        "more labels": float(found[0].mean()),
        "cover at stop": float(found[1].mean()),
        "ever missed": float(found[2].mean()),
    }


def _used(one: Population, case: Case, items: np.ndarray) -> Use:
    """Return what the rule of label makes of the labels."""
    known = Existing(
        column="human",
        labels={int(i): int(one.truth[i]) for i in items},
        units={int(i): (int(one.truth[i]),) for i in items},
    )
    if case.believed:
        return Use(origin="random")
    return use_existing(_task(one), known, case.origin)


def _there(one: Population, made: str, rng: np.random.Generator) -> np.ndarray:
    """Return the items that are labelled when the session begins."""
    n = one.truth.size
    size = min(THERE, n // 5)
    chance = np.ones(n)
    if made == "none":
        return np.empty(0, np.int64)
    if made == "complaints":
        chance = np.where(one.truth == 0, COMPLAINTS, 1.0)
    if made == "disagreements":
        chance = _disagree(one).astype(np.float64)
        size = min(size, int(chance.sum()) // 2)
    return rng.choice(n, size=size, replace=False, p=chance / chance.sum())


def _disagree(one: Population) -> np.ndarray:
    assert one.votes is not None
    some = one.votes.max(axis=1)
    return np.asarray(np.where(one.votes < 0, some[:, None], one.votes).min(axis=1) != some)


def _task(one: Population) -> LabelTask:
    return LabelTask(
        claim="share",
        classes=(0, 1),
        strata=one.strata,
        rows=np.arange(one.truth.size)[:, None],
        measures=(class_measure("1", 1, one.strata),),
        columns=("votes",),
        disagree=_disagree(one),
    )


class _Runs:
    """Sessions side by side: what is left in each stratum, and every draw so far."""

    def __init__(self, one: Population, uses: list[Use]) -> None:
        of = np.stack([one.strata.of if use.strata is None else use.strata for use in uses])
        self.strata = int(of.max()) + 1
        self.of = of.astype(np.int64)
        self.sizes = self._sums(np.ones(one.truth.size))
        self.ones = self._sums(one.truth)
        # What the votes lead one to expect of each stratum, as `votes_task_strata` has it.
        believed = self._sums(one.posterior) / np.maximum(self.sizes, 1)
        self.guess = np.clip(believed, 0.02, 0.98)
        self.left, self.good = self.sizes.copy(), self.ones.copy()
        self.k, self.x = np.zeros_like(self.sizes), np.zeros_like(self.sizes)
        self.drawn: list[tuple[np.ndarray, np.ndarray]] = []
        self.spreads: list[np.ndarray] = []
        self.batch: list[int] = []

    def _sums(self, values: np.ndarray) -> np.ndarray:
        inside = [of >= 0 for of in self.of]
        return np.stack(
            [
                np.bincount(of[some], weights=values[some], minlength=self.strata)
                for of, some in zip(self.of, inside, strict=True)
            ]
        )

    def take(self, h: np.ndarray, y: np.ndarray) -> None:
        """Count one draw of every session."""
        rows = np.arange(len(h))
        for held, by in ((self.left, -1), (self.k, 1)):
            held[rows, h] += by
        self.good[rows, h] -= y
        self.x[rows, h] += y
        self.drawn.append((h, y))
        self.batch.append(len(self.spreads) - 1)

    def begin_batch(self, spread: np.ndarray) -> None:
        """Freeze the spreads of the next draws."""
        self.spreads.append(spread)

    def draw(self, rng: np.random.Generator) -> None:
        """Draw one item in every session; one that has none left draws again what it drew last."""
        rows = np.arange(len(self.left))
        upto = np.cumsum(drawing_probabilities(self.left, self.spreads[-1]), axis=1)
        h = (rng.random((rows.size, 1)) * upto[:, -1:] >= upto).sum(axis=1)
        y = rng.random(rows.size) < self.good[rows, h] / self.left[rows, h]
        self.take(h, y.astype(np.float64))

    def journal(self, run: int, n: int) -> tuple[DrawJournal, np.ndarray]:
        """Return the first draws of one session, and their values."""
        stratum = np.array([h[run] for h, _ in self.drawn[:n]], np.int64)
        batch = np.array(self.batch[:n], np.int64)
        journal = DrawJournal(
            sizes=self.sizes[run].astype(np.int64),
            item=np.arange(n),
            stratum=stratum,
            q=np.empty(n),
            batch=batch,
            spreads=np.stack([one[run] for one in self.spreads[: int(batch[-1]) + 1]]),
            half_width=TARGET,
        )
        return journal, np.array([y[run] for _, y in self.drawn[:n]])


def _sessions(
    one: Population, there: list[np.ndarray], uses: list[Use], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return of every session its own labels, whether the stop covers, and whether anytime misses.

    Sessions of one row may differ in what the rule made of their labels, so they are parted by it.
    """
    apart = np.array([use.origin == "unknown" for use in uses])
    found = [np.zeros(len(uses)) for _ in range(3)]
    for some in (np.flatnonzero(apart), np.flatnonzero(~apart)):
        if some.size:
            parts = _alike(one, [there[i] for i in some], [uses[i] for i in some], rng)
            for held, part in zip(found, parts, strict=True):
                held[some] = part
    return found[0], found[1], found[2]


def _alike(
    one: Population, there: list[np.ndarray], uses: list[Use], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    runs, n_runs = _Runs(one, uses), len(uses)
    known = [
        Apart(
            known=len(use.apart),
            total=sum(label == 1 for label in use.apart.values()),
            sampled=int(size),
        )
        for use, size in zip(uses, runs.sizes.sum(axis=1), strict=True)
    ]
    first = 0
    if uses[0].origin != "unknown" and there[0].size:
        among = uses[0].among
        spread = np.ones(runs.strata) if among is None else among.astype(np.float64)
        order = np.stack([rng.permutation(items) for items in there])
        first = order.shape[1]
        for t in range(first):
            if t % BATCH == 0:
                runs.begin_batch(np.tile(spread, (n_runs, 1)))
            items = order[:, t]
            runs.take(runs.of[np.arange(n_runs), items], one.truth[items].astype(np.float64))

    at, low, high = np.full(n_runs, -1), np.zeros(n_runs), np.ones(n_runs)
    may_stop = uses[0].origin == "random"
    while (at < 0).any():
        n = len(runs.drawn)
        if n >= FIRST and (may_stop or n > first):
            open_ = np.flatnonzero(at < 0)
            made = planned_shares(runs.sizes[open_], runs.k[open_], runs.x[open_])
            for run, a, b in zip(open_, made.low, made.high, strict=True):
                low[run], high[run] = known[run].whole(a), known[run].whole(b)
                if (high[run] - low[run]) / 2 <= TARGET or not runs.left[run].sum() > BATCH:
                    at[run] = n
        p = (runs.x + 2) / (runs.k + 4)
        runs.begin_batch(np.sqrt(p * (1 - p)))
        for _ in range(max(FIRST - n, BATCH if n >= FIRST else 0)):
            runs.draw(rng)

    missed = np.zeros(n_runs)
    for place, drawn in enumerate(at):
        journal, values = runs.journal(place, int(drawn))
        steps = replace(rectified_steps(journal, values, runs.guess[place]), half_width=TARGET)
        interval = known[place].interval(anytime_share(steps))
        missed[place] = not interval.low - 1e-9 <= one.share <= interval.high + 1e-9
    covered = (low - 1e-9 <= one.share) & (one.share <= high + 1e-9)
    return at - first, covered.astype(np.float64), missed
