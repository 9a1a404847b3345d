r"""Many small networks as one: every weight carries a leading axis of models.

Models trained side by side on a *shared* mini-batch, each with its own weights on the examples, turn thousands of small
kernels into a few large ones. The first convolution of all models is one ordinary convolution of the shared images; the
second is a grouped one; recurrent and dense layers are batched matrix products. Nothing is shared between models but
the batch: the gradient of the summed loss falls apart by model, and so do the elementwise steps of Adam.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["StackedBiLSTM", "StackedCNN", "StackedModel"]


class StackedModel(Protocol):
    """What a rollout needs of a stack of models."""

    models: int

    def parameters(self) -> list[Tensor]:
        """Return the trainable tensors, each with a leading axis of models."""
        ...

    def logits(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return models x examples x classes."""
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
    """The image model of [SAH23]_ section B.1, *models* times: two convolutions, max-pooling, dropout, a dense layer.

    With ``valid`` padding on 3 x 32 x 32 images and 32 and 64 filters a model has 42,442 parameters (paper: 40k).

    Parameters
    ----------
    models
        How many networks to train side by side.
    classes
        Number of labels.
    dropout
        Share of features dropped before the dense layer, drawn apart for every model. The paper gives no rate.
    rng
        Where the initial weights come from.
    device
        ``cpu`` or ``cuda``.

    Examples
    --------
    >>> stack = StackedCNN(2, rng=torch.Generator().manual_seed(0))
    >>> sum(p.numel() for p in stack.parameters()) // 2
    42442
    >>> stack.logits(torch.zeros(5, 3, 32, 32), training=False).shape
    torch.Size([2, 5, 10])
    """

    def __init__(
        self, models: int, *, classes: int = 10, dropout: float = 0.5, rng: torch.Generator, device: str = "cpu"
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
        return [self.first, self.first_bias, self.second, self.second_bias, self.dense, self.dense_bias]

    def logits(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return models x images x classes, computed in the type of the images."""
        kind = batch.dtype
        x = functional.conv2d(batch, self.first.flatten(0, 1).to(kind))
        x = _pool(x, self.first_bias)
        x = functional.conv2d(x, self.second.flatten(0, 1).to(kind), groups=self.models)
        x = _pool(x, self.second_bias).reshape(len(batch), self.models, -1).transpose(0, 1)
        x = functional.dropout(x, self.dropout, training)
        return torch.baddbmm(self.dense_bias.to(kind), x, self.dense.to(kind)).float()


def _pool(x: Tensor, bias: Tensor) -> Tensor:
    """Max-pooling by two, then bias and ReLU: they commute, and this order does them on a quarter of the numbers."""
    return torch.relu(functional.max_pool2d(x, 2) + bias.view(1, -1, 1, 1).to(x.dtype))


class StackedBiLSTM:
    """The sentence-pair model of [SAH23]_ section B.1, *models* times: a BiLSTM a sentence, three dense layers, labels.

    With 100-dimensional word vectors and 32 units a direction a model has 118,019 trainable parameters (paper: 120k).
    Word vectors are fixed. The four recurrences of a model (two sentences, two directions) run as one batched product.

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
    >>> stack.logits(torch.ones(5, 2, 9, dtype=torch.long), training=False).shape
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
        self.dense = [(draw.glorot(a, b, fan_in=a, fan_out=b), draw.zeros(1, b)) for a, b in pairwise(widths)]

    def parameters(self) -> list[Tensor]:
        """Return the trainable tensors: three of the recurrences, two a dense layer."""
        return [self.inward, self.across, self.bias, *(tensor for layer in self.dense for tensor in layer)]

    def logits(self, batch: Tensor, *, training: bool) -> Tensor:
        """Return models x pairs x classes for word numbers of shape pairs x 2 x length."""
        del training  # no dropout in this network
        flipped = _reverse_words(batch)
        streams = torch.stack([batch[:, 0], flipped[:, 0], batch[:, 1], flipped[:, 1]])  # 4 x pairs x length
        x = self._last_states(functional.embedding(streams, self.vectors), (streams != 0).float())
        x = x.view(4, self.models, -1, self.units).permute(1, 2, 0, 3).flatten(2)
        for depth, (weight, bias) in enumerate(self.dense):
            x = torch.baddbmm(bias, x if depth == 0 else torch.relu(x), weight)
        return x

    def _last_states(self, embedded: Tensor, present: Tensor) -> Tensor:
        streams, n, length, dimensions = embedded.shape
        flat = embedded.reshape(streams, 1, n * length, dimensions).expand(-1, self.models, -1, -1).flatten(0, 1)
        driven = torch.baddbmm(self.bias, flat, self.inward).view(streams * self.models, n, length, -1)
        here = present.unsqueeze(1).expand(-1, self.models, -1, -1).flatten(0, 1).unsqueeze(-1)
        h = driven.new_zeros(streams * self.models, n, self.units)
        c = torch.zeros_like(h)
        for step in range(length):
            gates = torch.baddbmm(driven[:, :, step], h, self.across)
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
