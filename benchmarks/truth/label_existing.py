"""Labels that were there already: what each rule promises, and what it costs to ignore it.

Every run goes through the rules of ``label`` itself (`use_existing`): what is declared, what the
votes say of it, what becomes the first draws and what is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from label_sets import Population, Table, populations
from record import kept_row

from tallystick.label.existing import Existing, use_existing
from tallystick.sampling.labels import (
    Apart,
    DrawJournal,
    LabelProgress,
    anytime_share,
    draw_batch,
    next_batch,
    rectified_steps,
    share_spread,
    stop_reason,
)
from tallystick.sampling.labels.batches import FIRST
from tallystick.sampling.labels.planned_share import planned_shares
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.task import LabelTask, class_measure, votes_task_strata

TARGET, THERE, COMPLAINTS, BATCH = 0.05, 60, 3.0, 10
SETS = ("rte", "llmbar", "adult", "good3", "useless", "rare 2 %", "adverse", "N = 150")


@dataclass(frozen=True)
class Case:
    """How labels came to be, what the user says of it, and whether we believe what is said."""

    name: str
    made: str
    origin: str
    believed: bool = False


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
    rows = []
    for one in populations():
        if one.name in SETS and one.votes is not None:
            # Each row has draws of its own, so a run that was stopped can go on (--keep FILE).
            for case, own in zip(CASES, rng.spawn(len(CASES)), strict=True):
                row = kept_row(f"{one.name}, {case.name}", partial(_row, one, case, runs, own))
                rows += [row] if row else []
    for case in CASES:
        mine = [row for row in rows if row["labels there"] == case.name]
        if not mine:
            continue
        worst = {
            "cover at stop": min(row["cover at stop"] for row in mine),
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
        "as random: the same without that doubt, which no option of label does.",
        "Labels of unknown origin are known exactly and leave the population; the rest is drawn "
        "from. Labels among disagreements are the first draws of strata that are cut in two by "
        "whether the judges disagree.",
    ]
    return "label-existing", "Labels that were there already", rows, notes


def _row(one: Population, case: Case, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    found = [_session(one, case, rng) for _ in range(runs)]
    more, covered, missed, doubted = (np.mean(part) for part in zip(*found, strict=True))
    return {
        "set": one.name,
        "labels there": case.name,
        "doubted": "" if case.origin != "random" or case.believed else float(doubted),
        "more labels": float(more),
        "cover at stop": float(covered),
        "ever missed": float(missed),
    }


def _session(one: Population, case: Case, rng: np.random.Generator) -> tuple[int, bool, bool, bool]:
    """Run one session; return its own labels, both promises, and whether the origin was doubted."""
    there = _there(one, case.made, rng)
    task = _task(one)
    known = Existing(
        column="human",
        labels={int(i): int(one.truth[i]) for i in there},
        units={int(i): (int(one.truth[i]),) for i in there},
    )
    use = use_existing(task, known, case.origin)
    doubted = use.origin != case.origin
    if case.believed:
        use = replace(use, origin="random", strata=None, apart={}, among=None)
    strata = one.strata
    if use.strata is not None:
        strata, _ = votes_task_strata(one.votes, 2, use.strata)
    apart = Apart(known=len(use.apart), total=sum(use.apart.values()), sampled=strata.n_items)

    journal = DrawJournal.empty(strata.sizes, half_width=TARGET)
    if use.origin != "unknown" and there.size:
        spread = np.ones(len(strata)) if use.among is None else use.among.astype(np.float64)
        journal = _first(strata, journal, rng.permutation(there), spread)
    own = -journal.n_draws
    while True:
        values = one.truth[journal.item].astype(np.float64)
        low, high = _planned(strata, journal, values, apart)
        now = LabelProgress(
            labelled=journal.n_draws,
            left=strata.n_items - journal.n_draws,
            half_width=(high - low) / 2 if journal.n_draws else None,
            target=TARGET,
        )
        own_draws = own + journal.n_draws
        # A share is claimed only once the session itself has drawn, unless all is a random draw.
        may_stop = use.origin == "random" or own_draws > 0
        if may_stop and stop_reason(now) in ("precision", "certain"):
            break
        size = max(FIRST - journal.n_draws, 0) or next_batch(now)
        spread = share_spread(journal.stratum, values, len(strata))
        journal = draw_batch(strata, journal, size=size, spread=spread, rng=rng)
    steps = replace(rectified_steps(journal, values, strata.guess[:, 1]), half_width=TARGET)
    anytime = apart.interval(anytime_share(steps))
    share = one.share
    return (
        own_draws,
        low - 1e-9 <= share <= high + 1e-9,
        not anytime.low - 1e-9 <= share <= anytime.high + 1e-9,
        doubted,
    )


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
    return np.where(one.votes < 0, some[:, None], one.votes).min(axis=1) != some


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


def _first(
    strata: LabelStrata, journal: DrawJournal, items: np.ndarray, spread: np.ndarray
) -> DrawJournal:
    """Return labels that were drawn before as the first batches, as `batches_of_labels` does."""
    batches = -(-items.size // BATCH)
    return replace(
        journal,
        item=items,
        stratum=strata.of[items].astype(np.int64),
        q=np.empty(items.size),
        batch=np.arange(items.size) // BATCH,
        spreads=np.tile(spread, (batches, 1)),
    )


def _planned(
    strata: LabelStrata, journal: DrawJournal, values: np.ndarray, apart: Apart
) -> tuple[float, float]:
    k = np.bincount(journal.stratum, minlength=len(strata))
    x = np.bincount(journal.stratum, weights=values, minlength=len(strata))
    found = planned_shares(strata.sizes, k, x)
    return apart.whole(float(found.low[0])), apart.whole(float(found.high[0]))
