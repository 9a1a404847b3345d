"""From answers to a result: a pure function of what was asked and what came back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import NotIdentifiable
from tallystick.sampling import FAILED, Strata
from tallystick.verbs.shift.design import (
    Items,
    collapse,
    strata_rows,
)
from tallystick.verbs.shift.estimates import Answers, Past, Seen
from tallystick.verbs.shift.noise import (
    AnswersAre,
)
from tallystick.verbs.shift.result import NO_LABELS, Change, ShiftResult
from tallystick.verbs.shift.verdict import (
    assumptions_of,
    concluded,
    evidence_of,
    warnings_of,
)

TOO_FEW = "only {} answers came: there is nothing to say yet"


def assess(
    items: Items,
    strata: Strata,
    answers: Answers,
    *,
    strategy: str = "ours",
    alpha: float = 0.05,
    seed: int | None = None,
    answers_are: AnswersAre = "random",
    past: Past | None = None,
) -> ShiftResult:
    """Say whether and how the API changed.

    Parameters
    ----------
    items
        What was known before.
    strata
        From which the questions were drawn. Strata that got fewer than two answers are joined to
        others first.
    answers
        Questions and answers, and second answers to flips.
    strategy
        How the items were chosen, for the record.
    alpha
        One minus the level of every interval.
    seed
        Of the run, for the record.
    answers_are
        ``random`` and ``recorded`` answers could come out differently another time: every interval
        allows for it, fully where no flip was asked again. ``deterministic`` ones cannot.
    past
        Several old answers per item, or grades.

    Examples
    --------
    >>> old = ["a"] * 50 + ["b"] * 50
    >>> items = Items.of(old, old=old)
    >>> asked = np.arange(0, 100, 2)
    >>> result = assess(items, Strata([0] * 50 + [1] * 50), Answers.of(asked, items.truth[asked]))
    >>> result.accuracy_change.estimate, result.flip_rate.estimate
    (0.0, 0.0)
    """
    told = answers.codes != FAILED
    if told.sum() < 2:
        raise NotIdentifiable(TOO_FEW.format(int(told.sum())))
    number = np.bincount(strata.of[answers.asked[told]], minlength=len(strata))
    seen = Seen(
        items=items,
        strata=collapse(strata, number),
        answers=answers,
        past=past or Past(),
        alpha=alpha,
        answers_are=answers_are,
    )
    mean, flips, noise = seen.mean_change(), seen.flip_rate(), seen.noise()
    # "It changed" may come from the accuracy or from the repeats: each gets half of alpha.
    strict = replace(seen, alpha=alpha / 2)
    stricter, strict_mean = strict.noise(), strict.mean_change()
    noise = replace(noise, less_stable=stricter.less_stable)
    shift, ends, sure = seen.matrix()
    graded = seen.past.scale is not None

    # Estimates that cannot be true together are moved to the nearest that can: no more accuracy is
    # gained or lost than answers differ, and no more of them moved.
    flips = _at_least(
        flips, max(seen.kappa * float(np.abs(shift).sum()) / 2, _size(mean, seen.kappa))
    )
    result = ShiftResult(
        verdict="pending",  # `concluded` says it
        n_items=int(told.sum()),
        assumptions=assumptions_of(noise, labelled=items.labelled, draws=seen.past.draws),
        warnings=warnings_of(unheard := seen.unheard()),
        seed=seed,
        labels=items.labels,
        shift=tuple(tuple(map(float, row)) for row in shift),
        interval=tuple(
            tuple(seen.interval(a, b) for a, b in zip(lows, highs, strict=True))
            for lows, highs in zip(*ends, strict=True)
        ),
        accuracy_change=mean if items.labelled else NO_LABELS,
        grade_change=mean if graded else None,
        scale=(items.labels[0], items.labels[-1]) if graded else None,
        flip_rate=flips,
        recall_change=seen.recalls(shift, ends),
        calls=len(answers.asked) + len(answers.repeated),
        cost=0.0,
        population=len(items),
        strata=strata_rows(items, strata, answers.asked, answers.codes),
        top_cells=() if seen.mostly_other else seen.top_cells(shift, ends, sure),
        strategy=strategy,
        noise=noise,
        unheard=unheard,
        asked=_asked(items, strata, answers),
        evidence=(items, strata, answers, seen.past),
    )
    return concluded(result, evidence_of(stricter, strict_mean, unreadable=seen.mostly_other))


def _size(mean: Change, kappa: float) -> float:
    return kappa * abs(mean.estimate) if isinstance(mean.estimate, float) else 0.0


def _at_least(flips: Change, least: float) -> Change:
    """Return a share that is no smaller than *least*, with its interval."""
    if not isinstance(flips.estimate, float) or flips.interval is None or flips.estimate >= least:
        return flips
    low, high = flips.interval
    ends = replace(flips.interval, low=min(low, least), high=max(high, least))
    return Change(estimate=min(least, 1.0), interval=ends)


def _asked(items: Items, strata: Strata, answers: Answers) -> dict[str, list[object]]:
    """Return what was learnt of each item asked, as columns."""
    columns: list[str | None] = [*items.columns]
    asked = answers.asked.tolist()

    def texts(codes: NDArray[np.intp]) -> list[str | None]:
        return [None if code == FAILED else columns[code] for code in codes.tolist()]

    table: dict[str, list[object]] = {"item": [items.names[item] for item in asked]}
    if items.labelled:
        known = items.known[answers.asked].tolist()
        true = [columns[code] for code in items.truth[answers.asked].tolist()]
        table["true"] = [text if some else None for text, some in zip(true, known, strict=True)]
    told = answers.codes != FAILED
    changed = (answers.codes != items.old[answers.asked]).tolist()
    table |= {
        "new": [*texts(answers.codes)],
        "stratum": strata.of[answers.asked].tolist(),
        "old": [*texts(items.old[answers.asked])],
        "changed": [one if some else None for one, some in zip(changed, told, strict=True)],
    }
    if len(answers.repeated):
        again = dict(zip(answers.repeated.tolist(), texts(answers.second), strict=True))
        table["asked_again"] = [again.get(item) for item in asked]
    return table
