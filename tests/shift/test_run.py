import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tallystick.clients import ClientError, ClientQuestion, ReplayClient, client_of
from tallystick.errors import BudgetError, FormatError, InputError
from tallystick.verbs.shift import ShiftQuestion, run

from .conftest import COLUMNS

CHANGES = ("requests", "cost", "notes", "usage", "api", "asked_hash")
REPLAY = ReplayClient("new", columns=COLUMNS)


def api(address):
    return client_of(ClientQuestion(api=address))


REQUEST = {"id": "{id}", "new": "{new}"}


def http(url, how=None, *, request=REQUEST, headers=None, label="$.label"):
    asked = {"api": f"{url}#{label}", "request": request, "header": headers or {}}
    return client_of(replace(how or ShiftQuestion(), **asked), columns=COLUMNS)


def same(result):
    return {key: value for key, value in result.to_dict().items() if key not in CHANGES}


def test_a_replayed_change_is_found(items, rows):
    result = run(items, REPLAY, rows, ShiftQuestion(budget=300))
    truth = sum(row["new"] == row["true"] for row in rows) - sum(
        row["old"] == row["true"] for row in rows
    )
    assert truth / 600 in result.accuracy_change.interval
    assert result.calls == 300
    assert result.top_cells[0].true == "four"
    assert result.top_cells[0].survives


def test_the_server_gives_the_result_of_the_replay_however_answers_arrive(items, rows, server):
    how = ShiftQuestion(budget=150, concurrency=16, seed=3, deterministic=True)
    with server(delay=0.01) as api:
        served = run(items, http(api.url, how), rows, how)
        stats = api.stats()
    assert same(served) == same(run(items, REPLAY, rows, how))
    assert stats["most"] <= 16
    assert sum(stats["paid"].values()) == 150 == served.requests.billed


def test_faults_lose_nothing_and_pay_nothing_twice(items, rows, server):
    # a busy machine must not look like a hanging server
    limits = {"concurrency": 32, "timeout": 3.0, "wait": 0.05}
    how = ShiftQuestion(budget=100, deterministic=True, strategy="uniform", **limits)
    with server(delay=0.01, faults=0.3, pause=0.1) as api:
        result = run(items, http(api.url, how), rows, how)
        stats = api.stats()
    assert set(stats["faults"]) == {"500", "429", "reset", "hang", "garbage", "error200"}
    assert result.requests.failed == 0
    assert result.n_items == 100
    assert set(stats["paid"].values()) == {1}
    assert len(stats["paid"]) == 100
    assert result.requests.sent == 100 + sum(stats["faults"].values())
    assert same(result) == same(run(items, REPLAY, rows, how))


def test_killed_runs_resume_to_the_identical_result(tmp_path, server):
    with server(delay=0.005, seconds=120) as api:
        driver = Path(__file__).with_name("killing.py")
        command = [sys.executable, str(driver), api.url, "5", "100", str(tmp_path), "1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        paid = api.stats()["paid"]
    report = json.loads(done.stdout)
    assert report["killed"] == 5
    assert report["identical"] == 5
    assert max(report["from_journal"]) > 0
    # Twice-asked items are paid for twice by wish; beyond that only what was in flight when killed.
    assert sum(paid.values()) <= 6 * 100 + report["resent"]


def test_a_finished_journal_answers_without_a_call(items, rows, tmp_path):
    how = ShiftQuestion(budget=100, journal=tmp_path / "j", repeats=10)
    first = run(items, REPLAY, rows, how)
    again = run(items, REPLAY, rows, how)
    assert same(first) == same(again)
    assert again.requests.from_journal == 100
    assert again.requests.sent == first.requests.sent


def test_a_journal_of_other_data_is_refused(items, rows, tmp_path):
    how = ShiftQuestion(budget=60, journal=tmp_path / "j")
    run(items, REPLAY, rows, how)
    other = replace(items, names=tuple(f"x{name}" for name in items.names))
    with pytest.raises(FormatError, match="other data"):
        run(other, REPLAY, rows, how)


def test_a_changed_template_on_resume_is_refused(items, rows, tmp_path, server):
    how = ShiftQuestion(budget=60, journal=tmp_path / "j")
    with server() as api:
        run(items, http(api.url, how), rows, how)
        changed = http(api.url, how, request={**REQUEST, "prompt": "other"})
        with pytest.raises(FormatError, match="template"):
            run(items, changed, rows, how)


def test_a_larger_budget_another_level_and_a_gate_go_on_with_the_journal(items, rows, tmp_path):
    """Another budget was refused before: nothing that was paid for is paid for again."""
    first = run(items, REPLAY, rows, ShiftQuestion(budget=60, journal=tmp_path / "j"))
    more = run(items, REPLAY, rows, ShiftQuestion(budget=120, alpha=0.1, journal=tmp_path / "j"))
    assert first.requests.sent == 60
    assert more.requests.from_journal > 0
    assert more.requests.sent == 60 + 120 - more.requests.from_journal
    assert more.requests.unused == 60 - more.requests.from_journal
    assert more.requests.paid_twice == 0
    assert same(more) == same(run(items, REPLAY, rows, ShiftQuestion(budget=120, alpha=0.1)))


def test_a_refused_key_stops_the_run_at_once(items, rows, server, tmp_path):
    with server() as api:
        how = ShiftQuestion(budget=100, concurrency=1, journal=tmp_path / "j")
        with pytest.raises(ClientError, match=r"refused the key \(HTTP 401: bad key\)"):
            run(items, http(f"{api.url}/denied", how), rows, how)
        assert api.stats()["requests"] == {"denied": 1}


def test_keys_come_from_the_environment_and_are_written_nowhere(
    items, rows, server, tmp_path, monkeypatch
):
    monkeypatch.setenv("SHIFT_TEST_KEY", "sk-very-secret")
    how = ShiftQuestion(budget=60, journal=tmp_path / "j")
    with server() as api:
        client = http(f"{api.url}/echo", how, headers={"Authorization": "Bearer $SHIFT_TEST_KEY"})
        result = run(items, client, rows, how)
    journal = (tmp_path / "j").read_text()
    assert "Bearer ***" in journal  # the server sent the key back, and it was struck out
    for text in (journal, json.dumps(result.to_dict()), result.summary(), repr(client.description)):
        assert "sk-very-secret" not in text


def test_a_chat_model_is_asked_and_read(items, rows, server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with server() as api:
        question = ShiftQuestion(api=f"openai:tiny@{api.url}/v1", prompt="One of {labels}? {new}")
        client = client_of(question, labels=items.labels, columns=COLUMNS)
        asked = [row for row in rows if row["new"]][:200]
        chosen = items_from(asked)
        how = ShiftQuestion(budget=80, deterministic=True, answer="words")
        result = run(chosen, client, asked, how)
    assert same(result) == same(run(chosen, REPLAY, asked, how))


def items_from(rows):
    from .conftest import items_of

    return items_of(rows)


def test_a_command_answers_each_item(items, rows):
    script = "import json,sys; print(json.load(sys.stdin)['new'])"
    client = api(f'command:{sys.executable} -c "{script}"')
    few = rows[:12]
    chosen = items_from(few)
    how = ShiftQuestion(
        budget=4,
        concurrency=2,
        strategy="uniform",
        deterministic=True,
    )
    assert same(run(chosen, client, few, how)) == same(run(chosen, REPLAY, few, how))


def test_a_function_answers_each_item(items, rows, tmp_path, monkeypatch):
    (tmp_path / "my_api.py").write_text(
        "def ask(row):\n    return row['new']\n\nasync def later(row):\n    return row['new']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    how = ShiftQuestion(budget=60, deterministic=True)
    for name in ("ask", "later"):
        result = run(items, api(f"python:my_api:{name}"), rows, how)
        assert same(result) == same(run(items, REPLAY, rows, how))


def test_failed_calls_are_missing_not_wrong(items, rows, tmp_path, monkeypatch):
    text = (
        "def ask(row):\n    if row['id'].endswith('7'):\n        raise KeyError('x')\n    return"
        " row['new']\n"
    )
    (tmp_path / "bad_api.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    result = run(
        items, api("python:bad_api:ask"), rows, ShiftQuestion(budget=200, deterministic=True)
    )
    assert result.requests.failed > 0
    assert result.n_items == 200 - result.requests.failed
    assert result.unheard["failed"].answers == result.requests.failed
    assert 0 < result.unheard["failed"].hides < 0.2
    assert "missing, not wrong" in result.summary()


def test_the_money_is_a_hard_limit(items, rows, server):
    limits = {"concurrency": 8, "timeout": 0.3, "wait": 0.01}
    how = ShiftQuestion(budget=200, price=0.5, max_cost=40, **limits)
    with server(faults=0.3, pause=0.05) as api:
        result = run(items, http(api.url, how), rows, how)
        sent = sum(api.stats()["requests"].values())
    assert result.cost <= 40
    assert result.cost == result.requests.billed * 0.5
    # A request is counted before it leaves; one that timed out may never have arrived.
    assert sent <= result.requests.sent


def test_a_price_without_a_call_in_it_is_refused(items):
    with pytest.raises(BudgetError, match="does not pay"):
        ShiftQuestion(budget=10, price=2.0, max_cost=1.0).plan(items)
    with pytest.raises(InputError, match="price"):
        ShiftQuestion(max_cost=1.0)


def test_a_gate_stops_at_the_first_proof(items, rows):
    clean = ReplayClient("old", columns=COLUMNS)
    passed = run(
        items, clean, rows, ShiftQuestion(budget=500, gates="flip_rate <= 0.05", deterministic=True)
    )
    assert passed.watched is True
    assert passed.calls < 80
    failed = run(
        items, REPLAY, rows, ShiftQuestion(budget=500, gates="flip_rate <= 0.0", deterministic=True)
    )
    assert failed.watched is False
    assert failed.calls < 100


def test_a_gate_that_falls_with_the_first_answer_still_gives_an_assessment(items, rows):
    other = {"four": "five", "five": "six", "six": "four", "": "four"}
    flipped = [{**row, "new": other[row["old"]]} for row in rows]
    failed = run(
        items,
        REPLAY,
        flipped,
        ShiftQuestion(budget=200, gates="flip_rate <= 0.01", deterministic=True),
    )
    assert failed.watched is False
    assert failed.calls == 2


COIN = """import random
r = random.Random(1)

def ask(row):
    return row['true'] if r.random() < .8 else r.choice(['four', 'five', 'six'])
"""


def test_flips_that_do_not_repeat_are_noise(rows, tmp_path, monkeypatch):
    (tmp_path / "coin_api.py").write_text(COIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    import coin_api

    rows = [{**row, "old": coin_api.ask(row)} for row in rows]  # the same API, asked before
    how = ShiftQuestion(budget=400, concurrency=1)
    noisy = run(items_from(rows), api("python:coin_api:ask"), rows, how)
    assert noisy.calls == 400
    assert noisy.noise.repeats >= 30
    assert noisy.noise.share > 0.8
    assert 0 in noisy.accuracy_change.interval
    assert noisy.noise.p_value > 0.05
    assert noisy.flip_rate.estimate > 0.05  # these answers differ all the same
    assert noisy.changed is not True


def test_repeats_stop_where_the_first_thirty_confirm(tmp_path, monkeypatch):
    (tmp_path / "sure_api.py").write_text("def ask(row):\n    return row['new']\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from tallystick.verbs.shift import Items

    truth = ["a", "b"] * 500
    rows = [{"new": "b"} for _ in truth]
    sure = run(
        Items.of(truth, old=truth), api("python:sure_api:ask"), rows, ShiftQuestion(budget=600)
    )
    assert sure.noise.repeats == sure.noise.confirmed == 30
    assert sure.noise.share == pytest.approx(0.0549, abs=1e-4)
    assert sure.noise.p_value < 1e-6
    assert sure.noise.beyond.interval.low > 0.3
    assert sure.calls == 600
    assert sure.verdict.startswith("The API changed: ")
    assert "It got worse" in sure.verdict


def test_recorded_answers_only_differ_and_are_not_asked_again(items, rows):
    result = run(items, REPLAY, rows, ShiftQuestion(budget=400))
    assert result.noise.repeats == 0
    assert result.noise.share == 1
    assert result.verdict.startswith("These answers changed")
    assert "The API" not in result.verdict
    assert result.noise.whole_noise == result.accuracy_change
    certain = run(items, REPLAY, rows, ShiftQuestion(budget=400, deterministic=True))
    assert certain.accuracy_change.interval.width < result.accuracy_change.interval.width


def test_repeats_that_were_paid_for_count_when_the_money_runs_out(
    items, rows, tmp_path, monkeypatch
):
    (tmp_path / "lossy_api.py").write_text(
        "from tallystick.clients import Fault\nasked = []\n\nasync def ask(row):\n   "
        " asked.append(1)\n    if len(asked) > 75:\n        raise Fault('lost', retry=True,"
        " billed=True)\n    return 'four' if row['old'] != 'four' else 'six'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    limits = {"concurrency": 1, "wait": 1e-6, "attempts": 100, "breaker": 100}
    how = ShiftQuestion(budget=100, price=1, max_cost=100, **limits)
    result = run(items, api("python:lossy_api:ask"), rows, how)
    assert 0 < result.noise.repeats == 75 - (result.calls - result.noise.repeats)
    assert result.cost == 100
    assert any("not a second time" in warning for warning in result.warnings)


def test_a_run_that_the_money_ended_says_so(items, rows):
    result = run(items, REPLAY, rows, ShiftQuestion(budget=200, price=1, max_cost=80))
    assert any("120 items were not asked" in warning for warning in result.warnings)
    enough = run(items, REPLAY, rows, ShiftQuestion(budget=80, price=1, max_cost=80))
    assert not any("max_cost" in warning for warning in enough.warnings)


def test_a_finished_journal_is_read_without_its_key(items, rows, server, tmp_path, monkeypatch):
    monkeypatch.setenv("SHIFT_TEST_KEY", "sk-very-secret")
    how = ShiftQuestion(budget=60, journal=tmp_path / "j", deterministic=True)
    with server() as api:
        client = http(api.url, how, headers={"Authorization": "Bearer $SHIFT_TEST_KEY"})
        first = run(items, client, rows, how)
        monkeypatch.delenv("SHIFT_TEST_KEY")
        again = run(items, client, rows, how)
        assert same(again) == same(first)
        with pytest.raises(InputError, match="export SHIFT_TEST_KEY"):
            run(items, client, rows, replace(how, budget=80))
