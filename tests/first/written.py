"""Tables as people bring them, written down with their meaning: one block of text per table.

    # judge · support tickets
    judge --truth agent
    ticket: item
    gpt4o_pass: judge .9
    claude_pass: judge .85
    agent: truth .3
    lang: other words en de fr
    words: yes no
    rows: 240

The second line is what a person types after ``--help``. Each further line is a column and what it
means, or one of the facts below. The table is made from it, and so is a *plain* table: the columns
that mean something and no others, each named by an option. An answer is right if it is the answer to
the plain table.

Columns (anything after the kind are its figures):

- ``item [words|whole|text]``; ``system NAMES``; ``round``; ``old``/``new ACCURACY``
- ``judge ACCURACY [SHARE]``, ``weak ACCURACY [SHARE]``, ``prediction ACCURACY``, ``model ACCURACY``:
  votes or answers; SHARE of the cells are filled
- ``truth [SHARE]``: the labels of a random share of the rows
- ``score MEAN SPREAD``: numbers of a model, higher is better unless the fact ``lower`` says not
- ``other KIND``: constant V, counter, index, words W…, whole LO HI, decimals LO HI, flag P, day, clock,
  text, code, copy COLUMN

Facts: ``words PASS FAIL`` (or ``classes A B C``, or ``grades LO HI``), ``rows N``, ``long JUDGE VOTE``
(one row per vote, in columns of these names), ``also WORD SHARE`` (a cell that is no vote, in the
judges), ``means OPTIONS`` (what the plain table is asked with besides its columns), ``file NAME``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

__all__ = ["FILES", "Written", "made", "written"]

FILES = tuple(sorted(Path(__file__).parent.glob("tables_*.txt")))

_FACTS = ("words", "classes", "grades", "rows", "long", "also", "means", "file")
_VOTERS = {"judge": "judges", "model": "models", "score": "models", "weak": "weak"}
_OPTIONS = {"item": "item", "system": "system", "truth": "truth", "prediction": "prediction"}
_OPTIONS |= {"old": "old", "new": "new", "round": "round"}

Table = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Written:
    """One table as it is written down."""

    name: str
    command: tuple[str, ...]
    columns: dict[str, list[str]]
    facts: dict[str, list[str]] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        """The verb that is asked."""
        return self.command[0]


def written(path: Path) -> Iterator[Written]:
    """Read the tables of a file."""
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        name, command, *rest = block.splitlines()
        columns: dict[str, list[str]] = {}
        facts: dict[str, list[str]] = {}
        for line in rest:
            head, _, meaning = line.rpartition(": ")
            (facts if head in _FACTS else columns)[head.strip('"')] = meaning.split()
        given = tuple(part.strip("'") for part in command.split())
        yield Written(name=name.lstrip("# "), command=given, columns=columns, facts=facts)


def made(table: Written, folder: Path) -> tuple[list[str], list[str]]:
    """Write a table and its plain form; return the arguments of both commands."""
    rng = np.random.default_rng(list(table.name.encode()))
    cells = _World(table, rng).cells()
    plain = {
        name: held for name, held in cells.items() if table.columns[name][0] not in ("other", "")
    }
    options = [*_options(table), *table.facts.get("means", [])]
    name = table.facts.get("file", ["table.csv"])[0]
    if "long" in table.facts:
        cells = _long(table, cells)
    _write(folder / name, cells)
    _write(folder / "plain.csv", plain)
    verb = [table.verb, *(["analyse"] if table.command[1:2] == ("analyse",) else [])]
    verb += ["--data"] if table.verb == "shift" else []
    typed = [one for one in table.command[1:] if one not in ("analyse", "--data")]
    return [*verb, str(folder / name), *typed], [*verb, str(folder / "plain.csv"), *options]


def _options(table: Written) -> list[str]:
    """Name every column that means something."""
    voters: dict[str, list[str]] = {}
    found: list[str] = []
    by_model = table.verb == "compare" and any(m[0] == "system" for m in table.columns.values())
    for name, (kind, *_) in table.columns.items():
        if by_model and kind in ("system", "model"):
            found.append(f"--{'models' if kind == 'system' else 'vote'}={name}")
        elif kind in _VOTERS:
            voters.setdefault(_VOTERS[kind], []).append(name)
        elif kind in _OPTIONS and not (kind == "item" and table.verb in ("judge", "bound")):
            found += [f"--{_OPTIONS[kind]}={name}"]
    return found + [f"--{flag}={','.join(names)}" for flag, names in voters.items()]


class _World:
    """Items that are easy or hard, and what everybody says of them."""

    def __init__(self, table: Written, rng: np.random.Generator) -> None:
        self.table, self.rng = table, rng
        self.words = next(
            (table.facts[one] for one in ("words", "classes") if one in table.facts), ["1", "0"]
        )
        self.ends = [int(one) for one in table.facts.get("grades", [])]
        self.items = int(table.facts.get("rows", ["240"])[0])
        systems = next((m[1:] for m in table.columns.values() if m[0] == "system"), [""])
        # Rows: item by item, each system's output of it.
        self.item = np.repeat(np.arange(self.items), len(systems))
        self.system = np.tile(np.arange(len(systems)), self.items)
        self.rows = self.item.size
        hard = rng.random(self.items)[self.item]
        level = (0.80 - 0.08 * self.system) if len(systems) > 1 else np.full(self.rows, 0.6)
        if self.ends:
            low, high = self.ends
            middle = low + (high - low) * (1.1 * level - 0.45 * hard + 0.1)
            self.truth = np.clip(np.rint(middle + 0.6 * rng.standard_normal(self.rows)), low, high)
        elif len(self.words) > 2:
            self.truth = rng.integers(0, len(self.words), self.items)[self.item]
        else:
            self.truth = (hard > level).astype(int)
        self.systems = systems

    def cells(self) -> Table:
        """Return every column as text."""
        found: Table = {}
        for name, (kind, *figures) in self.table.columns.items():
            found[name] = [str(one) for one in self._column(kind, figures, found)]
        return found

    def _column(self, kind: str, figures: list[str], known: Table) -> list[object]:
        if kind == "item":
            pattern = {"words": "q-{:04d}", "whole": "{}", "text": "What is case {} about?"}
            return [pattern[(figures or ["words"])[0]].format(k + 1) for k in self.item]
        if kind == "system":
            return [self.systems[k] for k in self.system]
        if kind == "round":
            return [1 + 3 * k // self.items for k in self.item]
        if kind == "truth":
            share = float(figures[0]) if figures else 1.0
            chosen = self.rng.random(self.items)[self.item] < share
            return [one if c else "" for one, c in zip(self._said(self.truth), chosen, strict=True)]
        if kind == "score":
            mean, spread = map(float, figures)
            shared = self.rng.standard_normal(self.items)[self.item]
            noise = 0.8 * shared + 0.6 * self.rng.standard_normal(self.rows)
            return [f"{one:.4f}" for one in mean + spread * noise]
        if kind in ("judge", "weak", "prediction", "model", "old", "new"):
            return self._votes(kind, float(figures[0]), float((figures[1:] or ["1"])[0]))
        return _OTHERS[figures[0]](self, figures[1:], known)

    def _votes(self, kind: str, accuracy: float, filled: float) -> list[object]:
        rng = self.rng
        if self.ends:
            low, high = self.ends
            noise = (1.0 - accuracy) * 3.0 * rng.standard_normal(self.rows)
            codes = np.clip(np.rint(self.truth + noise), low, high)
        else:
            wrong = rng.random(self.rows) >= accuracy
            turned = (self.truth + rng.integers(1, max(2, len(self.words)), self.rows)) % len(
                self.words
            )
            codes = np.where(wrong, turned, self.truth)
        said = self._said(codes)
        blank = rng.random(self.rows) >= filled
        word, share = self.table.facts.get("also", ["", "0"])
        other = (rng.random(self.rows) < float(share)) & (kind == "judge")
        return [
            "" if b else word if o else one for one, b, o in zip(said, blank, other, strict=True)
        ]

    def _said(self, codes: np.ndarray) -> list[object]:
        if self.ends:
            return [str(int(one)) for one in codes]
        return [self.words[int(one)] for one in codes]


_OTHERS = {
    "constant": lambda w, f, _: [f[0]] * w.rows,
    "counter": lambda w, _f, _: list(range(1, w.rows + 1)),
    "index": lambda w, _f, _: list(range(w.rows)),
    "words": lambda w, f, _: list(w.rng.choice(f, w.rows)),
    "whole": lambda w, f, _: list(w.rng.integers(int(f[0]), int(f[1]) + 1, w.rows)),
    "decimals": lambda w, f, _: [
        f"{one:.3f}" for one in w.rng.uniform(float(f[0]), float(f[1]), w.rows)
    ],
    "flag": lambda w, f, _: list((w.rng.random(w.rows) < float(f[0])).astype(int)),
    "day": lambda w, _f, _: [f"2026-03-{1 + k * 28 // w.rows:02d}" for k in range(w.rows)],
    "clock": lambda w, _f, _: [
        f"2026-03-04T{k // 3600 % 24:02d}:{k // 60 % 60:02d}:{k % 60:02d}Z"
        for k in np.cumsum(w.rng.integers(1, 90, w.rows))
    ],
    "text": lambda w, _f, _: [f"Reply {k} about topic {k % 17}, in full." for k in range(w.rows)],
    "code": lambda w, _f, _: [f"{one:016x}" for one in w.rng.integers(0, 2**62, w.rows)],
    "copy": lambda w, f, known: list(known[f[0]]),
}


def _long(table: Written, cells: Table) -> Table:
    """Return one row per vote, as exports of annotation tools have them."""
    judge, vote = table.facts["long"]
    voters = [name for name, (kind, *_) in table.columns.items() if kind in ("judge", "model")]
    kept = [name for name in cells if name not in voters]
    found: Table = {name: [] for name in (*kept, judge, vote)}
    for k in range(len(next(iter(cells.values())))):
        for voter in voters:
            if cells[voter][k] == "":
                continue
            for name in kept:
                found[name].append(cells[name][k])
            found[judge].append(voter)
            found[vote].append(cells[voter][k])
    return found


def _write(path: Path, cells: Table) -> None:
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, delimiter={".csv": ",", ".tsv": "\t"}[path.suffix])
        writer.writerow(cells)
        writer.writerows(zip(*cells.values(), strict=True))
