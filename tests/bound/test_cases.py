"""The page of bound lists the rows to look at first."""

from tallystick.table import conclude, read
from tallystick.verbs.bound import CAPABILITY
from tallystick.verbs.bound.question import BoundQuestion, cases_of

N = 80


def answered(**more):
    spam = [i % 2 for i in range(N)]
    table = {
        "id": [f"m{i}" for i in range(N)],
        "text": [f"a mail with a long enough body, number {i}" for i in range(N)],
        "h": [1 - label if i < 6 else label for i, label in enumerate(spam)],
        "lf_a": spam,
        "lf_b": [label if i % 3 else -1 for i, label in enumerate(spam)],
        "lf_c": [1 - label if i % 5 == 0 else label for i, label in enumerate(spam)],
        **more,
    }
    roles = {"prediction": ("h",), "weak": ("lf_a", "lf_b", "lf_c"), "item": "id"}
    roles |= {"truth": "truth"} if "truth" in more else {}
    data = read(table, CAPABILITY.door, **roles)
    return data, conclude(CAPABILITY, data, BoundQuestion(label_model="majority"))


def test_without_labels_rows_are_listed_on_which_most_weak_labels_disagree():
    data, result = answered()
    cases = cases_of(result, data)
    assert cases.line.startswith("Most weak labels disagree with h on 5 of 80 rows with a vote")
    assert {case.item for case in cases.cases} == {"m1", "m2", "m3", "m4", "m5"}
    assert cases.cases[0].votes[0][0] == "h"
    assert cases.cases[0].texts[0][0] == "text"
