"""Many copies of the paper's image network, trained side by side on one device (torch and NumPy).

Every model has its own weights, items, order of batches and dropout. Convolution and pooling are
one matrix product and a maximum over four, a training step is recorded as a CUDA graph, and what
lies between the products is fused by the compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

CLASSES, FIRST, SECOND = 10, 32, 64
PLACES = [(i, j) for i in range(2) for j in range(2)]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is run; a resumed run must have the same plan.

    Parameters
    ----------
    bases, rollouts, rounds
        Base models, rollouts from each, rounds of each rollout.
    epochs, batch, rate, dropout
        Of every training. The paper gives 30 epochs and no other number.
    images
        How many training images to use; 50,000 is all of them.
    seed
        Names every draw.
    """

    bases: int = 2
    rollouts: int = 48
    rounds: int = 25
    epochs: int = 30
    batch: int = 64
    rate: float = 1e-3
    dropout: float = 0.5
    images: int = 50_000
    seed: int = 2023


def patches_of(images: np.ndarray, device: str) -> Tensor:
    """Cut images into the 14 x 14 windows of 4 x 4 pixels that one pooled feature sees.

    The network pools by two and drops odd rows, so it never looks beyond the first 30 x 30 pixels.
    A window of 4 x 4 holds the four 3 x 3 windows of one pooled feature: convolution and pooling
    become one matrix product and a maximum over four, with a quarter of the memory traffic.
    """
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    parts = []
    for at in range(0, len(images), 5000):
        pixels = torch.as_tensor(images[at : at + 5000, :, :30, :30], device=device).float()
        windows = functional.unfold(pixels / 255 - 0.5, 4, stride=2)
        parts.append(windows.transpose(1, 2).contiguous().to(kind))
    return torch.cat(parts)


def features(parameters: list[Tensor], x: Tensor, place: Tensor) -> Tensor:
    """Return models x items x 2304 features: two convolutions, each pooled by two, then ReLU."""
    models, n = x.shape[:2]
    first, first_bias, second, second_bias = parameters
    # (models, out, in, 9) placed into (models, in 16, 4 out): one column per place in the window.
    w = torch.einsum("moct,kpt->mcpko", first, place).reshape(models, 48, 4 * FIRST).to(x.dtype)
    x = torch.bmm(x.reshape(models, n * 196, 48), w).view(models, n, 14, 14, 4, FIRST).amax(4)
    x = torch.relu(x + first_bias.view(models, 1, 1, 1, FIRST).to(x.dtype))

    w = torch.einsum("moct,kpt->mpcko", second, place).reshape(models, 16 * FIRST, 4 * SECOND)
    slices = [x[:, :, i : i + 11 : 2, j : j + 11 : 2] for i in range(4) for j in range(4)]
    windows = torch.cat(slices, -1).reshape(models, n * 36, 16 * FIRST)
    x = torch.bmm(windows, w.to(x.dtype)).view(models, n, 36, 4, SECOND).amax(3)
    return torch.relu(x + second_bias.view(models, 1, 1, SECOND).to(x.dtype)).flatten(2)


def placement(device: str) -> Tensor:
    """Return which of the 16 pixels of a window each tap of each of four convolutions touches."""
    out = torch.zeros(4, 16, 9)
    for k, (a, b) in enumerate(PLACES):
        for i in range(3):
            for j in range(3):
                out[k, 4 * (a + i) + b + j, 3 * i + j] = 1
    return out.to(device)


class Stack:
    """Many copies of the paper's network (42,442 parameters each), trained side by side.

    Nothing is shared between models: each has its own weights, items, order and dropout.
    """

    def __init__(self, models: int, plan: Plan, device: str, *, compiled: bool) -> None:
        self.models, self.plan, self.device = models, plan, device
        self.place = placement(device)
        shapes = (
            (FIRST, 3, 9),
            (FIRST,),
            (SECOND, FIRST, 9),
            (SECOND,),
            (2304, CLASSES),
            (1, CLASSES),
        )
        self.parameters = [
            torch.zeros(models, *shape, device=device, requires_grad=True) for shape in shapes
        ]
        gpu = device == "cuda"
        self.optimiser = torch.optim.Adam(self.parameters, lr=plan.rate, capturable=gpu, fused=gpu)
        self.features: Callable[..., Tensor] = features
        if compiled and gpu:
            self.features = torch.compile(features, dynamic=False)

    def reset(self, seed: int) -> None:
        """Draw fresh weights for every model (Glorot's uniform) and forget the optimiser's past."""
        rng = torch.Generator(self.device).manual_seed(seed)
        fans = ((27, 288), None, (288, 576), None, (2304, CLASSES), None)
        with torch.no_grad():
            for tensor, fan in zip(self.parameters, fans, strict=True):
                bound = math.sqrt(6 / sum(fan)) if fan else 0.0
                tensor.uniform_(-1, 1, generator=rng).mul_(bound)
        for state in self.optimiser.state.values():
            for value in state.values():
                value.zero_()

    def logits(self, x: Tensor, *, training: bool) -> Tensor:
        """Return models x items x classes."""
        run = self.features if training else features
        seen = run(self.parameters[:4], x, self.place)
        # Dropout stays outside of what is compiled, so that a replayed graph draws it anew.
        seen = functional.dropout(seen, self.plan.dropout, training)
        dense, bias = (tensor.to(seen.dtype) for tensor in self.parameters[4:])
        return torch.baddbmm(bias, seen, dense).float()


class Trainer:
    """Trains a stack on items of its own for every model, by a recorded step where there is a GPU.

    Parameters
    ----------
    own
        models x places: the item at each place; models with fewer items are padded.
    counts
        How many places of each model are items.
    """

    def __init__(
        self, stack: Stack, data: tuple[Tensor, Tensor], own: Tensor, counts: Tensor
    ) -> None:
        self.stack, self.own, self.counts = stack, own, counts
        self.patches, self.labels = data
        batch = min(stack.plan.batch, int(counts.min()))
        self.steps = int(counts.min()) // batch
        self.weights = torch.zeros(own.shape, device=stack.device)
        self.index = torch.zeros(stack.models, batch, dtype=torch.long, device=stack.device)
        self.advance: Callable[[], None] | None = None

    def step(self) -> None:
        """Take one step of Adam on the places in *index*."""
        gpu = self.stack.device == "cuda"
        self.stack.optimiser.zero_grad(set_to_none=not gpu)  # a recorded step keeps its gradients
        items = self.own.gather(1, self.index)
        logits = self.stack.logits(self.patches[items], training=True)
        losses = functional.cross_entropy(
            logits.flatten(0, 1), self.labels[items].flatten(), reduction="none"
        )
        weighted = losses.view(items.shape) * self.weights.gather(1, self.index)
        weighted.mean(1).sum().backward()
        self.stack.optimiser.step()

    def train(self, weights: Tensor, seed: int, *, epochs: int | None = None) -> None:
        """Train fresh models; *weights* are scaled to mean one over each model's items."""
        self.weights.copy_(weights)
        if self.advance is None:
            self.advance = self._recorded() if self.stack.device == "cuda" else self.step
        self.stack.reset(seed)
        torch.manual_seed(seed + 1)
        batch = self.index.shape[1]
        beyond = torch.arange(self.own.shape[1], device=self.own.device) >= self.counts[:, None]
        for _ in range(self.stack.plan.epochs if epochs is None else epochs):
            # Every model has its own order; padding comes last and is never reached.
            order = (torch.rand(self.own.shape, device=self.own.device) + 2 * beyond).argsort(1)
            for at in range(0, self.steps * batch, batch):
                self.index.copy_(order[:, at : at + batch])
                self.advance()

    def _recorded(self) -> Callable[[], None]:
        """Record the step; where the compiler fails, do without it rather than lose the call."""
        try:
            return _recorded(self.step)
        except (RuntimeError, ImportError, OSError) as error:
            if self.stack.features is features:
                raise
            print(f"compilation failed, going on without it: {str(error)[:300]}", flush=True)
            self.stack.features = features
            return _recorded(self.step)

    def predict(self) -> np.ndarray:
        """Return every model's label for each of its places, dropout off."""
        parts = []
        with torch.no_grad():
            for at in range(0, self.own.shape[1], 256):
                items = self.own[:, at : at + 256]
                parts.append(self.stack.logits(self.patches[items], training=False).argmax(-1))
        return np.asarray(torch.cat(parts, 1).to(torch.int8).cpu().numpy())


def _recorded(step: Callable[[], None]) -> Callable[[], None]:
    """Record *step* as a CUDA graph; the steps that warm it up are undone by the next reset."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    replay: Callable[[], None] = graph.replay
    return replay
