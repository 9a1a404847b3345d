from tallystick.table import conclude, read
from tallystick.verbs.judge import CAPABILITY
from tallystick.verbs.judge.answer import cases_of
from tallystick.verbs.judge.question import JudgeQuestion

N = 90


def answered(gold):
    table = {
        "gpt": ["good", "bad", "good"] * (N // 3),
        "claude": ["good", "bad", "bad"] * (N // 3),
        "llama": ["good", "good", "bad"] * (N // 3),
    }
    roles = {}
    if gold is not None:
        table["gold"] = gold
        roles["truth"] = "gold"
    data = read(table, CAPABILITY.door, judges=("gpt", "claude", "llama"), **roles)
    return data, conclude(CAPABILITY, data, JudgeQuestion())


def test_labelled_items_that_judges_got_wrong_are_listed_the_worst_first():
    data, result = answered(["good", "good", "bad"] * 10 + [None] * (N - 30))
    cases = cases_of(result, data)
    assert dict(cases.kinds) == {"most judges wrong": 10, "some judges wrong": 10}
    assert cases.cases[0].summary == "true good · 2 of 3 judges wrong"
    assert cases.line.endswith("wrong on 20 of 30 labelled items, most judges on 10.")


def test_without_labels_the_items_on_which_judges_differ_are_listed():
    data, result = answered(None)
    cases = cases_of(result, data)
    assert cases.total == 60
    assert cases.cases[0].summary == "2 of 3 judges say bad"
