import numpy as np

from tallystick.verbs.bound.label_model_checks import merged_votes, near_duplicates


def columns(n=400, seed=0):
    draw = np.random.default_rng(seed)
    first = draw.integers(0, 2, n)
    copy = np.where(draw.random(n) < 0.02, 1 - first, first)
    return draw, first, copy


def test_a_near_copy_joins_the_first_column_it_repeats_and_others_do_not():
    draw, first, copy = columns()
    votes = np.column_stack([first, draw.integers(0, 2, 400), copy, first])
    assert near_duplicates(votes, np.ones(400), 2) == [[0, 2, 3], [1]]


def test_few_common_rows_are_not_enough():
    _, first, copy = columns()
    thin = np.where(np.arange(400) < 15, copy, -1)
    assert near_duplicates(np.column_stack([first, thin]), np.ones(400), 2) == [[0], [1]]


def test_little_overlap_is_not_enough_however_well_they_agree():
    _, first, copy = columns()
    early = np.where(np.arange(400) < 240, first, -1)
    late = np.where(np.arange(400) >= 170, copy, -1)  # 70 common rows of 400
    assert near_duplicates(np.column_stack([early, late]), np.ones(400), 2) == [[0], [1]]


def test_rules_that_always_say_the_same_are_no_copies():
    ones = np.ones((100, 2), dtype=int)
    assert near_duplicates(ones, np.ones(100), 2) == [[0], [1]]


def test_the_first_vote_of_a_group_is_kept():
    votes = np.array([[0, 1], [-1, 1], [-1, -1]])
    assert merged_votes(votes, [[0, 1]]).tolist() == [[0], [1], [-1]]
