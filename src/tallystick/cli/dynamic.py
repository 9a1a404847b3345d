"""``tallystick dynamic theory | simulate | analyse``: is another round of this benchmark worth
it.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.options import (
    Alpha,
    AsJson,
    By,
    Coerce,
    Delimiter,
    Html,
    Input,
    Item,
    ItemsOut,
    Missing,
    Seed,
    Weight,
)
from tallystick.cli.reading import ROWS_COUNT, rests_on
from tallystick.errors import FileError, InputError

if TYPE_CHECKING:
    from tallystick.dynamic import Design, Learner, LogResult, Population, Prices, RoundLog

__all__ = ["dynamic"]

dynamic = typer.Typer(
    help=(
        "Is another round of this benchmark worth it: theory, simulation, and the log of a real"
        " one."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


_ITEMS = 800


class LearnerChoice(StrEnum):
    """How the models of a simulation err."""

    perfect = "perfect"
    random = "random"
    correlated = "correlated"
    adversarial = "adversarial"


class MixingChoice(StrEnum):
    """How a hierarchy mixes: every part alike, or layer within layer."""

    flat = "flat"
    nested = "nested"


Epsilon: TypeAlias = Annotated[
    float,
    typer.Option(
        "--epsilon", help="Risk of each model on the data it was trained on, in (0, 1/2]."
    ),
]
Rounds: TypeAlias = Annotated[int, typer.Option("--rounds", min=1, help="Rounds of the path.")]
Noise: TypeAlias = Annotated[
    float, typer.Option("--noise", help="Share of the population with random labels.")
]
MixingOption: TypeAlias = Annotated[
    MixingChoice, typer.Option("--mixing", help="How a hierarchy mixes: flat or nested.")
]
Rollouts: TypeAlias = Annotated[
    int, typer.Option("--rollouts", min=1, help="How often to simulate.")
]
Price: TypeAlias = Annotated[
    float, typer.Option("--price", help="Price of one round, in any currency.")
]
Cleaning: TypeAlias = Annotated[
    float, typer.Option("--cleaning-price", help="Price of checking every label.")
]
Value: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--value",
        help=(
            "Worth of taking the risk from one to zero. Default: 5 % of the risk is worth a round."
        ),
    ),
]


@dynamic.command()
def theory(
    epsilon: Epsilon,
    rounds: Rounds = 3,
    distance: Annotated[
        float, typer.Option("--distance", help="How far D_0 is from D (the H-delta-H distance).")
    ] = 0.0,
    noise: Noise = 0.0,
    mixing: MixingOption = MixingChoice.nested,
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Say what is proved before anything is run."""
    from tallystick import dynamic as room

    known = room.theory(epsilon, rounds=rounds, distance=distance, noise=noise, mixing=mixing.value)
    if not as_json:
        tell(known.statements)
    deliver(known, as_json=as_json, html=html)


@dynamic.command()
def simulate(
    design: Annotated[
        str, typer.Option("--design", help="path, hierarchical, or a TOML file.")
    ] = "path",
    rounds: Rounds = 5,
    width: Annotated[int, typer.Option("--width", help="Hierarchy: models in a vote.")] = 3,
    depth: Annotated[int, typer.Option("--depth", help="Hierarchy: layers.")] = 2,
    mixing: MixingOption = MixingChoice.nested,
    epsilon: Annotated[
        str,
        typer.Option(
            "--epsilon",
            help=(
                "Risk of each model on its own data, in (0, 1/2]; with commas one a round, of which"
                " the last stays."
            ),
        ),
    ] = ".1",
    learner: Annotated[
        LearnerChoice, typer.Option("--learner", help="How models err.")
    ] = LearnerChoice.random,
    rho: Annotated[
        float, typer.Option("--rho", help="Correlated learner: difficulty that models share.")
    ] = 0.5,
    gamma: Annotated[
        float, typer.Option("--gamma", help="Correlated learner: protection by up-weighting.")
    ] = 0.0,
    noise: Noise = 0.0,
    initial: Annotated[
        str | None,
        typer.Option(
            "--initial",
            help="D_0: a share of the items that it covers, or a file with a weight a line.",
        ),
    ] = None,
    mixture: Annotated[
        float | None,
        typer.Option(
            "--mixture", help="Weight that D_0 keeps in every mixture. Default: equal weights."
        ),
    ] = None,
    majority: Annotated[
        str | None,
        typer.Option("--majority", help="Weights of the votes, with commas. Default: equal."),
    ] = None,
    size: Annotated[
        int | None, typer.Option("--items", min=1, help="Items of the population. Default: 800.")
    ] = None,
    found: Annotated[
        int | None,
        typer.Option(
            "--found", help="Items that a round of collection yields. Default: all errors."
        ),
    ] = None,
    coverage: Annotated[
        float, typer.Option("--coverage", help="Share of the errors that can be found.")
    ] = 1.0,
    duplicates: Annotated[
        float, typer.Option("--duplicates", help="Share of found items that are copies.")
    ] = 0.0,
    mistakes: Annotated[
        float, typer.Option("--mistakes", help="Share of found items that are no errors.")
    ] = 0.0,
    rollouts: Rollouts = 1000,
    price: Price = 1.0,
    cleaning: Cleaning = 1.0,
    value: Value = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", help="Draw the design into this SVG file.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Run a design many times over a population: what comes of it."""
    from tallystick import dynamic as room

    votes = None if majority is None else _numbers(majority, "--majority")
    plan = _design(design, rounds, width, depth, mixing, mixture, votes)
    population = _population(size or _ITEMS, noise, initial)
    risks = _numbers(epsilon, "--epsilon")
    if learner is LearnerChoice.adversarial:
        given = {"--noise": noise or None, "--initial": initial, "--items": size}
        for option in (option for option, said in given.items() if said is not None):
            raise InputError(
                f"--learner adversarial brings the population of its theorem: it has no {option}"
            )
        if len(risks) > 1:
            raise InputError(f"--learner adversarial is proved for one epsilon, got {epsilon}")
        population, chosen = _adversary(plan, risks[0], mixture)
    else:
        if learner is LearnerChoice.random and 0 < min(risks) < (
            lightest := float(population.weights.min())
        ):
            raise InputError(
                f"an item of {population.size} weighs {lightest:.3g}, more than a model may get"
                f" wrong (--epsilon {min(risks):g}): it could never err, so take more items"
                " (--items)"
            )
        chosen = _learner(learner, risks[0] if len(risks) == 1 else risks, rho, gamma)
    result = room.simulate(
        plan,
        chosen,
        population,
        rollouts=rollouts,
        rng=seed,
        collection=room.Collection(found, coverage, duplicates, mistakes),
        prices=_prices(price, cleaning, value),
    )
    if draw is not None:
        _write(draw, room.draw_design(plan))
    deliver(result, as_json=as_json, html=html)


@dynamic.command()
def analyse(
    source: Input,
    item: Item = None,
    round_: Annotated[str, typer.Option("--round", help="Column of the round.")] = "round",
    model: Annotated[
        str, typer.Option("--model", help="Long logs: column that names the model.")
    ] = "model",
    correct: Annotated[
        str, typer.Option("--correct", help="Long logs: column of 0 and 1.")
    ] = "correct",
    prediction: Annotated[
        str | None, typer.Option("--prediction", help="Long logs: column of the model's answer.")
    ] = None,
    truth: Annotated[str | None, typer.Option("--truth", help="Column of the true label.")] = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--models",
            help="Wide logs: columns of models' answers; repeat, commas, globs. Default: others.",
        ),
    ] = None,
    chain: Annotated[
        list[str] | None,
        typer.Option("--chain", help="Models in the loop, in order, for forgetting; commas."),
    ] = None,
    validators: Annotated[
        str | None,
        typer.Option("--validators", help="Column of the validators' labels (cnc, or c,n,c)."),
    ] = None,
    cost: Annotated[
        str | None, typer.Option("--cost", help="Column of what each item cost.")
    ] = None,
    price: Price = 1.0,
    cleaning: Cleaning = 1.0,
    value: Value = None,
    rollouts: Rollouts = 200,
    by: By = None,
    weight: Weight = None,
    missing: Missing = None,
    coerce: Coerce = False,
    alpha: Alpha = 0.05,
    delimiter: Delimiter = None,
    seed: Seed = 0,
    items_out: ItemsOut = None,
    as_json: AsJson = False,
    html: Html = None,
) -> None:
    """Read the log of a real benchmark: is another round worth it.

    The log is long (item, round, model, correct) or wide (one column of answers a model).
    """
    from tallystick import dynamic as room
    from tallystick import io
    from tallystick.cli.round_log import LogColumns, RoundLogReader
    from tallystick.cli.slices import by_slice

    loop = tuple(name.strip() for text in chain or [] for name in text.split(","))
    columns = LogColumns(
        item=item,
        round=round_,
        truth=truth,
        validators=validators,
        cost=cost,
        weight=weight,
        by=by,
        model=model,
        correct=correct,
        prediction=prediction,
        models=tuple(models or ()),
        chain=loop,
        missing=tuple(piece.strip() for text in missing or [] for piece in text.split(",")),
        coerce=coerce,
    )
    with io.scan(source, shape="wide", delimiter=delimiter) as table:
        tell(table.notes)
        read = RoundLogReader(table, columns)

        def say(log: RoundLog, level: float) -> LogResult:
            found = room.analyse(
                log,
                chain=loop,
                alpha=level,
                prices=_prices(price, cleaning, value),
                rollouts=rollouts,
                rng=seed,
            )
            return found if weight is None else rests_on(found, ROWS_COUNT)

        log = read(table)
        result = say(log, alpha)
        slices = (
            by_slice(table, by, lambda part, level: say(read(part), level), alpha=alpha)
            if by is not None
            else ()
        )
        if items_out is not None:
            rows = room.item_rows(log, result)
            tell(rows.notes)
            io.write_csv(items_out, rows.columns)
        deliver(result, as_json=as_json, slices=slices, html=html, table=table)


def _design(
    name: str,
    rounds: int,
    width: int,
    depth: int,
    mixing: MixingChoice,
    mixture: float | None,
    majority: list[float] | None,
) -> Design:
    from tallystick import dynamic as room

    if name == "path":
        return room.path(rounds, mixture=mixture, majority=majority)
    if mixture is not None or majority is not None:
        raise InputError(
            "--mixture and --majority are for --design path: any other design states its weights in"
            " a file"
        )
    if name == "hierarchical":
        return room.hierarchical(depth=depth, width=width, mixing=mixing.value)
    return room.load_design(name)


def _population(size: int, noise: float, initial: str | None) -> Population:
    import numpy as np

    from tallystick.dynamic import Population

    if initial is None:
        return Population.uniform(size, noise=noise)
    try:
        share = float(initial)
    except ValueError:
        weights = _weights_file(Path(initial))
        plain = Population.uniform(weights.size, noise=noise)
        return Population(plain.weights, initial=weights, noisy=plain.noisy)
    if not 0 < share <= 1:
        raise InputError(f"--initial, a share of the items, must be in (0, 1], got {initial}")
    plain = Population.uniform(size, noise=noise)
    covered = np.arange(size) < max(1, round(share * size))
    return Population(plain.weights, initial=covered / covered.sum(), noisy=plain.noisy)


def _weights_file(path: Path) -> Any:
    import numpy as np

    try:
        return np.array([float(line) for line in path.read_text(encoding="utf-8").split()])
    except OSError as error:
        raise FileError(f"cannot read --initial {str(path)!r}: {error}") from error
    except ValueError as error:
        raise InputError(f"--initial {str(path)!r} needs one number a line: {error}") from error


def _learner(
    choice: LearnerChoice, epsilon: float | list[float], rho: float, gamma: float
) -> Learner:
    from tallystick.dynamic import Correlated, Perfect, RandomErrors

    if choice is LearnerChoice.perfect:
        return Perfect()
    return (
        RandomErrors(epsilon) if choice is LearnerChoice.random else Correlated(epsilon, rho, gamma)
    )


def _adversary(design: Design, epsilon: float, mixture: float | None) -> tuple[Population, Learner]:
    """Return the population and the script of Theorem 3.5, or of Theorem 4.2 for a hierarchy."""
    from tallystick.dynamic import hierarchical_certificate, path_certificate

    if design.name.startswith("path of"):
        proof = path_certificate(epsilon, rounds=design.rounds, mixture=mixture)
    else:
        proof = hierarchical_certificate(epsilon, design=design)
    return proof.population, proof.learner()


def _prices(price: float, cleaning: float, value: float | None) -> Prices:
    from tallystick.dynamic import Prices

    return Prices(round=price, cleaning=cleaning, value=value)


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(piece) for piece in text.split(",")]
    except ValueError as error:
        raise InputError(f"{option} wants numbers with commas, got {text!r}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot write {str(path)!r}: {error}") from error
