"""What each verb does besides: methods, slices, weights, gates, populations, sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus import tables
from tests.corpus.run import Pair, commands
from tests.corpus.tables import answered, columns_of, write_csv


def scored(folder: Path) -> None:
    """Outputs with votes, with grades, without people, and wide."""
    outputs = tables.outputs(120, 40)
    write_csv(folder / "outputs.csv", outputs)
    grades = tables.outputs(120, 40, grades=True)
    write_csv(folder / "grades.csv", grades)
    bare = {name: column for name, column in outputs.items() if name != "human"}
    write_csv(folder / "bare.csv", bare)
    wide: dict[str, Any] = {"question": outputs["question"][::3]}
    for k, system in enumerate(("a", "b", "c")):
        for judge in ("gpt", "claude", "human"):
            wide[f"{system}.{judge}"] = outputs[judge][k::3]
    write_csv(folder / "wide.csv", wide)


def judged(folder: Path) -> None:
    """Votes of four judges, of three classes with abstentions, and grades."""
    four = {"gpt": 0.9, "claude": 0.85, "llama": 0.75, "qwen": 0.7}
    votes = tables.votes(300, judges=four)
    write_csv(folder / "votes.csv", votes)
    three = tables.votes(300, ("neg", "neu", "pos"), 90, judges=four)
    three["qwen"] = ["abstain" if k % 7 == 0 else cell for k, cell in enumerate(three["qwen"])]
    write_csv(folder / "three.csv", three)
    grades = tables.votes(200, (1, 2, 3, 4, 5), 60)
    write_csv(folder / "grades.csv", grades)
    write_csv(folder / "bare.csv", {k: v for k, v in votes.items() if k != "gold"})


def compared(folder: Path) -> None:
    """Models' answers beside a key, scores, repeated runs, battles."""
    rng = np.random.default_rng(22)
    key = rng.choice(list("ABCD"), 250)
    levels = {"small": 0.6, "base": 0.66, "large": 0.8, "tuned": 0.79}
    answers = {
        name: tables.flipped(rng, key, p, list("ABCD")).tolist() for name, p in levels.items()
    }
    base: dict[str, Any] = {"id": list(range(250)), "key": key.tolist()}
    base["subject"] = [("law", "maths")[k % 2] for k in range(250)]
    write_csv(folder / "answers.csv", {**base, **answers})
    partly = tables.some(rng, key.tolist(), 90)
    write_csv(folder / "partly.csv", {**base, "key": partly, **answers})
    hard = rng.normal(0, 0.2, 250)
    real = {
        name: np.clip(p + hard + rng.normal(0, 0.1, 250), 0, 1).round(3).tolist()
        for name, p in levels.items()
    }
    write_csv(folder / "scores.csv", {"id": base["id"], **real})
    costs = {name: rng.lognormal(mu, 1, 250).round(4) for name, mu in (("old", 0), ("new", -0.1))}
    skewed = {f"{name}_cost": column.tolist() for name, column in costs.items()}
    write_csv(folder / "costs.csv", {"id": base["id"], **skewed})
    rows = [
        (f"q{k}", model, run, int(rng.random() < p + hard[k]))
        for k in range(60)
        for model, p in (("old", 0.5), ("new", 0.65))
        for run in (1, 2, 3)
    ]
    names = ("item", "model", "run", "passed")
    write_csv(folder / "runs.csv", columns_of(names, rows))
    fights = tables.battles()
    names = ("model_a", "model_b", "winner")
    fought = dict(zip(names, (fights[name] for name in ("a", "b", "gpt")), strict=True))
    write_csv(folder / "battles.csv", {"id": fights["id"], **fought})


def bounded(folder: Path) -> None:
    """Weak labels with and without truth, and probabilities."""
    table = tables.weak(400)
    write_csv(folder / "weak.csv", table)
    write_csv(folder / "bare.csv", {k: v for k, v in table.items() if k != "label"})
    p = np.random.default_rng(23).beta(2, 2, 400).round(4)
    write_csv(
        folder / "p.csv", {"id": table["id"], "p_ham": (1 - p).tolist(), "p_spam": p.tolist()}
    )
    links = np.random.default_rng(24).integers(0, 13, 400).tolist()
    rules = {name: column for name, column in table.items() if name.startswith("lf_")}
    called = {"id": table["id"], "prediction": table["h"], **rules, "n_links": links}
    write_csv(folder / "called.csv", called)


def shifted(folder: Path) -> None:
    """Items of an API with old answers, further draws of them, and new ones."""
    table = tables.api_items(300)
    write_csv(folder / "items.csv", table)
    write_csv(folder / "quiet.csv", {**table, "june": table["spring"]})
    bare = {name: table[name] for name in ("id", "text", "y", "june")}
    write_csv(folder / "bare.csv", bare)
    parted = {"id": table["id"], "old_answer": table["spring"], "new_answer": table["june"]}
    write_csv(folder / "parted.csv", {**parted, "gold": table["y"]})
    write_csv(folder / "alt.csv", {"id": table["id"], "alt": table["spring"], "neu": table["june"]})


def rounds(folder: Path) -> None:
    """A log of rounds: one row per item, one column per model."""
    log = tables.round_log(60)
    write_csv(folder / "log.csv", log)
    rng = np.random.default_rng(25)
    truth = rng.choice(["a", "b", "c"], 240)
    models = {
        f"m{k}": tables.flipped(rng, truth, 0.8 - 0.05 * k, list("abc")).tolist() for k in range(4)
    }
    when = np.repeat([1, 2, 3], 80).tolist()
    write_csv(folder / "wide.csv", {"round": when, "gold": truth.tolist(), **models})
    said = {name: np.where(np.array(models[name]) == "a", "yes", "no") for name in ("m0", "m1")}
    key = np.where(truth == "a", "yes", "no")
    answers = {"round": when, **said, "solution": key}
    write_csv(folder / "key.csv", {name: list(column) for name, column in answers.items()})


def labelled(folder: Path) -> None:
    """Tables to label, and what a person would say of every row."""
    whole = tables.votes(200, known=200)
    write_csv(folder / "all.csv", whole)
    write_csv(folder / "votes.csv", {k: v for k, v in whole.items() if k != "gold"})
    outputs = tables.outputs(60, 60, systems={"old": 0.6, "new": 0.8})
    write_csv(folder / "graded.csv", outputs)
    write_csv(folder / "outputs.csv", {k: v for k, v in outputs.items() if k != "human"})
    weak = tables.weak(200, 200)
    write_csv(folder / "known.csv", weak)
    write_csv(folder / "weak.csv", {k: v for k, v in weak.items() if k != "label"})


LINES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (
        scored,
        (
            "score outputs.csv --judges gpt,claude,llama --truth human --by topic",
            "score outputs.csv --judges gpt,claude --truth human --certified",
            "score outputs.csv --judges gpt,claude --truth human --population new",
            "score outputs.csv --judges gpt --truth human --gate 'system-b >= system-a + .1'",
            "score outputs.csv --judges gpt --truth human --items-out items.csv",
            "score grades.csv --judges gpt,claude,llama --truth human",
            "score bare.csv --judges gpt,claude,llama",
            "score wide.csv --truth human",
        ),
    ),
    (
        judged,
        (
            *(
                f"judge votes.csv --truth gold --method {method}"
                for method in ("majority", "logical")
            ),
            "judge bare.csv",
            "judge votes.csv --truth gold --by lang",
            "judge three.csv --truth gold --missing abstain",
            "judge grades.csv --truth gold",
        ),
    ),
    (
        compared,
        (
            "compare answers.csv --truth key --gate 'large >= tuned - .05'",
            "compare partly.csv --truth key",
            "compare scores.csv --models small,base,large,tuned",
            "compare costs.csv",
            "compare runs.csv --models model --metric passed --item item --replicate run",
            "compare battles.csv",
        ),
    ),
    (
        None,
        (
            "plan --difference .05 --disagreement .2 --models 5 --power .9",
            "dynamic simulate --design hierarchical --epsilon .1 --rollouts 30",
        ),
    ),
    (
        bounded,
        (
            "bound weak.csv --prediction h --weak 'lf_*' --truth label",
            "bound bare.csv --prediction h --weak 'lf_*' --label-model dawid-skene",
            "bound bare.csv --prediction h --weak 'lf_*' --label-model p.csv --item id",
            "bound bare.csv --score score --weak 'lf_*' --thresholds .3,.5,.7 --positive spam"
            " --label-model majority",
            "bound called.csv",
        ),
    ),
    (
        shifted,
        (
            "shift items.csv --truth y --old spring --new june --by country",
            "shift items.csv --truth y --old spring --new june --old-draws spring_2,spring_3",
            "shift items.csv --truth y --old spring --api replay:june --budget 120"
            " --confidence confidence --deterministic",
            "shift items.csv --truth y --old spring --api replay:june --budget 100 --strategy masa",
            "shift quiet.csv --truth y --old spring --api replay:june --budget 290"
            " --gate 'flip_rate <= 2%' --deterministic",
            "shift --data parted.csv",
            "shift --data alt.csv",
        ),
    ),
    (
        rounds,
        ("dynamic analyse wide.csv --truth gold", "dynamic analyse key.csv"),
    ),
)

VOTES = "--judges gpt,claude,llama --session s.label --seed 3"
NEXT = "label --session s.label --next 20 --out batch.csv"
ADD = "label --session s.label --add batch.csv"


def _session(begin: str, whole: str, truth: str, keys: tuple[str, ...], batches: int) -> Pair:
    """Begin a session, label batches of 20 and show where it stands."""
    steps: list[Any] = [begin]
    for _ in range(batches):
        steps += [NEXT, answered("batch.csv", whole, truth, keys), ADD]
    steps.append("label --session s.label --json")
    return commands(labelled, *steps, of="session", name=f"{begin}, {20 * batches} labels")


def _truth(begin: str, asked: str, *answers: Any) -> Pair:
    """Label a batch of 20, and ask the question with these labels as the truth."""
    steps = (begin, NEXT, answered("batch.csv", *answers), ADD)
    asked = f"{asked} --truth-file s.label"
    return commands(labelled, *steps, f"{asked} --json", of="session", name=asked)


SESSIONS = [
    _session(f"label votes.csv --question judge {VOTES}", "all.csv", "gold", ("id",), 2),
    _session(
        "label outputs.csv --question difference --session s.label",
        *("graded.csv", "human", ("question", "system"), 1),
    ),
    _session(
        "label outputs.csv --question score --session s.label --target .05",
        *("graded.csv", "human", ("question", "system"), 1),
    ),
    _session(
        "label weak.csv --question bound --prediction h --weak 'lf_*' --session s.label",
        *("known.csv", "label", ("id",), 1),
    ),
    commands(
        labelled,
        f"label votes.csv --question judge {VOTES}",
        NEXT,
        answered("batch.csv", "all.csv", "gold", ("id",)),
        ADD,
        "judge votes.csv --judges gpt,claude,llama --truth-file s.label --json",
        of="session",
        name="judge votes.csv --truth-file s.label",
    ),
    _truth(
        "label outputs.csv --question difference --session s.label",
        "score outputs.csv --system system --item question",
        *("graded.csv", "human", ("question", "system")),
    ),
    _truth(
        "label outputs.csv --question score --session s.label --target .05",
        "score outputs.csv",
        *("graded.csv", "human", ("question", "system")),
    ),
    _truth(
        "label weak.csv --question bound --prediction h --weak 'lf_*' --session s.label",
        "bound weak.csv --prediction h --weak 'lf_*'",
        *("known.csv", "label", ("id",)),
    ),
]

JOURNALS = [
    commands(
        shifted,
        "shift items.csv --truth y --old spring --api replay:june --budget 80 --journal a.journal",
        "shift items.csv --truth y --old spring --api replay:noisy --budget 80 --since a.journal"
        " --json",
        of="options",
        name="shift --since a.journal",
    ),
    commands(
        shifted,
        "shift baseline bare.csv --api replay:june --as old --repeats 2 --labels bad,good"
        " -o spring.csv --json",
        of="options",
        name="shift baseline bare.csv",
    ),
]

PAIRS = [
    *(
        commands(table, f"{line} --json", of="options", name=line)
        for table, lines in LINES
        for line in lines
    ),
    *JOURNALS,
    *SESSIONS,
]
