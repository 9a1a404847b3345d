"""What a tally has counted already, so that nothing is counted twice.

A file or a stream is known by the SHA-256 of its content, whatever its name; a batch by the id that
its caller gives. The same rows in another file, such as a later export that holds the earlier one,
are found by a sketch of their items. Data in memory has none of these, and so takes no part in the
check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import MergeError
from tallystick.tally.item_sketch import ItemSketch, SharedRows

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
    items
        A sketch of the items that were counted, by the hash function that made it.
    overlaps
        Which rows of different files were counted more than once, because the caller allowed it.

    Examples
    --------
    >>> monday, tuesday = Sources.of_batch("mon"), Sources.of_batch("tue")
    >>> monday.joined(tuesday).batches
    ('mon', 'tue')
    >>> monday.joined(tuesday).joined(monday)
    Traceback (most recent call last):
    tallystick.errors.MergeError: both tallies count batch mon: its rows would be counted twice. ...
    """

    names: Mapping[str, str] = field(default_factory=dict)
    repeated: frozenset[str] = frozenset()
    items: Mapping[str, ItemSketch] = field(default_factory=dict)
    overlaps: frozenset[str] = frozenset()

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
        return tuple(sorted({*(self.names[key] for key in self.repeated), *self.overlaps}))

    def shared(self, other: Sources) -> tuple[str, ...]:
        """Return the names of what both have counted, in order."""
        return tuple(sorted(self.names[key] for key in self.names.keys() & other.names.keys()))

    def clash(self, other: Sources) -> str | None:
        """Say what both have counted, after the words "they both count"; None for nothing."""
        shared = self.shared(other)
        if shared:
            more = f" and {len(shared) - _SHOWN} more" if len(shared) > _SHOWN else ""
            its = "its" if len(shared) == 1 else "their"
            return f"{', '.join(shared[:_SHOWN])}{more}: {its} rows would be counted twice"
        rows = self._rows_shared(other)
        return None if rows is None else f"{rows}: they would be counted twice"

    def joined(self, other: Sources, *, allow_overlap: bool = False) -> Sources:
        """Return the sources of both; what both have counted raises `MergeError`, unless that is
        allowed.
        """
        # Most tallies are made in memory and have no sources: nothing to copy.
        if not (self.names and other.names):
            return self if self.names else other
        clash = self.clash(other)
        if clash is not None and not allow_overlap:
            raise MergeError(
                f"both tallies count {clash}. Leave one tally out, or allow it (--allow-overlap,"
                " allow_overlap=True)"
            )

        shared = self.names.keys() & other.names.keys()
        overlaps = self.overlaps | other.overlaps
        if clash is not None and not shared:
            files = sorted({*self.names.values(), *other.names.values()})
            named = ", ".join(files[:_SHOWN]) + (", …" if len(files) > _SHOWN else "")
            overlaps |= {f"{named} ({self._rows_shared(other)})"}

        # The smaller name wins where two files of one content differ in name: + commutes.
        names = {**self.names, **other.names}
        names.update({key: min(self.names[key], other.names[key]) for key in shared})
        items = {
            kind: self.items.get(kind, _NO_ITEMS).joined(other.items.get(kind, _NO_ITEMS))
            for kind in sorted({*self.items, *other.items})
        }
        return Sources(
            names=names,
            repeated=self.repeated | other.repeated | shared,
            items=items,
            overlaps=overlaps,
        )

    def _rows_shared(self, other: Sources) -> SharedRows | None:
        """Return how many rows of different files both have counted."""
        for kind in self.items.keys() & other.items.keys():
            rows = self.items[kind].shared(other.items[kind])
            if rows is not None:
                return rows
        return None

    def to_json(self) -> dict[str, Any]:
        """Return what a saved tally keeps."""
        return {
            "names": dict(sorted(self.names.items())),
            "repeated": sorted(self.repeated),
            "items": {kind: sketch.to_json() for kind, sketch in sorted(self.items.items())},
            "overlaps": sorted(self.overlaps),
        }

    @classmethod
    def from_json(cls, written: Any) -> Sources:
        """Read what :meth:`to_json` returned; a tally of an earlier version has less, or None."""
        if written is None:
            return cls()
        names = {str(key): str(name) for key, name in written["names"].items()}
        items = written.get("items", {})
        return cls(
            names=names,
            repeated=frozenset(map(str, written["repeated"])) & names.keys(),
            items={str(kind): ItemSketch.from_json(one) for kind, one in items.items()},
            overlaps=frozenset(map(str, written.get("overlaps", ()))),
        )


_NO_ITEMS = ItemSketch()
