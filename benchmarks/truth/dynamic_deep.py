"""Figures 3a, 3b and 5 of [SAH23]: path dynamic benchmarks with a CNN on CIFAR-10 and a BiLSTM on
SNLI.

In three steps, since the machine with the accelerator has neither the data folder nor this
project's libraries::

    python -m benchmarks.truth.dynamic_deep prepare --data ../shared/data/dynamic --to out/deep
    PYTHONPATH=src python -m benchmarks.truth.dynamic_deep run cnn --from out/deep --to out/deep
    PYTHONPATH=src python -m benchmarks.truth.dynamic_deep run bilstm --from out/deep --to out/deep

The first step needs Pillow and SciPy, the others NumPy and torch.
``run`` writes every model's predictions (NAME.npz) and its timings, and takes up a run that was
cut. ``speed`` measures one model at a time against stacks of several sizes. What follows from them
is in benchmarks/truth/dynamic.py.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import io
import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

LENGTH, DIMENSIONS, WINDOW = 32, 100, 5
SETTINGS: dict[str, dict[str, Any]] = {
    "cnn": {
        "rollouts": 100,
        "rounds": 25,
        "epochs": 30,
        "half": True,
        "compiled": True,
        "seed": 2023,
    },
    "bilstm": {
        "rollouts": 50,
        "rounds": 20,
        "epochs": 5,
        "half": False,
        "compiled": False,
        "seed": 2023,
    },
}


def prepare(data: Path, to: Path, *, images: int, seed: int = 0) -> None:
    """Decode *images* random training images, and turn the sentence pairs into word numbers with
    vectors.
    """
    from PIL import Image

    with np.load(data / "cifar10_60k_jpeg.npz") as packed:
        raw, offset, label, is_test = (
            packed[name] for name in ("jpeg", "offset", "label", "is_test")
        )
    chosen = np.sort(
        np.random.default_rng(seed).choice(
            np.flatnonzero(~is_test.astype(bool)), images, replace=False
        )
    )
    stream = raw.tobytes()
    pictures = [
        Image.open(io.BytesIO(stream[offset[i] : offset[i + 1]])).convert("RGB") for i in chosen
    ]
    pixels = np.stack([np.asarray(picture) for picture in pictures]).transpose(0, 3, 1, 2)
    np.savez_compressed(to / "cnn_data.npz", items=pixels, labels=label[chosen].astype(np.int64))

    with gzip.open(data / "snli_devtest.tsv.gz", "rt", encoding="utf-8") as lines:
        names = next(lines).rstrip("\n").split("\t")
        rows = [dict(zip(names, line.rstrip("\n").split("\t"), strict=True)) for line in lines]
    pairs = [
        [re.findall(r"[a-z']+", row[key].lower())[:LENGTH] for key in ("premise", "hypothesis")]
        for row in rows
    ]
    kinds = sorted({row["label"] for row in rows})
    vocabulary, vectors = word_vectors([sentence for pair in pairs for sentence in pair])
    words = np.zeros((len(pairs), 2, LENGTH), np.int32)
    for i, pair in enumerate(pairs):
        for side, sentence in enumerate(pair):
            words[i, side, : len(sentence)] = [vocabulary.get(word, 1) for word in sentence]
    labels = np.array([kinds.index(row["label"]) for row in rows])
    np.savez_compressed(to / "bilstm_data.npz", items=words, labels=labels, vectors=vectors)


def word_vectors(sentences: list[list[str]]) -> tuple[dict[str, int], np.ndarray]:
    """Make fixed vectors from the text itself (positive mutual information, SVD), since GloVe is
    not to be had.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.linalg import svds

    counts = Counter(word for sentence in sentences for word in sentence)
    kept = [word for word, count in counts.most_common() if count >= 2]
    vocabulary = {word: i + 2 for i, word in enumerate(kept)}  # 0 is padding, 1 a rare word
    together: Counter[tuple[int, int]] = Counter()
    for sentence in sentences:
        known = [vocabulary.get(word, 1) for word in sentence]
        for i, word in enumerate(known):
            for other in known[max(0, i - WINDOW) : i]:
                together[word, other] += 1
                together[other, word] += 1
    cells = np.array(list(together.keys()))
    values = np.array(list(together.values()), float)
    size = len(vocabulary) + 2
    margin = np.bincount(cells[:, 0], values, size)
    information = np.log(values * values.sum() / (margin[cells[:, 0]] * margin[cells[:, 1]]))
    positive = coo_matrix(
        (np.maximum(information, 0), (cells[:, 0], cells[:, 1])), shape=(size, size)
    ).tocsr()
    u, s, _ = svds(positive, DIMENSIONS, v0=np.ones(size))
    vectors = (u * np.sqrt(s)).astype(np.float32)
    vectors[0] = 0
    # the scale of GloVe's 100 dimensions
    return vocabulary, vectors / float(vectors.std()) * np.float32(0.4)


class Task:
    """One experiment on its device: items, labels, and how to build a stack."""

    def __init__(self, name: str, folder: Path, device: str) -> None:
        import torch

        from benchmarks.truth.dynamic_networks import StackedBiLSTM, StackedCNN, TrainingRecipe

        settings = SETTINGS[name]
        with np.load(folder / f"{name}_data.npz") as packed:
            items, labels = packed["items"], packed["labels"]
            vectors = (
                torch.as_tensor(packed["vectors"], device=device) if name == "bilstm" else None
            )
        if vectors is None:
            kind = torch.bfloat16 if settings["half"] and device == "cuda" else torch.float32
            self.items = (torch.as_tensor(items, device=device).float() / 255 - 0.5).to(kind)
        else:
            self.items = torch.as_tensor(items, device=device).long()
        self.labels = torch.as_tensor(labels, device=device)
        self.recipe = TrainingRecipe(
            epochs=settings["epochs"], device=device, compiled=settings["compiled"]
        )
        torch.set_float32_matmul_precision("high")

        def build(models: int, rng: Any) -> Any:
            if vectors is None:
                return StackedCNN(models, rng=rng, device=device)
            return StackedBiLSTM(models, vectors, rng=rng, device=device)

        self.build = build

    def right_of_base_model(self, seed: int) -> np.ndarray:
        """Train one base model on everything and return the places of the items that it gets
        right.
        """
        import torch

        from benchmarks.truth.dynamic_networks import predict, train

        base = self.build(1, torch.Generator().manual_seed(seed))
        weights = torch.full((1, len(self.items)), 1 / len(self.items), device=self.items.device)
        train(base, self.items, self.labels, weights, self.recipe, seed=seed)
        return np.flatnonzero(
            predict(base, self.items, self.recipe)[0] == self.labels.cpu().numpy()
        )


def run(name: str, source: Path, to: Path, *, device: str, minutes: float) -> None:
    """Roll out, checkpointing after every round; stop before *minutes* are over."""
    from benchmarks.truth.dynamic_networks import RunControl, path_rollouts

    start = time.perf_counter()
    settings = SETTINGS[name]
    task = Task(name, source, device)
    # GPU training does not repeat to the bit: a resumed run takes the same items
    base = to / f"{name}_base.npy"
    right = np.load(base) if base.exists() else task.right_of_base_model(settings["seed"])
    np.save(base, right)
    accuracy = len(right) / len(task.items)
    task.items, task.labels = task.items[right], task.labels[right]  # realisable from here on
    print(f"base model: {accuracy:.4f} of the items right, {len(task.items)} kept", flush=True)
    stamps = [time.perf_counter() - start]

    def report(done: int) -> None:
        stamps.append(time.perf_counter() - start)
        print(f"round {done}: {stamps[-1]:.1f} s", flush=True)

    def enough() -> bool:
        a_round = max(np.diff(stamps), default=0.0)
        return (time.perf_counter() - start) + 1.1 * a_round > 60 * minutes

    out = path_rollouts(
        task.build,
        task.items,
        task.labels,
        rollouts=settings["rollouts"],
        rounds=settings["rounds"],
        recipe=task.recipe,
        seed=settings["seed"],
        run=RunControl(checkpoint=to / f"{name}.npz", progress=report, enough=enough),
    )
    facts = {
        "settings": settings,
        "base_accuracy": accuracy,
        "items": len(task.items),
        "complete": out.complete,
        "seconds_a_round": [round(float(s), 2) for s in np.diff(stamps)],
        "device": device,
    }
    (to / f"{name}_{out.predictions.shape[1]}.json").write_text(json.dumps(facts, indent=1))


def speed(name: str, source: Path, to: Path, *, device: str) -> None:
    """Time a training epoch of a model: alone (plain, and as a recorded graph), and in stacks of
    several sizes.
    """
    import torch

    from benchmarks.truth.dynamic_networks import train

    task = Task(name, source, device)
    part = slice(0, int(0.73 * len(task.items)))
    items, labels = task.items[part], task.labels[part]
    rows = []
    if name == "cnn":
        rows.append(
            {
                "models": 1,
                "how": "torch.nn layers, one model",
                "ms_a_model_epoch": plain_cnn(items, labels, device),
            }
        )
        print(rows[-1], flush=True)
    whole = SETTINGS[name]["rollouts"]
    for models, fast in ((1, False), (1, True), (whole, False), (whole, True)):
        stack = task.build(models, torch.Generator().manual_seed(0))
        weights = torch.full((models, len(items)), 1 / len(items), device=device)
        seconds = []
        # the first warms up; set-up cancels in the difference of the others
        for epochs in (1, 1, 4):
            _wait(device)
            begin = time.perf_counter()
            recipe = dataclasses.replace(
                task.recipe, epochs=epochs, graph=fast, compiled=fast and task.recipe.compiled
            )
            train(stack, items, labels, weights, recipe, seed=0)
            _wait(device)
            seconds.append(time.perf_counter() - begin)
        rows.append(
            {
                "models": models,
                "recorded_and_fused": fast,
                "ms_a_model_epoch": 1000 * (seconds[2] - seconds[1]) / 3 / models,
            }
        )
        print(rows[-1], flush=True)
    (to / f"{name}_speed.json").write_text(json.dumps(rows, indent=1))


def plain_cnn(items: Any, labels: Any, device: str, *, batch: int = 256, epochs: int = 3) -> float:
    """Return the milliseconds of an epoch of the same network built from torch's own layers, one
    model at a time.
    """
    import torch
    from torch import nn

    layers = (
        nn.Conv2d(3, 32, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.Linear(2304, 10),
    )
    network = nn.Sequential(*layers).to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    weights = torch.ones(len(items), device=device)

    def epoch() -> None:
        shuffled = torch.randperm(len(items), device=device)
        for start in range(0, len(items) - batch + 1, batch):
            index = shuffled[start : start + batch]
            optimiser.zero_grad()
            with torch.autocast(device, torch.bfloat16):
                losses = nn.functional.cross_entropy(
                    network(items[index]), labels[index], reduction="none"
                )
            (losses * weights[index]).mean().backward()
            optimiser.step()

    epoch()  # warms up
    _wait(device)
    begin = time.perf_counter()
    for _ in range(epochs):
        epoch()
    _wait(device)
    return 1000 * (time.perf_counter() - begin) / epochs


def _wait(device: str) -> None:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=["prepare", "run", "speed"])
    parser.add_argument("name", nargs="?", choices=sorted(SETTINGS), default="cnn")
    parser.add_argument(
        "--data", type=Path, help="folder of cifar10_60k_jpeg.npz and snli_devtest.tsv.gz"
    )
    parser.add_argument("--from", dest="source", type=Path, help="folder of the prepared data")
    parser.add_argument("--to", type=Path, required=True)
    # of which a base model gets over 10,000 right
    parser.add_argument("--images", type=int, default=14_500)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=9.0)
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    if options.step == "prepare":
        prepare(options.data, options.to, images=options.images)
    elif options.step == "run":
        run(
            options.name, options.source, options.to, device=options.device, minutes=options.minutes
        )
    else:
        speed(options.name, options.source, options.to, device=options.device)


if __name__ == "__main__":
    main()
