"""The real weak-label sets, their features, and the label models that are compared on them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from tallystick.errors import TallystickError
from tallystick.table import Tally
from tallystick.verbs import bound
from tallystick.verbs.bound.label_model_checks import fitted
from tallystick.verbs.bound.label_models import LabelModel, given

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

    def tally(
        self, rows: np.ndarray, *, truth: bool = False, cut: Any = None, **more: Any
    ) -> Tally:
        """Count some rows, with *more* columns."""
        held: dict[str, Any] = {
            c: [None if v < 0 else int(v) for v in self.votes[rows, j]]
            for j, c in enumerate(self.weak)
        }
        if truth:
            held["truth"] = self.y[rows].tolist()
        return Tally.of({**held, **more}, cut=cut)

    def table(self) -> bound.WeakTable:
        """Return all rows with their truth."""
        everything = np.ones(len(self.y), dtype=bool)
        return bound.weak_table(
            self.tally(everything, truth=True),
            weak=self.weak,
            truth="truth",
            classes=list(range(self.k)),
        )


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


def label_models(data: Set, names: Sequence[str]) -> dict[str, LabelModel | str]:
    """Fit label models on all rows with the class balance known, as the paper does; what refuses
    says why.
    """
    table = data.table()
    out: dict[str, LabelModel | str] = {}
    balance = np.maximum(data.balance, 1e-3)
    fitting = bound.Fitting(balance=balance / balance.sum())
    for name in names:
        try:
            if name == "snorkel":
                out[name] = _snorkel(data, table)
            else:
                out[name] = fitted("labels" if name == "oracle" else name, table, fitting)
        except TallystickError as error:
            out[name] = str(error)
    return out


def _snorkel(data: Set, table: bound.WeakTable) -> LabelModel | str:
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
    seen = {row.tobytes(): i for i, row in enumerate(data.votes)}
    return given(table, p[[seen[row.tobytes()] for row in table.votes]], name="snorkel")
