"""Classifiers trained on the noise-aware loss: logistic regression and one hidden layer, full
batch, in torch.
"""

from __future__ import annotations

import numpy as np
import torch

from benchmarks.truth.bound_sets import Law, Set
from tallystick.papers.frechet_bounds import noise_aware_weights

DECAYS = np.logspace(0, -3, 10)
STEPS = 100


def noise_aware_loss(logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """Return the mean over rows of Σ_y P(y | z) · -log softmax."""
    return -(weights * torch.log_softmax(logits, dim=1)).sum(dim=1).mean()


def logistic(data: Set, law: Law) -> np.ndarray:
    """Return P(class) of every row, the L2 penalty chosen by the noise-aware loss of the validation
    rows.
    """
    x, w = (
        torch.from_numpy(data.x),
        torch.from_numpy(noise_aware_weights(law, data.votes)),
    )
    x_train, w_train, x_valid, w_valid = x[data.train], w[data.train], x[data.valid], w[data.valid]
    best = float("inf")
    chosen: np.ndarray | None = None
    layer = torch.nn.Linear(x.shape[1], data.k, dtype=torch.float64)
    torch.nn.init.zeros_(layer.weight)
    torch.nn.init.zeros_(layer.bias)
    for decay in DECAYS:
        optimizer = torch.optim.LBFGS(
            layer.parameters(), max_iter=200, line_search_fn="strong_wolfe"
        )

        def closure(
            decay: float = float(decay), optimizer: torch.optim.Optimizer = optimizer
        ) -> torch.Tensor:
            optimizer.zero_grad()
            loss = noise_aware_loss(layer(x_train), w_train)
            loss = loss + 0.5 * decay * sum((part**2).sum() for part in layer.parameters())
            loss.backward()
            return loss

        optimizer.step(closure)
        with torch.no_grad():
            held_out = float(noise_aware_loss(layer(x_valid), w_valid))
            if held_out < best:
                best, chosen = held_out, torch.softmax(layer(x), dim=1).numpy()
    if chosen is None:
        raise RuntimeError(f"{data.name}: no penalty gave a finite loss")
    return chosen


def perceptrons(data: Set, law: Law, seed: int) -> list[tuple[str, np.ndarray]]:
    """Return the eight MLPs of the paper (A.4.2), each with P(class) of the test rows.

    Adam's weight decay is added to the gradient of the *mean* loss, so that .1 is a strong penalty;
    a learner that divides it by the number of rows, as scikit-learn's ``alpha``, makes eight models
    that are all alike.
    """
    torch.manual_seed(seed)
    weights = noise_aware_weights(law, data.votes)
    x, w, x_test = (
        torch.from_numpy(part).float()
        for part in (data.x[data.train], weights[data.train], data.x[data.test])
    )
    out = []
    for rate in (0.1, 0.001):
        for decay in (0.1, 0.001):
            for hidden in (50, 100):
                net = torch.nn.Sequential(
                    torch.nn.Linear(x.shape[1], hidden),
                    torch.nn.ReLU(),
                    torch.nn.Linear(hidden, data.k),
                )
                optimizer = torch.optim.Adam(net.parameters(), lr=rate, weight_decay=decay)
                for _ in range(STEPS):
                    optimizer.zero_grad()
                    noise_aware_loss(net(x), w).backward()
                    optimizer.step()
                with torch.no_grad():
                    p = torch.softmax(net(x_test), dim=1).numpy()
                out.append((f"{hidden} neurons, rate {rate:g}, decay {decay:g}", p))
    return out
