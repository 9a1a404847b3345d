"""Is the advice calibrated: logs are drawn whose future is known, and what was foretold is held
against it."""

import numpy as np
import pytest
from scipy.stats import binom

from tallystick.dynamic import Correlated, Population, hierarchical, run_experiment
from tallystick.dynamic.advice import Background, advise
from tallystick.dynamic.design import mixture_table
from tallystick.dynamic.forecast import fitted_learner
from tallystick.dynamic.learners import Continued
from tallystick.dynamic.probit import fit_correlation
from tallystick.dynamic.rollouts import PathWeights, roll_design, roll_path

REPETITIONS, ITEMS, LEVEL = 100, 400, 0.9
BASE_MODELS = 8
CELLS = (
    ("path", 0.2, 0.5, 0.3, 3),
    ("path", 0.2, 0.5, 0.3, 5),
    ("path", 0.1, 0.7, 0.0, 3),
    ("path", 0.2, 0.3, 0.5, 7),
    ("panel", 0.3, 0.6, 0.0, 5),
)


def foretold(errors, kind, rng):
    """The options that the advice weighs after these errors, by name, and the fit that it rests
    on."""
    on_path = kind == "path"
    fit = fit_correlation(errors, on_path=on_path, simulations=1, rng=rng)
    learner = fitted_learner(errors, fit, on_path=on_path, draws=200, rng=rng)
    items = Population.uniform(errors.shape[1])
    past = Continued(errors, learner)
    advice = advise(
        items,
        past,
        rounds=len(errors),
        rng=rng,
        background=Background(beginner=learner, reusable=3 if on_path else 0),
    )
    return {option.course: option for option in advice.options}, fit


def benchmark(kind, epsilon, rho, gamma, rounds, rng):
    """A log, and what then happens to the same items and the same learner on each way to go on."""
    items = Population.uniform(ITEMS)
    learner = Correlated(epsilon, rho, gamma, rng.standard_normal(ITEMS))
    plain = None if kind == "path" else 1.0  # a panel's models were all trained on the plain data
    log = roll_path(
        items,
        learner,
        rounds=rounds,
        rollouts=1,
        rng=rng,
        weights=PathWeights(mixture=plain),
        keep_errors=True,
    )
    errors, now, past = log.error_sets[0], log.risk[0, -1], Continued(log.error_sets[0], learner)
    reset = [*mixture_table(rounds, None), *mixture_table(rounds + 2, 0.5)[rounds:]]
    after = {
        "one more round": (
            roll_path(items, past, rounds=rounds + 2, rollouts=1, rng=rng).risk[0, -1]
        ),
        "reset the weight of D_0": (
            roll_path(
                items,
                past,
                rounds=rounds + 2,
                rollouts=1,
                rng=rng,
                weights=PathWeights(mixture=[row.tolist() for row in reset]),
            ).risk[0, -1]
        ),
        "go hierarchical": (
            roll_design(items, hierarchical(), learner, rollouts=1, rng=rng).output_risk[0]
        ),
    }
    return errors, {course: now - risk for course, risk in after.items()}


def row(what, course, pairs):
    """How often the interval held the gain, and how good the chance of no gain was, against its
    base rate."""
    held = [
        option.interval.low - 1e-12 <= gain <= option.interval.high + 1e-12
        for option, gain in pairs
    ]
    chance = np.array([option.no_gain for option, _ in pairs])
    none = np.array([gain <= 1e-12 for _, gain in pairs])
    return {
        "benchmarks": what,
        "course": course,
        "repetitions": len(pairs),
        "coverage": float(np.mean(held)),
        "gain foretold": float(np.mean([option.gain for option, _ in pairs])),
        "gain": float(np.mean([gain for _, gain in pairs])),
        "no gain foretold": float(chance.mean()),
        "no gain": float(none.mean()),
        "Brier score": float(((chance - none) ** 2).mean()),
        "of the base rate": float(none.mean() * (1 - none.mean())),
    }


def drawn_rows():
    for cell in CELLS:
        rng = np.random.default_rng([int(100 * value) for value in cell[1:]])
        pairs, correlation = {}, []
        for _ in range(REPETITIONS):
            errors, gains = benchmark(*cell, rng)
            if errors.any(axis=1).all():  # else the correlation is refused as unidentified
                options, fit = foretold(errors, cell[0], rng)
                correlation.append(cell[2] in fit.interval)
                for course, gain in gains.items():
                    pairs.setdefault(course, []).append((options[course], gain))
        kind, epsilon, rho, gamma, rounds = cell
        what = f"{kind} of {rounds}, epsilon {epsilon:g}, rho {rho:g}, gamma {gamma:g}"
        for course, found in pairs.items():
            yield row(what, course, found) | {"rho in its 95 %": float(np.mean(correlation))}


def learners():
    """Real learners that the simulator was not made for, with their data; the last four were not
    looked at before."""
    from sklearn.datasets import load_breast_cancer, load_digits
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

    features, labels = load_digits(return_X_y=True)
    digits = features / 16, labels
    features, labels = load_breast_cancer(return_X_y=True)
    cancer = StandardScaler().fit_transform(features), labels
    yield "digits trees", DecisionTreeClassifier(max_depth=4, max_features="log2"), digits
    yield "digits linear", SGDClassifier(loss="log_loss", max_iter=3, tol=None, alpha=1e-3), digits
    yield "digits random trees", ExtraTreeClassifier(max_depth=5), digits
    yield "digits hinge", SGDClassifier(loss="hinge", max_iter=2, tol=None, alpha=1e-2), digits
    yield "cancer random trees", ExtraTreeClassifier(max_depth=2), cancer
    yield "cancer linear", SGDClassifier(loss="log_loss", max_iter=1, tol=None, alpha=1e-2), cancer


def real_rows():
    """After 3 and 7 rounds of real rollouts, what do the next two rounds bring."""
    for name, estimator, data in learners():
        done = [
            run_experiment(estimator, *data, rounds=9, rollouts=4, rng=base, static=False)
            for base in range(BASE_MODELS)
        ]
        for rounds in (3, 7):
            pairs = []
            for each in done:
                wrong, risk = each.predictions != each.labels, each.path.binary_risk
                rng = np.random.default_rng(rounds)
                for errors, curve in zip(wrong, risk, strict=True):
                    if errors[:rounds].any(axis=1).all():
                        options, _ = foretold(errors[:rounds], "path", rng)
                        pairs.append(
                            (options["one more round"], curve[rounds - 1] - curve[rounds + 1])
                        )
            yield row(f"{name}, after {rounds}", "one more round", pairs) | {"rho in its 95 %": "–"}


@pytest.mark.slow
def test_the_foretold_gain_covers_what_happens(publish_coverage):
    drawn, real = list(drawn_rows()), list(real_rows())
    publish_coverage(
        "dynamic-advice",
        f"Prediction intervals of the gain, nominal {LEVEL:g}, and the chance of no gain (majority"
        f" risk by right and wrong only). Drawn benchmarks: {REPETITIONS} logs a row of {ITEMS}"
        " items from the correlated learner with known parameters, each with its own future; the"
        " parameters are fitted to the log. Real learners: rollouts of classifiers that the"
        " simulator was not made for (eight base models, four rollouts each).",
        [*drawn, *real],
    )
    for each in [*drawn, *real]:
        assert (
            each["coverage"] >= binom.ppf(1e-4, each["repetitions"], LEVEL) / each["repetitions"]
        ), each
