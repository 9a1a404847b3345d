r"""Random labels take a dynamic benchmark over: section 3.1 and Theorem 3.6 of [SAH23]_."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.dynamic.learners import checked_epsilon
from tallystick.errors import InputError

__all__ = ["noise_bound", "noise_path"]


def noise_path(delta: float, ambiguous: Sequence[float]) -> tuple[float, ...]:
    r"""Which share of each round's data has random labels, given the share among the errors that
    each round collects.

    .. math:: \delta_{t+1} = \frac{(t+1)\,\delta_t + \nu_t}{t+2}

    for uniform mixing from :math:`\delta_0 = \delta`; an identity.

    >>> [round(share, 3) for share in noise_path(0.2, [1, 1])]
    [0.2, 0.6, 0.733]
    """
    shares = [_share(delta, "delta")]
    for t, found in enumerate(ambiguous):
        shares.append(((t + 1) * shares[-1] + _share(found, "ambiguous")) / (t + 2))
    return tuple(shares)


def noise_bound(epsilon: float, delta: float, rounds: int) -> tuple[float, ...]:
    r"""How much of the data is noise at the least, round by round from :math:`\delta_0 = \delta`.

    .. math:: \delta_{t+1} \ge \frac{t+1}{t+2}\,\delta_t + \frac1{t+2} \cdot \frac1{1 + 2(t+1)\,\epsilon/\delta}

    [SAH23]_, Theorem 3.6 and Eq (34), sharpened: :math:`\mathcal D_0` keeps the weight
    :math:`1/(t+1)` in :math:`\mathcal D_t`, so the clean risk obeys :math:`(1-\delta) R_{\mathcal
    D^{\bar\delta}}(h_t) \le (t+1)\epsilon` and the factor :math:`(1-\delta)/(1-\delta_t)` of the
    text falls away (ERRATA). Uniform mixing, :math:`\mathcal D_0 = \mathcal D`, labels that are
    random at every look.

    >>> [round(share, 3) for share in noise_bound(0.05, 0.2, 3)]
    [0.2, 0.433, 0.456]
    """
    checked_epsilon(epsilon)
    if not 0 < delta < 1:
        raise InputError(f"delta must be in (0, 1), got {delta!r}")
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    found = [1 / (1 + 2 * (t + 1) * epsilon / delta) for t in range(rounds - 1)]
    return noise_path(delta, found)


def _share(value: float, name: str) -> float:
    if not 0 <= value <= 1:
        raise InputError(f"{name} must be in [0, 1], got {value!r}")
    return float(value)
