import pytest

from tallystick.clients import ClientSpec, HttpClient, client_of
from tallystick.errors import InputError


def http(url, *, headers=None):
    spec = ClientSpec(headers=headers or {}, columns=["review"], timeout=5)
    return HttpClient(url, spec, request={"text": "{review}"})


def test_a_key_in_a_header_is_refused():
    with pytest.raises(InputError, match=r"\$NAME"):
        http("http://127.0.0.1/", headers={"X-Api-Key": "sk-123"})
    with pytest.raises(InputError, match="password"):
        http("http://me:sk-123@127.0.0.1/")


def test_a_missing_key_is_named(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(InputError, match="NO_SUCH_KEY"):
        http("http://127.0.0.1/", headers={"Authorization": "Bearer $NO_SUCH_KEY"}).ready()


def test_an_http_api_without_a_request_template_is_refused():
    with pytest.raises(InputError, match=r"request template.*--request"):
        client_of("https://127.0.0.1/", ClientSpec(target="", columns=["review"]))


def test_a_template_that_names_an_unknown_column_is_refused():
    spec = ClientSpec(target="", columns=["review"], request='{"text": "{text}"}')
    with pytest.raises(InputError, match=r"\{text\}"):
        client_of("https://127.0.0.1/", spec)


def test_the_whole_address_is_kept():
    spec = ClientSpec(target="", columns=["review"], request='{"text": "{review}"}')
    assert client_of("http://127.0.0.1/x", spec).description["url"] == "http://127.0.0.1/x"
