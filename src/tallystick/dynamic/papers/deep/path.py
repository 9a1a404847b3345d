"""Path dynamic benchmarks with neural networks ([SAH23]_ section 5): many rollouts side by side,
resumable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from tallystick._rng import spawn
from tallystick.dynamic.papers.deep.stacked import Forward, StackedModel
from tallystick.errors import FormatError, InputError

__all__ = ["DeepRollouts", "RunControl", "TrainingRecipe", "path_rollouts", "train"]

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
