"""What a tally has counted already, so that nothing is counted twice.

A file or a stream is known by the SHA-256 of its content, whatever its name; a batch by the id that
its caller gives. Data in memory has neither, and so takes no part in the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import MergeError

__all__ = ["Sources"]

_BATCH = "batch:"
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The files and batches inside a tally.

    Parameters
    ----------
    names
        Id to name: ``sha256:…`` to the name of the file, ``batch:…`` to the id of the batch.
    repeated
        Ids of what was counted more than once, because the caller allowed it.

    Examples
    --------
    >>> monday, tuesday = Sources.of_batch("mon"), Sources.of_batch("tue")
    >>> monday.joined(tuesday).batches
    ('mon', 'tue')
    >>> monday.joined(tuesday).joined(monday)
    Traceback (most recent call last):
    tallystick.errors.MergeError: batch mon is in both tallies: its rows would be counted twice. ...
    """

    names: Mapping[str, str] = field(default_factory=dict)
    repeated: frozenset[str] = frozenset()

    @classmethod
    def of_contents(cls, contents: Iterable[tuple[str, str]]) -> Sources:
        """Return the sources of files, given as pairs of SHA-256 and name.

        Two files of one content are both counted, as the caller named both, and are repeated.
        """
        names: dict[str, str] = {}
        repeated = set()
        for digest, name in contents:
            key = f"sha256:{digest}"
            if key in names:
                repeated.add(key)
            names.setdefault(key, name)
        return cls(names=names, repeated=frozenset(repeated))

    @classmethod
    def of_batch(cls, batch_id: str) -> Sources:
        """Return the source of one batch that its caller named."""
        return cls(names={f"{_BATCH}{batch_id}": f"batch {batch_id}"})

    @property
    def batches(self) -> tuple[str, ...]:
        """The ids of the batches, in order."""
        return tuple(sorted(key[len(_BATCH) :] for key in self.names if key.startswith(_BATCH)))

    @property
    def repeats(self) -> tuple[str, ...]:
        """The names of what was counted more than once, in order."""
        return tuple(sorted(self.names[key] for key in self.repeated))

    def shared(self, other: Sources) -> tuple[str, ...]:
        """Return the names of what both have counted, in order."""
        return tuple(sorted(self.names[key] for key in self.names.keys() & other.names.keys()))

    def joined(self, other: Sources, *, allow_overlap: bool = False) -> Sources:
        """Return the sources of both; what both have counted raises `MergeError`, unless that is
        allowed.
        """
        # Most tallies are made in memory and have no sources: nothing to copy.
        if not (self.names and other.names):
            return self if self.names else other
        shared = self.names.keys() & other.names.keys()
        if shared and not allow_overlap:
            told = self.shared(other)
            some = ", ".join(told[:_SHOWN]) + (
                f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
            )
            its = "its" if len(told) == 1 else "their"
            raise MergeError(
                f"{some} {'is' if len(told) == 1 else 'are'} in both tallies: {its} rows would be"
                " counted twice. Leave one tally out, or allow it (--allow-overlap,"
                " allow_overlap=True)"
            )
        # The smaller name wins where two files of one content differ in name: + commutes.
        names = {**self.names, **other.names}
        names.update({key: min(self.names[key], other.names[key]) for key in shared})
        return Sources(names=names, repeated=self.repeated | other.repeated | shared)

    def to_json(self) -> dict[str, Any]:
        """Return what a saved tally keeps."""
        return {"names": dict(sorted(self.names.items())), "repeated": sorted(self.repeated)}

    @classmethod
    def from_json(cls, written: Any) -> Sources:
        """Read what :meth:`to_json` returned; a tally of an earlier version has None."""
        if written is None:
            return cls()
        names = {str(key): str(name) for key, name in written["names"].items()}
        return cls(names=names, repeated=frozenset(map(str, written["repeated"])) & names.keys())
