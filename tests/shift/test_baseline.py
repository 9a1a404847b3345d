import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs import shift

API = """import random
r = random.Random(3)

def noisy(row):
    return row['gold'] if r.random() < .8 else r.choice(['a', 'b'])
"""
TABLE = {"id": list(range(300)), "gold": ["a", "b", "b"] * 100}


@pytest.fixture
def api(tmp_path, monkeypatch):
    (tmp_path / "base_api.py").write_text(API)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "python:base_api:noisy"


def test_several_draws_show_accuracy_and_noise(api, tmp_path):
    out = tmp_path / "old.csv"
    result = shift.baseline(
        TABLE, truth="gold", item="id", api=api, repeats=3, out=out, concurrency=1
    )
    assert 0.9 in result.accuracy.interval
    assert 0.1 < result.unstable < 0.4  # 1 - .9³ - .1³ = .27
    assert result.noise == pytest.approx(0.09, abs=0.03)
    assert result.columns == ("old", "old.2", "old.3")
    assert result.calls == 900
    assert out.read_text().splitlines()[0] == "id,gold,old,old.2,old.3"
    assert "get different answers" in result.verdict


def test_a_later_shift_uses_all_old_draws(api, tmp_path):
    out = tmp_path / "old.csv"
    shift.baseline(TABLE, truth="gold", item="id", api=api, repeats=2, out=out, concurrency=1)
    options = {"truth": "gold", "old": "old", "item": "id", "api": api, "budget": 330}
    one = shift.evaluate(out, **options, concurrency=1)
    two = shift.evaluate(out, **options, concurrency=1, old_draws=("old.2",))
    assert not any("as noisy" in one_ for one_ in two.assumptions)
    assert 0 in two.accuracy_change.interval
    assert one.accuracy_change.interval.width > 0


def test_one_draw_leaves_the_noise_unknown(api):
    result = shift.baseline(TABLE, truth="gold", api=api, repeats=1)
    assert isinstance(result.noise, Unknown)
    assert result.accuracy.interval is None
    assert any("--repeats 2" in warning for warning in result.warnings)


def test_without_true_labels_only_the_noise_is_said(api):
    result = shift.baseline(TABLE, api=api, labels=("a", "b"))
    assert isinstance(result.accuracy.estimate, Unknown)
    assert result.verdict.endswith("300 items asked 2 times each.")
    with pytest.raises(InputError, match="--api"):
        shift.baseline(TABLE)
    with pytest.raises(InputError, match="--as"):
        shift.baseline({**TABLE, "old": ["a"] * 300}, api=api)
