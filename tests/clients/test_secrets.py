import pytest

from tallystick.clients import ClientQuestion, client_of
from tallystick.clients.journal import looks_like_key
from tallystick.errors import InputError

KEY = "sk-proj-Abc123Def456Ghi789Jkl"
HEX = "3f1c9a7b2d4e8f60a1b2c3d4e5f60718"


def make(api="https://host/v1", headers=None, request=None):
    asked = ClientQuestion(api=api, header=headers or {}, request=request or {"t": "{text}"})
    return client_of(asked, columns=["text"])


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {KEY}"},
        {"api-key": HEX},  # Azure
        {"x-api-key": "short"},  # Anthropic; any literal under such a name
        {"x-goog-api-key": "AIzaSyA1234567890abcdefghijklmnopqrstu"},  # Google
        {"X-Custom": KEY},
        {"Ocp-Apim-Subscription-Key": HEX},
        {"Cookie": "session=1"},
    ],
)
def test_a_key_that_was_typed_into_a_header_is_refused_without_being_shown(headers):
    with pytest.raises(InputError, match=r"holds a key: write it as \$NAME") as refused:
        make(headers=headers)
    assert next(iter(headers.values())) not in str(refused.value)


@pytest.mark.parametrize(
    "api",
    [
        f"https://host/v1?key={HEX}",
        "https://host/v1?code=abc",
        f"https://host/{KEY}/run",
        "https://user:secret@host/v1",
    ],
)
def test_a_key_in_the_address_is_refused_without_being_shown(api):
    with pytest.raises(InputError, match=r"\$NAME") as refused:
        make(api)
    for secret in (HEX, KEY, "secret@"):
        assert secret not in str(refused.value)


def test_a_key_in_the_body_or_in_a_command_is_refused():
    with pytest.raises(InputError, match="holds a key"):
        make(request={"t": "{text}", "auth": KEY})
    with pytest.raises(InputError, match="holds a key"):
        client_of(ClientQuestion(api=f"command:echo {KEY}"))


def test_names_of_the_environment_pass_and_are_described_by_name(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    client = make("https://host/v1?key=$MY_KEY&api-version=2024-06-01", {"api-key": "$MY_KEY"})
    assert KEY not in repr(client.description)
    assert set(client.secrets) == {KEY}


@pytest.mark.parametrize(
    "text",
    ["application/json", "2024-06-01-preview", "gpt-4o-mini-2024-07-18", "tallystick/1.0", ""],
)
def test_plain_values_do_not_look_like_keys(text):
    assert not looks_like_key(text)
