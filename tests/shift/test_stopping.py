import pytest

from tallystick.verbs.shift import FlipGate

NAN = float("nan")


def watched(answers, *, limit=0.01, population=20_000):
    gate = FlipGate(limit=limit, population=population)
    for answer in answers:
        gate = gate.update(answer)
    return gate


@pytest.mark.parametrize(
    ("limit", "population", "answers", "passed", "asked"),
    [
        (0.01, 20_000, [0] * 400, True, 304),  # clean runs pass as early as promised, and stay so
        (0.005, 20_000, [0] * 700 + [1] * 50, True, 605),
        (0.05, 20_000, [0] * 100, True, 60),
        (0.01, 20_000, [0, 1] * 20, False, 4),
        (0.0, 10, [0] * 9, None, 9),  # a limit of 0 falls at the first flip, passes at the end
        (0.0, 10, [0] * 10, True, 10),
        (0.0, 10, [0, 0, 1], False, 3),
        (0.0, 10, [0] * 9 + [NAN], None, 10),
        (0.05, 10_000, [NAN] * 300, None, 300),  # failed calls prove nothing
        # Who saw every item goes by the count; a call that failed may have been one flip too many.
        (0.01, 100, [0] * 50 + [1] + [0] * 49, True, 100),
        (0.01, 100, [0] * 50 + [1, 1] + [0] * 48, False, 52),
        (0.01, 100, [0] * 50 + [1, NAN] + [0] * 48, None, 100),
    ],
)
def test_a_limit_on_flips_is_decided_as_soon_as_it_is_proved(
    limit, population, answers, passed, asked
):
    gate = watched(answers, limit=limit, population=population)
    assert (gate.passed, gate.asked) == (passed, asked)
