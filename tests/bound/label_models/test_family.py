from itertools import combinations

import numpy as np
import pytest

from tallystick import bound
from tallystick.table import Tally
from tallystick.verbs.bound.label_model_checks import distance, family_of
from tallystick.verbs.bound.label_models import unmirrored
from tallystick.verbs.bound.question import spam
from tallystick.verbs.bound.weak_votes import weak_table

WEAK = ["links", "words", "sender", "caps"]


def with_gaps(n=1500, seed=1):
    data = {name: list(spam(n, rng=seed)[name]) for name in WEAK}
    draw = np.random.default_rng(seed)
    for name in WEAK:
        data[name] = [
            None if gone else int(v)
            for v, gone in zip(data[name], draw.random(n) < 0.3, strict=True)
        ]
    return weak_table(Tally.of(data), weak=WEAK, classes=[0, 1])


def test_there_are_seven_and_their_distance_is_the_median_of_the_pairs():
    table = with_gaps()
    family = family_of(table)
    assert len({model.name for model in family.models}) == 7
    pairs = [distance(a, b, table.weight) for a, b in combinations(family.laws, 2)]
    assert len(pairs) == 21
    assert family.distance == np.median(pairs)


def test_without_abstentions_silent_and_voting_members_are_one():
    table = weak_table(Tally.of(spam(500, rng=1)), weak=WEAK, prediction="classifier")
    laws = [law.tobytes() for law in family_of(table).laws]
    assert laws[2] == laws[3] == laws[6]
    assert laws[4] == laws[5]


def test_a_copied_column_is_merged_away():
    data = spam(1500, rng=1)
    del data["classifier"]
    data["copy"] = data["links"]
    table = weak_table(Tally.of(data), weak=[*WEAK, "copy"], classes=[0, 1])
    family = family_of(table)
    plain = weak_table(Tally.of(spam(1500, rng=1)), weak=WEAK, prediction="classifier")
    without = family_of(plain).laws[2]
    seen = {row.tobytes(): law for row, law in zip(plain.votes, without, strict=True)}
    expected = [seen[np.ascontiguousarray(row[:4]).tobytes()] for row in table.votes]
    assert family.laws[6] == pytest.approx(np.array(expected), abs=1e-4)
    assert distance(family.laws[2], family.laws[6], table.weight) > 0.02


def test_a_column_that_never_votes_is_ignored():
    data = spam(500, rng=1)
    data["mute"] = [None] * 500
    table = weak_table(Tally.of(data), weak=[*WEAK, "mute"], prediction="classifier")
    assert all(np.isfinite(law).all() for law in family_of(table).laws)


def test_a_mirrored_fit_is_turned_round():
    table = weak_table(Tally.of(spam(1500, rng=1)), weak=WEAK, prediction="classifier")
    fit = bound.label_models.dawid_skene(table).fit
    upside_down = type(fit)(
        **{**vars(fit), "model": fit.model.permuted([1, 0]), "posterior": fit.posterior[:, ::-1]}
    )
    right = unmirrored(upside_down, table.votes, table.weight)
    assert right.posterior == pytest.approx(fit.posterior)
    assert right.model.confusion == pytest.approx(fit.model.confusion)
    assert unmirrored(fit, table.votes, table.weight) is fit


@pytest.mark.parametrize("name", ["sms", "youtube"])
def test_no_member_of_the_family_calls_most_votes_wrong_on_real_votes(shared_data, name):
    """On sms an earlier implementation of Dawid-Skene sat on the mirrored branch."""
    pd = pytest.importorskip("pandas")
    frame = pd.read_parquet(shared_data / "bound" / f"{name}.parquet")
    weak = [c for c in frame if c.startswith("lf_")]
    rows = {c: [None if v < 0 else int(v) for v in frame[c]] for c in weak}
    table = weak_table(Tally.of(rows), weak=weak, classes=[0, 1])
    family = family_of(table)
    for model, law in zip(family.models[2:], family.laws[2:], strict=True):
        mass = [(table.weight * (table.votes == c).sum(axis=1)) @ law[:, c] for c in (0, 1)]
        votes = table.weight @ (table.votes >= 0).sum(axis=1)
        assert sum(mass) >= votes / 2, model.name
