"""A session draws where it tells most, so its labels are not a uniform sample."""

import numpy as np
import pytest

from tallystick import bound
from tallystick.verbs.label.begin import SessionSettings, begin

N = 300


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("session")
    rng = np.random.default_rng(0)
    truth = rng.random(N) < 0.5
    columns = [np.where(rng.random(N) < p, truth, ~truth) for p in (0.9, 0.75, 0.7)]
    rows = ["id,x,y,z"]
    rows += [f"{i}," + ",".join(["no", "yes"][int(c[i])] for c in columns) for i in range(N)]
    table = folder / "votes.csv"
    table.write_text("\n".join(rows) + "\n", encoding="utf-8")
    work = begin(
        folder / "s.label",
        str(table),
        question="bound",
        reading={"weak": ("y", "z"), "prediction": ("x",)},
        options={},
        settings=SessionSettings(),
    )
    with work:
        for _ in range(6):
            for ask in work.next()[:20]:
                work.answer(ask.number, "yes" if truth[ask.row] else "no", reader="1")
    accuracy = {n: float(np.mean(c == truth)) for n, c in zip("xyz", columns, strict=True)}
    return table, folder / "s.label", accuracy


def test_the_accuracy_from_a_session_stands_beside_the_bounds_from_votes(labelled):
    table, session, accuracy = labelled
    result = bound(
        str(table), weak=("y", "z"), prediction=("x",), item="id", truth_file=str(session)
    )
    gold = next(one for one in result.gold if one.metric == "accuracy")
    assert accuracy["x"] in gold.interval


def test_labels_of_a_session_decide_a_claim(labelled):
    table, session, accuracy = labelled
    for claim, said in ((accuracy["x"] - 0.2, "at least"), (accuracy["x"], "cannot tell")):
        result = bound(
            str(table),
            weak=("y", "z"),
            prediction=("x",),
            item="id",
            truth_file=str(session),
            at_least=round(claim, 3),
        )
        assert said in result.verdict
        assert "Without labels" not in result.verdict
        assert (result.needed is None) == (result.decision == "decided") == (said == "at least")
