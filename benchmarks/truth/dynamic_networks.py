"""Rollouts with neural networks: many models trained at once, on a CPU or a GPU, by one code (extra
``[torch]``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from tallystick._rng import spawn
from tallystick.errors import FormatError, InputError

# Many small networks as one: every weight carries a leading axis of models.
#
# Models trained side by side on a *shared* mini-batch, each with its own weights on the examples,
# turn thousands of small kernels into a few large ones. The first convolution of all models is one
# matrix product with the shared image patches; all else are batched matrix products (grouped
# convolutions spend more time on layout and pooling than on arithmetic). Nothing is shared between
# models but the batch: the gradient of the summed loss falls apart by model, and so do the
# elementwise steps of Adam. Each network is a pure function of its tensors, compiled once for all
# rounds.


Forward: TypeAlias = partial[Tensor]
"""A network's pure function with its constants bound; it takes (parameters, batch, training)."""


class StackedModel(Protocol):
    """What a rollout needs of a stack of models."""

    models: int

    def parameters(self) -> list[Tensor]:
        """Return the trainable tensors, each with a leading axis of models."""
        ...

    def forward(self) -> Forward:
        """Return the pure function of (parameters, batch, training) that gives models x examples x
        classes.
        """
        ...


class _Weights:
    """Draws initial weights, apart for every model, and puts them on the device."""

    def __init__(self, models: int, rng: torch.Generator, device: str) -> None:
        self.models, self.rng, self.device = models, rng, device

    def glorot(self, *shape: int, fan_in: int, fan_out: int) -> Tensor:
        """Uniform in ± sqrt(6/(fan_in + fan_out))."""
        bound = math.sqrt(6.0 / (fan_in + fan_out))
        return self.ready((2 * torch.rand(self.models, *shape, generator=self.rng) - 1) * bound)

    def zeros(self, *shape: int) -> Tensor:
        return self.ready(torch.zeros(self.models, *shape))

    def ready(self, values: Tensor) -> Tensor:
        return values.to(self.device).requires_grad_()


class StackedCNN:
    """The image model of [SAH23]_ section B.1, *models* times: two convolutions, max-pooling,
    dropout, a dense layer.

    With ``valid`` padding on 3 x 32 x 32 images and 32 and 64 filters a model has 42,442 parameters
    (paper: 40k).

    Parameters
    ----------
    models
        How many networks to train side by side.
    classes
        Number of labels.
    dropout
        Share of features dropped before the dense layer, drawn apart for every model. The paper
        gives no rate.
    rng
        Where the initial weights come from.
    device
        ``cpu`` or ``cuda``.

    Examples
    --------
    >>> stack = StackedCNN(2, rng=torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in stack.parameters()) // 2
    42442
    >>> stack.forward()(stack.parameters(), torch.zeros(5, 3, 32, 32), False).shape
    torch.Size([2, 5, 10])
    """

    def __init__(
        self,
        models: int,
        *,
        classes: int = 10,
        dropout: float = 0.5,
        rng: torch.Generator,
        device: str = "cpu",
    ) -> None:
        draw = _Weights(models, rng, device)
        self.models, self.dropout = models, dropout
        self.first = draw.glorot(32, 3, 3, 3, fan_in=27, fan_out=288)
        self.first_bias = draw.zeros(32)
        self.second = draw.glorot(64, 32, 3, 3, fan_in=288, fan_out=576)
        self.second_bias = draw.zeros(64)
        self.dense = draw.glorot(64 * 6 * 6, classes, fan_in=64 * 6 * 6, fan_out=classes)
        self.dense_bias = draw.zeros(1, classes)

    def parameters(self) -> list[Tensor]:
        """Return the six trainable tensors."""
        return [
            self.first,
            self.first_bias,
            self.second,
            self.second_bias,
            self.dense,
            self.dense_bias,
        ]

    def forward(self) -> Forward:
        """Return the network as a pure function; it computes in the type of the images."""
        return partial(_cnn, self.dropout)


def _cnn(dropout: float, parameters: list[Tensor], images: Tensor, training: bool) -> Tensor:
    kind, n = images.dtype, len(images)
    first, first_bias, second, second_bias, dense, dense_bias = (
        tensor.to(kind) for tensor in parameters
    )
    models = len(first)
    # (n 30 30) x 27, the same for all models
    patches = functional.unfold(images, 3).transpose(1, 2).reshape(-1, 27)
    x = patches @ first.flatten(0, 1).flatten(1).T  # (n 30 30) x (models 32)
    x = torch.relu(_pool(x.view(n, 30, 30, -1)) + first_bias.flatten())
    x = x.view(n, 15, 15, models, 32).permute(3, 0, 1, 2, 4)
    windows = torch.cat([x[:, :, i : i + 13, j : j + 13] for i in range(3) for j in range(3)], -1)
    x = torch.bmm(
        windows.reshape(models, n * 169, 288),
        second.permute(0, 3, 4, 2, 1).reshape(models, 288, 64),
    )
    # the odd last row falls away
    x = _pool(x.view(models * n, 13, 13, 64)[:, :12, :12]).view(models, n, 36, 64)
    x = torch.relu(x + second_bias.view(models, 1, 1, 64)).flatten(2)
    return torch.baddbmm(dense_bias, functional.dropout(x, dropout, training), dense).float()


def _pool(x: Tensor) -> Tensor:
    """Max-pooling by two, before bias and ReLU: they commute, and this order does them on a quarter
    of the numbers.
    """
    n, rows, columns, channels = x.shape
    return x.reshape(n, rows // 2, 2, columns // 2, 2, channels).amax((2, 4))


class StackedBiLSTM:
    """The sentence-pair model of [SAH23]_ section B.1, *models* times: a BiLSTM a sentence, three
    dense layers, labels.

    With 100-dimensional word vectors and 32 units a direction a model has 118,019 trainable
    parameters (paper: 120k). Word vectors are fixed. The four recurrences of a model (two
    sentences, two directions) run as one batched product.

    Parameters
    ----------
    models
        How many networks to train side by side.
    vectors
        Fixed word vectors, words x dimensions, on the device; word 0 is padding.
    units
        Units of one direction of one recurrence.
    classes
        Number of labels.
    rng
        Where the initial weights come from.
    device
        ``cpu`` or ``cuda``.

    Examples
    --------
    >>> stack = StackedBiLSTM(2, torch.zeros(7, 100), rng=torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in stack.parameters()) // 2
    118019
    >>> stack.forward()(stack.parameters(), torch.ones(5, 2, 9, dtype=torch.long), False).shape
    torch.Size([2, 5, 3])
    """

    def __init__(
        self,
        models: int,
        vectors: Tensor,
        *,
        units: int = 32,
        classes: int = 3,
        rng: torch.Generator,
        device: str = "cpu",
    ) -> None:
        self.models, self.units, self.vectors = models, units, vectors
        dimensions, gates = vectors.shape[1], 4 * units
        recurrences = _Weights(4 * models, rng, device)
        self.inward = recurrences.glorot(dimensions, gates, fan_in=dimensions, fan_out=gates)
        self.across = recurrences.glorot(units, gates, fan_in=units, fan_out=gates)
        bias = torch.zeros(4 * models, 1, gates)
        bias[:, :, units : 2 * units] = 1.0  # the forget gate starts open
        self.bias = recurrences.ready(bias)
        draw = _Weights(models, rng, device)
        widths = (4 * units, 128, 128, 128, classes)
        self.dense = [
            (draw.glorot(a, b, fan_in=a, fan_out=b), draw.zeros(1, b)) for a, b in pairwise(widths)
        ]

    def parameters(self) -> list[Tensor]:
        """Return the trainable tensors: three of the recurrences, two a dense layer."""
        return [
            self.inward,
            self.across,
            self.bias,
            *(tensor for layer in self.dense for tensor in layer),
        ]

    def forward(self) -> Forward:
        """Return the network as a pure function of word numbers, pairs x 2 x length."""
        return partial(_bilstm, self.vectors)


def _bilstm(vectors: Tensor, parameters: list[Tensor], words: Tensor, training: bool) -> Tensor:
    del training  # no dropout in this network
    inward, across, bias, *dense = parameters
    flipped = _reverse_words(words)
    # 4 x pairs x length
    streams = torch.stack([words[:, 0], flipped[:, 0], words[:, 1], flipped[:, 1]])
    x = _last_states(
        functional.embedding(streams, vectors), (streams != 0).float(), inward, across, bias
    )
    x = x.view(4, len(across) // 4, len(words), -1).permute(1, 2, 0, 3).flatten(2)
    for depth, (weight, offset) in enumerate(zip(dense[::2], dense[1::2], strict=True)):
        x = torch.baddbmm(offset, x if depth == 0 else torch.relu(x), weight)
    return x


def _last_states(
    embedded: Tensor, present: Tensor, inward: Tensor, across: Tensor, bias: Tensor
) -> Tensor:
    """Return the last state of every recurrence, (4 models) x pairs x units, stream by stream."""
    streams, n, length, dimensions = embedded.shape
    stacks, units, _ = across.shape
    models = stacks // streams
    flat = (
        embedded.reshape(streams, 1, n * length, dimensions)
        .expand(-1, models, -1, -1)
        .flatten(0, 1)
    )
    driven = torch.baddbmm(bias, flat, inward).view(stacks, n, length, -1)
    here = present.unsqueeze(1).expand(-1, models, -1, -1).flatten(0, 1).unsqueeze(-1)
    h = driven.new_zeros(stacks, n, units)
    c = torch.zeros_like(h)
    for step in range(length):
        gates = torch.baddbmm(driven[:, :, step], h, across)
        enter, forget, cell, leave = gates.chunk(4, dim=-1)
        new_c = torch.sigmoid(forget) * c + torch.sigmoid(enter) * torch.tanh(cell)
        new_h = torch.sigmoid(leave) * torch.tanh(new_c)
        c = torch.lerp(c, new_c, here[:, :, step])  # padding leaves the state as it is
        h = torch.lerp(h, new_h, here[:, :, step])
    return h


def _reverse_words(words: Tensor) -> Tensor:
    """Reverse every sentence in place of its own words; padding (0) stays behind them.

    >>> _reverse_words(torch.tensor([[[3, 4, 5, 0]]]))
    tensor([[[5, 4, 3, 0]]])
    """
    length = words.shape[-1]
    sizes = (words != 0).sum(-1, keepdim=True)
    places = torch.arange(length, device=words.device).expand_as(words)
    source = torch.where(places < sizes, sizes - 1 - places, places)
    return words.gather(-1, source)


# Path dynamic benchmarks with neural networks ([SAH23]_ section 5): many rollouts side by side,
# resumable.


Build = Callable[[int, torch.Generator], StackedModel]
"""Makes a stack of so many fresh models from a generator of initial weights."""


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe:
    """How one model is trained.

    Parameters
    ----------
    epochs, batch, rate
        Passes over the items, items a step, Adam's step size.
    device
        ``cpu`` or ``cuda``.
    half
        Compute in bfloat16 (weights stay float32).
    graph
        On a GPU, record one training step as a CUDA graph and replay it.
    compiled
        On a GPU, fuse the network's elementwise work with ``torch.compile`` (worth its seconds for
        large stacks).
    """

    epochs: int = 30
    batch: int = 256
    rate: float = 1e-3
    device: str = "cpu"
    half: bool = False
    graph: bool = True
    compiled: bool = False

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1 or not self.rate > 0:
            raise InputError(
                f"epochs, batch and rate must be positive, got {self.epochs}, {self.batch},"
                f" {self.rate}"
            )


@dataclass(frozen=True, kw_only=True)
class RunControl:
    """How a long run is kept, watched and cut. No prediction depends on it.

    Parameters
    ----------
    checkpoint
        File that is written, atomically, after every round, and read first if it is there.
    progress
        Called with the number of finished rounds.
    enough
        Asked before every round; a true answer cuts the run there.
    """

    checkpoint: Path | None = None
    progress: Callable[[int], None] | None = None
    enough: Callable[[], bool] | None = None


STRAIGHT_THROUGH = RunControl()
"""Run to the end, writing nothing."""


@dataclass(frozen=True)
class DeepRollouts:
    """Every model's predictions: all else (risk, majority, z, overlap) follows from them.

    Parameters
    ----------
    predictions
        rollouts x rounds x items, the label that each round's model gave.
    labels
        The true label of each item.
    rounds_wanted
        How many rounds were asked for; fewer are there if the run was cut.
    """

    predictions: npt.NDArray[np.int8]
    labels: npt.NDArray[np.int8]
    rounds_wanted: int

    @property
    def errors(self) -> npt.NDArray[np.bool_]:
        """Where a model was wrong: rollouts x rounds x items."""
        return np.not_equal(self.predictions, self.labels)

    @property
    def complete(self) -> bool:
        """Whether every round that was asked for is there."""
        return bool(self.predictions.shape[1] == self.rounds_wanted)


def train(
    stack: StackedModel,
    items: Tensor,
    labels: Tensor,
    weights: Tensor,
    recipe: TrainingRecipe,
    *,
    seed: int,
) -> None:
    """Train every model of *stack* on the same mini-batches, each with its own weights on the
    items.

    The loss of a model is its weighted mean cross-entropy, weights scaled to mean one over the
    items.

    Parameters
    ----------
    stack
        The models, on the recipe's device.
    items, labels
        Shared by all models.
    weights
        models x items, each row a distribution.
    recipe
        Epochs, batch, step size.
    seed
        Of the order of items (and of dropout, through torch's own generator).
    """
    n, batch = len(items), min(recipe.batch, len(items))
    scaled = weights * n
    graphed = recipe.graph and recipe.device.startswith("cuda")
    parameters, forward = stack.parameters(), _forward(stack, recipe)
    optimiser = torch.optim.Adam(parameters, lr=recipe.rate, capturable=graphed)
    order = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    index = torch.arange(batch, device=items.device)

    def step() -> None:
        # a recorded step needs its gradients where they were
        optimiser.zero_grad(set_to_none=not graphed)
        logits = forward(parameters, items[index], True)
        losses = functional.cross_entropy(
            logits.flatten(0, 1), labels[index].repeat(stack.models), reduction="none"
        )
        (losses.view(stack.models, -1) * scaled[:, index]).mean(1).sum().backward()
        optimiser.step()

    advance = _recorded(step, parameters, optimiser) if graphed else step
    for _ in range(recipe.epochs):
        shuffled = torch.randperm(n, generator=order).to(items.device)
        # what is left over waits for the next epoch's order
        for start in range(0, n - batch + 1, batch):
            index.copy_(shuffled[start : start + batch])
            advance()


def path_rollouts(
    build: Build,
    items: Tensor,
    labels: Tensor,
    *,
    rollouts: int,
    rounds: int,
    recipe: TrainingRecipe,
    seed: int,
    run: RunControl = STRAIGHT_THROUGH,
) -> DeepRollouts:
    """Run *rollouts* path benchmarks of so many *rounds* at once, by uniform mixing ([SAH23]_
    section 3).

    Round t trains a fresh model of every rollout on D_t, the uniform mixture of D_0 (uniform over
    the items) and D_0 restricted to the error set of each earlier round. An empty error set (a
    perfect model) adds D_0 again: nothing is left to collect.

    Parameters
    ----------
    build
        Makes a stack of fresh models.
    items, labels
        The realisable subset, on the recipe's device.
    rollouts, rounds
        How many, how long.
    recipe
        How a model is trained.
    seed
        Names every draw: initial weights, order of items, dropout.
    run
        Where the run is checkpointed, who is told of progress, and when it is cut.
    """
    truth = labels.cpu().numpy().astype(np.int8)
    done = _resume(run.checkpoint, truth, rollouts, seed)
    for t in range(done.shape[1], rounds):
        if run.enough is not None and run.enough():
            break
        weights = torch.as_tensor(mixture(done != truth), dtype=torch.float32, device=items.device)
        generator = torch.Generator().manual_seed(_seed(seed, t, 0))
        stack = build(rollouts, generator)
        train(stack, items, labels, weights, recipe, seed=_seed(seed, t, 1))
        done = np.concatenate([done, predict(stack, items, recipe)[:, None]], axis=1)
        if run.checkpoint is not None:
            _save(run.checkpoint, done, truth, seed)
        if run.progress is not None:
            run.progress(t + 1)
    return DeepRollouts(done, truth, rounds)


def mixture(errors: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return D_t of every rollout: the uniform mixture of D_0 and of D_0 given each earlier error
    set.

    >>> mixture(np.array([[[True, False, False, False]]])).tolist()
    [[0.625, 0.125, 0.125, 0.125]]
    """
    rollouts, rounds, n = errors.shape
    total = np.full((rollouts, n), 1.0 / n)
    for t in range(rounds):
        sizes = errors[:, t].sum(1, keepdims=True)
        total += np.where(sizes > 0, errors[:, t] / np.maximum(sizes, 1), 1.0 / n)
    return np.asarray(total / (rounds + 1))


def predict(stack: StackedModel, items: Tensor, recipe: TrainingRecipe) -> npt.NDArray[np.int8]:
    """Return every model's label for every item, with dropout off."""
    with torch.no_grad():
        forward, starts = stack.forward(), range(0, len(items), recipe.batch)
        parts = [
            forward(stack.parameters(), items[at : at + recipe.batch], False).argmax(-1)
            for at in starts
        ]
    return np.asarray(torch.cat(parts, dim=1).cpu().numpy(), np.int8)


def _forward(stack: StackedModel, recipe: TrainingRecipe) -> Forward:
    pure = stack.forward()
    if recipe.compiled and recipe.device.startswith("cuda"):
        return partial(_compiled(pure.func), *pure.args)
    return pure


@cache
def _compiled(network: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Compile a network once; later rounds bring other tensors, never another shape."""
    out: Callable[..., Tensor] = torch.compile(network, dynamic=False)
    return out


def _seed(seed: int, t: int, use: int) -> int:
    """One seed for every round and use, the same whether or not the run was cut in between."""
    return int(spawn(seed, t + 1)[t].integers(2**62, size=2)[use])


def _recorded(
    step: Callable[[], None], parameters: list[Tensor], optimiser: torch.optim.Adam
) -> Callable[[], None]:
    """Record *step* as a CUDA graph; the warm-up steps that recording needs leave no trace in the
    weights.
    """
    before = [p.detach().clone() for p in parameters]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    with torch.no_grad():
        for parameter, value in zip(parameters, before, strict=True):
            parameter.copy_(value)
        for state in optimiser.state.values():
            for tensor in state.values():
                tensor.zero_()
    replay: Callable[[], None] = graph.replay
    return replay


def _resume(
    checkpoint: Path | None, truth: npt.NDArray[np.int8], rollouts: int, seed: int
) -> npt.NDArray[np.int8]:
    if checkpoint is None or not checkpoint.exists():
        return np.empty((rollouts, 0, len(truth)), np.int8)
    with np.load(checkpoint, allow_pickle=False) as saved:
        done = saved["predictions"]
        if (
            int(saved["seed"]) != seed
            or len(done) != rollouts
            or not np.array_equal(saved["labels"], truth)
        ):
            raise FormatError(
                f"{checkpoint}: this checkpoint belongs to another run (seed, rollouts or items"
                " differ)"
            )
        return np.asarray(done, np.int8)


def _save(
    checkpoint: Path, done: npt.NDArray[np.int8], truth: npt.NDArray[np.int8], seed: int
) -> None:
    draft = checkpoint.with_name(checkpoint.name + ".part.npz")
    np.savez_compressed(draft, predictions=done, labels=truth, seed=np.int64(seed))
    draft.replace(checkpoint)
