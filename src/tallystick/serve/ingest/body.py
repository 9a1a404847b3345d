"""Bodies as they came, packed: the raw log of a stream."""

from __future__ import annotations

import zlib

__all__ = ["packed_body", "unpacked_body"]

_SMALL = 400
"""Bytes below which a body is kept as it is: packing it would cost more than the request."""


def packed_body(body: bytes) -> bytes:
    """Pack a body; a short one stays as it is, and the first byte tells (zlib begins with x)."""
    return body if len(body) < _SMALL else zlib.compress(body, 1)


def unpacked_body(kept: bytes) -> bytes:
    """Unpack a body.

    >>> unpacked_body(packed_body(b'{"item": 1}' * 100)) == b'{"item": 1}' * 100
    True
    """
    return zlib.decompress(kept) if kept[:1] == b"\x78" else kept
