"""Figures 1-7, Tables 1, 5 and 6: bounds on the test rows by threshold and label model, with the
test metric.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.known import known
from benchmarks.truth.bound_learners import logistic
from benchmarks.truth.bound_sets import DATA, Set, label_models, made, sets
from tallystick.papers.frechet_bounds import noise_aware_weights
from tallystick.table import Tally
from tallystick.verbs import bound
from tallystick.verbs.bound.label_models import LabelModel, given

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
_HALVINGS = 12

ALONE = bound.Fitting(family=False, refits=0)
"""The paper bounds under one label model at a time."""


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
    table = youtube.table()
    labels = known(table.gold_labels)
    models: dict[str, LabelModel | str] = {
        "oracle": given(table, labels / labels.sum(axis=1, keepdims=True), name="oracle"),
        **label_models(youtube, ("snorkel",)),
    }
    rows = []
    for name, model in models.items():
        if isinstance(model, str):
            continue
        weights = noise_aware_weights(model.predict, youtube.votes)[youtube.train]
        learner = LogisticRegression(C=1.0, max_iter=300).fit(
            np.tile(x[youtube.train], (2, 1)),
            np.repeat([0, 1], youtube.train.sum()),
            sample_weight=weights.T.ravel(),
        )
        h = (learner.predict_proba(x[youtube.test])[:, 1] >= 0.526).astype(int)
        tally = youtube.tally(youtube.test, h=h.tolist())

        def ask(
            delta: float, tally: Tally = tally, name: str = name, model: LabelModel = model
        ) -> bound.Bound:
            question = bound.BoundTarget(delta=delta)
            shared = _shared(youtube, f"{name}, known", model)
            return bound.bound(tally, prediction="h", target=question, **shared).bounds[0]

        row = _row(
            youtube,
            f"{name}, recipe of the baseline",
            ask(0.0),
            accuracy(h, youtube.y[youtube.test]),
            ask,
        )
        rows.append(row | {"threshold": 0.526, "paper": BASELINE[name]})
    return rows


def _one_prediction(data: Set, name: str, model: LabelModel) -> dict[str, Any]:
    h = logistic(data, model)[data.test].argmax(axis=1)
    tally = data.tally(data.test, truth=name == "oracle", h=h.tolist())

    def ask(delta: float) -> bound.Bound:
        return bound.bound(
            tally,
            prediction="h",
            target=bound.BoundTarget(delta=delta),
            **_shared(data, name, model),
        ).bounds[0]

    return _row(data, name, ask(0.0), accuracy(h, data.y[data.test]), ask)


def _thresholds(
    data: Set, name: str, model: LabelModel, metrics: tuple[str, ...]
) -> list[dict[str, Any]]:
    score = logistic(data, model)[data.test, 1]
    cut = {"s": bound.edges_of(THRESHOLDS)}
    tally = data.tally(data.test, truth=name == "oracle", s=score.tolist(), cut=cut)

    def swept(delta: float) -> tuple[bound.Bound, ...]:
        question = bound.BoundTarget(metrics=metrics, delta=delta)
        return bound.sweep(tally, score="s", target=question, **_shared(data, name, model)).bounds

    rows = []
    for i, b in enumerate(swept(0.0)):
        h, y = score >= (b.threshold or 0), data.y[data.test] == 1
        test = accuracy(h, y) if b.metric == "accuracy" else ratio(b.metric, h, y)
        rows.append(_row(data, name, b, test, lambda delta, i=i: swept(delta)[i]))
    return rows


def _shared(data: Set, name: str, model: LabelModel) -> dict[str, Any]:
    """Return what both ways to ask have in common; the oracle learns from the labels of the test
    rows themselves.
    """
    oracle = name == "oracle"
    return {
        "weak": data.weak,
        "classes": list(range(data.k)),
        "truth": "truth" if oracle else None,
        "label_models": ["labels" if oracle else model],
        "fitting": ALONE,
    }


def _row(data: Set, name: str, b: bound.Bound, test: float, ask: Any) -> dict[str, Any]:
    return {
        "set": data.name,
        "label model": name,
        "threshold": "" if b.threshold is None else b.threshold,
        "metric": b.metric,
        "plug-in": pair(b.plugin_lower, b.plugin_upper),
        "forward dual": pair(b.lower, b.upper),
        "with confidence": pair(b.low, b.high),
        "test": "none" if np.isnan(test) else round(test, 3),
        "verdict": _verdict(b, test, ask),
    }


def _verdict(b: bound.Bound, test: float, ask: Any) -> str:
    if b.low is None or b.high is None or np.isnan(test):
        return "does not exist"
    if _holds(b, test):
        return "inside"
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if _holds(ask(middle), test) else (middle, high)
    return f"outside, δ = {high:.4f} would cover"


def _holds(b: bound.Bound, test: float) -> bool:
    return b.low is not None and b.high is not None and b.low <= test <= b.high


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
            b = bound.bound(
                data.tally(data.test, h=h.tolist()),
                prediction="h",
                weak=weak,
                label_models=[model],
                fitting=replace(ALONE, classes=[0, 1]),
            ).bounds[0]
            rows.append(
                {
                    "weak labels": title,
                    "label model": name,
                    "plug-in": pair(b.plugin_lower, b.plugin_upper),
                    "forward dual": pair(b.lower, b.upper),
                    "with confidence": pair(b.low, b.high),
                    "test": round(accuracy(h, data.y[data.test]), 3),
                    "width": (
                        round(b.upper - b.lower, 3)
                        if isinstance(b.upper, float) and isinstance(b.lower, float)
                        else ""
                    ),
                }
            )
    model = label_models(everything, ("dawid-skene",))["dawid-skene"]
    if not isinstance(model, str):
        h = logistic(everything, model).argmax(axis=1)
        tally: Tally = everything.tally(np.ones(len(frame), dtype=bool), h=h.tolist())
        chosen = bound.choose_weak_labels(
            tally, prediction="h", start=prompts, candidates=good + noise, label_model="dawid-skene"
        )
        verdict = f"{chosen.verdict} Useless: {', '.join(chosen.useless)}"
        rows.append(
            {"weak labels": "forward selection", "label model": "dawid-skene", "verdict": verdict}
        )
    return rows
