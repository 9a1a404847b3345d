"""One number, one answer: the same question about the same table has the same estimate and
interval in every verb."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.verbs import bound, compare, judge, score
from tallystick.verbs.label.begin import SessionSettings, begin

COLUMNS = ("gpt", "claude", "llama", "rule")


def table(seed):
    """Four columns of votes on the same items, of which some have a label; few to many of each."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 400))
    labels = ("fail", "pass")
    truth = rng.random(n) < rng.uniform(0.3, 0.8)
    shared = rng.random(n) < rng.uniform(0.0, 0.2)
    votes = {}
    for name in COLUMNS:
        wrong = (rng.random(n) < rng.uniform(0.05, 0.4)) | (shared & (rng.random(n) < 0.7))
        cells = [labels[int(t != w)] for t, w in zip(truth, wrong, strict=True)]
        silent = rng.random(n) < rng.choice([0.0, 0.0, 0.1]) * (name != "gpt")
        votes[name] = [None if s else cell for s, cell in zip(silent, cells, strict=True)]
    known = rng.permutation(n) < int(rng.integers(25, n // 2 + 20))
    gold = [labels[int(t)] if k else None for t, k in zip(truth, known, strict=True)]
    return {"id": [f"q{i}" for i in range(n)], **votes, "gold": gold}


def of_judge(votes, population):
    found = judge.evaluate(votes, judges=COLUMNS, truth="gold", population=population)
    [row] = [one for one in found.judges if one.name == "gpt"]
    return row.accuracy, row.interval, found


def of_bound(votes, population):
    found = bound.evaluate(
        votes, prediction="gpt", weak=COLUMNS[1:], truth="gold", population=population
    )
    [row] = [one for one in found.gold if one.metric == "accuracy"]
    return row.estimate, row.interval


def of_compare(votes, population):
    found = compare.evaluate(
        votes, models=COLUMNS, truth="gold", item="id", population=population, missing=()
    )
    [row] = [one for one in found.models if one.name == "gpt"]
    return row.score, row.interval


def of_score(votes, population):
    found = score.evaluate(votes, judges=COLUMNS, truth="gold", item="id", population=population)
    [row] = found.systems
    return row.score, row.interval


def check(seed, population):
    votes = table(seed)
    accuracy, interval, judged = of_judge(votes, population)
    others = [of_bound(votes, population)]
    if None not in [cell for name in COLUMNS for cell in votes[name]]:
        others.append(
            of_compare(votes, population)
        )  # it leaves out items that a model did not answer
    for estimate, ends in others:
        assert estimate == pytest.approx(accuracy, abs=1e-9)
        assert tuple(ends) == pytest.approx(tuple(interval), abs=1e-9)
    share = judged.prevalence["pass"]
    estimate, ends = of_score(votes, population)
    assert estimate == pytest.approx(share.estimate, abs=1e-9)
    assert tuple(ends) == pytest.approx(tuple(share.interval), abs=1e-9)


@pytest.mark.parametrize("population", ["these", "new"])
@pytest.mark.parametrize("seed", range(8))
def test_every_verb_gives_the_same_accuracy_and_the_same_share(seed, population):
    check(seed, population)


@pytest.mark.slow
@pytest.mark.parametrize("population", ["these", "new", None])
@pytest.mark.parametrize("seed", range(100, 300))
def test_two_hundred_tables_have_one_answer_each(seed, population):
    check(seed, population)


def whole_session(folder, question, reading):
    """A labelling session of 60 items that is answered to the end, and the table without truth."""
    rng = np.random.default_rng(4)
    truth = np.where(rng.random(60) < 0.6, "pass", "fail")
    rates = (0.1, 0.2, 0.3, 0.25)
    wrong = {name: rng.random(60) < rate for name, rate in zip(COLUMNS, rates, strict=True)}
    votes = {
        name: np.where(miss, np.where(truth == "pass", "fail", "pass"), truth).tolist()
        for name, miss in wrong.items()
    }
    lines = [",".join(("id", *COLUMNS))]
    lines += [",".join((f"q{i}", *(votes[name][i] for name in COLUMNS))) for i in range(60)]
    path = folder / "votes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    work = begin(
        folder / "all.label",
        str(path),
        question=question,
        reading=reading,
        options={},
        settings=SessionSettings(),
    )
    with work:
        while asked := work.next():
            for one in asked:
                work.answer(one.number, str(truth[one.row]), reader="1")
    return str(path), str(folder / "all.label"), {**votes, "gold": truth.tolist()}


@pytest.mark.parametrize("question", ["judge", "bound"])
def test_a_session_of_all_items_has_the_answer_of_its_table(question, tmp_path):
    roles = {"judges": COLUMNS}
    if question == "bound":
        roles = {"prediction": ("gpt",), "weak": COLUMNS[1:]}
    path, session, table = whole_session(tmp_path, question, roles)
    verb = {"judge": judge, "bound": bound}[question]
    pair = []
    for found in (
        verb.evaluate(path, **roles, item="id", truth_file=session),
        verb.evaluate(table, **roles, truth="gold"),
    ):
        rows = found.judges if question == "judge" else found.gold
        value = "accuracy" if question == "judge" else "estimate"
        kept = [row for row in rows if getattr(row, "metric", "accuracy") == "accuracy"]
        pair.append([(getattr(row, value), *row.interval) for row in kept])
    assert pair[0] == [pytest.approx(row, abs=1e-9) for row in pair[1]]
