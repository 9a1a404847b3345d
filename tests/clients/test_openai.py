import pytest

from tallystick.clients import ClientSpec, OpenAIClient, client_of
from tallystick.errors import InputError


def test_a_prompt_is_needed_and_labels_are_put_into_it(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    spec = ClientSpec(target="", columns=["review"], labels=["no", "yes"])
    with pytest.raises(InputError, match=r"needs a prompt.*--prompt"):
        client_of("openai:tiny@http://127.0.0.1/v1", spec)
    client = OpenAIClient(
        "tiny@http://127.0.0.1/v1",
        prompt="{review}: {labels}?",
        labels=spec.labels,
        columns=spec.columns,
        timeout=5,
    )
    request = client.description["request"]
    assert request["messages"][0]["content"] == "{review}: no, yes?"


def test_openai_itself_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    spec = ClientSpec(target="", columns=["review"], prompt="{review}")
    with pytest.raises(InputError, match="export OPENAI_API_KEY"):
        client_of("openai:gpt", spec)
