"""How a stream is watched: block length and the promise about false alarms."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.errors import InputError

__all__ = ["FIRST_BLOCKS", "WatchOptions"]

FIRST_BLOCKS = 20
"""Blocks that fix the label set; alarms come from there on."""


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """How a stream is watched.

    Parameters
    ----------
    key
        Name of the stream: the same key and votes give the same alarms.
    block
        Items per block; at least four times as many as bursts of similar items are long.
    horizon, alpha
        False alarms: at most *alpha* per *horizon* items.
    ever
        At most *alpha* false alarms ever, instead of per horizon; later changes are harder to see.
    memory
        Blocks that are kept for dating a change and naming its cause.
    max_labels
        Labels with series of their own; rarer ones share a slot.
    """

    key: str
    block: int = 25
    horizon: int = 10_000
    alpha: float = 0.05
    ever: bool = False
    memory: int = 400
    max_labels: int = 32

    def __post_init__(self) -> None:
        if self.block < 2:
            raise InputError(f"block must be at least 2 items, got {self.block!r}")
        if self.horizon < self.block:
            raise InputError(f"horizon must be at least one block, got {self.horizon!r}")
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha!r}")
        if self.memory < FIRST_BLOCKS:
            raise InputError(f"memory must be at least {FIRST_BLOCKS} blocks, got {self.memory!r}")
        if self.max_labels < 1:
            raise InputError(f"max_labels must be at least 1, got {self.max_labels!r}")

    @property
    def bar(self) -> float:
        """What weight times evidence must reach: T/alpha with T in blocks, or 1/alpha."""
        return (1.0 if self.ever else self.horizon / self.block) / self.alpha
