"""What each verb does besides: methods, slices, weights, gates, populations, sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus import tables
from tests.corpus.run import Pair, commands
from tests.corpus.tables import answered, columns_of, write_csv


def scored(folder: Path) -> None:
    """Outputs with votes, grades, weights, probabilities, criteria; wide; with a file of truth."""
    rng = np.random.default_rng(21)
    outputs = tables.outputs(120, 40)
    n = len(outputs["question"])
    outputs["w"] = rng.integers(1, 4, n).tolist()
    outputs["p"] = [round(float(p), 3) for p in rng.uniform(0.2, 0.6, n)]
    write_csv(folder / "outputs.csv", outputs)
    grades = tables.outputs(120, 40, grades=True)
    write_csv(folder / "grades.csv", grades)
    bare = {name: column for name, column in outputs.items() if name != "human"}
    write_csv(folder / "bare.csv", bare)
    both = {"criterion": ["right"] * n + ["safe"] * n}
    write_csv(folder / "criteria.csv", {**{k: v * 2 for k, v in outputs.items()}, **both})
    wide: dict[str, Any] = {"question": outputs["question"][::3]}
    for k, system in enumerate(("a", "b", "c")):
        for judge in ("gpt", "claude", "human"):
            wide[f"{system}.{judge}"] = outputs[judge][k::3]
    write_csv(folder / "wide.csv", wide)
    write_csv(folder / "one.csv", {k: v[::3] for k, v in outputs.items() if k != "system"})


def judged(folder: Path) -> None:
    """Votes of four judges, of three classes, with abstentions, grades, a file of truth."""
    four = {"gpt": 0.9, "claude": 0.85, "llama": 0.75, "qwen": 0.7}
    votes = tables.votes(300, judges=four)
    votes["w"] = [1 + k % 3 for k in range(300)]
    write_csv(folder / "votes.csv", votes)
    three = tables.votes(300, ("neg", "neu", "pos"), 90, judges=four)
    three["qwen"] = ["abstain" if k % 7 == 0 else cell for k, cell in enumerate(three["qwen"])]
    write_csv(folder / "three.csv", three)
    grades = tables.votes(200, (1, 2, 3, 4, 5), 60)
    write_csv(folder / "grades.csv", grades)
    truth = {"id": votes["id"][:80], "gold": tables.votes(300, known=300, judges=four)["gold"][:80]}
    write_csv(folder / "truth.csv", truth)
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
    real = {name: np.clip(p + hard + rng.normal(0, 0.1, 250), 0, 1).round(3).tolist()
            for name, p in levels.items()}  # fmt: skip
    write_csv(
        folder / "scores.csv", {"id": base["id"], **real, "w": [1 + k % 3 for k in range(250)]}
    )
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
    extra = {
        "id": base["id"],
        "key": base["key"],
        "tiny": tables.flipped(rng, key, 0.4, list("ABCD")).tolist(),
    }
    write_csv(folder / "extra.csv", extra)


def bounded(folder: Path) -> None:
    """Weak labels with and without truth, with a cost of errors and probabilities."""
    table = tables.weak(400)
    write_csv(folder / "weak.csv", table)
    write_csv(folder / "bare.csv", {k: v for k, v in table.items() if k != "label"})
    cost = {"prediction": ["ham", "spam"], "ham": [0, 5], "spam": [1, 0]}
    write_csv(folder / "cost.csv", cost)
    p = np.random.default_rng(23).beta(2, 2, 400).round(4)
    write_csv(
        folder / "p.csv", {"id": table["id"], "p_ham": (1 - p).tolist(), "p_spam": p.tolist()}
    )


def shifted(folder: Path) -> None:
    """Items of an API with old answers, further draws of them, and new ones; a matrix."""
    table = tables.api_items(300)
    write_csv(folder / "items.csv", table)
    write_csv(folder / "quiet.csv", {**table, "june": table["spring"]})
    bare = {name: table[name] for name in ("id", "text", "y", "june")}
    write_csv(folder / "bare.csv", bare)
    cells = list(zip(table["y"], table["spring"], strict=True))
    counts = [[cells.count((true, old)) for old in ("bad", "good")] for true in ("bad", "good")]
    matrix = "".join(f"{bad / 300},{good / 300}\n" for bad, good in counts)
    (folder / "matrix.csv").write_text(matrix, encoding="utf-8")
    rng = np.random.default_rng(24)
    grades = rng.integers(1, 6, 300)
    moved = np.clip(grades - (rng.random(300) < 0.3), 1, 5)
    write_csv(folder / "grades.csv", {"id": table["id"], "old": grades, "new": moved})


def rounds(folder: Path) -> None:
    """Logs: one row per model, wide with a truth, attempts."""
    log = tables.round_log(60)
    write_csv(folder / "log.csv", log)
    rng = np.random.default_rng(25)
    truth = rng.choice(["a", "b", "c"], 240)
    models = {f"m{k}": tables.flipped(rng, truth, 0.8 - 0.05 * k, list("abc")).tolist()
              for k in range(4)}  # fmt: skip
    when = np.repeat([1, 2, 3], 80).tolist()
    write_csv(folder / "wide.csv", {"round": when, "gold": truth.tolist(), **models})
    write_csv(folder / "attempts.csv", tables.attempts())


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
            "score outputs.csv --judges gpt,claude --truth human --probability p",
            "score outputs.csv --judges gpt,claude --truth human --weight w",
            "score outputs.csv --judges gpt,claude --truth human --certified",
            "score outputs.csv --judges gpt,claude --truth human --population new",
            "score outputs.csv --judges gpt,claude --truth human --label-draw unknown",
            "score outputs.csv --judges gpt --truth human --gate 'system-b >= system-a + .1'",
            "score outputs.csv --judges gpt --truth human --items-out items.csv",
            "score criteria.csv --judges gpt,claude --truth human --criterion criterion",
            "score grades.csv --judges gpt,claude,llama --truth human",
            "score bare.csv --judges gpt,claude,llama",
            "score wide.csv --truth human",
            "score one.csv --judges gpt,claude --truth human --item question",
        ),
    ),
    (
        judged,
        (
            *(
                f"judge votes.csv --truth gold --method {method}"
                for method in ("majority", "spectral", "logical")
            ),
            *(
                f"judge bare.csv --method {method}"
                for method in ("evaluate", "agreement", "independent", "dawid-skene")
            ),
            "judge votes.csv --truth gold --by lang",
            "judge votes.csv --truth gold --weight w",
            "judge bare.csv --truth-file truth.csv --item id",
            "judge bare.csv --prevalence fail=.52,.6",
            "judge three.csv --truth gold --missing abstain",
            "judge grades.csv --truth gold",
        ),
    ),
    (
        compared,
        (
            "compare answers.csv --truth key",
            "compare answers.csv --truth key --gate 'large >= tuned - .05'",
            "compare answers.csv --truth key --add extra.csv --item id",
            "compare answers.csv --truth key --items-out items.csv",
            "compare partly.csv --truth key",
            "compare scores.csv --models small,base,large,tuned",
            "compare scores.csv --models large,tuned --bounds 0,1 --gate 'large >= tuned'",
            "compare costs.csv",
            "compare runs.csv --models model --metric passed --item item --replicate run",
            "compare battles.csv",
            "plan answers.csv --truth key --difference .05",
        ),
    ),
    (
        None,
        (
            "plan --difference .05 --disagreement .2 --models 5 --power .9",
            "plan --judges --limit .02",
            "plan --judges --half-width .05 --population 2000",
            "dynamic theory --epsilon .05 --noise .1 --mixing nested",
            "dynamic simulate --design hierarchical --epsilon .1 --rollouts 30",
        ),
    ),
    (
        bounded,
        (
            "bound weak.csv --prediction h --weak 'lf_*' --truth label",
            "bound weak.csv --prediction h,g --weak 'lf_*' --truth label",
            "bound bare.csv --prediction h --weak 'lf_*' --label-model dawid-skene",
            "bound bare.csv --prediction h --weak 'lf_*' --label-model p.csv --item id",
            "bound bare.csv --prediction h --weak 'lf_*' --metric precision --metric recall"
            " --positive spam --label-model majority",
            "bound bare.csv --score score --weak 'lf_*' --thresholds .3,.5,.7 --positive spam"
            " --label-model majority",
            "bound weak.csv --prediction h --weak 'lf_*' --metric risk --cost cost.csv"
            " --label-model majority",
        ),
    ),
    (
        shifted,
        (
            "shift items.csv --truth y --old spring --new june --by country",
            "shift items.csv --truth y --old spring --new june --deterministic",
            "shift items.csv --truth y --old spring --new june --old-draws spring_2,spring_3",
            "shift items.csv --truth y --old spring --api replay:june --budget 120"
            " --confidence confidence --deterministic",
            *(
                f"shift items.csv --truth y --old spring --api replay:june --budget 100"
                f" --strategy {strategy}"
                for strategy in ("masa", "uniform")
            ),
            "shift quiet.csv --truth y --old spring --api replay:june --budget 290"
            " --gate 'flip_rate <= 2%' --deterministic",
            "shift items.csv --truth y --old spring --budget 200 --price .01 --dry-run",
            "shift bare.csv --truth y --old-matrix matrix.csv --new june",
            "shift grades.csv --old old --new new",
        ),
    ),
    (
        rounds,
        (
            "dynamic analyse wide.csv --truth gold",
            "dynamic analyse attempts.csv --cost seconds --pays .02",
        ),
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
    steps.append("label --session s.label --status --json")
    return commands(labelled, *steps, of="session", name=f"{begin}, {20 * batches} labels")


SESSIONS = [
    _session(f"label votes.csv --question judge {VOTES}", "all.csv", "gold", ("id",), 2),
    _session(f"label votes.csv --question prevalence {VOTES}", "all.csv", "gold", ("id",), 1),
    _session(
        "label outputs.csv --question score --goal difference --session s.label",
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
    commands(
        labelled,
        "label outputs.csv --question score --session s.label",
        NEXT,
        answered("batch.csv", "graded.csv", "human", ("question", "system")),
        ADD,
        "score outputs.csv --truth-file s.label --json",
        of="session",
        name="score outputs.csv --truth-file s.label",
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
    commands(
        shifted,
        "shift items.csv --truth y --old spring --api replay:june --budget 80 --history h.ndjson",
        "shift items.csv --truth y --old spring --api replay:june --budget 80 --seed 1"
        " --history h.ndjson --json",
        of="options",
        name="shift --history, second time",
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
