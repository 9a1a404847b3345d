"""The real weak-label sets, their features, and the label models that are compared on them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from tallystick.errors import NotIdentifiable, TallystickError
from tallystick.papers.frechet_bounds import independent, plug_in, summary
from tallystick.papers.frechet_bounds.dual import Side
from tallystick.papers.noisy_judges.trio_quadratic import triplet
from tallystick.stats.latent_model import LatentModel, LatentOptions, fit, posterior
from tallystick.verbs.bound.forward import Evidence, Scheme, forward, label_bins

DATA = (
    Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
    / "bound"
)
SNORKEL = os.environ.get("TALLYSTICK_SNORKEL")
SNORKEL_CODE = """
import sys, numpy as np
from snorkel.labeling.model import LabelModel
f = np.load(sys.argv[1])
m = LabelModel(cardinality=int(f["k"]), verbose=False)
m.fit(f["votes"], n_epochs=1000, log_freq=10**6, seed=0, progress_bar=False, class_balance=list(f["balance"]))
np.save(sys.argv[2], m.predict_proba(f["votes"]))
"""
TRUNCATED = 10
"""The paper keeps ten weak labels of every set (section 4.1); the authors' published code takes the
first ten."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Set:
    """One data set: votes, truth, features, and which rows train, choose the regularisation, and
    test.
    """

    name: str
    weak: tuple[str, ...]
    votes: np.ndarray
    y: np.ndarray
    x: np.ndarray
    train: np.ndarray
    valid: np.ndarray
    test: np.ndarray
    metric: str

    @property
    def k(self) -> int:
        """Classes."""
        return int(self.y.max()) + 1

    @property
    def balance(self) -> np.ndarray:
        """P(Y) of all rows, which the paper takes for known."""
        return np.bincount(self.y, minlength=self.k) / len(self.y)

    def ends(self, rows: np.ndarray, h: np.ndarray, law: Law, metric: str) -> Ends:
        """Bound a metric of the predictions *h* of some rows, if the label model is right."""
        patterns, place = np.unique(self.votes[rows], axis=0, return_inverse=True)
        counts = np.zeros((len(patterns), self.k), dtype=np.int64)
        np.add.at(counts, (place.reshape(-1), h.astype(np.int64)), 1)
        p = np.asarray(law(patterns), dtype=np.float64)
        wanted = summary(metric, 1)
        evidence = Evidence(
            counts=counts, p=p, bins=label_bins(p, counts.sum(axis=1).astype(float))
        )
        [(low, high)] = forward(evidence, [wanted], rng=0, scheme=Scheme.fitting(len(h)))
        return Ends(
            metric=metric,
            plug_in=_clipped(*(plug_in(counts, p, wanted, side)[0] for side in SIDES)),
            estimate=_clipped(low.estimate, high.estimate),
            sure=_clipped(low.edge(SURE), high.edge(SURE)),
            independent=float(independent(counts, p, wanted)),
        )


Law: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""From patterns of votes to P(Y | Z)."""
SIDES: tuple[Side, Side] = ("lower", "upper")
SURE = 1.959963984540054


@dataclass(frozen=True, kw_only=True)
class Ends:
    """The plug-in of the paper, the forward dual, and the latter with its confidence."""

    metric: str
    plug_in: tuple[float, float]
    estimate: tuple[float, float]
    sure: tuple[float, float]
    independent: float


def _clipped(low: Any, high: Any) -> tuple[float, float]:
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def made(
    name: str, frame: pd.DataFrame, weak: Sequence[str], *, metric: str, x: np.ndarray | None = None
) -> Set:
    """Return a set; without a split to choose the regularisation on, a fifth of the training rows
    is one.
    """
    split = frame["split"].to_numpy()
    test, valid = split == "test", split == "valid"
    train = split == "train"
    if not (train.any() and valid.any()):
        rest = np.flatnonzero(~test)
        valid = np.zeros(len(frame), dtype=bool)
        valid[np.random.default_rng(0).choice(rest, len(rest) // 5, replace=False)] = True
        train = ~test & ~valid
    features = _text(frame["text"], train) if x is None else x
    spread = features[train].std(axis=0)
    return Set(
        name=name,
        weak=tuple(weak),
        votes=frame[list(weak)].to_numpy().astype(np.int64),
        y=frame["y"].to_numpy().astype(np.int64),
        x=(features - features[train].mean(axis=0)) / np.where(spread > 0, spread, 1),
        train=train,
        valid=valid,
        test=test,
        metric=metric,
    )


def _text(text: pd.Series, train: np.ndarray) -> np.ndarray:
    matrix = (
        TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2))
        .fit(text[train])
        .transform(text)
    )
    return np.asarray(TruncatedSVD(100, random_state=0).fit(matrix[train]).transform(matrix))


def sets(*, all_votes: bool = True) -> list[Set]:
    """Return the sets, truncated to ten weak labels and, if asked, with all of them."""
    out = []
    for name, metric in (("youtube", "accuracy"), ("sms", "f1"), ("chemprot", "accuracy")):
        frame = pd.read_parquet(DATA / f"{name}.parquet")
        weak = [c for c in map(str, frame) if c.startswith("lf_")]
        x = (
            np.load(DATA / "youtube_minilm.npz")["E"].astype(np.float64)
            if name == "youtube"
            else None
        )
        out.append(made(name, frame, weak[:TRUNCATED], metric=metric, x=x))
        if all_votes and len(weak) > TRUNCATED:
            out.append(made(f"{name}, all {len(weak)}", frame, weak, metric=metric, x=out[-1].x))
    out.append(hate_speech())
    return out


def hate_speech() -> Set:
    """Return hate speech with three weak labels.

    The paper had a lexicon, TextBlob, BERT and RoBERTa; the data has the lexicon only, and without
    labels no label model can be fitted to one. Two classifiers, of words and of letters, trained on
    a quarter of the training sentences each, stand in for models that were trained elsewhere; those
    sentences take no further part.
    """
    frame = pd.read_parquet(DATA / "hate_speech.parquet")
    frame = frame[frame["split"].isin(["train", "test"]) & frame["y"].notna()].reset_index(
        drop=True
    )
    learning = np.flatnonzero(frame["split"] == "train")
    np.random.default_rng(0).shuffle(learning)
    quarters = np.array_split(learning, 4)
    weak = ["lf_terms_any_lower"]
    for name, analyzer, lengths, rows in (
        ("lf_words", "word", (1, 1), quarters[0]),
        ("lf_letters", "char_wb", (2, 4), quarters[1]),
    ):
        learner = make_pipeline(
            TfidfVectorizer(analyzer=analyzer, ngram_range=lengths, min_df=2, sublinear_tf=True),
            LogisticRegression(max_iter=300),
        ).fit(frame["text"][rows], frame["y"][rows].astype(int))
        frame[name] = learner.predict(frame["text"])
        weak.append(name)
    kept = np.ones(len(frame), dtype=bool)
    kept[np.concatenate(quarters[:2])] = False
    return made("hate speech", frame[kept].reset_index(drop=True), weak, metric="f1")


def label_models(data: Set, names: Sequence[str]) -> dict[str, Law | str]:
    """Fit label models on all rows with the class balance known, as the paper does; what refuses
    says why.
    """
    made_by = {"oracle": oracle, "dawid-skene": _dawid_skene, "triplet": _triplet}
    out: dict[str, Law | str] = {}
    for name in names:
        try:
            out[name] = _snorkel(data) if name == "snorkel" else made_by[name](data)
        except TallystickError as error:
            out[name] = str(error)
    return out


def oracle(data: Set, *, strength: float = 1.0) -> Law:
    """Take the labels of the rows that show a pattern, drawn to those with the same leading vote."""
    patterns, gold = _counted(data)
    overall = (gold.sum(axis=0) + 1 / data.k) / (gold.sum() + 1)
    group = _leading(patterns, data.k)
    by_group = np.stack([gold[group == g].sum(axis=0) for g in range(data.k + 1)])
    laws = (by_group + 2 * overall) / (by_group.sum(axis=1, keepdims=True) + 2)
    own = (gold + strength * laws[group]) / (gold.sum(axis=1, keepdims=True) + strength)
    return _looked_up(patterns, own, lambda votes: laws[_leading(votes, data.k)])


def _counted(data: Set) -> tuple[np.ndarray, np.ndarray]:
    patterns, place = np.unique(data.votes, axis=0, return_inverse=True)
    gold = np.zeros((len(patterns), data.k))
    np.add.at(gold, (place.reshape(-1), data.y), 1)
    return patterns, gold


def _leading(votes: np.ndarray, k: int) -> np.ndarray:
    counted = np.stack([(votes == c).sum(axis=1) for c in range(k)], axis=1)
    return np.where(counted.max(axis=1) > 0, counted.argmax(axis=1), k)


def _looked_up(patterns: np.ndarray, laws: np.ndarray, otherwise: Law) -> Law:
    seen = {row.tobytes(): z for z, row in enumerate(np.ascontiguousarray(patterns))}

    def law(votes: np.ndarray) -> np.ndarray:
        out = np.array(otherwise(votes), dtype=np.float64)
        for i, row in enumerate(np.ascontiguousarray(votes)):
            z = seen.get(row.tobytes())
            if z is not None:
                out[i] = laws[z]
        return out

    return law


def _balance(data: Set) -> np.ndarray:
    held = np.maximum(data.balance, 1e-3)
    return np.asarray(held / held.sum())


def _one_sided(data: Set) -> np.ndarray:
    """Return the class of each rule that votes for one only and abstains otherwise, else -1."""
    seen = [np.unique(column) for column in data.votes.T]
    return np.array([s[1] if len(s) == 2 and s[0] < 0 else -1 for s in seen])


def _dawid_skene(data: Set) -> Law:
    extra = int((_one_sided(data) >= 0).any())
    patterns, gold = _counted(data)

    def codes(votes: np.ndarray) -> np.ndarray:
        return np.where(votes < 0, data.k, votes) if extra else votes

    options = LatentOptions(balance=_balance(data), confusion_prior=0.1, max_iterations=20_000)
    found = fit(
        codes(patterns),
        gold.sum(axis=1),
        n_classes=data.k,
        n_votes=data.k + extra,
        options=options,
    )
    return lambda votes: posterior(found.model, codes(votes))


def _triplet(data: Set) -> Law:
    if data.k != 2:
        raise NotIdentifiable(f"the triplet method knows two classes, got {data.k}")
    rule = _one_sided(data)
    patterns, gold = _counted(data)

    def codes(votes: np.ndarray) -> np.ndarray:
        return np.where((votes < 0) & (rule >= 0), 1 - rule, votes)

    solved = triplet(codes(patterns), gold.sum(axis=1), balance=_balance(data), clip=True)
    model = LatentModel(solved.balance, np.clip(solved.confusion, 1e-3, 1 - 1e-3))
    return lambda votes: posterior(model, codes(votes))


def _snorkel(data: Set) -> Law | str:
    if SNORKEL is None:
        return "TALLYSTICK_SNORKEL names no Python that has Snorkel"
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder) / "in.npz", Path(folder) / "out.npy"
        np.savez(asked, votes=data.votes, k=data.k, balance=data.balance)
        done = subprocess.run(
            [SNORKEL, "-c", SNORKEL_CODE, str(asked), str(answer)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": ""},
            check=False,
        )
        if done.returncode != 0:
            return done.stderr.strip().splitlines()[-1]
        p = np.load(answer)
    return _looked_up(data.votes, p, lambda votes: np.full((len(votes), data.k), 1 / data.k))
