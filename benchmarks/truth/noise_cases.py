"""A simulated API whose answers vary from call to call, and one assessment of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.sampling import Budget, Flips, Plan, Sampler, Strata, history_cells
from tallystick.verbs.shift import Items
from tallystick.verbs.shift.design import BLIND_SHARE, SumBounds, more_repeats
from tallystick.verbs.shift.noise import (
    Counts,
    Repeats,
    accuracy_noise_share,
    collapse,
    count,
    noise_share,
)
from tallystick.verbs.shift.noisy import noisy_accuracy, noisy_entries, noisy_flips

LABELS = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Api:
    """What an API answers: a base answer per item, and a random one instead with chance *noise*."""

    base: np.ndarray
    noise: float

    def answers(self, rng: np.random.Generator) -> np.ndarray:
        """Ask every item once."""
        random = rng.integers(0, len(LABELS), len(self.base))
        return np.where(rng.random(len(self.base)) < self.noise, random, self.base)

    @property
    def distribution(self) -> np.ndarray:
        """The chance of each label, items x labels."""
        table = np.full((len(self.base), len(LABELS)), self.noise / len(LABELS))
        table[np.arange(len(self.base)), self.base] += 1 - self.noise
        return table


@dataclass(frozen=True)
class World:
    """Items with true labels, an old and a new API, and what is true of the change."""

    truth: np.ndarray
    confidence: np.ndarray
    old: Api
    new: Api

    @property
    def matrix(self) -> np.ndarray:
        """The expected change of every entry."""
        table = np.zeros((len(LABELS), len(LABELS)))
        np.add.at(table, self.truth, self.new.distribution - self.old.distribution)
        return table / len(self.truth)

    @property
    def accuracy(self) -> float:
        """The expected change of accuracy."""
        return float(np.trace(self.matrix))

    @property
    def flips(self) -> float:
        """The expected share of flips."""
        return float(1 - (self.old.distribution * self.new.distribution).sum(axis=1).mean())

    @property
    def beyond(self) -> float:
        """E[½‖P - Q‖²], the flips beyond noise."""
        return float(((self.old.distribution - self.new.distribution) ** 2).sum(axis=1).mean() / 2)

    def variance(self, asked: int) -> float:
        """Return the variance of the mean change over *asked* uniform items, known to an oracle."""
        at = np.arange(len(self.truth)), self.truth
        p, q = self.old.distribution[at], self.new.distribution[at]
        noise = (p * (1 - p) + q * (1 - q)).mean()
        left = 1 - asked / len(self.truth)
        return float((left * np.var(q - p, ddof=1) + noise) / asked)


def world(items: int, noise: float, changed: float, rng: np.random.Generator) -> World:
    """Make items of which the old API knows three quarters; *changed* of the answers move.

    Three quarters of the moves are from right to wrong, so accuracy falls by half of *changed*,
    less what noise hides.
    """
    truth = rng.integers(0, len(LABELS), items)
    hard = rng.random(items)
    wrong = (truth + rng.integers(1, len(LABELS), items)) % len(LABELS)
    base = np.where(hard < 0.25, wrong, truth)
    new = base.copy()
    number = round(changed * items)
    right = np.flatnonzero(base == truth)
    losers = rng.choice(right, round(0.75 * number), replace=False)
    winners = rng.choice(np.flatnonzero(base != truth), number - len(losers), replace=False)
    new[losers] = (truth[losers] + 1) % len(LABELS)
    new[winners] = truth[winners]
    confidence = 1 - hard + rng.normal(0, 0.2, items)
    return World(truth, confidence, Api(base, noise), Api(new, noise))


@dataclass(frozen=True)
class Run:
    """One assessment: counts, the repeats, and the old and first answers to all items."""

    counts: Counts
    blind: Counts
    repeats: Repeats
    calls: int

    def present(self) -> SumBounds:
        """Return the accuracy as if the API were deterministic: the first version's interval."""
        # With every item asked the first version took the count itself, without a hull.
        census = self.counts.seen.answered.sum() == len(self.counts.items)
        seen = None if census else self.blind.seen
        return noisy_accuracy(self.counts, share=0.0, alpha=0.05, blind=seen)

    def accuracy(self, share: float | None = None) -> SumBounds:
        """Return ours, at the measured noise share or at a given one."""
        if share is None:
            share = self.accuracy_share
        return noisy_accuracy(self.counts, share=share, alpha=0.05, blind=self.blind.seen)

    @property
    def accuracy_share(self) -> float:
        """λ over flips of correctness."""
        return accuracy_noise_share(self.repeats)

    def flips(self) -> SumBounds:
        """Return the flip rate with its interval."""
        return noisy_flips(self.counts, share=self.flip_share, alpha=0.05, blind=self.blind.seen)

    def entries(self, alpha: float, *, joint: bool = False) -> SumBounds:
        """Return every counted entry with its own noise share, or the *joint* one if larger."""
        shares = self.repeats.entry_shares(self.counts.true, self.counts.answer, joint=joint)
        return noisy_entries(self.counts, shares=shares, alpha=alpha)

    @property
    def flip_share(self) -> float:
        """λ over all flips."""
        found = self.repeats.flips()
        return float(noise_share(found.repeats, found.unconfirmed))


def assess(case: World, old: np.ndarray, calls: int, rng: np.random.Generator) -> Run:
    """Ask *calls* questions, repeats included (on top if every item is asked), and count."""
    first, second = case.new.answers(rng), case.new.answers(rng)
    items = len(case.truth)
    strata = history_cells(case.truth, old, calls=calls, confidence=case.confidence)
    flat = case.truth * len(LABELS)
    plan = Plan(
        strata=strata,
        policy=Flips(blind=BLIND_SHARE),
        budget=Budget(calls=calls),
        n_outcomes=len(LABELS) ** 2,
        baseline=flat + old,
        in_flight=16,
    )
    sampler = Sampler(plan, rng=int(rng.integers(2**62)))
    codes = (flat + first).tolist()
    while batch := sampler.ask():
        sampler.tell((item, codes[item]) for item in batch)
    asked, blind = np.array(sampler.items), np.array(sampler.blind)

    # The blind items in uniformly random order; their flips are repeated until the rule says stop.
    order = rng.permutation(asked[blind])
    flipped = order[first[order] != old[order]]
    number = unconfirmed = 0
    while number < len(flipped) and more_repeats(number, unconfirmed, budget=calls):
        unconfirmed += int(second[flipped[number]] != first[flipped[number]])
        number += 1
    # Repeats count against the budget. The last questions are adaptive ones, so cutting them is
    # the same as having stopped earlier.
    keep = items if calls == items else calls - number
    asked, blind = asked[:keep], blind[:keep]
    return _counted(case, old, (first, second), asked, blind, flipped[:number], strata)


def _counted(
    case: World,
    old: np.ndarray,
    answers: tuple[np.ndarray, np.ndarray],
    asked: np.ndarray,
    blind: np.ndarray,
    repeated: np.ndarray,
    strata: Strata,
) -> Run:
    first, second = answers
    table = Items(
        labels=LABELS,
        truth=case.truth,
        old=old,
        matrix=None,
        confidence=None,
        names=tuple(map(str, range(len(old)))),
    )
    used = collapse(strata, np.bincount(strata.of[asked], minlength=len(strata)))
    seen = count(table, used, asked, first[asked])
    unseeing = count(table, used, asked, first[asked], keep=blind)
    weight = used.shares / np.maximum(unseeing.seen.answered, 1)
    return Run(
        counts=seen,
        blind=unseeing,
        repeats=Repeats(
            old=old[repeated],
            first=first[repeated],
            second=second[repeated],
            weight=weight[used.of[repeated]],
            truth=case.truth[repeated],
        ),
        calls=len(asked) + len(repeated),
    )
