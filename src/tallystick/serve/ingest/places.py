"""The place of a row in any random draw: a keyed hash of its name, which nobody can foretell."""

from __future__ import annotations

import hashlib

__all__ = ["RowPlaces"]


class RowPlaces(dict[tuple[str, str], int]):
    """The places of the rows of a stream by (item, system), worked out when they are first asked.

    Parameters
    ----------
    salt
        The key of the stream.

    Examples
    --------
    >>> places = RowPlaces(b"salt")
    >>> places["a", ""] == RowPlaces(b"salt")["a", ""] != RowPlaces(b"pepper")["a", ""]
    True
    """

    def __init__(self, salt: bytes) -> None:
        self._keyed = hashlib.blake2b(digest_size=8, key=salt)

    def __missing__(self, name: tuple[str, str]) -> int:
        """Work out a place: a number of 63 bits."""
        hashed = self._keyed.copy()  # the key is mixed in once for all names
        hashed.update("\0".join(name).encode())
        found = self[name] = int.from_bytes(hashed.digest(), "big") >> 1
        return found
