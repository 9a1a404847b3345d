"""The page of a log lists the items that are hard, and those on which the vote hangs."""

from tallystick.table import conclude, read
from tallystick.verbs.dynamic.reading import ANALYSE, cases_of

N = 90


def test_items_that_all_models_get_wrong_come_first_then_those_that_hang():
    truth = ["x", "y", "z"] * (N // 3)
    wrong = {"x": "y", "y": "z", "z": "x"}
    table = {
        "id": [f"q{i}" for i in range(N)],
        "round": [1 + i // 30 for i in range(N)],
        "gold": truth,
        "m1": [wrong[t] if i < 9 else t for i, t in enumerate(truth)],
        "m2": [wrong[t] if i < 5 else t for i, t in enumerate(truth)],
        "m3": [wrong[t] if i < 3 else t for i, t in enumerate(truth)],
    }
    roles = {"truth": "gold", "models": ("m1", "m2", "m3"), "round": "round", "item": "id"}
    data = read(table, ANALYSE.door, **roles)
    result = conclude(ANALYSE, data, ANALYSE.question())
    cases = cases_of(result, data)
    kinds = dict(cases.kinds)
    assert kinds["every model wrong"] == 3
    assert kinds["the next models could repair it"] == 2
    assert kinds["the next models could break it"] == 4
    assert [case.item for case in cases.cases[:3]] == ["q0", "q1", "q2"]
    assert cases.cases[0].votes[0] == ("true", "x")
    assert cases.line.startswith("Every model gets 3 items wrong")
