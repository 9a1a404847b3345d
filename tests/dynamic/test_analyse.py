import csv
import gzip
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.verbs.dynamic.analyse import analyse, mean_interval
from tallystick.verbs.dynamic.experiment import forecast_path
from tallystick.verbs.dynamic.log import RoundLog
from tallystick.verbs.dynamic.panel import forecast_panel
from tallystick.verbs.dynamic.question import AnalyseQuestion
from tallystick.verbs.dynamic.reading import item_rows
from tests.dynamic.logs import read_log


def draws(models, items, seed=0, rate=0.6):
    rng = np.random.default_rng(seed)
    shared = 0.6**0.5 * rng.standard_normal(items)
    return shared + 0.4**0.5 * rng.standard_normal((models, items)) > rate


def panel(errors, *, rounds=1, **fields):
    models, items = errors.shape
    return RoundLog(
        kind="panel",
        items=tuple(f"i{k}" for k in range(items)),
        rounds=np.arange(items) * rounds // items,
        round_names=tuple(range(1, rounds + 1)),
        models=tuple(f"m{k}" for k in range(models)),
        errors=errors,
        **fields,
    )


def path(errors, *, held_out=True):
    rounds, items = errors.shape
    return RoundLog(
        kind="path",
        items=tuple(f"i{k}" for k in range(items)),
        rounds=np.zeros(items, dtype=int),
        round_names=tuple(range(1, rounds + 1)),
        models=tuple(f"h (round {k + 1})" for k in range(rounds)),
        errors=errors,
        held_out=held_out,
    )


def test_a_panel_is_forecast_round_by_round_and_the_last_round_gives_the_advice():
    errors = draws(5, 600)
    found = analyse(panel(errors, rounds=3))
    for number, each in enumerate(found.rounds):
        part = errors[:, 200 * number : 200 * (number + 1)]
        assert each.forecast == forecast_panel(part)
        assert each.all_wrong == part.all(axis=0).mean() > each.independent
        assert each.risk in each.interval
    last = found.rounds[-1].forecast
    assert (found.advice.gain.estimate, found.advice.certain) == (last.gain, last.certain)
    assert found.advice.decision == "cannot tell"
    assert (found.decision, found.advice.more) == ("undecided", 2)


def test_a_panel_says_who_is_wrong_together_and_the_items_are_counted():
    errors = draws(5, 400)
    errors[1] = errors[0]  # a clone: always wrong together
    found = analyse(panel(errors))
    (only,) = found.rounds
    assert (only.pairs[0].first, only.pairs[0].second) == ("m0", "m1")
    text = found.summary()
    assert "m0 and m1: both on" in text
    assert f"{int(errors.all(axis=0).sum())} that every model gets wrong" in text
    hangs = item_rows(panel(errors), found).columns["vote_hangs"]
    assert hangs.count("could be repaired") == only.repairable
    assert hangs.count("could break") == only.fragile


def test_no_simulated_career_and_no_forgetting_is_left_in_the_answer():
    body = json.dumps(analyse(panel(draws(4, 100))).to_dict())
    assert not any(word in body for word in ("hierarchical", "rollout", "forget", "epsilon"))


def test_a_gain_that_pays_decides():
    errors = draws(5, 2000)
    assert analyse(panel(errors), AnalyseQuestion(pays=0.2)).advice.decision == "not worth it"
    alike = np.zeros((3, 50), dtype=bool)
    none = analyse(panel(alike))
    assert none.advice.decision == "not worth it"
    assert none.verdict.startswith("Two more models would not help")


def test_two_models_have_only_their_certain_bounds():
    found = analyse(panel(draws(2, 200)))
    assert isinstance(found.advice.gain.estimate, Unknown)
    assert "the gain can be anything between" in found.verdict
    assert found.advice.more == 1


def test_a_model_that_is_wrong_on_its_whole_round_is_named():
    errors = draws(4, 200)
    errors[0, :100] = True
    (warning,) = analyse(panel(errors, rounds=2)).warnings
    assert "m0 is wrong on nearly every item of round 1" in warning


def test_a_sparse_panel_is_looked_at_where_models_answered_together():
    errors = draws(3, 200)
    answered = np.ones_like(errors)
    answered[2, :150] = False
    found = analyse(panel(errors & answered, answered=answered))
    assert found.rounds[0].models == ("m0", "m1")
    answered = np.zeros_like(errors)
    answered[np.arange(200) % 3, np.arange(200)] = True
    with pytest.raises(InputError, match="no two models answered the same items"):
        analyse(panel(errors & answered, answered=answered))


def test_a_path_is_judged_on_its_held_out_items_with_paired_intervals():
    errors = draws(5, 600, rate=1.0)
    found = analyse(path(errors))
    foretold = forecast_path(errors)
    assert found.advice.gain.interval == foretold.interval
    assert found.advice.decision == foretold.decision
    votes = [np.where(2 * errors[:t].sum(axis=0) > t, 1.0, 0.0) for t in (1, 3, 5)]
    for place, (before, after) in enumerate(pairwise(votes)):
        each = found.rounds[2 * place + 2]
        assert each.change == pytest.approx((after - before).mean())
        assert each.change in each.change_interval
        assert each.change_interval == mean_interval(after - before, 0.05, (-1.0, 1.0))
    assert isinstance(found.rounds[1].change, Unknown)
    assert found.rounds[1].model_change == pytest.approx(errors[1].mean() - errors[0].mean())
    assert found.last_step.repaired >= 0


def test_a_path_whose_items_are_not_known_to_be_held_out_gets_no_advice_and_no_change():
    log = path(draws(5, 600), held_out=False)
    found = analyse(log)
    assert found.advice.decision == "cannot tell"
    assert "the log does not say that its items were held out" in found.verdict
    assert "--held-out COLUMN" in found.summary()
    assert all(isinstance(each.change, Unknown) for each in found.rounds)
    assert all(isinstance(each.model_change, Unknown) for each in found.rounds)
    assert isinstance(found.advice.gain.interval, Unknown)
    declared = analyse(log, AnalyseQuestion(all_held_out=True))
    assert isinstance(declared.advice.gain.interval, Interval)


def test_stop_needs_a_range_below_what_pays_and_go_on_is_said_for_nothing_but_zero():
    rng = np.random.default_rng(0)
    same = np.repeat(rng.random((1, 2000)) < 0.2, 5, axis=0)
    found = analyse(path(same), AnalyseQuestion(pays=0.02))
    assert found.advice.decision == "stop"
    assert found.verdict.startswith(
        "Stop: two more rounds of the same learner would not help by 2.0 points or more"
    )
    better = np.zeros((3, 2000), dtype=bool)
    better[0, :500] = better[1, 400:700] = better[2, 300:600] = True
    for pays in (0.0, 0.001):
        advice = analyse(path(better), AnalyseQuestion(pays=pays)).advice
        assert advice.decision != "go on" or pays == 0


def test_a_small_held_out_set_asks_for_more_items():
    found = analyse(path(draws(3, 100)))
    assert found.needed.count == 300
    assert "at least 400" in found.summary()


def test_models_of_other_names_get_the_range_of_different_teams_and_the_answer_says_so():
    log = path(draws(5, 600))
    named = replace(log, built_as=("bert", "xlnet", "bert", "xlnet", "bert"))
    found = analyse(named)
    assert found.advice.teams == "the rounds have models of different names (bert, xlnet)"
    assert (
        found.advice.gain.interval == analyse(log, AnalyseQuestion(teams=True)).advice.gain.interval
    )
    assert "because the rounds have models of different names" in found.assumptions[0]
    assert "retrain the same learner" in analyse(log).assumptions[0]


def test_rounds_of_different_teams_have_a_wider_range():
    log = path(draws(5, 600))
    one = analyse(log).advice.gain.interval
    many = analyse(log, AnalyseQuestion(teams=True)).advice.gain.interval
    assert many.width > one.width


def test_a_price_plans_the_number_of_rounds():
    found = analyse(path(draws(5, 600)), AnalyseQuestion(price=0.05))
    assert found.plan.rounds == 5
    assert "plan 5 rounds in all" in found.summary()


def test_validators_give_the_noise_share_or_the_set():
    rng = np.random.default_rng(0)
    coin = rng.random(300) < 0.4
    said = ["".join("ab"[int(v)] for v in rng.random(3) < (0.5 if c else 0.03)) for c in coin]
    table = {"round": [1] * 300, "gold": ["a"] * 300, "said": said}
    table |= {f"m{k}": np.where(row, "b", "a").tolist() for k, row in enumerate(draws(3, 300))}
    log = read_log(table, truth="gold", models="m*", validators="said")
    (each,) = analyse(log).rounds
    assert coin.mean() in each.noise_range
    kept = read_log(
        {**table, "said": ["aa", "aba"] * 150}, truth="gold", models="m*", validators="said"
    )
    (each,) = analyse(kept).rounds
    assert isinstance(each.noise_share, Unknown)
    assert isinstance(each.noise_range, Interval)


def test_the_answer_is_json_and_has_pictures():
    for log in (panel(draws(4, 100), rounds=2), path(draws(3, 100))):
        found = analyse(log)
        body = json.loads(json.dumps(found.to_dict()))
        assert body["advice"]["decision"] == found.advice.decision
        assert found.figures()[0].columns["risk"] == [each.risk for each in found.rounds]
        assert len(found.rows()) == len(found.rounds)


def test_the_interval_of_a_single_value_is_its_range():
    assert tuple(mean_interval(np.array([0.5]), 0.05, (0.0, 1.0))) == (0.0, 1.0)


def test_anli_foretells_what_leaving_models_out_shows(shared_data):
    file = shared_data / "dynamic" / "anli_dev_rounds_8models.csv.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    found = analyse(read_log(columns, truth="gold", models=list(rows[0])[7:]))
    first = found.rounds[0].forecast
    assert (round(first.gain, 4), round(first.spread, 4)) == (0.003, 0.0066)
    assert [round(end, 3) for end in first.certain] == [-0.098, 0.073]
