"""What requests cost: per call and per token, known before (at most) and after (exactly)."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from tallystick.clients.client import Reply
from tallystick.errors import InputError

__all__ = ["CallPrices"]

MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class CallPrices:
    """CallPrices in one currency.

    Parameters
    ----------
    call
        Per request.
    input, output
        Per million tokens.
    currency
        As it is printed; blank if it does not matter.
    max_tokens
        Tokens that a reply has at most: what a hard limit on cost needs.

    Examples
    --------
    >>> prices = CallPrices(input=2.0, output=8.0, currency="USD", max_tokens=100)
    >>> prices.most(sent_bytes=500_000)  # a token is at least one byte
    1.0008
    >>> prices.exact(Reply(text="yes", input_tokens=1000, output_tokens=10), most=1.0)
    0.00208
    """

    call: float = 0.0
    input: float = 0.0
    output: float = 0.0
    currency: str = ""
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("call", "input", "output"):
            value = getattr(self, name)
            if not isfinite(value) or value < 0:
                flag = "price" if name == "call" else f"price_{name}"
                raise InputError(f"{flag} must be a positive number, got {value!r}")

    @property
    def known(self) -> bool:
        """Whether anything costs anything."""
        return bool(self.call or self.input or self.output)

    @property
    def bounded(self) -> bool:
        """Whether the cost of a request has a limit that is known before it is sent."""
        return not self.output or self.max_tokens is not None

    def most(self, sent_bytes: int) -> float:
        """Return what a request of so many bytes costs at most."""
        tokens = self.input * sent_bytes + self.output * (self.max_tokens or 0)
        return self.call + tokens / MILLION

    def likely(self, sent_bytes: int) -> float:
        """Return what it probably costs: four bytes per token, and half of the longest reply."""
        tokens = self.input * sent_bytes / 4 + self.output * (self.max_tokens or 200) / 2
        return self.call + tokens / MILLION

    def exact(self, reply: Reply, *, most: float) -> float:
        """Return what an answered request cost; *most* where the API does not count tokens."""
        if (self.input and reply.input_tokens is None) or (
            self.output and reply.output_tokens is None
        ):
            return most
        tokens = self.input * (reply.input_tokens or 0) + self.output * (reply.output_tokens or 0)
        return self.call + tokens / MILLION
