"""Generated tables, one a question, such as people bring: for demonstrations and first steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError

__all__ = ["GENERATED", "generate"]

Columns: TypeAlias = dict[str, Any]
Ints = npt.NDArray[np.int64]

_TICKETS = ("billing", "bug", "login", "refund")


def generate(question: str, *, rng: Rng) -> Columns:
    """Return a generated table for one question, column by column.

    Parameters
    ----------
    question
        ``audit``, ``compare``, ``judge``, ``bound``, ``shift`` or ``dynamic``.
    rng
        Seed or generator.

    Examples
    --------
    >>> table = generate("judge", rng=0)
    >>> list(table), len(table["item"])
    (['item', 'gold', 'gpt', 'claude', 'llama', 'gemini', 'mistral'], 3000)
    """
    if question not in GENERATED:
        raise InputError(f"question must be one of {sorted(GENERATED)}, got {question!r}")
    return GENERATED[question](as_rng(rng))


def _truth(n: int, shares: tuple[float, ...], draw: np.random.Generator) -> Ints:
    return draw.choice(len(shares), n, p=shares)


def _answers(
    truth: Ints,
    accuracy: float,
    labels: int,
    draw: np.random.Generator,
    *,
    hard: Any = 0.0,
    shared: float = 0.0,
) -> Ints:
    """Answer with a given accuracy; a share *shared* of what makes an item hard is common to all
    who answer it.
    """
    from scipy.special import ndtri

    luck = np.sqrt(shared) * hard + np.sqrt(1 - shared) * draw.standard_normal(len(truth))
    wrong = (truth + draw.integers(1, labels, len(truth))) % labels
    return np.asarray(np.where(luck < ndtri(accuracy), truth, wrong))


def _compare(draw: np.random.Generator) -> Columns:
    """Four models route support tickets; two of them are close."""
    n = 1200
    truth, hard = _truth(n, (0.4, 0.3, 0.2, 0.1), draw), draw.standard_normal(n)
    names = np.array(_TICKETS)
    models = {"large": 0.86, "distilled": 0.85, "medium": 0.8, "small": 0.7}
    answers = {
        name: names[_answers(truth, accuracy, 4, draw, hard=hard, shared=0.6)]
        for name, accuracy in models.items()
    }
    return {"item": np.arange(n), "truth": names[truth], **answers}


def _judge(draw: np.random.Generator) -> Columns:
    """Five language models judge 3,000 answers of a chat bot; people checked 150 of them."""
    n = 3000
    truth = _truth(n, (0.7, 0.3), draw)
    names = np.array(["good", "bad"])
    gold = np.full(n, "", dtype=object)
    known = draw.choice(n, 150, replace=False)
    gold[known] = names[truth[known]]
    judges = {"gpt": 0.91, "claude": 0.9, "llama": 0.82, "gemini": 0.86, "mistral": 0.74}
    votes = {name: names[_answers(truth, accuracy, 2, draw)] for name, accuracy in judges.items()}
    return {"item": np.arange(n), "gold": gold, **votes}


def _bound(draw: np.random.Generator) -> Columns:
    """Five rules vote on e-mails, or are silent; a classifier was trained on them, and nobody has
    true labels.
    """
    from scipy.special import expit

    n = 6000
    truth = _truth(n, (0.65, 0.35), draw)
    names = np.array(["ham", "spam"])
    rules = {
        "lf_link": (0.85, 0.5),
        "lf_money": (0.9, 0.35),
        "lf_sender": (0.8, 0.7),
        "lf_length": (0.7, 0.9),
    }
    rules |= {"lf_caps": (0.78, 0.4)}
    votes = {
        name: np.where(draw.random(n) < cover, names[_answers(truth, accuracy, 2, draw)], "")
        for name, (accuracy, cover) in rules.items()
    }
    score = expit(2 * (2 * truth - 1) + 1.7 * draw.standard_normal(n))
    return {"item": np.arange(n), **votes, "score": np.round(score, 4)}


def _shift(draw: np.random.Generator) -> Columns:
    """Two versions of a sentiment API on 8,000 reviews: the new one calls more neutral reviews
    negative.
    """
    n = 8000
    truth = _truth(n, (0.5, 0.3, 0.2), draw)
    names = np.array(["positive", "negative", "neutral"])
    sure = draw.beta(5, 2, n)
    old = _answers(truth, 0.88, 3, draw, hard=-(sure - 0.71) / 0.16, shared=0.5)
    moved = (draw.random(n) < 0.25) & (truth == 2) & (sure < 0.7)
    new = np.where(moved, 1, old)
    return {
        "item": np.arange(n),
        "truth": names[truth],
        "pred_old": names[old],
        "pred_new": names[new],
        "conf_old": np.round(sure, 4),
    }


def _dynamic(draw: np.random.Generator) -> Columns:
    """Three rounds of adversarially collected items; later rounds are harder for all five models
    alike.
    """
    sizes, ease = (800, 700, 600), (0.9, 0.72, 0.64)
    names = np.array(["entailment", "neutral", "contradiction"])
    rounds = np.repeat(np.arange(1, 4), sizes)
    truth, hard = (
        _truth(len(rounds), (1 / 3, 1 / 3, 1 / 3), draw),
        draw.standard_normal(len(rounds)),
    )
    answers = {}
    for k, name in enumerate(("model_a", "model_b", "model_c", "model_d", "model_e")):
        said = np.empty(len(rounds), dtype=np.int64)
        for number, accuracy in enumerate(ease, start=1):
            here = rounds == number
            said[here] = _answers(
                truth[here], accuracy - 0.02 * k, 3, draw, hard=hard[here], shared=0.5
            )
        answers[name] = names[said]
    return {"item": np.arange(len(rounds)), "round": rounds, "gold": names[truth], **answers}


def _audit(draw: np.random.Generator) -> Columns:
    """One table of a team that tests everything: three rounds, three models, and an API in two
    versions.
    """
    n = 2400
    truth, hard = _truth(n, (0.4, 0.3, 0.2, 0.1), draw), draw.standard_normal(n)
    names = np.array(_TICKETS)
    sure = np.clip(0.75 - 0.12 * hard + 0.05 * draw.standard_normal(n), 0.01, 0.99)
    old = _answers(truth, 0.84, 4, draw, hard=hard, shared=0.6)
    moved = (draw.random(n) < 0.3) & (truth == 3)
    models = {"model_a": 0.87, "model_b": 0.83, "model_c": 0.76}
    return {
        "item": np.arange(n),
        "round": np.repeat(np.arange(1, 4), n // 3),
        "truth": names[truth],
        "pred_old": names[old],
        "pred_new": names[np.where(moved, 0, old)],
        "conf_old": np.round(sure, 4),
        **{
            name: names[_answers(truth, a, 4, draw, hard=hard, shared=0.6)]
            for name, a in models.items()
        },
    }


GENERATED: Mapping[str, Callable[[np.random.Generator], Columns]] = {
    "audit": _audit,
    "compare": _compare,
    "judge": _judge,
    "bound": _bound,
    "shift": _shift,
    "dynamic": _dynamic,
}
"""Question to the function that makes a table for it."""
