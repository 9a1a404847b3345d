import csv
import gzip
import json

import numpy as np
import pytest

from tallystick.dynamic import Correlated, Population, analyse, read_log
from tallystick.dynamic.advice import RoundPrices
from tallystick.dynamic.rollouts import roll_path
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.results.numbers import percent, points


def panel(seed=0, rho=0.6, validators=None):
    rng = np.random.default_rng(seed)
    items = 300
    shared = rho**0.5 * rng.standard_normal(items)
    wrong = shared + (1 - rho) ** 0.5 * rng.standard_normal((5, items)) > 0.6
    columns = {f"m{k}": np.where(wrong[k], "b", "a").tolist() for k in range(5)}
    columns |= {
        "round": np.repeat([1, 2, 3], 100).tolist(),
        "gold": ["a"] * items,
        "said": validators or ["aaa"] * items,
    }
    return read_log(
        columns,
        round="round",
        truth="gold",
        models=[f"m{k}" for k in range(5)],
        validators="said" if validators else None,
    )


def walk(rounds=5, seed=0, size=600):
    done = roll_path(
        Population.uniform(size),
        Correlated(0.2, 0.5, 0.5),
        rounds=rounds,
        rollouts=1,
        rng=seed,
        keep_errors=True,
    )
    rows = [
        (str(i), t + 1, f"h{t + 1}", int(not done.error_sets[0, t, i]))
        for t in range(rounds)
        for i in range(size)
    ]
    item, round_, model, correct = map(list, zip(*rows, strict=True))
    return read_log({"item": item, "round": round_, "model": model, "correct": correct}), done


@pytest.fixture(scope="module")
def read():
    """What the panel says, read once."""
    return analyse(panel(), permutations=99, rollouts=40, rng=0)


def test_a_panel_shows_its_joint_errors_against_chance_and_fit(read):
    result = read
    assert [each.round for each in result.rounds] == [1, 2, 3]
    for joint in result.overlap:
        assert joint.independent < joint.all_wrong
        assert joint.test.p_value == 0.01
        assert joint.rho == pytest.approx(0.6, abs=0.2)
        assert joint.rho in joint.rho_interval
    assert isinstance(result.forgetting, Unknown)
    assert isinstance(result.rounds[0].noise_share, Unknown)
    assert result.decision == "decided"
    assert result.advice.course in result.summary()


def test_the_text_says_all_that_was_found_with_its_intervals():
    said = analyse(
        panel(validators=["aa"] * 200 + ["aba"] * 100),
        chain=["m0", "m1"],
        permutations=19,
        rollouts=20,
        rng=0,
    )
    text = said.summary()
    for number in (1, 2, 3):
        share = percent(said.overlap[number - 1].all_wrong)
        assert f"Wrong together, round {number}: {share} [" in text
    assert f"rho {said.overlap[0].rho:.2f} [" in text
    assert "z " in text
    assert "by chance" in text
    assert "Random labels among the items of round 3: 0.0\xa0% to" in text
    change = points(said.forgetting[0].change)
    assert f"From m0 to m1, on the first items: risk {change} [" in text
    assert "control" not in text  # a log has none


def test_a_path_is_read_round_by_round_and_forecast_from_where_it_stands():
    log, done = walk()
    result = analyse(log, permutations=99, rollouts=40, rng=0)
    assert [each.risk for each in result.rounds] == pytest.approx(done.risk[0].tolist())
    assert [each.epsilon for each in result.rounds] == pytest.approx(done.epsilon[0].tolist())
    assert len(result.forgetting) == 4
    assert all(
        each.change == pytest.approx(each.forgotten - each.learnt) for each in result.forgetting
    )
    assert result.rounds[-1].worst_case > result.rounds[-1].risk
    option = result.advice.options[0]
    assert option.course == "one more round"
    assert option.rounds == 2


def test_a_chain_shows_forgetting_and_leaves_the_panel():
    result = analyse(panel(), chain=["m0", "m1"], permutations=99, rollouts=40, rng=0)
    assert result.models == ("m2", "m3", "m4")
    (step,) = result.forgetting
    assert (step.before, step.model) == ("m0", "m1")
    assert step.change in step.interval


def test_validators_give_the_noise_share_or_the_set():
    rng = np.random.default_rng(0)
    coin = rng.random(300) < 0.4
    chance = np.where(coin, 0.5, 0.97)[:, None]
    said = ["".join("ab"[int(v)] for v in row) for row in rng.random((300, 5)) > chance]
    result = analyse(panel(validators=said), permutations=99, rollouts=40, rng=0)
    assert all(isinstance(each, Interval) for each in result.noise_sets)
    assert result.rounds[0].noise_share == pytest.approx(0.4, abs=0.15)
    assert "clean labels" in [option.course for option in result.advice.options]
    kept = analyse(
        panel(validators=["aa"] * 200 + ["aba"] * 100), permutations=99, rollouts=40, rng=0
    )
    assert isinstance(kept.rounds[0].noise_share, Unknown)
    assert any("set" in text for text in kept.warnings)


def test_answers_are_voted_by_plurality_with_an_interval_in_every_round():
    rng = np.random.default_rng(0)
    wrong = rng.random((3, 200)) < 0.4
    answers = np.where(wrong, rng.choice(["b", "c", "d"], size=wrong.shape), "a")
    rows = [
        (str(i), t + 1, f"h{t}", int(not wrong[t, i]), answers[t, i], "a")
        for t in range(3)
        for i in range(200)
    ]
    item, round_, model, correct, prediction, truth = map(list, zip(*rows, strict=True))
    columns = {"item": item, "round": round_, "model": model, "correct": correct}
    log = read_log(
        {**columns, "prediction": prediction, "truth": truth},
        prediction="prediction",
        truth="truth",
    )
    result = analyse(log, permutations=19, rollouts=20, rng=0)
    plain = read_log(columns)
    binary = analyse(plain, permutations=19, rollouts=20, rng=0)
    assert all(each.risk in each.interval for each in result.rounds)
    assert result.rounds[0].interval == binary.rounds[0].interval
    # scattered wrong answers lose to two right ones
    assert result.rounds[2].risk < binary.rounds[2].risk
    assert any("plurality" in text for text in result.assumptions)
    assert not any("plurality" in text for text in binary.assumptions)


def test_prices_decide():
    dear = analyse(
        panel(), permutations=99, rollouts=40, rng=0, prices=RoundPrices(round=1000, value=1)
    )
    cheap = analyse(
        panel(), permutations=99, rollouts=40, rng=0, prices=RoundPrices(round=0, value=1)
    )
    assert dear.advice.course == "stop"
    assert cheap.advice.course != "stop"


def test_models_that_are_always_wrong_leave_the_correlation_unknown():
    log = panel()
    log.errors[0] = True
    result = analyse(log, permutations=99, rollouts=40, rng=0)
    assert isinstance(result.overlap[0].rho, Unknown)
    assert isinstance(result.advice, Unknown)
    assert result.decision == "unknowable"
    assert (
        "No advice: no correlation could be fitted: model 1 of 5 is always wrong"
        in result.summary()
    )
    json.dumps(result.to_dict(), allow_nan=False)


def test_the_result_is_json_and_has_its_figures(read):
    result = read
    out = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert out["verb"] == "dynamic"
    fields = {
        "round",
        "risk",
        "interval",
        "epsilon",
        "worst_case",
        "lower_bound",
        "z",
        "noise_share",
    }
    assert set(out["rounds"][0]) >= fields
    assert [figure.kind for figure in result.figures()] == ["rounds", "forest", "rounds"]
    assert out["seed"] == 0


def test_a_round_of_one_item_is_refused():
    columns = {"item": list("xxyy"), "round": [1, 1, 2, 2], "model": ["a", "b"] * 2}
    log = read_log({**columns, "correct": [1, 0, 0, 1]})
    with pytest.raises(InputError, match="round 1 has one item"):
        analyse(log, rng=0)


def test_a_chain_on_a_path_is_refused():
    with pytest.raises(InputError, match="chain is for panels"):
        analyse(walk(3)[0], chain=["h1"], rng=0)


def test_anli_is_the_table_of_the_baseline_with_advice_and_its_reason(shared_data):
    with gzip.open(
        shared_data / "dynamic" / "anli_dev_rounds_8models.csv.gz", "rt", encoding="utf-8"
    ) as lines:
        rows = list(csv.DictReader(lines))
    models = list(rows[0])[4:]
    log = read_log(
        {name: [row[name] for row in rows] for name in rows[0]},
        round="round",
        truth="gold",
        models=models,
        item="uid",
        validators="verifier_labels",
    )
    result = analyse(log, chain=models[:3], permutations=199, rollouts=60, rng=0)
    assert [round(100 * each.all_wrong, 1) for each in result.overlap] == [8.7, 17.1, 18.1]
    assert [round(100 * each.independent, 2) for each in result.overlap] == [0.15, 2.27, 2.57]
    assert all(isinstance(each.noise_share, Unknown) for each in result.rounds)
    assert all(each.low == 0 for each in result.noise_sets)
    assert result.advice.reason
    assert [step.model for step in result.forgetting] == ["roberta-from-r2", "roberta-from-r3"]
