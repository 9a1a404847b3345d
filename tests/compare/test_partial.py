import itertools

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import Board, Settings, evaluate
from tallystick.stats.two_accuracies import exact_score
from tallystick.verbs.compare.in_common import (
    Disagreement,
    disagreements,
    labels_needed,
    partial_interval,
)


def answers(n, seed=0, labels="abc"):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(labels), n)
    models = {
        name: np.where(rng.random(n) < skill, truth, rng.choice(list(labels), n)).tolist()
        for name, skill in (("old", 0.6), ("new", 0.75), ("other", 0.5))
    }
    return truth, models


def test_labels_on_the_disagreements_alone_give_the_same_pair():
    truth, models = answers(300)
    pair = {name: models[name] for name in ("old", "new")}
    apart = np.array(pair["old"]) != np.array(pair["new"])
    full = evaluate({"gold": truth.tolist(), **pair}, truth="gold").pairs[0]
    some = evaluate(
        {"gold": [t if a else None for t, a in zip(truth, apart, strict=True)], **pair},
        truth="gold",
    )
    row = some.pairs[0]
    assert (row.a, row.a_only, row.b_only, row.difference) == (
        full.a,
        full.a_only,
        full.b_only,
        full.difference,
    )
    assert tuple(row.interval) == pytest.approx(tuple(full.interval))
    assert row.p_value == pytest.approx(full.p_value)
    assert some.decision == "decided"


def test_the_sharp_interval_holds_for_every_filling_of_the_blanks():
    some = Disagreement(items=40, apart=9, labelled=5, first_only=4, second_only=1)
    found = partial_interval(some)
    for to_first, to_second in itertools.product(range(some.blank + 1), repeat=2):
        if to_first + to_second <= some.blank:
            whole = exact_score(4 + to_first, 1 + to_second, 40)
            assert found.low <= whole.low + 1e-9
            assert found.high >= whole.high - 1e-9


def test_random_blanks_are_narrower_and_say_so():
    some = Disagreement(items=1000, apart=200, labelled=80, first_only=55, second_only=25)
    assert partial_interval(some, blanks="random").width < partial_interval(some).width
    assert "random" in partial_interval(some, blanks="random").promise


def test_what_is_needed_falls_as_labels_come_in():
    def more(m):
        return labels_needed(
            Disagreement(
                items=900, apart=300, labelled=m, first_only=3 * m // 4, second_only=m // 4
            )
        )

    assert more(40) > more(120) > more(200)
    assert (
        labels_needed(
            Disagreement(items=900, apart=300, labelled=300, first_only=200, second_only=100)
        )
        == 0
    )
    assert (
        labels_needed(Disagreement(items=900, apart=300, labelled=0, first_only=0, second_only=0))
        == 300
    )


def test_counts_of_a_board_are_those_of_a_loop():
    truth, models = answers(120, seed=3)
    blank = np.random.default_rng(1).random(120) < 0.5
    board = Board.of(
        {"gold": [None if b else t for t, b in zip(truth, blank, strict=True)], **models},
        truth="gold",
    )
    counts = disagreements(board)
    names = list(models)
    for i, (a, b) in enumerate(itertools.combinations(range(3), 2)):
        x, y = np.array(models[names[a]]), np.array(models[names[b]])
        assert counts["apart"][i] == (x != y).sum()
        assert counts["labelled"][i] == ((x != y) & ~blank).sum()
        assert counts["first_only"][i] == ((x == truth) & (y != truth) & ~blank).sum()


def test_undecided_names_the_labels_that_would_settle_it():
    truth, models = answers(200, seed=5)
    gold = [t if i < 20 else None for i, t in enumerate(truth.tolist())]
    result = evaluate({"gold": gold, "old": models["old"], "new": models["new"]}, truth="gold")
    assert result.decision == "undecided"
    assert "disagree" in result.needed.of
    next_labels = result.patterns().columns["label_next"]
    apart = np.array(models["old"]) != np.array(models["new"])
    assert sum(next_labels) == (apart[20:]).sum()


def test_random_blanks_are_an_option_of_the_board():
    truth, models = answers(400, seed=2)
    keep = np.random.default_rng(0).random(400) < 0.4
    gold = [t if k else None for t, k in zip(truth.tolist(), keep, strict=True)]
    result = evaluate({"gold": gold, **models}, truth="gold", settings=Settings(blanks="random"))
    assert all("random" in row.interval.promise for row in result.pairs)


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="apart <= items"):
        Disagreement(items=5, apart=9, labelled=5, first_only=4, second_only=1)
    with pytest.raises(InputError, match="at least 2 labelled"):
        partial_interval(
            Disagreement(items=9, apart=5, labelled=1, first_only=1, second_only=0), blanks="random"
        )


def partly_labelled(won, lost, blank, agreeing):
    rows = (
        [("x", "x", "y")] * won
        + [("y", "x", "y")] * lost
        + [(None, "x", "y")] * blank
        + [("x", "x", "x")] * agreeing
    )
    gold, a, b = (list(column) for column in zip(*rows, strict=True))
    return evaluate({"gold": gold, "A": a, "B": b}, truth="gold")


@pytest.mark.parametrize(
    ("won", "lost", "blank"), [(3, 0, 7), (6, 2, 72), (30, 10, 60), (25, 15, 260)]
)
def test_as_many_labels_as_are_needed_do_decide_it(won, lost, blank):
    result = partly_labelled(won, lost, blank, 500)
    more = result.needed.count
    assert result.needed.of.startswith("labels")
    to_first = more * won // (won + lost)
    assert (
        partly_labelled(won + to_first, lost + more - to_first, blank - more, 500).decision
        == "decided"
    )
    fewer = more - 1
    to_first = fewer * won // (won + lost)
    assert (
        partly_labelled(won + to_first, lost + fewer - to_first, blank - fewer, 500).decision
        == "undecided"
    )


@pytest.mark.parametrize(("won", "lost", "blank"), [(7, 2, 1), (2, 1, 7), (0, 0, 5)])
def test_where_the_blank_labels_alone_would_not_decide_items_are_needed(won, lost, blank):
    needed = partly_labelled(won, lost, blank, 90).needed
    assert needed.of.startswith("items, labelled where A and B disagree")
    assert (needed.count is None) == (won == lost)


def test_more_labels_are_needed_among_many_pairs():
    some = Disagreement(items=1000, apart=300, labelled=40, first_only=25, second_only=15)
    for blanks in ("any", "random"):
        assert labels_needed(some, blanks=blanks, pairs=45) > labels_needed(some, blanks=blanks)
    few = Disagreement(items=100, apart=10, labelled=3, first_only=3, second_only=0)
    assert labels_needed(few) == 6
    assert labels_needed(few, pairs=45) is None
