"""What a real log of a dynamic benchmark says, and whether another round is worth it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.dynamic.advice import RoundPrices
from tallystick.dynamic.bounds import path_floor
from tallystick.dynamic.curves import path_weights
from tallystick.dynamic.envelope import worst_by_round
from tallystick.dynamic.forecast import forecast
from tallystick.dynamic.log import RoundLog
from tallystick.dynamic.population import Array
from tallystick.dynamic.probit import ProbitFit, fit_correlation
from tallystick.dynamic.result import Forgetting, LogResult, Overlap, Round
from tallystick.dynamic.similarity import overlap_test, similarity
from tallystick.dynamic.validators import NoiseShare, agreements, noise_share
from tallystick.dynamic.verdict import (
    LEARNER_ROLLOUTS,
    log_assumptions,
    log_verdict,
    log_warnings,
)
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown

__all__ = ["analyse"]


def analyse(
    log: RoundLog,
    *,
    chain: Sequence[str] = (),
    alpha: float = 0.05,
    prices: RoundPrices | None = None,
    permutations: int = 999,
    rollouts: int = 200,
    rng: Rng,
) -> LogResult:
    """Read a log: risk by round, joint errors against chance and against the fit, noise,
    forgetting, advice.

    Parameters
    ----------
    log
        A panel (items belong to rounds) or a path (items are tried anew in each round). An item of
        weight w counts as w items that were seen alike.
    chain
        Panel only: the models in the loop, in the order in which they were trained, for forgetting
        on the first round's items. They are then not part of the panel, because their own rounds
        were collected against them.
    alpha
        One minus the level of intervals.
    prices
        For the advice.
    permutations, rollouts, rng
        Of the null of the overlap, and of the simulator.
    """
    generator = as_rng(rng)
    log = log.repeated()
    if log.kind == "path" and chain:
        raise InputError("chain is for panels: on a path the models are the chain")
    panel = log if not chain else log.select([name for name in log.models if name not in chain])
    noise = _noise(panel, alpha)
    overlap, fits = [], []
    for where, number in panel.parts():
        errors = panel.errors[:, where]
        if errors.shape[1] < 2:
            raise InputError(
                f"round {number} has one item, and nothing can be said of one: a round needs two or"
                " more"
            )
        fit = _fit(errors, panel.kind == "path", alpha, generator)
        fits.append(fit)
        overlap.append(_overlap(errors, number, fit, alpha, permutations, generator))
    rounds = (
        _path_rounds(panel, alpha, noise)
        if panel.kind == "path"
        else _panel_rounds(panel, alpha, noise, overlap)
    )
    last = fits[-1]
    where, _ = panel.parts()[-1]
    advice, ahead = forecast(
        panel.errors[:, where],
        last,
        on_path=panel.kind == "path",
        noisy=_doubtful(panel, where, noise[-1]),
        prices=prices,
        rollouts=rollouts,
        rng=generator,
    )
    return LogResult(
        verdict=log_verdict(len(panel.models), overlap, advice),
        decision=(
            "unknowable"
            if isinstance(advice, Unknown)
            else "decided"
            if _trusted(last)
            else "undecided"
        ),
        needed=None if _trusted(last) else LEARNER_ROLLOUTS,
        n_items=panel.errors.shape[1],
        assumptions=log_assumptions(panel),
        warnings=log_warnings(panel, last, noise),
        seed=seed_of(rng),
        action="analyse",
        design=f"log of {len(panel.round_numbers)} rounds, {len(panel.models)} models",
        rounds=rounds,
        advice=advice,
        models=panel.models,
        overlap=tuple(overlap),
        forgetting=_forgetting(log, chain, alpha),
        noise_sets=tuple(each.interval for each in noise),
        envelope=ahead,
        cost=Unknown("the log has no cost") if panel.cost is None else float(panel.cost.sum()),
        fits=tuple(fits),
        noise=tuple(noise),
    )


def _trusted(fit: ProbitFit | Unknown) -> bool:
    return isinstance(fit, ProbitFit) and fit.fits


def _fit(
    errors: Array, on_path: bool, alpha: float, rng: np.random.Generator
) -> ProbitFit | Unknown:
    try:
        return fit_correlation(errors, on_path=on_path, level=1 - alpha, rng=rng)
    except (NotIdentifiable, InputError) as error:
        return Unknown(str(error))


def _overlap(
    errors: Array,
    number: int,
    fit: ProbitFit | Unknown,
    alpha: float,
    permutations: int,
    rng: np.random.Generator,
) -> Overlap:
    from tallystick.stats.intervals import clopper_pearson

    joint = errors.all(axis=0)
    return Overlap(
        round=number,
        n_items=joint.size,
        all_wrong=float(joint.mean()),
        interval=clopper_pearson(int(joint.sum()), joint.size, alpha=alpha),
        independent=float(errors.mean(axis=1).prod()),
        test=overlap_test(errors, rng=rng, permutations=permutations),
        **Overlap.known(fit),
    )


def _panel_rounds(
    log: RoundLog, alpha: float, noise: Sequence[NoiseShare], overlap: Sequence[Overlap]
) -> tuple[Round, ...]:
    rounds = []
    bound = Unknown("the models of a panel are no path, so no bound of a path applies to them")
    for (where, number), share, joint in zip(log.parts(), noise, overlap, strict=True):
        wrong = log.vote(items=where)
        rounds.append(
            Round(
                round=number,
                risk=float(wrong.mean()),
                interval=_mean_interval(wrong, alpha, (0.0, 1.0)),
                epsilon=float(log.errors[:, where].mean()),
                worst_case=bound,
                lower_bound=bound,
                z=Unknown("no two models share an error") if joint.test.z is None else joint.test.z,
                noise_share=share.share,
            )
        )
    return tuple(rounds)


def _path_rounds(log: RoundLog, alpha: float, noise: Sequence[NoiseShare]) -> tuple[Round, ...]:
    errors = log.errors
    weights = path_weights(errors)
    excess = [float(weights[t] @ errors[t]) for t in range(len(errors))]
    epsilon = max(excess)
    usable = 0 < epsilon <= 0.5
    reason = Unknown(
        f"a model with risk {epsilon:.3g} on its own distribution is outside the theory (0, 1/2]"
    )
    worst = worst_by_round(epsilon, len(errors)) if usable else ()
    out = []
    for t in range(len(errors)):
        share = log.vote(slice(t + 1))
        z = float(similarity(errors[: t + 1], majority=share)) if t else float("nan")
        out.append(
            Round(
                round=t + 1,
                risk=float(share.mean()),
                interval=_mean_interval(share, alpha, (0.0, 1.0)),
                epsilon=excess[t],
                worst_case=worst[t] if usable else reason,
                lower_bound=(
                    path_floor(epsilon) if usable and t >= 2 else (reason if not usable else 0.0)
                ),
                z=Unknown("no two models share an error") if np.isnan(z) else z,
                noise_share=noise[0].share,
            )
        )
    return tuple(out)


def _mean_interval(values: Array, alpha: float, bounds: tuple[float, float]) -> Interval:
    """Exact where the values are yes or no, Student's with pseudo-items where ties put fractions
    among them.
    """
    from tallystick.stats.intervals import clopper_pearson, pseudo_t

    if bounds == (0.0, 1.0) and np.all((values == 0) | (values == 1)):
        return clopper_pearson(int(values.sum()), values.size, alpha=alpha)
    return pseudo_t(
        float(values.mean()), float(values.var(ddof=1)), values.size, alpha=alpha, bounds=bounds
    )


def _noise(log: RoundLog, alpha: float) -> list[NoiseShare]:
    parts = log.parts()
    if log.validators is None or log.labels is None:
        lacking = (
            "validator labels"
            if log.validators is None
            else "true label to hold its validators' labels against"
        )
        reason = Unknown(f"the log has no {lacking}")
        return [NoiseShare(reason, reason, float("nan")) for _ in parts]
    agree, count = agreements(log.validators, log.labels.tolist())
    return [noise_share(agree[where], count[where], alpha=alpha) for where, _ in parts]


def _forgetting(
    log: RoundLog, chain: Sequence[str], alpha: float
) -> tuple[Forgetting, ...] | Unknown:
    """Paired changes on the items of the first round, from each model in the loop to the next."""
    if log.kind == "path":
        names, errors = log.models, log.errors
    elif len(chain) >= 2:
        picked = log.select(chain)
        names, errors = picked.models, picked.errors[:, log.rounds == log.round_numbers[0]]
    else:
        return Unknown(
            "the log does not say which models were in the loop: name two or more, in order (chain)"
        )
    out = []
    for k in range(1, len(names)):
        change = errors[k].astype(float) - errors[k - 1]
        out.append(
            Forgetting(
                before=names[k - 1],
                model=names[k],
                change=float(change.mean()),
                interval=_mean_interval(change, alpha, (-1.0, 1.0)),
                forgotten=float((change > 0).mean()),
                learnt=float((change < 0).mean()),
            )
        )
    return tuple(out)


def _doubtful(log: RoundLog, where: Array, noise: NoiseShare) -> Array:
    """Mark as many items as have random labels, those with the most disagreement among validators
    first.
    """
    marked = np.zeros(int(where.sum()), dtype=bool)
    if isinstance(noise.share, Unknown) or log.validators is None or log.labels is None:
        return marked
    agree, count = agreements(log.validators, log.labels.tolist())
    dissent = 1 - (agree / np.maximum(count, 1))[where]
    marked[
        np.argsort(-dissent, kind="stable")[
            : min(round(noise.share * marked.size), marked.size - 1)
        ]
    ] = True
    return marked
