"""From tosses to an answer."""

from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.stats.intervals import clopper_pearson
from tallystick.table import Capability, Data, Demo, Door, answered
from tests.toy.coins.question import CoinQuestion
from tests.toy.coins.result import CoinResult
from tests.toy.coins.verdict import verdict

__all__ = ["CAPABILITY", "evaluate"]


def evaluate(source: Any, **options: Any) -> CoinResult:
    """Say whether a coin is fair."""
    return answered(CAPABILITY, source, options)


def answer(data: Data, question: CoinQuestion) -> CoinResult:
    """Answer from data that was read."""
    tally = data.tally("judges")
    sides = np.array([label == question.side for label in tally.column(tally.names[0])])
    hits, n = int(tally.counts[sides].sum()), int(tally.n)
    interval = clopper_pearson([hits], n, alpha=question.alpha)[0]
    share = hits / n
    return CoinResult(
        verdict=verdict(question.side, share, interval, question.fair),
        n_items=n,
        side=question.side,
        share=share,
        interval=interval,
    )


def demo(rng: Rng) -> Demo:
    """Return two hundred tosses of a bent coin."""
    tosses = np.where(as_rng(rng).random(200) < 0.7, "heads", "tails")
    return Demo(story="A coin was tossed 200 times.", table={"id": range(200), "toss": tosses})


CAPABILITY = Capability(
    verb="coins",
    question=CoinQuestion,
    answer=answer,
    reads=("judges", "item", "by"),
    door=Door(verb="judge", want="judges"),
    demo=demo,
)
