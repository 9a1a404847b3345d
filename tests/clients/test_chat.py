"""Requests to chat models: what is sent, which key, and structured answers."""

import asyncio
import json

import pytest

from tallystick.clients import AnswerReading, ClientQuestion, Fault, client_of
from tallystick.errors import InputError

ROW = {"text": "hi {you}"}


def chat(api, **more):
    labels = more.pop("labels", ["a", "b"])
    asked = ClientQuestion(**{"api": api, "prompt": "Say {labels}: {text}", **more})
    return client_of(asked, columns=["text"], labels=labels)


def test_a_messages_request_has_its_key_by_name(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1234567890")
    client = chat(
        "anthropic:m@http://127.0.0.1:9", system_prompt="Be brief.", request={"temperature": 0.5}
    )
    body = client.question(ROW)
    assert body["messages"] == [{"role": "user", "content": "Say a, b: hi {you}"}]
    assert (body["max_tokens"], body["temperature"], body["system"]) == (1024, 0.5, "Be brief.")
    headers = client.description["headers"]
    assert headers["x-api-key"] == "$ANTHROPIC_API_KEY"
    assert "anthropic-version" in headers
    assert "sk-ant" not in json.dumps(client.description)


def test_a_chat_request_leaves_the_temperature_alone_and_takes_more_fields():
    api = "openai:m@http://127.0.0.1:9/v1"
    assert set(chat(api).question(ROW)) == {"model", "messages"}
    full = chat(api, request='{"top_p": 0.5, "max_tokens": 5}', system_prompt="S").question(ROW)
    assert (full["top_p"], full["max_tokens"]) == (0.5, 5)
    assert full["messages"][0] == {"role": "system", "content": "S"}


def test_one_of_the_labels_can_be_asked_for_as_a_field():
    body = chat("openai:m@http://127.0.0.1:9/v1", answer="schema").question(ROW)
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["a", "b"]
    tool = chat("anthropic:m@http://127.0.0.1:9", answer="schema").question(ROW)
    assert tool["tools"][0]["input_schema"]["required"] == ["answer"]
    assert AnswerReading("schema").label('{"answer": "b"}', ["a", "b"]) == "b"
    with pytest.raises(InputError, match="needs the labels"):
        chat("openai:m@http://127.0.0.1:9", answer="schema", labels=[], prompt="{text}")
    with pytest.raises(InputError, match="openai: and anthropic:"):
        client_of(ClientQuestion(api="python:json:dumps", answer="schema"))


def test_addresses_have_one_form():
    def url(api):
        return chat(api).description["url"]

    for host in ("http://127.0.0.1:9", "http://127.0.0.1:9/v1"):
        assert url(f"openai:m@{host}") == "http://127.0.0.1:9/v1/chat/completions"
        assert url(f"anthropic:m@{host}") == "http://127.0.0.1:9/v1/messages"


def test_text_blocks_are_joined_a_tool_is_read_and_an_error_is_a_fault(monkeypatch):
    client = chat("anthropic:m@http://127.0.0.1:9")
    blocks = [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}]
    replies = [
        {"content": blocks, "model": "m-1", "usage": {"input_tokens": 7, "output_tokens": 2}},
        {"content": [{"type": "tool_use", "input": {"answer": "b"}}]},
        {"type": "error", "error": {"type": "overloaded_error"}},
    ]

    async def post(body):
        return replies.pop(0)

    monkeypatch.setattr(client, "post", post)
    reply = asyncio.run(client.ask(ROW))
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("a", "m-1", 7, 2)
    assert asyncio.run(client.ask(ROW)).text == '{"answer": "b"}'
    with pytest.raises(Fault, match="overloaded_error") as fault:
        asyncio.run(client.ask(ROW))
    assert fault.value.retry


@pytest.mark.parametrize(
    ("api", "key"), [("openai:m", "OPENAI_API_KEY"), ("anthropic:m", "ANTHROPIC_API_KEY")]
)
def test_a_key_is_asked_for_by_name_when_it_is_needed(monkeypatch, api, key):
    monkeypatch.delenv(key, raising=False)
    client = chat(api)
    assert client.secrets == ()
    with pytest.raises(InputError, match=f"export {key}"):
        client.ready()


def test_azure_keeps_its_parameters_and_its_own_header(monkeypatch):
    monkeypatch.setenv("AZURE_KEY", "abc")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    api = "openai:m@https://x.openai.azure.com/openai/deployments/d?api-version=2024-06-01"
    client = chat(api, header={"api-key": "$AZURE_KEY"})
    assert client.description["url"].endswith("/d/chat/completions?api-version=2024-06-01")
    assert client.secrets == ("abc",)


def test_a_prompt_is_needed():
    with pytest.raises(InputError, match=r"needs a prompt.*--prompt"):
        chat("openai:tiny@http://127.0.0.1/v1", prompt=None)
