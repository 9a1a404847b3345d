"""What comes after a log: advice and envelopes from the learner that its error histories show."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.advice import Advice, Background, RoundPrices, advise
from tallystick.dynamic.curves import path_weights
from tallystick.dynamic.envelope import Envelope, envelope
from tallystick.dynamic.learners import Continued, Correlated, Wander
from tallystick.dynamic.population import Array, Population
from tallystick.dynamic.probit import ProbitFit
from tallystick.results import Unknown

__all__ = ["fitted_learner", "forecast"]


def forecast(
    errors: Array,
    fit: ProbitFit | Unknown,
    *,
    on_path: bool,
    noisy: Array | None = None,
    prices: RoundPrices | None = None,
    rollouts: int = 200,
    rng: Rng,
) -> tuple[Advice | Unknown, Envelope | Unknown]:
    """Simulate what comes next, from where the items stand, with the learner that the log shows.

    Parameters
    ----------
    errors
        Booleans, (models, items): the last round's items of a panel, or the rounds of a path.
    fit
        Their correlation, or why there is none.
    on_path
        Whether each model was trained on the errors of those before it.
    noisy
        Items whose labels are taken to be random.

    Examples
    --------
    >>> from tallystick.dynamic.probit import fit_correlation
    >>> generator = np.random.default_rng(0)
    >>> shared, own = generator.standard_normal(300), generator.standard_normal((3, 300))
    >>> errors = 0.6**0.5 * shared + 0.4**0.5 * own > 1
    >>> advice, ahead = forecast(errors, fit_correlation(errors), on_path=False, rollouts=40, rng=0)
    >>> advice.options[0].course, advice.options[0].rounds, len(ahead.fitted)
    ('one more round', 2, 7)
    """
    if isinstance(fit, Unknown):
        return Unknown(f"no correlation could be fitted: {fit.reason}"), fit
    generator = as_rng(rng)
    learner = fitted_learner(errors, fit, on_path=on_path, draws=rollouts, rng=generator)
    if isinstance(learner, Unknown):
        return learner, learner
    items = errors.shape[1]
    advice = advise(
        Population(np.full(items, 1 / items), noisy=noisy),
        Continued(errors, learner),
        rounds=len(errors),
        rng=generator,
        prices=prices,
        rollouts=rollouts,
        background=Background(
            beginner=learner,
            reusable=3 if on_path else 0,
            doubt=(
                None
                if fit.fits
                else f"the fitted correlation does not describe this log (p = {fit.fit_p:.3g})"
            ),
        ),
    )
    epsilon = (
        float(learner.epsilon)
        if isinstance(learner.epsilon, int | float)
        else float(learner.epsilon[-1])
    )
    ahead = envelope(
        epsilon,
        rounds=len(errors) + 4,
        rng=generator,
        rho=learner.rho,
        gamma=learner.gamma,
        rollouts=rollouts,
    )
    return advice, ahead


def fitted_learner(
    errors: Array, fit: ProbitFit, *, on_path: bool, draws: int, rng: Rng
) -> Correlated | Unknown:
    """Return the learner of a fit: its risk on its own data and how that strays, its correlation,
    and its items.
    """
    from scipy.special import ndtri

    own = path_weights(errors)[:-1] if on_path else np.full(errors.shape, 1 / errors.shape[1])
    excess = (own * errors).sum(axis=1)
    epsilon = float(excess[-3:].mean() if on_path else excess.mean())
    if not 0 < epsilon <= 0.5:
        return Unknown(
            f"the models err on {epsilon:.3g} of the last round, outside (0, 1/2]: no simulator"
            " fits them"
        )
    # The first model of a path saw no collected errors: it tells little of how the others stray, if
    # there are enough.
    seen = excess[-max(3, len(excess) - 1) :] if on_path else excess
    wander = None
    if len(seen) >= 2:
        scores = ndtri(np.clip(seen, 0.5 / errors.shape[1], 1 - 0.5 / errors.shape[1]))
        wander = Wander(float(scores.std(ddof=1)), len(seen))
    difficulty = fit.difficulty(errors, rollouts=draws, rng=rng, on_path=on_path)
    return Correlated(epsilon, fit.rho, max(fit.gamma or 0.0, 0.0), difficulty, wander)
