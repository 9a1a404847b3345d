"""What a block of votes is reduced to, against loops over items."""

from __future__ import annotations

import collections

import numpy as np
import pytest

from tallystick.stats.stream import OTHER, count_blocks, lay_out


def by_loops(block, judge, labels):
    """Return A's parts, dissent and share counts of one judge by the words of the page."""
    agree = faced = 0.0
    dissent, share = collections.Counter(), collections.Counter()
    for row in block:
        vote = row[judge]
        if vote < 0:
            continue
        share[vote] += 1
        others = collections.Counter(v for j, v in enumerate(row) if j != judge and v >= 0)
        if not others:
            continue
        faced += 1
        most = max(others.values())
        winners = [label for label, n in others.items() if n == most]
        if len(winners) > 1:
            agree += 0.5 * (vote in winners)
        else:
            agree += vote in winners
            dissent[vote] += vote not in winners
    return agree, faced, [dissent[label] for label in labels], [share[label] for label in labels]


@pytest.mark.parametrize("seed", range(6))
def test_counts_equal_loops_over_items(seed):
    rng = np.random.default_rng(seed)
    judges, labels = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    blocks = rng.integers(-1, labels, (3, 25, judges))
    counts = count_blocks(blocks, labels)
    for k, block in enumerate(blocks):
        for j in range(judges):
            agree, faced, dissent, share = by_loops(block, j, range(labels))
            assert counts.agree[k, j] == agree
            assert counts.faced[k, j] == faced
            assert counts.dissent[k, j].tolist() == dissent
            assert counts.label[k, j].tolist() == share
            assert counts.votes[k, j] == (block[:, j] >= 0).sum()


def test_a_block_without_a_vote_skips_all_but_missing():
    block = np.zeros((1, 25, 3), dtype=int)
    block[0, :, 1] = -1
    layout = lay_out(3, [0, 1])
    values = dict(zip(layout.series, layout.values(count_blocks(block, 2))[0], strict=True))
    for series, value in values.items():
        if series.judge == 1:
            assert np.isnan(value) == (series.kind != "missing")
    assert values[next(s for s in values if s.name == "missing 1")] == 1


def test_agreement_leaves_out_items_where_no_other_judge_voted():
    block = np.full((1, 4, 3), -1)
    block[0, :, 0] = 0
    block[0, 0, 1:] = 0
    layout = lay_out(3, [0, 1])
    values = layout.values(count_blocks(block, 2))[0]
    assert values[0] == 1  # one item, confirmed
    assert values[[s.name for s in layout.series].index("share 0 0")] == 1  # of four votes


def test_the_two_of_a_pair_share_one_agreement_with_the_whole_weight():
    layout = lay_out(2, [0, 1])
    assert [s.name for s in layout.series if s.kind == "agreement"] == ["agreement"]
    assert layout.weights[0] == pytest.approx(0.6)
    block = np.array([[[0, 0], [1, 0], [1, 1], [1, -1]]])
    assert layout.values(count_blocks(block, 2))[0, 0] == pytest.approx(2 / 3)


def test_weights_of_four_judges_are_those_of_the_page():
    layout = lay_out(4, [0, 1])
    weight = dict.fromkeys(("agreement", "dissent", "share", "missing"), 0.0)
    for series, w in zip(layout.series, layout.weights, strict=True):
        weight[series.kind] += w
    assert weight == pytest.approx(
        {"agreement": 0.6, "dissent": 0.15, "share": 0.15, "missing": 0.1}
    )
    assert layout.weights[0] == pytest.approx(0.15)


def test_labels_that_come_later_share_one_slot():
    layout = lay_out(3, [0, 1])
    block = np.zeros((1, 10, 3), dtype=int)
    block[0, :4, 0] = [2, 3, 3, 4]
    names = [s.name for s in layout.series]
    values = layout.values(count_blocks(block, 5))[0]
    assert values[names.index("share 0 other")] == pytest.approx(0.4)
    assert values[names.index("dissent 0 other")] == pytest.approx(0.4)
    assert values[names.index("share 1 other")] == 0
    slot = layout.series[names.index("share 0 other")].slot
    assert slot == OTHER


def test_a_slot_whose_label_is_not_in_the_counts_is_zero():
    layout = lay_out(3, [0, 1, 2])
    values = layout.values(count_blocks(np.zeros((1, 10, 3), dtype=int), 2))[0]
    assert values[[s.name for s in layout.series].index("share 0 2")] == 0


@pytest.mark.parametrize("judges", [1, 2, 3, 7])
@pytest.mark.parametrize("labels", [[0], [0, 1], [0, 1, 3]])
def test_weights_sum_to_one_over_the_series_that_exist(judges, labels):
    layout = lay_out(judges, labels)
    assert layout.weights.sum() == pytest.approx(1)
    assert (layout.weights > 0).all()
    assert len({s.name for s in layout.series}) == len(layout.series)


def test_one_judge_uses_the_whole_weight_on_shares_and_missing_votes():
    layout = lay_out(1, [0, 1])
    assert {s.kind for s in layout.series} == {"share", "missing"}
    assert layout.weights[-1] == pytest.approx(0.1 / 0.25)
