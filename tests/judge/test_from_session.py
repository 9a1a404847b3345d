"""A session draws where it tells most, so its labels are not a uniform sample."""

import numpy as np
import pytest

from tallystick import judge
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
        question="judge",
        reading={"judges": ("x", "y", "z")},
        options={},
        settings=SessionSettings(),
    )
    with work:
        for _ in range(6):
            for ask in work.next()[:20]:
                work.answer(ask.number, "yes" if truth[ask.row] else "no", reader="1")
    accuracy = {n: float(np.mean(c == truth)) for n, c in zip("xyz", columns, strict=True)}
    return table, folder / "s.label", accuracy


def test_intervals_from_a_session_hold_the_accuracy_on_all_items(labelled):
    table, session, accuracy = labelled
    result = judge(str(table), judges=("x", "y", "z"), item="id", truth_file=str(session))
    assert result.method == "labels"
    assert result.assumptions[0].startswith("labelled items were drawn at random")
    for one in result.judges:
        assert accuracy[one.name] in one.interval
        assert one.interval.high - one.interval.low < 0.35
