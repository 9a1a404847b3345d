"""The kept answers are those of today: a failure names the pair and shows what differs.

A change that means to move an answer runs ``python -m tests.corpus write`` and lists the pairs that
moved, with the reason, in its commit (``python -m tests.corpus diff`` before).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.corpus import real
from tests.corpus.kept import ANSWERS, differences, load, reduced
from tests.corpus.pairs import PAIRS
from tests.corpus.run import Pair, Runner

KEPT = load()


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as running:
        yield running


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_answer_is_the_kept_one(pair: Pair, runner: Runner) -> None:
    if pair in real.PAIRS and not real.DATA.is_dir():
        pytest.skip("real data is absent: set TALLYSTICK_DATA to its folder")
    if pair.verb == "serve":
        pytest.importorskip("starlette", reason="the extra serve is not installed")
    assert pair.name in KEPT, "new: run python -m tests.corpus write"
    found = differences(KEPT[pair.name], runner.answer(pair))
    assert not found, "\n".join([pair.name, *found])


def test_every_kept_answer_has_its_pair_and_every_pair_its_own_name() -> None:
    assert Counter(pair.name for pair in PAIRS).most_common(1)[0][1] == 1
    assert set(KEPT) == {pair.name for pair in PAIRS}


def test_the_kept_answers_stay_small() -> None:
    assert sum(path.stat().st_size for path in ANSWERS.iterdir()) < 1_500_000


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"verdict": "b is better"}, "verdict: 'a is better' -> 'b is better'"),
        ({"models": [{"name": "a", "score": 0.5001}]}, "models.score: 0.5 -> 0.5001"),
        ({"models": [{"name": "b", "score": 0.5}]}, 'models.name: "a" -> "b"'),
        ({"curve": [*range(40), 41]}, "curve: "),
        ({"more": 1}, "+ more 1"),
        ({"warnings": ["one"]}, "warnings: 0 -> 1"),
    ],
)
def test_a_changed_answer_is_shown(change: dict[str, object], shown: str) -> None:
    answer = {
        "verdict": "a is better",
        "decision": "decided",
        "models": [{"name": "a", "score": 0.5}],
        "curve": list(range(41)),
        "warnings": [],
    }
    same = {**answer, "models": [{"name": "a", "score": 0.5 + 1e-12}]}
    assert differences(reduced(answer), reduced(same)) == []
    [line] = differences(reduced(answer), reduced({**answer, **change}))
    assert line.startswith(shown)
