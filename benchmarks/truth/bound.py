"""Real weak labels: bounds across thresholds, model selection and sets of weak labels, beside the paper's numbers.

Run: ``python benchmarks/truth/bound.py [figures] [tables] [--write]``. Needs scikit-learn and the shared data
(``TALLYSTICK_DATA``). Snorkel 0.10 takes part if ``TALLYSTICK_SNORKEL`` names a Python that has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from tallystick import bound
from tallystick.bound.label_models import LabelModel, given
from tallystick.bound.prepared import fitted
from tallystick.errors import TallystickError
from tallystick.tally import Tally

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from record import record

DATA = Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "bound"
SNORKEL = os.environ.get("TALLYSTICK_SNORKEL")
SNORKEL_CODE = """
import sys, numpy as np
from snorkel.labeling.model import LabelModel
f = np.load(sys.argv[1])
m = LabelModel(cardinality=int(f["k"]), verbose=False)
m.fit(f["votes"], n_epochs=1000, log_freq=10**6, seed=0, progress_bar=False, class_balance=list(f["balance"]))
np.save(sys.argv[2], m.predict_proba(f["votes"]))
"""
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.526, 0.6, 0.7, 0.8, 0.9)


class Set:
    """One data set: votes, truth, features, and which rows are for training and for testing."""

    def __init__(self, name: str, frame: pd.DataFrame, weak: list[str], features: np.ndarray | None = None) -> None:
        self.name, self.weak = name, weak
        self.votes = frame[weak].to_numpy().astype(np.int64)
        self.y = frame["y"].to_numpy().astype(np.int64)
        self.k = int(self.y.max()) + 1
        self.test = (frame["split"] == "test").to_numpy()
        self.train = ~self.test
        self.x = self._text(frame["text"]) if features is None else features
        self.balance = np.bincount(self.y, minlength=self.k) / len(self.y)

    def _text(self, text: pd.Series) -> np.ndarray:
        matrix = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2)).fit(text[self.train]).transform(text)
        return TruncatedSVD(100, random_state=0).fit(matrix[self.train]).transform(matrix)

    def columns(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the votes of some rows."""
        return {c: [None if v < 0 else int(v) for v in self.votes[rows, j]] for j, c in enumerate(self.weak)}

    def tally(self, rows: np.ndarray, *, truth: bool = False, cut: Any = None, **more: Any) -> Tally:
        """Count some rows, with *more* columns."""
        held = {**self.columns(rows), **more}
        if truth:
            held["truth"] = self.y[rows].tolist()
        return Tally.of(held, cut=cut)

    def table(self) -> bound.WeakTable:
        """Return all rows with their truth."""
        everything = np.ones(len(self.y), dtype=bool)
        return bound.weak_table(
            self.tally(everything, truth=True), weak=self.weak, truth="truth", classes=list(range(self.k))
        )


def sets() -> list[Set]:
    out = []
    youtube = pd.read_parquet(DATA / "youtube.parquet")
    weak = [c for c in youtube if c.startswith("lf_")]
    out.append(Set("youtube", youtube, weak, np.load(DATA / "youtube_minilm.npz")["E"].astype(np.float64)))
    for name in ("sms", "chemprot"):
        frame = pd.read_parquet(DATA / f"{name}.parquet")
        out.append(Set(name, frame, [c for c in frame if c.startswith("lf_")]))
    hate = pd.read_parquet(DATA / "hate_speech.parquet")
    hate = hate[hate["split"].isin(["train", "test"]) & hate["y"].notna()].reset_index(drop=True)
    out.append(Set("hate speech", hate, [c for c in hate if c.startswith("lf_")]))
    return out


def label_models(data: Set) -> dict[str, LabelModel | str]:
    """Oracle, EM with the class balance known (as in the paper), triplet and Snorkel; what refuses says why."""
    table = data.table()
    made: dict[str, LabelModel | str] = {}
    fitting = bound.Fitting(balance=np.maximum(data.balance, 1e-3) / np.maximum(data.balance, 1e-3).sum())
    for name in ("labels", "dawid-skene", "triplet"):
        try:
            made["oracle" if name == "labels" else name] = fitted(name, table, fitting)
        except TallystickError as error:
            made[name] = str(error)
    if SNORKEL and data.name == "youtube":  # minutes of training each on the larger sets
        with tempfile.TemporaryDirectory() as folder:
            asked, answer = Path(folder) / "in.npz", Path(folder) / "out.npy"
            np.savez(asked, votes=data.votes, k=data.k, balance=data.balance)
            done = subprocess.run(
                [SNORKEL, "-c", SNORKEL_CODE, str(asked), str(answer)],
                capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""}, check=False,
            )  # fmt: skip
            if done.returncode == 0:
                p = np.load(answer)
                seen = {row.tobytes(): i for i, row in enumerate(data.votes)}
                made["snorkel"] = given(table, p[[seen[row.tobytes()] for row in table.votes]], name="snorkel")
            else:
                made["snorkel"] = done.stderr.strip().splitlines()[-1]
    return made


def repeated(data: Set, model: LabelModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the training rows once a class, with their noise-aware weights."""
    weights = bound.noise_aware_weights(model, data.votes)[data.train]
    x = np.tile(data.x[data.train], (data.k, 1))
    y = np.repeat(np.arange(data.k), data.train.sum())
    keep = weights.T.ravel() > 0.01
    return x[keep], y[keep], weights.T.ravel()[keep]


def accuracy(h: np.ndarray, y: np.ndarray) -> float:
    return float((h == y).mean())


def f1(h: np.ndarray, y: np.ndarray) -> float:
    return float(2 * (h & y).sum() / max(h.sum() + y.sum(), 1))


def figures() -> list[dict[str, Any]]:
    """Figures 1 and 2, Table 1: the bounds on the test rows, with the test metric; δ is what would cover it."""
    rows = []
    for data in sets():
        for name, model in label_models(data).items():
            if isinstance(model, str):
                rows.append(
                    {"set": data.name, "label model": name, "threshold": "", "verdict": f"refused: {model[:90]}"}
                )
                continue
            x, y, w = repeated(data, model)
            learner = LogisticRegression(C=1.0, max_iter=300).fit(x, y, sample_weight=w)
            truth = data.y[data.test]
            if data.k > 2:
                h = learner.classes_[learner.predict_proba(data.x[data.test]).argmax(axis=1)].astype(int)
                tally = data.tally(data.test, truth=name == "oracle", h=h.tolist())
                result = bound.evaluate(
                    tally, prediction="h", weak=data.weak, truth="truth" if name == "oracle" else None,
                    classes=list(range(data.k)), label_models=["labels" if name == "oracle" else model],
                )  # fmt: skip
                rows.append(figure_row(data, name, result.bounds[0], accuracy(h, truth)))
                continue
            score = learner.predict_proba(data.x)[:, 1]
            metric = "accuracy" if data.name == "youtube" else "f1"
            tally = data.tally(
                data.test, truth=name == "oracle", s=score[data.test].tolist(), cut={"s": bound.edges_of(THRESHOLDS)}
            )
            result = bound.sweep(
                tally, score="s", weak=data.weak, truth="truth" if name == "oracle" else None, classes=[0, 1],
                label_models=["labels" if name == "oracle" else model], question=bound.Question(metrics=(metric,)),
            )  # fmt: skip
            for b in result.bounds:
                h = score[data.test] >= (b.threshold or 0)
                rows.append(figure_row(data, name, b, (accuracy if metric == "accuracy" else f1)(h, truth == 1)))
        print(data.name, "done", file=sys.stderr, flush=True)
    return rows


def figure_row(data: Set, name: str, b: bound.Bound, test: float) -> dict[str, Any]:
    low, high = b.low, b.high
    known = low is not None and high is not None
    off = max(0.0, low - test, test - high) if known else float("nan")
    return {
        "set": data.name, "label model": name, "threshold": "" if b.threshold is None else b.threshold,
        "metric": b.metric, "plug-in": _pair(b.plugin_lower, b.plugin_upper), "forward dual": _pair(b.lower, b.upper),
        "with confidence": _pair(low, high) if known else "none", "test": round(test, 3),
        "verdict": _verdict(b.metric, off) if known else "does not exist",
    }  # fmt: skip


def _verdict(metric: str, off: float) -> str:
    if off == 0:
        return "inside"
    return f"outside, δ = {off:.3f} would cover" if metric == "accuracy" else f"outside by {off:.3f}"


def _pair(low: Any, high: Any) -> str:
    return f"[{low:.3f}, {high:.3f}]" if isinstance(low, float) and isinstance(high, float) else "none"


def tables(names: tuple[str, ...] = ("youtube",), seeds: int = 5) -> list[dict[str, Any]]:
    """Tables 2-4: 8 MLPs (40 with thresholds), chosen by each rule; score of the chosen, rank correlation."""
    rows = []
    for data in sets():
        if data.name not in names:
            continue
        models = label_models(data)
        model = models["dawid-skene"]
        if isinstance(model, str):
            continue
        by_accuracy = data.name == "youtube"
        found: dict[str, list[tuple[float, float]]] = {}
        widths: list[tuple[float, float, int, int]] = []
        for seed in range(seeds):
            h = candidates(data, model, seed, by_accuracy)
            one_seed(data, model, h, by_accuracy, seed, found, widths)
            print(data.name, seed, file=sys.stderr, flush=True)
        for rule, pairs in found.items():
            score, rank = np.array(pairs).T
            rows.append({
                "set": data.name, "rule": rule, "test score of the chosen": f"{score.mean():.2f} ± {score.std():.2f}",
                "rank correlation": f"{np.nanmean(rank):.2f} ± {np.nanstd(rank):.2f}",
            })  # fmt: skip
        if widths:
            pair, overlap, by_pair, by_overlap = np.array(widths, dtype=float).T
            rows.append({
                "set": data.name, "rule": "paired difference against interval overlap",
                "test score of the chosen": f"width {np.median(pair):.3f} against {np.median(overlap):.3f}, "
                f"wider in {(pair > overlap).sum()} of {len(pair)} pairs",
                "rank correlation": f"pairs decided {int(by_pair.sum())} against {int(by_overlap.sum())}",
            })  # fmt: skip
    return rows


def candidates(data: Set, model: LabelModel, seed: int, by_accuracy: bool) -> np.ndarray:
    x, y, w = repeated(data, model)
    out = []
    for hidden in (50, 100):
        for rate in (0.1, 0.001):
            for decay in (0.1, 0.001):
                learner = MLPClassifier(
                    (hidden,), learning_rate_init=rate, alpha=decay, max_iter=30, random_state=seed, batch_size=200
                )
                score = learner.fit(x, y, sample_weight=w).predict_proba(data.x[data.test])[:, 1]
                cuts = (0.5,) if by_accuracy else (0.2, 0.4, 0.5, 0.6, 0.8)
                out += [(score >= cut).astype(int) for cut in cuts]
    return np.array(out)


def one_seed(
    data: Set, model: LabelModel, h: np.ndarray, by_accuracy: bool, seed: int,
    found: dict[str, list[tuple[float, float]]], widths: list[tuple[float, float, int, int]],
) -> None:  # fmt: skip
    truth = data.y[data.test]
    measure = (lambda a, b: accuracy(a, b)) if by_accuracy else f1
    test = np.array([measure(one, truth) for one in h])
    metric = "accuracy" if by_accuracy else "f1"
    ends = []
    for one in h:
        tally = data.tally(data.test, h=one.tolist())
        b = bound.evaluate(
            tally, prediction="h", weak=data.weak, classes=[0, 1], label_models=[model],
            question=bound.Question(metrics=(metric,)),
        ).bounds[0]  # fmt: skip
        ends.append(
            [v if isinstance(v, float) else 0.0 for v in (b.plugin_lower, b.plugin_upper, b.independent_estimate)]
        )
    low, high, guess = np.array(ends).T
    rules = {"lower bound": low, "upper bound": high, "bounds average": (low + high) / 2, "label model": guess}
    draw = np.random.default_rng(seed)
    for n in (10, 25, 50, 100):
        some = draw.choice(len(truth), n, replace=False)
        rules[f"{n} labels"] = np.array([measure(one[some], truth[some]) for one in h])
    for rule, value in rules.items():
        rank = np.corrcoef(rankdata(value), rankdata(test))[0, 1] if np.ptp(value) > 0 else 0.0
        found.setdefault(rule, []).append((float(test[int(value.argmax())]), float(rank)))
    if by_accuracy and seed < 2:
        names = {f"h{i}": one.tolist() for i, one in enumerate(h)}
        picked = bound.select(
            data.tally(data.test, **names), predictions=list(names), weak=data.weak, label_model=model
        )
        for pair in picked.pairs:
            width = pair.by_overlap[1] - pair.by_overlap[0]
            apart = pair.by_overlap[0] > 0 or pair.by_overlap[1] < 0
            widths.append((pair.interval.width, width, int(pair.better is not None), int(apart)))


def figure_3() -> list[dict[str, Any]]:
    """Figure 3: Llama-2 labels alone, with five good weak labels, and with five that say nothing of Y."""
    frame = pd.read_parquet(DATA / "youtube.parquet")
    llama = pd.read_parquet(DATA / "youtube_llama2_labels.parquet")
    prompts = ["llama_zero", "llama_def", "llama_fewshot"]
    frame[prompts] = llama[prompts].to_numpy()
    rules = [c for c in frame if c.startswith("lf_")]
    said = frame[rules].to_numpy()
    spoken, right_on = said >= 0, said == frame["y"].to_numpy()[:, None]
    right = (spoken & right_on).mean(axis=0) - (spoken & ~right_on).mean(axis=0)
    good = [rules[j] for j in np.argsort(right)[::-1][:5]]
    draw = np.random.default_rng(0)
    noise = [f"noise_{j}" for j in range(5)]
    for name in noise:
        frame[name] = draw.integers(0, 2, len(frame))
    features = np.load(DATA / "youtube_minilm.npz")["E"].astype(np.float64)
    rows = []
    for title, weak in (("Llama-2 alone", prompts), ("+ 5 good", prompts + good), ("+ 5 useless", prompts + noise)):
        data = Set("figure 3", frame, weak, features)
        model = label_models(data)["dawid-skene"]
        if isinstance(model, str):
            rows.append({"weak labels": title, "verdict": model[:90]})
            continue
        x, y, w = repeated(data, model)
        h = LogisticRegression(C=1.0, max_iter=300).fit(x, y, sample_weight=w).predict(data.x[data.test]).astype(int)
        b = bound.evaluate(
            data.tally(data.test, h=h.tolist()), prediction="h", weak=weak, classes=[0, 1], label_models=[model]
        ).bounds[0]
        test = accuracy(h, data.y[data.test])
        rows.append({
            "weak labels": title, "plug-in": _pair(b.plugin_lower, b.plugin_upper),
            "forward dual": _pair(b.lower, b.upper),
            "with confidence": _pair(b.low, b.high), "test": round(test, 3),
            "width": round(float(b.upper) - float(b.lower), 3) if isinstance(b.upper, float) else "",
        })  # fmt: skip
    data = Set("figure 3", frame, prompts + good + noise, features)
    everything = np.ones(len(frame), dtype=bool)
    model = label_models(data)["dawid-skene"]
    if not isinstance(model, str):
        x, y, w = repeated(data, model)
        h = LogisticRegression(C=1.0, max_iter=300).fit(x, y, sample_weight=w).predict(data.x).astype(int)
        chosen = bound.choose_weak_labels(
            data.tally(everything, h=h.tolist()), prediction="h", start=prompts, candidates=good + noise,
            label_model="dawid-skene",
        )  # fmt: skip
        rows.append(
            {"weak labels": "forward selection", "verdict": f"{chosen.verdict} Useless: {', '.join(chosen.useless)}"}
        )
    return rows


NOTES = (
    "BASELINES, youtube at .526: oracle plug-in [.823, .897], test .924; Snorkel plug-in [.675, .870], test .904.",
    "Bounds are those of the test rows; label models are fitted on all rows with the class balance known.",
    "Oracle: P(Y | Z) from the labels of the test rows themselves, so that its own error is in the interval.",
    "Text without MiniLM features (all but youtube): TF-IDF, 100 components. Hate speech has two keyword labels only.",
    "Not here (no data): agnews, trec, semeval, imdb, yelp, census, tennis, cdr, basketball, spouse, commercial.",
)

if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    asked = [a for a in sys.argv[1:] if not a.startswith("-")] or ["figures", "figure3", "tables"]
    if "figures" in asked:
        record("bound-figures", "Bounds on real weak labels", figures(), notes=NOTES)
    if "figure3" in asked:
        record("bound-weak-sets", "Choosing a set of weak labels (Figure 3)", figure_3())
    if "tables" in asked:
        record("bound-selection", "Choosing a classifier without labels (Tables 2-4)", tables())
