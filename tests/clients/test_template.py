import pytest

from tallystick.clients.client import (
    MISSING,
    Secret,
    check_fields,
    fields,
    fill,
    fill_json,
    look_up,
    parse_path,
)
from tallystick.errors import InputError


def test_values_are_never_read_as_templates():
    row = {"a": "{b}", "b": '"},{"x": 1'}
    assert fill("{a}{b}", row) == '{b}"},{"x": 1'
    assert fill_json({"t": ["{b}"]}, row) == {"t": ['"},{"x": 1']}


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"\{reviev\}"):
        check_fields({"text": "{reviev}"}, ["review"], "the request")
    assert fields({"{a}": [{"x": "{b} {c}"}], "n": 1}) == {"a", "b", "c"}


@pytest.mark.parametrize("bad", ["label", "$.", "$..a", "$.a[*]", "$[a]", "$.a b"])
def test_paths_beyond_names_and_positions_are_refused(bad):
    with pytest.raises(InputError, match="label path"):
        parse_path(bad)


def test_a_path_that_leads_nowhere_finds_nothing():
    reply = {"a": [{"b": "x"}], "c": None}
    assert look_up(reply, parse_path("$.a[0].b")) == "x"
    assert look_up(reply, parse_path("$.a[-1]['b']")) == "x"
    for path in ("$.a[1].b", "$.c.d", "$.a.b", "$.z"):
        assert look_up(reply, parse_path(path)) is MISSING


def test_a_secret_is_shown_by_name(monkeypatch):
    monkeypatch.setenv("K1", "v1")
    secret = Secret("a $K1 ${K1}", "x")
    assert secret.sent == "a v1 v1"
    assert "v1" not in repr(secret)
