import json

from tallystick.verbs.dynamic import AttemptResult, evaluate
from tests.dynamic_tables import attempts


def test_the_answer_is_json_a_table_and_pictures():
    found = evaluate(attempts())
    assert isinstance(found, AttemptResult)
    body = json.loads(json.dumps(found.to_dict()))
    assert (body["kind"], body["annotators"], len(body["rounds"])) == ("attempts", 12, 2)
    assert {"rate", "interval", "attempts_per_success", "cost_per_success"} <= set(found.rows()[0])
    by_round, people = found.figures()
    assert by_round.columns["rate"] == [each.success.rate for each in found.rounds]
    assert len(people.columns["name"]) == 12
    assert found.summary().splitlines()[0] == found.verdict


def test_forgetting_is_never_reported_from_attempts():
    assert "forg" not in json.dumps(evaluate(attempts()).to_dict()).lower()


def test_rates_are_drawn_and_listed_in_percent():
    found = evaluate(attempts())
    assert {figure.unit for figure in found.figures()} == {"share"}
    assert found.folds()[0].units["rate"] == "share"
