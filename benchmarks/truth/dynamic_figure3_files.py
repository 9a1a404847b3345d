"""The files of Figure 3: all predictions of one base model's rollouts, packed small.

Nine predictions in ten are right, so a file holds one bit per prediction and, for the wrong ones,
half a byte with the label that was given. Forty-eight rollouts of 25 rounds on 36,500 images take
about 8 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class BaseRollouts:
    """What the rollouts of one base model predicted.

    Parameters
    ----------
    predictions
        Rollouts x rounds x items.
    labels, kept
        The true label of each item, and its place among the training images.
    plan
        The settings of the run, as JSON.
    """

    predictions: np.ndarray
    labels: np.ndarray
    kept: np.ndarray
    plan: str


def save_base(
    file: Path, *, predictions: np.ndarray, labels: np.ndarray, kept: np.ndarray, plan: str
) -> None:
    """Write a file under another name first, so that a killed run leaves the last whole one."""
    wrong = predictions != labels
    given = predictions[wrong].astype(np.uint8)
    if given.size % 2:
        given = np.append(given, np.uint8(0))
    draft = file.with_name(file.name + ".part.npz")
    np.savez_compressed(
        draft,
        shape=np.array(predictions.shape),
        wrong=np.packbits(wrong),
        given=given[::2] << 4 | given[1::2],
        labels=labels.astype(np.int8),
        kept=kept.astype(np.int32),
        plan=np.array(plan),
    )
    draft.replace(file)


def load_base(file: Path) -> BaseRollouts:
    """Read a file back."""
    with np.load(file, allow_pickle=False) as saved:
        shape, labels = tuple(saved["shape"].tolist()), saved["labels"]
        wrong = np.unpackbits(saved["wrong"], count=int(np.prod(shape))).astype(bool).reshape(shape)
        pairs = saved["given"]
        given = np.stack([pairs >> 4, pairs & 15], axis=1).ravel()[: int(wrong.sum())]
        predictions = np.broadcast_to(labels, shape).copy()
        predictions[wrong] = given.astype(np.int8)
        return BaseRollouts(predictions, labels, saved["kept"].astype(np.int64), str(saved["plan"]))
