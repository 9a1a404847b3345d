"""Figures 1-7, Tables 1, 5 and 6: bounds on the test rows by threshold and label model, with the
test metric.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.truth.bound_learners import logistic
from benchmarks.truth.bound_sets import DATA, Ends, Law, Set, label_models, made, oracle, sets
from tallystick.papers.frechet_bounds import choose_weak_labels, noise_aware_weights, weak_set_ends

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.526, 0.6, 0.7, 0.8, 0.9)
MODELS = ("oracle", "dawid-skene", "triplet", "snorkel")
PAPER = {
    ("chemprot", "oracle"): "[.22, .59], test .41",
    ("chemprot", "snorkel"): "[.14, .67], test .39",
    ("chemprot", "triplet"): "FlyingSquid [.01, .29], test .41",
    ("chemprot, all 26", "snorkel"): "[.36, .73], test .48",
    ("chemprot, all 26", "triplet"): "FlyingSquid [.04, .22], test .45",
}
"""Tables 5 (ten weak labels; Table 1 is a part of it) and 6 (all), where the set is in the data."""

BASELINE = {
    "oracle": "baseline [.823, .897], test .924",
    "snorkel": "baseline [.675, .870], test .904",
}


def accuracy(h: np.ndarray, y: np.ndarray) -> float:
    """Return the share of rows that are right."""
    return float((h == y).mean())


def ratio(metric: str, h: np.ndarray, y: np.ndarray) -> float:
    """Return precision, recall or F1 of class 1; NaN where it does not exist."""
    below = {"precision": h.sum(), "recall": y.sum(), "f1": (h.sum() + y.sum()) / 2}[metric]
    return float((h & y).sum() / below) if below else float("nan")


def figures() -> list[dict[str, Any]]:
    """Return a row for every set, label model, metric and threshold."""
    rows = baseline()
    for data in sets():
        for name, model in label_models(data, MODELS).items():
            if isinstance(model, str):
                rows.append({"set": data.name, "label model": name, "verdict": f"refused: {model}"})
            elif data.k > 2:
                rows.append(_one_prediction(data, name, model))
            else:
                metrics = (
                    ("precision", "recall", "f1") if data.name == "hate speech" else (data.metric,)
                )
                rows += _thresholds(data, name, model, metrics)
            if (data.name, name) in PAPER:
                rows[-1]["paper"] = PAPER[data.name, name]
        print(data.name, "done", file=sys.stderr, flush=True)
    return rows


def baseline() -> list[dict[str, Any]]:
    """Return youtube at .526 by the recipe of the baseline, whose plug-in bounds were measured with
    another program.

    Logistic regression, C = 1, on the features as they are; P(Y | Z) of all rows, not smoothed and
    taken for known.
    """
    youtube = sets(all_votes=False)[0]
    x = np.load(DATA / "youtube_minilm.npz")["E"].astype(np.float64)
    models: dict[str, Law | str] = {
        "oracle": oracle(youtube, strength=0.0),
        **label_models(youtube, ("snorkel",)),
    }
    rows = []
    for name, law in models.items():
        if isinstance(law, str):
            continue
        weights = noise_aware_weights(law, youtube.votes)[youtube.train]
        learner = LogisticRegression(C=1.0, max_iter=300).fit(
            np.tile(x[youtube.train], (2, 1)),
            np.repeat([0, 1], youtube.train.sum()),
            sample_weight=weights.T.ravel(),
        )
        h = (learner.predict_proba(x[youtube.test])[:, 1] >= 0.526).astype(int)
        ends = youtube.ends(youtube.test, h, law, "accuracy")
        row = _row(
            youtube, f"{name}, recipe of the baseline", ends, accuracy(h, youtube.y[youtube.test])
        )
        rows.append(row | {"threshold": 0.526, "paper": BASELINE[name]})
    return rows


def _one_prediction(data: Set, name: str, law: Law) -> dict[str, Any]:
    h = logistic(data, law)[data.test].argmax(axis=1)
    ends = data.ends(data.test, h, law, "accuracy")
    return _row(data, name, ends, accuracy(h, data.y[data.test]))


def _thresholds(data: Set, name: str, law: Law, metrics: tuple[str, ...]) -> list[dict[str, Any]]:
    score = logistic(data, law)[data.test, 1]
    y = data.y[data.test] == 1
    rows = []
    for metric in metrics:
        for threshold in THRESHOLDS:
            h = score >= threshold
            test = accuracy(h, y) if metric == "accuracy" else ratio(metric, h, y)
            ends = data.ends(data.test, h, law, metric)
            rows.append(_row(data, name, ends, test) | {"threshold": threshold})
    return rows


def _row(data: Set, name: str, ends: Ends, test: float) -> dict[str, Any]:
    return {
        "set": data.name,
        "label model": name,
        "threshold": "",
        "metric": ends.metric,
        "plug-in": pair(*ends.plug_in),
        "forward dual": pair(*ends.estimate),
        "with confidence": pair(*ends.sure),
        "test": "none" if np.isnan(test) else round(test, 3),
        "verdict": _verdict(ends, test),
    }


def _verdict(ends: Ends, test: float) -> str:
    low, high = ends.sure
    if np.isnan([low, high, test]).any():
        return "does not exist"
    if low <= test <= high:
        return "inside"
    # An error of δ on average moves the ends of accuracy by δ (Theorem A.3, with its constant).
    off = max(low - test, test - high)
    return f"outside, δ = {off:.4f} would cover" if ends.metric == "accuracy" else "outside"


def pair(low: Any, high: Any) -> str:
    """Return two ends as text."""
    return (
        f"[{low:.3f}, {high:.3f}]" if isinstance(low, float) and isinstance(high, float) else "none"
    )


def figure_3() -> list[dict[str, Any]]:
    """Return Figure 3: Llama-2 labels alone, with five good weak labels, and with five that say
    nothing of Y.
    """
    frame = pd.read_parquet(DATA / "youtube.parquet")
    llama = pd.read_parquet(DATA / "youtube_llama2_labels.parquet")
    prompts = ["llama_zero", "llama_def", "llama_fewshot"]
    frame[prompts] = llama[prompts].to_numpy()
    rules = [c for c in map(str, frame) if c.startswith("lf_")]
    said = frame[rules].to_numpy()
    spoken, right_on = said >= 0, said == frame["y"].to_numpy()[:, None]
    right = (spoken & right_on).mean(axis=0) - (spoken & ~right_on).mean(axis=0)
    good = [rules[j] for j in np.argsort(right)[::-1][:5]]
    draw = np.random.default_rng(0)
    noise = [f"noise_{j}" for j in range(5)]
    for name in noise:
        frame[name] = draw.integers(0, 2, len(frame))
    features = np.load(DATA / "youtube_minilm.npz")["E"].astype(np.float64)
    everything = made("figure 3", frame, prompts + good + noise, metric="accuracy", x=features)
    rows: list[dict[str, Any]] = []
    for title, weak in (
        ("Llama-2 alone", prompts),
        ("+ 5 good", prompts + good),
        ("+ 5 useless", prompts + noise),
    ):
        data = replace(everything, weak=tuple(weak), votes=frame[weak].to_numpy().astype(np.int64))
        for name, model in label_models(data, ("dawid-skene", "snorkel")).items():
            if isinstance(model, str):
                rows.append({"weak labels": title, "label model": name, "verdict": model})
                continue
            h = logistic(data, model)[data.test].argmax(axis=1)
            ends = data.ends(data.test, h, model, "accuracy")
            rows.append(
                {
                    "weak labels": title,
                    "label model": name,
                    "plug-in": pair(*ends.plug_in),
                    "forward dual": pair(*ends.estimate),
                    "with confidence": pair(*ends.sure),
                    "test": round(accuracy(h, data.y[data.test]), 3),
                    "width": round(ends.estimate[1] - ends.estimate[0], 3),
                }
            )
    model = label_models(everything, ("dawid-skene",))["dawid-skene"]
    if not isinstance(model, str):
        h = logistic(everything, model).argmax(axis=1)
        patterns, place = np.unique(everything.votes, axis=0, return_inverse=True)
        counts = np.zeros((len(patterns), everything.k))
        np.add.at(counts, (place.reshape(-1), h), 1)
        law = model(patterns)
        chosen = partial(weak_set_ends, patterns, counts, law)
        first, steps = choose_weak_labels(
            lambda names: chosen([everything.weak.index(name) for name in names]),
            start=prompts,
            candidates=good + noise,
        )
        useless = [step.added for step in steps if not step.useful]
        last = steps[-1]
        verdict = (
            f"{len(steps) - len(useless)} of {len(steps)} weak labels shorten the plug-in bounds,"
            f" from {first[1] - first[0]:.3f} to {last.width:.3f}. Useless: {', '.join(useless)}"
        )
        rows.append(
            {"weak labels": "forward selection", "label model": "dawid-skene", "verdict": verdict}
        )
    return rows
