import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.rollouts import roll
from tallystick.verbs.dynamic import Correlated, Population, path
from tallystick.verbs.dynamic.simulate import Collection

WEIGHTS = np.full(20, 0.05)
ERRORS = np.tile(np.arange(20) < 8, (500, 1)).astype(float)


def gathered(**options):
    return Collection(**options)(WEIGHTS, ERRORS, np.random.default_rng(0))


def test_the_ideal_annotators_return_the_error_distribution():
    assert gathered()[0].tolist() == pytest.approx([1 / 8] * 8 + [0] * 12)


def test_a_finite_collection_is_right_on_average():
    found = gathered(items=10)
    assert set(np.unique((found * 10).round(9) % 1)) == {0}
    assert found.mean(axis=0)[:8] == pytest.approx(np.full(8, 1 / 8), abs=0.015)


def test_mistakes_put_their_share_on_items_that_were_right():
    assert gathered(mistakes=0.3)[:, 8:].sum(axis=1) == pytest.approx(np.full(500, 0.3))


def test_coverage_hides_a_part_of_the_errors():
    assert (gathered(coverage=0.5) > 0).sum(axis=1).mean() == pytest.approx(4, abs=0.3)


def test_duplicates_leave_fewer_distinct_items():
    plain, copied = (gathered(items=8, duplicates=share) for share in (0.0, 0.75))
    assert copied.sum(axis=1) == pytest.approx(np.ones(500))
    assert (copied > 0).sum(axis=1).max() <= 2 < (plain > 0).sum(axis=1).mean()


def test_a_rollout_without_errors_brings_nothing_back():
    annotators = Collection(items=5, mistakes=0.2)
    assert not annotators(WEIGHTS, np.zeros((2, 20)), np.random.default_rng(0)).any()


def test_few_and_faulty_items_help_less_than_the_whole_error_set():
    def final(collection):
        learner = Correlated(0.2, 0.3, 0.5)
        done = roll(
            Population.uniform(400), path(7), learner, rollouts=40, rng=0, annotators=collection
        )
        return done.risk[:, -1].mean()

    ideal = final(Collection())
    assert final(Collection(mistakes=0.6)) > ideal
    assert final(Collection(items=5, duplicates=0.5)) > ideal
    assert final(Collection(coverage=0.2)) > ideal


@pytest.mark.parametrize(
    "options",
    [{"items": 0}, {"coverage": 0}, {"coverage": 1.1}, {"mistakes": 1}, {"duplicates": 0.5}],
)
def test_impossible_collections_are_refused(options):
    with pytest.raises(InputError):
        Collection(**options)
