"""Commands whose present answer is known to be wrong, with the issue or page that mends it.

Each was found by somebody who tried the product on a table of their own. The truth of every table
is known, so the reason says what a right answer would be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.corpus import tables
from tests.corpus.run import Pair, Table, commands
from tests.corpus.tables import columns_of, flipped, some, write_csv, written

Columns = dict[str, Any]


def right_or_wrong(n: int = 200, *, seed: int = 31) -> Columns:
    """Two models of which the new one is better."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    new = np.where(rng.random(n) < 0.95, hard < 0.75, hard < 0.5)
    return {"old": (hard < 0.6).astype(int).tolist(), "new": new.astype(int).tolist()}


def judged(n: int = 240, *, known: int = 60, seed: int = 32) -> Columns:
    """Two judges of outputs of two systems, people on some: right answers to add a column to."""
    rng = np.random.default_rng(seed)
    graded = set(rng.choice(n // 2, known // 2, replace=False).tolist())
    rows = []
    for k in range(n // 2):
        hard = rng.random()
        for system, level in (("old", 0.6), ("new", 0.8)):
            true = int(hard < level)
            votes = [true if rng.random() < p else 1 - true for p in (0.9, 0.85)]
            rows.append((f"q{k}", system, *votes, true if k in graded else None))
    names = ("question", "system", "gpt", "claude", "human")
    return columns_of(names, rows)


def with_column(name: str) -> Callable[[Path], None]:
    """Outputs with one more column that is nobody's vote."""

    def table() -> Columns:
        columns = judged()
        extra = metadata(np.random.default_rng(33), name, len(columns["gpt"]))
        return {**columns, name: extra}

    return written(f"{name}.csv", table)


def bleu(file: str, first: str, **how: Any) -> Callable[[Path], None]:
    """Scores from 0 to 100 of two models, and a first column that counts the rows."""

    def table(folder: Path) -> None:
        rng = np.random.default_rng(30)
        level = rng.normal(60, 15, 150)
        scores = {
            name: np.clip(level + gain + rng.normal(0, 5, 150), 0, 100).round(1).tolist()
            for name, gain in (("alt", 0), ("neu", 6))
        }
        write_csv(folder / file, {first: list(range(1, 151)), **scores}, **how)

    return table


def label_studio(folder: Path) -> None:
    """A CSV export of Label Studio: annotator and quality beside the votes of two models."""
    rng = np.random.default_rng(34)
    truth = np.where(rng.random(200) < 0.6, 1, 0)
    votes = {
        name: flipped(rng, truth, p, (0, 1)).tolist() for name, p in (("gpt", 0.9), ("llama", 0.8))
    }
    meta = {"annotation_id": list(range(700, 900)), "annotator": [1] * 200}
    quality = rng.integers(0, 2, 200).tolist()
    write_csv(
        folder / "export.csv",
        {**meta, **votes, "quality": quality, "human": some(rng, truth.tolist(), 60)},
    )


def sparse_truths(folder: Path) -> None:
    """People's labels under names that are no list's: 0 and 1, five in a hundred filled."""
    rng = np.random.default_rng(35)
    truth = np.where(rng.random(600) < 0.6, 1, 0)
    votes = {
        name: flipped(rng, truth, p, (0, 1)).tolist() for name, p in (("gpt", 0.9), ("llama", 0.8))
    }
    ids = {"id": list(range(600))}
    for name in ("truth_y", "truth_reviewer"):
        write_csv(folder / f"{name}.csv", {**ids, **votes, name: some(rng, truth.tolist(), 30)})


def odd_cells(folder: Path) -> None:
    """One judge says ERROR on six items in a hundred."""
    rng = np.random.default_rng(36)
    columns = tables.votes(300, known=100)
    columns["llama"] = ["ERROR" if rng.random() < 0.06 else cell for cell in columns["llama"]]
    write_csv(folder / "votes.csv", columns)


def pooled(folder: Path) -> None:
    """One row per vote: item, system, judge, vote; a person is one of the judges."""
    columns = judged()
    rows = [
        (columns["question"][k], columns["system"][k], judge, columns[judge][k])
        for k in range(len(columns["gpt"]))
        for judge in ("gpt", "claude", "human")
        if columns[judge][k] is not None
    ]
    names = ("item", "system", "judge", "vote")
    write_csv(folder / "votes.csv", columns_of(names, rows))


def answers_beside(name: str) -> Callable[[Path], None]:
    """One row per item and model: what was answered, as a number, beside whether it was right."""

    def table(folder: Path) -> None:
        rng = np.random.default_rng(37)
        rows = [
            (f"q{k}", model, int(rng.integers(0, 4)), int(rng.random() < level))
            for k in range(100)
            for model, level in (("old", 0.5), ("new", 0.7))
        ]
        names = ("id", "model", name, "correct")
        write_csv(folder / f"{name}.csv", columns_of(names, rows))

    return table


def relevance(folder: Path) -> None:
    """Judges' columns with a dot in their names, which are named on the command line."""
    columns = judged()
    dotted = {"Relevance.0": columns.pop("gpt"), "Relevance.1": columns.pop("claude")}
    clear = {"Clarity.0": dotted["Relevance.1"], "Clarity.1": dotted["Relevance.0"]}
    write_csv(folder / "outputs.csv", {**columns, **dotted, **clear})


def class_zero(folder: Path) -> None:
    """Seven classes from 0 to 6, of which the judges never see the first."""
    rng = np.random.default_rng(38)
    truth = rng.integers(0, 7, 300)
    seen = np.where(truth == 0, rng.integers(1, 7, 300), truth)
    votes = {
        name: flipped(rng, seen, right, tuple(range(1, 7))).tolist()
        for name, right in (("gpt", 0.8), ("claude", 0.7))
    }
    gold = some(rng, truth.tolist(), 150)
    write_csv(folder / "votes.csv", {"id": list(range(300)), **votes, "gold": gold})


def mixed_words(folder: Path) -> None:
    """One judge writes Y and N, the others yes and no; True and False beside 1 and 0."""
    columns = tables.votes(200, ("yes", "no"), 60)
    short = {"yes": "Y", "no": "N"}
    write_csv(
        folder / "words.csv", {**columns, "llama": [short[cell] for cell in columns["llama"]]}
    )
    numbers = tables.votes(200, (1, 0), 60)
    write_csv(folder / "bools.csv", {**numbers, "llama": [bool(cell) for cell in numbers["llama"]]})


def named_truth(name: str) -> Callable[[Path], None]:
    """Answers of two models and a column of true answers under this name."""

    def table(folder: Path) -> None:
        rng = np.random.default_rng(39)
        truth = rng.integers(0, 3, 300)
        said = {model: flipped(rng, truth, p, (0, 1, 2)) for model, p in (("a", 0.85), ("b", 0.6))}
        # The worse model answers 2 more often: its mean prediction is higher.
        said["b"] = np.where(rng.random(300) < 0.25, 2, said["b"])
        columns = {model: column.tolist() for model, column in said.items()}
        table = {"id": list(range(300)), **columns, name: truth.tolist()}
        write_csv(folder / f"{name}.csv", table)

    return table


def positions(folder: Path) -> None:
    """Votes that name the place: a judge that prefers the first place in both orders."""
    rng = np.random.default_rng(40)
    better = rng.choice([0, 1], 300)
    columns: Columns = {"id": list(range(300))}
    for order in ("ab", "ba"):
        first = (better == 0) if order == "ab" else (better == 1)
        said = np.where(
            rng.random(300) < 0.25, True, np.where(rng.random(300) < 0.9, first, ~first)
        )
        columns[f"gpt_{order}"] = np.where(said, "first", "second").tolist()
    write_csv(folder / "pairs.csv", columns)


def rounds(folder: Path) -> None:
    """Logs of rounds as people keep them: wide, long without a model, and with wrong for right."""
    rng = np.random.default_rng(41)
    when = np.repeat([1, 2, 3], 60)
    models = {
        f"m{k}": (rng.random(180) < 0.85 - 0.08 * when).astype(int).tolist() for k in range(5)
    }
    ids = [f"i{k}" for k in range(180)]
    write_csv(folder / "wide.csv", {"item": ids, "round": when.tolist(), **models})
    base = {"item": ids, "round": when.tolist()}
    write_csv(folder / "long.csv", {**base, "correct": models["m0"]})
    for name in ("wrong", "error"):
        turned = [
            (ids[k], int(when[k]), model, 1 - column[k])
            for k in range(180)
            for model, column in models.items()
        ]
        names = ("item", "round", "model", name)
        write_csv(folder / f"{name}.csv", columns_of(names, turned))


def abstain_zero(folder: Path) -> None:
    """Rules that say 0 for no opinion, beside classes 1 and 2."""
    rng = np.random.default_rng(42)
    truth = rng.choice([1, 2], 100)
    columns: Columns = {"id": list(range(100))}
    for name, fires in (("lf_a", 0.5), ("lf_b", 0.6)):
        vote = flipped(rng, truth, 0.85, (1, 2))
        columns[name] = np.where(rng.random(100) < fires, vote, 0).tolist()
    columns["h"] = flipped(rng, truth, 0.88, (1, 2)).tolist()
    write_csv(folder / "weak.csv", columns)


def weak_shares(folder: Path) -> None:
    """Weak labels that are probabilities; and a glob that catches an id."""
    rng = np.random.default_rng(43)
    truth = rng.integers(0, 2, 20)
    columns: Columns = {}
    for name in ("lf_a", "lf_b"):
        columns[name] = np.clip(truth * 0.5 + rng.uniform(0, 0.5, 20), 0, 1).round(3).tolist()
    columns["h"] = flipped(rng, truth, 0.88, (0, 1)).tolist()
    write_csv(folder / "shares.csv", columns)
    votes = {name: flipped(rng, truth, 0.8, (0, 1)).tolist() for name in ("lf_x", "lf_y")}
    ids = [f"m{k}" for k in range(20)]
    write_csv(folder / "ids.csv", {"lf_id": ids, **votes, "h": columns["h"]})


def column_lists(folder: Path) -> None:
    """JSON with one list per column."""
    (folder / "t.json").write_text(json.dumps(right_or_wrong()), encoding="utf-8")


def fragen(folder: Path) -> None:
    """A German item column, which a sentence puts into the plural."""
    columns = judged()
    columns["frage"] = columns.pop("question")
    write_csv(folder / "outputs.csv", columns)


def one_number(folder: Path) -> None:
    """88 labels, one column that is a judge, a classifier and a model."""
    rng = np.random.default_rng(48)
    truth = np.where(rng.random(400) < 0.6, "pass", "fail")
    votes = {
        name: flipped(rng, truth, p, ("fail", "pass")).tolist()
        for name, p in (("gpt", 0.85), ("claude", 0.82), ("llama", 0.75))
    }
    gold = some(rng, truth.tolist(), 88)
    write_csv(folder / "votes.csv", {"id": list(range(400)), **votes, "gold": gold})
    copied = {"id": list(range(400)), **votes, "copy": votes["gpt"], "gold": gold}
    write_csv(folder / "copied.csv", copied)


def weighted(folder: Path) -> None:
    """Weight 3 in every row, which must not change an interval."""
    columns = judged()
    write_csv(folder / "outputs.csv", {**columns, "w": [3] * len(columns["gpt"])})


def metadata(rng: np.random.Generator, name: str, n: int) -> list[Any]:
    """A column that says something about the call, and nothing about the answer."""
    share = {"cached": 0.0, "streaming": 0.5, "refused": 0.05, "turn": 0.5, "retrieved": 0.7}
    if name == "thumbs":
        return [1 if one < 0.1 else None for one in rng.random(n)]
    return (rng.random(n) < share[name]).astype(int).tolist()


def read_wrongly() -> Iterator[tuple[Table, str, str]]:
    """Faults of issue 32: a guess about a column."""
    for first, file in (("Satz", "satz"), ("#", "number"), ("", "unnamed"), ("prompt", "prompt")):
        table = bleu(f"{file}.csv", first, delimiter=";" if first == "Satz" else ",")
        yield (
            table,
            f"compare {file}.csv",
            f"the column {first!r}, which counts the rows, is the best model",
        )
    for name in ("cached", "streaming", "refused", "turn", "retrieved", "thumbs"):
        why = f"{name} is taken for a judge and moves the score"
        yield with_column(name), f"score {name}.csv", why
    yield label_studio, "score export.csv", "annotator = 1 and quality are judges"
    yield label_studio, "judge export.csv", "the command that is suggested takes human for a judge"
    yield sparse_truths, "judge truth_y.csv", "truth_y is a judge, not the truth"
    yield sparse_truths, "judge truth_reviewer.csv", "truth_reviewer is a judge, not the truth"
    yield odd_cells, "score votes.csv --truth gold", "llama is dropped for 6% of odd cells"
    yield pooled, "score votes.csv", "votes of judges and of a person are pooled"
    for name in ("answer", "prediction", "answer_index"):
        why = f"{name} is compared instead of correct, or refused"
        yield answers_beside(name), f"compare {name}.csv", why
    yield (
        relevance,
        "score outputs.csv --judges Relevance.0,Relevance.1 --truth human",
        "named columns are split into system and judge",
    )
    yield class_zero, "judge votes.csv --truth gold", "class 0 of the truth is doubted"
    yield mixed_words, "judge words.csv --truth gold", "llama is dropped: Y stands beside yes"
    yield mixed_words, "judge bools.csv --truth gold", "True beside 1 is refused"
    for verb in ("compare", "judge", "score"):
        for name in ("gold", "human"):
            yield (
                named_truth(name),
                f"{verb} {name}.csv",
                "gold and human are treated in three ways",
            )
    yield (
        positions,
        "judge pairs.csv --judges gpt_ab,gpt_ba --method position-bias",
        "first and second are read as answers: it changes on 38.7%, not on 61.3%",
    )
    yield rounds, "dynamic analyse wide.csv", "a wide table of 0 and 1 is refused"
    yield rounds, "dynamic analyse long.csv", "item, round, correct is refused"
    yield rounds, "dynamic analyse wrong.csv", "a column wrong is refused"
    yield rounds, "dynamic analyse error.csv", "a column error is refused"
    yield abstain_zero, "bound weak.csv --prediction h --weak 'lf_*'", "0 = abstain is a class"
    yield weak_shares, "bound shares.csv --prediction h --weak 'lf_*'", "probabilities are classes"
    yield weak_shares, "bound ids.csv --prediction h --weak 'lf_*'", "an id is a weak label"
    yield column_lists, "compare t.json", "one list per column shows an error of DuckDB"
    yield fragen, "score outputs.csv --item frage", "says 3 frages"


def told_apart() -> Iterator[tuple[Table, str, str]]:
    """Faults of issue 31: one number has several answers, a weight multiplies labels."""
    why = "the accuracy of gpt is another one in judge, bound and compare"
    yield one_number, "judge votes.csv --truth gold", why
    line = (
        "bound votes.csv --prediction gpt --weak claude,llama --truth gold --label-model majority"
    )
    yield one_number, line, why
    yield one_number, "compare votes.csv --truth gold", why
    yield one_number, "judge copied.csv --truth gold", "a copied column moves the others"
    line = "score outputs.csv --judges gpt,claude --truth human --weight w"
    yield weighted, line, "weight 3 in every row triples the labels"
    line = "judge outputs.csv --judges gpt,claude --truth human --weight w"
    yield weighted, line, "weight 3 in every row triples the labels"


def _pairs() -> list[Pair]:
    faults = (("32", read_wrongly), ("31", told_apart))
    page = {"32": "READING (32)"}
    return [
        commands(
            table,
            f"{line} --json",
            of=f"fault {issue}",
            name=line,
            wrong=f"{page.get(issue, issue)}: {why}",
            # The sentence that refuses named columns names one of a set, by chance.
            refusal=table is not relevance,
        )
        for issue, listed in faults
        for table, line, why in listed()
    ]


PAIRS = _pairs()
