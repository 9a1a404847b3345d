import pytest

from tallystick.clients import ClientQuestion, client_of
from tallystick.errors import InputError

REVIEW = {"text": "{review}"}


def http(url, *, request=None, headers=None):
    asked = ClientQuestion(api=url, request=request, header=headers or {})
    return client_of(asked, columns=["review"])


def test_a_key_in_a_header_is_refused():
    with pytest.raises(InputError, match=r"\$NAME"):
        http("http://127.0.0.1/", request=REVIEW, headers={"X-Api-Key": "sk-123"})
    with pytest.raises(InputError, match="password"):
        http("http://me:sk-123@127.0.0.1/", request=REVIEW)


def test_a_missing_key_is_named(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with pytest.raises(InputError, match="NO_SUCH_KEY"):
        http(
            "http://127.0.0.1/", request=REVIEW, headers={"Authorization": "Bearer $NO_SUCH_KEY"}
        ).ready()


def test_an_http_api_without_a_request_template_is_refused():
    with pytest.raises(InputError, match=r"request template.*--request"):
        http("https://127.0.0.1/")


def test_a_template_that_names_an_unknown_column_is_refused():
    with pytest.raises(InputError, match=r"\{text\}"):
        http("https://127.0.0.1/", request='{"text": "{text}"}')


def test_the_whole_address_is_kept():
    client = http("http://127.0.0.1/x", request='{"text": "{review}"}')
    assert client.description["url"] == "http://127.0.0.1/x"
