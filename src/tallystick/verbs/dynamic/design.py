r"""A benchmark design: a directed acyclic graph of the four operations.

Steps are named. A *distribution* is ``initial`` (that is :math:`\mathcal D_0`), the errors
collected from a model, or a mixture of distributions; a *model* is trained on a distribution, or is
a vote of models ([SAH23]_, section 2).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from html import escape
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.errors import FileError, InputError
from tallystick.verbs.dynamic.population import Array, checked_weights

INITIAL = "initial"
"""The name under which a design speaks of the initial distribution."""

Operation: TypeAlias = Literal["train", "collect", "mix", "vote"]
Mixing: TypeAlias = Literal["flat", "nested"]

_MAKES_MODEL = {"train": True, "collect": False, "mix": False, "vote": True}
_TAKES_MODEL = {"train": False, "collect": True, "mix": False, "vote": True}


@dataclass(frozen=True)
class Step:
    """One operation: what it takes, by name, and in which proportions (equal ones if none are
    given).
    """

    operation: Operation
    inputs: tuple[str, ...]
    weights: tuple[float, ...] | None = None

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights, equal ones if none were given."""
        return self.weights or (1 / len(self.inputs),) * len(self.inputs)


@dataclass(frozen=True)
class Design:
    """Named steps and the model that they lead to.

    Parameters
    ----------
    name
        What to call it.
    steps
        Name to step, in any order.
    output
        The model that the benchmark delivers.

    Examples
    --------
    >>> design = path(3)
    >>> design.order
    ('h1', 'e1', 'D2', 'h2', 'e2', 'D3', 'h3', 'majority')
    >>> design.trained
    ('h1', 'h2', 'h3')
    >>> Design("loop", {"h": Step("train", ("D",)), "D": Step("collect", ("h",))}, output="h")
    Traceback (most recent call last):
    tallystick.errors.InputError: design 'loop' has a cycle: D -> h -> D; ...
    """

    name: str
    steps: Mapping[str, Step]
    output: str

    def __post_init__(self) -> None:
        if INITIAL in self.steps:
            raise InputError(
                f"design {self.name!r}: {INITIAL!r} is the given distribution, no step may take"
                " that name"
            )
        for name, step in self.steps.items():
            self._check(name, step)
        if self.output not in self.steps or not _MAKES_MODEL[self.steps[self.output].operation]:
            raise InputError(
                f"design {self.name!r}: output {self.output!r} is not one of its models"
            )
        _ = self.order  # a cycle is refused here, not at the first use

    def _check(self, name: str, step: Step) -> None:
        where = f"design {self.name!r}, step {name!r}"
        if not step.inputs:
            raise InputError(f"{where}: {step.operation} needs an input, got none")
        if step.operation in ("train", "collect") and len(step.inputs) != 1:
            raise InputError(
                f"{where}: {step.operation} takes one input, got {list(step.inputs)}; mix or vote"
                " first"
            )
        for source in step.inputs:
            if source != INITIAL and source not in self.steps:
                raise InputError(f"{where} takes {source!r}, which is no step of this design")
            is_model = source != INITIAL and _MAKES_MODEL[self.steps[source].operation]
            if is_model != _TAKES_MODEL[step.operation]:
                kind = "models" if _TAKES_MODEL[step.operation] else "distributions"
                raise InputError(
                    f"{where}: {step.operation} takes {kind}, and {source!r} is not one"
                )
        if step.weights is not None:
            if len(step.weights) != len(step.inputs):
                raise InputError(
                    f"{where}: {len(step.inputs)} inputs need as many weights, got"
                    f" {len(step.weights)}"
                )
            if step.operation == "mix":
                checked_weights(step.weights, f"{where}: weights")
            elif not (min(step.weights) >= 0 and sum(step.weights) > 0):
                raise InputError(
                    f"{where}: weights of a vote are not negative and not all zero, got"
                    f" {step.weights}"
                )

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The steps in an order in which each comes after what it takes, as first written where
        there is a choice.
        """
        graph = TopologicalSorter(
            {n: [s for s in step.inputs if s != INITIAL] for n, step in self.steps.items()}
        )
        try:
            graph.prepare()
        except CycleError as error:
            cycle = " -> ".join(error.args[1])
            raise InputError(
                f"design {self.name!r} has a cycle: {cycle}; a step may only take what was made"
                " before it"
            ) from error
        written = {name: k for k, name in enumerate(self.steps)}
        ready, out = list(graph.get_ready()), []
        while ready:
            name = min(ready, key=written.__getitem__)
            ready.remove(name)
            out.append(name)
            graph.done(name)
            ready += graph.get_ready()
        return tuple(out)

    @cached_property
    def trained(self) -> tuple[str, ...]:
        """The models that are trained, one a round of model building, in order."""
        return tuple(name for name in self.order if self.steps[name].operation == "train")

    @property
    def rounds(self) -> int:
        """How many models are trained: the price of the design (``width ** depth`` for a hierarchy,
        section 4).
        """
        return len(self.trained)


def as_path(design: Design) -> tuple[list[np.ndarray], np.ndarray] | None:
    """Return the mixture rows and the votes of a design that is a path in shape; None for any
    other.

    >>> table, votes = as_path(path(2, mixture=0.75))
    >>> [row.tolist() for row in table], votes.tolist()
    ([[1.0], [0.75, 0.25]], [0.5, 0.5])
    >>> as_path(hierarchical()) is None
    True
    """
    collected = {
        step.inputs[0]: name for name, step in design.steps.items() if step.operation == "collect"
    }
    table, parts = [], [INITIAL]
    for model in design.trained:
        source = design.steps[model].inputs[0]
        if source in design.steps and design.steps[source].operation == "mix":
            step = design.steps[source]
            inputs, shares = list(step.inputs), list(step.shares)
        else:
            inputs, shares = [source], [1.0]
        if inputs != parts:
            return None
        table.append(np.array(shares))
        if model in collected:
            parts.append(collected[model])
    last = design.steps[design.output]
    if last.operation != "vote" or last.inputs != design.trained:
        return None
    return table, np.array(last.shares)


def path(
    rounds: int,
    *,
    mixture: Sequence[Sequence[float]] | float | None = None,
    majority: Sequence[float] | None = None,
) -> Design:
    """Return the path of section 3: train, collect the errors, mix them in, train again (Figure 1).

    Parameters
    ----------
    rounds
        How many models are built.
    mixture
        Row t holds the weights of (initial, errors of model 1, ..., errors of model t), for t = 0,
        1, ...; one number is the weight that the initial distribution keeps in every mixture, the
        rest being shared equally; equal weights if not given.
    majority
        Weight of each model's vote; equal if not given.
    """
    table = mixture_table(rounds, mixture)
    steps: dict[str, Step] = {}
    for t in range(rounds):
        if t:
            steps[f"e{t}"] = Step("collect", (f"h{t}",))
            steps[f"D{t + 1}"] = Step(
                "mix", (INITIAL, *(f"e{s + 1}" for s in range(t))), tuple(table[t])
            )
        steps[f"h{t + 1}"] = Step("train", (f"D{t + 1}" if t else INITIAL,))
    models = tuple(f"h{t + 1}" for t in range(rounds))
    steps["majority"] = Step(
        "vote", models, None if majority is None else tuple(float(w) for w in majority)
    )
    return Design(f"path of {rounds} rounds", steps, output="majority")


def mixture_table(
    rounds: int, mixture: Sequence[Sequence[float]] | float | None
) -> list[np.ndarray]:
    """Return one row of mixture weights a round, checked; see :func:`path`."""
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    if mixture is None:
        return [np.full(t + 1, 1 / (t + 1)) for t in range(rounds)]
    if isinstance(mixture, int | float):
        if not 0 <= mixture <= 1:
            raise InputError(
                "mixture, the weight of the initial distribution, must be in [0, 1], got"
                f" {mixture!r}"
            )
        return [
            np.array([mixture, *[(1 - mixture) / t] * t]) if t else np.ones(1)
            for t in range(rounds)
        ]
    if len(mixture) != rounds:
        raise InputError(f"mixture needs one row a round, {rounds} in all, got {len(mixture)}")
    table = [
        checked_weights(row, f"mixture, round {t + 1}: weights") for t, row in enumerate(mixture)
    ]
    for t, row in enumerate(table):
        if row.size != t + 1:
            raise InputError(
                f"mixture, round {t + 1}, mixes {t + 1} distributions, got {row.size} weights"
            )
    return table


def hierarchical(*, depth: int = 2, width: int = 3, mixing: Mixing = "nested") -> Design:
    r"""Return the hierarchy of section 4: paths of *width* models, voted, *depth* layers of it
    (Figure 2).

    ``nested`` is the recursive definition: a layer's mixture is the initial distribution of the
    layer below. ``flat`` is what the proof of Theorem 4.1 uses: every component of a mixture, from
    whichever layer, has the same weight. They differ, and so do their bounds (ERRATA). The price is
    ``width ** depth`` rounds of model building.

    >>> hierarchical().trained
    ('h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8', 'h9')
    >>> hierarchical(mixing="flat").steps["D5"].inputs
    ('initial', 'e.g1', 'e.h4')
    >>> hierarchical(mixing="nested").steps["D5"].inputs
    ('D4', 'e.h4')
    """
    if depth < 1 or width < 2:
        raise InputError(
            f"a hierarchy needs depth >= 1 and width >= 2, got depth {depth!r} and width {width!r}"
        )
    if mixing not in ("flat", "nested"):
        raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
    steps: dict[str, Step] = {}
    made = dict.fromkeys(range(depth + 1), 0)  # how many models each layer has made

    def distribution(parts: tuple[str, ...]) -> str:
        if len(parts) == 1:
            return parts[0]
        name = f"D{made[0] + 1}"  # after the model that is trained on it
        steps[name] = Step("mix", parts)
        return name

    def build(parts: tuple[str, ...], level: int) -> str:
        if level == 0:
            source = distribution(parts)
            made[0] += 1
            steps[f"h{made[0]}"] = Step("train", (source,))
            return f"h{made[0]}"
        models: list[str] = []
        for t in range(width):
            if t:
                steps[f"e.{models[-1]}"] = Step("collect", (models[-1],))
            inputs = (*parts, *(f"e.{model}" for model in models))
            models.append(
                build((distribution(inputs),) if mixing == "nested" else inputs, level - 1)
            )
        made[level] += 1
        name = f"{'g' * level}{made[level]}" if level < depth else "majority"
        steps[name] = Step("vote", tuple(models))
        return name

    build((INITIAL,), depth)
    return Design(
        f"{mixing} hierarchy of depth {depth} and width {width}", steps, output="majority"
    )


# A design written down: as a small readable file, and as a picture (Figures 1 and 2 of [SAH23]_).
#
# ::
#
#     name = "two rounds, the first one counted twice"
#     output = "best"
#
#     [steps.h1]
#     train = "initial"
#
#     [steps.e1]
#     collect = "h1"
#
#     [steps.D2]
#     mix = ["initial", "e1"]
#     weights = [0.7, 0.3]
#
#     [steps.h2]
#     train = "D2"
#
#     [steps.best]
#     vote = ["h1", "h2"]
#     weights = [2, 1]
#
# Each step does one of ``train``, ``collect``, ``mix`` and ``vote``. Weights that are left out
# are
# equal.


_OPERATIONS: tuple[Operation, ...] = ("train", "collect", "mix", "vote")
_SIGN = {"train": "A", "collect": "H", "mix": "⊕", "vote": "M"}
_FILL = {
    "train": "#dbe9f6",
    "collect": "#fde0d2",
    "mix": "#ffffff",
    "vote": "#d9f0d3",
    "start": "#eeeeee",
}
_STEP_X, _STEP_Y, _RADIUS, _MARGIN = 84, 64, 17, 44


def load_design(file: str | Path) -> Design:
    """Read a design from a TOML file."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot read the design {str(file)!r}: {error}") from error
    return parse_design(text, source=str(file))


def parse_design(text: str, *, source: str = "design") -> Design:
    r"""Read a design from the text of such a file; *source* is what errors call it.

    >>> parse_design(design_text(parse_design('name = "one"\noutput = "h"\n[steps.h]\ntrain = "initial"'))).trained
    ('h',)
    >>> parse_design('name = "none"\noutput = "h"\n[steps.h]\ntrian = "initial"')
    Traceback (most recent call last):
    tallystick.errors.InputError: design: steps.h.trian is not known: a step holds train, collect, ...
    """
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source} is not TOML: {error}") from error
    _refuse_others(entries, ("name", "output", "steps"), f"{source}: ", "a design")
    for name, kind in (("name", str), ("output", str), ("steps", dict)):
        if not isinstance(entries.get(name), kind):
            wanted = "a table of steps" if kind is dict else "a text"
            raise InputError(f"{source}: {name} must be {wanted}, got {entries.get(name)!r}")
    steps = {
        name: _step(entry, f"{source}: steps.{name}") for name, entry in entries["steps"].items()
    }
    return Design(entries["name"], steps, output=entries["output"])


def _refuse_others(
    entries: Mapping[str, Any], known: tuple[str, ...], where: str, what: str
) -> None:
    for name in entries:
        if name not in known:
            raise InputError(f"{where}{name} is not known: {what} holds {', '.join(known)}")


def _step(entry: Any, where: str) -> Step:
    """Return one step of a file; an error names its place, *where*."""
    if not isinstance(entry, dict):
        raise InputError(f"{where} must be a table, got {entry!r}")
    _refuse_others(entry, (*_OPERATIONS, "weights"), f"{where}.", "a step")
    given = [name for name in _OPERATIONS if name in entry]
    if len(given) != 1:
        wanted = ", ".join(_OPERATIONS)
        raise InputError(f"{where}: a step does exactly one of {wanted}, got {given or 'none'}")

    operation, weights = given[0], entry.get("weights")
    single = operation in ("train", "collect")
    if single and weights is not None:
        raise InputError(f"{where}: {operation} has no weights: only mix and vote do")
    inputs = [entry[operation]] if single else entry[operation]
    if not isinstance(inputs, list) or not all(isinstance(one, str) for one in inputs):
        wanted = "one name" if single else "a list of names"
        raise InputError(f"{where}.{operation} must be {wanted}, got {entry[operation]!r}")
    if weights is None:
        return Step(operation, tuple(inputs))
    if not isinstance(weights, list) or any(type(one) not in (int, float) for one in weights):
        raise InputError(f"{where}.weights must be a list of numbers, got {weights!r}")
    return Step(operation, tuple(inputs), tuple(float(one) for one in weights))


def design_text(design: Design) -> str:
    """Return the TOML text of a design, to be saved and edited."""
    lines = [f"name = {_quoted(design.name)}", f"output = {_quoted(design.output)}"]
    for name, step in design.steps.items():
        inputs = ", ".join(_quoted(source) for source in step.inputs)
        lines += ["", f"[steps.{_quoted(name)}]"]
        lines += [
            f"{step.operation} = {f'[{inputs}]' if step.operation in ('mix', 'vote') else inputs}"
        ]
        if step.weights is not None:
            lines += [f"weights = [{', '.join(repr(float(weight)) for weight in step.weights)}]"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if not escaped.isprintable():
        raise InputError(f"names in a design file are printable text, got {text!r}")
    return f'"{escaped}"'


def draw_design(design: Design) -> str:
    """Return the graph of *design* as one SVG image.

    Time runs to the right, one column per depth of operations. Models stand below the data that
    they are trained on, and votes below the models. A is model building, H data collection, ⊕
    mixing and M a majority vote, as in the paper.

    >>> from tallystick.verbs.dynamic.design import path
    >>> image = draw_design(path(3))
    >>> image.count("<circle"), image.count("⊕")
    (9, 2)
    """
    column, row = _places(design)
    at = {
        name: (_MARGIN + _STEP_X * column[name], _MARGIN + _STEP_Y * row[name])
        for name in (INITIAL, *design.order)
    }
    parts = []
    for name in design.order:
        for source in design.steps[name].inputs:
            (x1, y1), (x2, y2) = at[source], at[name]
            length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
            dx, dy = (x2 - x1) / length * _RADIUS, (y2 - y1) / length * _RADIUS
            # Long edges bow upwards, so that they do not run through the nodes between.
            bend = -0.16 * length if y1 == y2 and abs(x2 - x1) > _STEP_X else 0.0
            parts.append(
                f'<path d="M{x1 + dx:.1f},{y1 + dy:.1f}'
                f' Q{(x1 + x2) / 2:.1f},{(y1 + y2) / 2 + bend:.1f} {x2 - dx:.1f},{y2 - dy:.1f}"'
                ' fill="none" stroke="#888" marker-end="url(#tip)"/>'
            )
    for name, (x, y) in at.items():
        operation = "start" if name == INITIAL else design.steps[name].operation
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{_FILL[operation]}" stroke="#444"/>'
            f'<text x="{x}" y="{y + 5}" text-anchor="middle">{_SIGN.get(operation, "D₀")}</text>'
            f'<text x="{x}" y="{y + _RADIUS + 13}" text-anchor="middle" font-size="11" fill="#555">'
            f"{escape(name)}</text>"
        )
    width = 2 * _MARGIN + _STEP_X * max(column.values())
    height = 2 * _MARGIN + _STEP_Y * max(row.values())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="sans-serif" font-size="14"'
        f' role="img"><title>{escape(design.name)}</title><defs><marker id="tip" viewBox="0 0 8 8"'
        ' refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8'
        ' z" fill="#888"/></marker></defs>' + "".join(parts) + "</svg>"
    )


def _places(design: Design) -> tuple[dict[str, int], dict[str, int]]:
    """Column: longest way from the start. Row: data on top, trained models next, a vote below its
    lowest voter.
    """
    column, row = {INITIAL: 0}, {INITIAL: 0}
    for name in design.order:
        step = design.steps[name]
        column[name] = 1 + max(column[source] for source in step.inputs)
        row[name] = {"mix": 0, "collect": 1, "train": 1}.get(step.operation, 0)
        if step.operation == "vote":
            row[name] = 1 + max(row[source] for source in step.inputs)
    return column, row


# What annotators really bring back: few items, some of the errors, copies, and things that are no
# errors at all.


@dataclass(frozen=True)
class Collection:
    r"""How far a round of data collection falls short of :math:`\mathcal D|_{h(x) \ne y}`.

    Parameters
    ----------
    items
        How many items a round yields; None for the whole error distribution, as in the paper.
    coverage
        Share of the error set that annotators can find at all, drawn anew each round.
    duplicates
        Share of the collected items that are copies of others of the same round.
    mistakes
        Share of the collected items on which the model was right: the annotator was not.

    Examples
    --------
    >>> Collection(coverage=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: coverage must be in (0, 1], got 0
    """

    items: int | None = None
    coverage: float = 1.0
    duplicates: float = 0.0
    mistakes: float = 0.0

    def __post_init__(self) -> None:
        if self.items is not None and self.items < 1:
            raise InputError(f"items must be at least 1, got {self.items!r}")
        if not 0 < self.coverage <= 1:
            raise InputError(f"coverage must be in (0, 1], got {self.coverage!r}")
        for name in ("duplicates", "mistakes"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be in [0, 1), got {getattr(self, name)!r}")
        if self.duplicates and self.items is None:
            raise InputError(
                f"duplicates={self.duplicates} needs items: a whole distribution has no copies"
            )


IDEAL = Collection()
"""The annotators of the paper: they return the whole error distribution."""


def gather(
    weights: Array, errors: Array, collection: Collection, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Collect the errors of each rollout; return the distributions and which rollouts brought
    nothing back.

    A rollout with no errors to find has a row of zeros: its benchmark has ended, and the caller
    leaves the component out.

    >>> found, empty = gather(np.full(4, 0.25), np.array([[1, 1, 0, 0], [0, 0, 0, 0]]), IDEAL, np.random.default_rng(0))
    >>> found.tolist(), empty.tolist()
    ([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], [False, True])
    """
    mass = weights * errors
    if collection.coverage < 1:
        mass = mass * (rng.random(mass.shape) < collection.coverage)
    found = _normal(mass)
    empty = ~(found.sum(axis=1) > 0)
    if collection.mistakes:
        found = (1 - collection.mistakes) * found + collection.mistakes * _normal(
            weights * (1 - errors)
        )
    if collection.items is not None:
        fresh = max(1, round(collection.items * (1 - collection.duplicates)))
        found = _normal(rng.multinomial(fresh, _normal(found, fallback=True)).astype(float))
        if collection.items > fresh:
            copies = rng.multinomial(collection.items - fresh, _normal(found, fallback=True))
            found = (fresh * found + copies) / collection.items
    found[empty] = 0
    return found, empty


def _normal(mass: Array, *, fallback: bool = False) -> Array:
    """Scale each row to one; an empty row stays zero, or becomes uniform where something is to be
    drawn.
    """
    total = mass.sum(axis=1, keepdims=True)
    out = np.divide(mass, total, out=np.zeros(mass.shape), where=total > 0)
    if fallback:
        out[total[:, 0] <= 0] = 1 / mass.shape[1]
    return np.asarray(out)
