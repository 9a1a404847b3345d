import numpy as np
import pytest

from tallystick.verbs.dynamic.forecast import FAR_APART, other_builders


def rounds(*rates, items=1000):
    return np.array([np.arange(items) < round(rate * items) for rate in rates])


@pytest.mark.parametrize(
    "names",
    [
        ("m", "m", "m"),
        ("bert-r1", "bert-r2", "bert-r3"),
        ("Model v1", "model v2.1", "MODEL-v3"),
        ("1", "2", "3"),
        ("round 1", "round 2", "round 3"),
    ],
)
def test_numbers_of_rounds_and_versions_are_no_other_team(names):
    assert other_builders(names, rounds(0.2, 0.21, 0.2)) is None


def test_models_of_other_names_are_other_teams_and_are_named():
    names = ("bert-r1", "roberta-r2", "bert-r3", "xlnet-r4", "electra-r5")
    said = other_builders(names, rounds(0.2, 0.2, 0.2, 0.2, 0.2))
    assert said == "the rounds have models of different names (bert, roberta, xlnet and electra)"


def test_error_rates_far_apart_are_other_teams():
    near, far = 0.2 + 0.9 * FAR_APART, 0.2 + 1.1 * FAR_APART
    assert other_builders("mmm", rounds(0.2, near, 2 * 0.2 - near + 0.0)) is None
    said = other_builders("mmm", rounds(0.2, far, 2 * 0.2 - far))
    assert said.startswith("the rounds' models differ by 4.4 points (standard deviation)")


def test_one_round_shows_nothing():
    assert other_builders(("m",), rounds(0.4)) is None
