"""A dataset of Hugging Face gives the answer that its rows give anywhere else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tallystick import judge
from tallystick.errors import InputError
from tallystick.table.scanning import arrow_of_dataset


@pytest.fixture(scope="module")
def datasets() -> Any:
    return pytest.importorskip("datasets", reason="the library datasets is not installed")


def votes() -> dict[str, list[str]]:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 300)
    table = {}
    for name, accuracy in (("ann", 0.9), ("bob", 0.8), ("eve", 0.7)):
        right = rng.random(300) < accuracy
        table[name] = [["no", "yes"][v] for v in np.where(right, truth, 1 - truth)]
    table["gold"] = [["no", "yes"][v] for v in truth]
    return table


def test_a_dataset_gives_the_same_answer_as_its_columns(datasets: Any) -> None:
    table = votes()
    dataset = datasets.Dataset.from_dict(table)
    there, here = judge(dataset, truth="gold"), judge(table, truth="gold")
    assert there.verdict == here.verdict
    assert there.to_dict() == here.to_dict()


def test_a_selection_is_respected(datasets: Any) -> None:
    dataset = datasets.Dataset.from_dict({"n": list(range(10))}).shuffle(seed=1).select(range(4))
    assert arrow_of_dataset(dataset).to_pydict() == {"n": dataset["n"][:]}
    kept = datasets.Dataset.from_dict({"n": list(range(10))}).filter(lambda row: row["n"] > 7)
    assert arrow_of_dataset(kept).to_pydict() == {"n": [8, 9]}


def test_class_numbers_become_their_names_and_hidden_ones_are_missing(datasets: Any) -> None:
    features = datasets.Features({"label": datasets.ClassLabel(names=["neg", "pos"])})
    dataset = datasets.Dataset.from_dict({"label": [0, 1, -1]}, features=features)
    assert arrow_of_dataset(dataset).to_pydict() == {"label": ["neg", "pos", None]}


def test_several_splits_and_streams_are_refused_with_the_way_out(datasets: Any) -> None:
    dataset = datasets.Dataset.from_dict(votes())
    with pytest.raises(InputError, match=r"'train', 'test': name one"):
        judge(datasets.DatasetDict({"train": dataset, "test": dataset}))
    with pytest.raises(InputError, match="without streaming"):
        judge(dataset.to_iterable_dataset())
