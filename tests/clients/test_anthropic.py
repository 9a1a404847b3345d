import asyncio
import json

import pytest

from tallystick.clients import AnthropicClient, ChatOptions, Fault, OpenAIClient
from tallystick.errors import InputError

ROW = {"text": "hi {you}"}


def anthropic(chat=None, **more):
    options = {"prompt": "Say {labels}: {text}", "labels": ["a", "b"], "columns": ["text"]}
    return AnthropicClient("m@http://127.0.0.1:9", timeout=1, chat=chat, **{**options, **more})


def test_the_request_is_a_messages_request(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1234567890")
    client = anthropic(ChatOptions(system="Be brief.", temperature=0.5, json_mode=True))
    body = client.question(ROW)
    assert body["messages"] == [{"role": "user", "content": "Say a, b: hi {you}"}]
    assert body["max_tokens"] == 1024
    assert body["temperature"] == 0.5
    assert body["system"].startswith("Be brief. Answer with one JSON object")
    headers = client.description["headers"]
    assert headers["x-api-key"] == "$ANTHROPIC_API_KEY"
    assert "anthropic-version" in headers
    assert "sk-ant" not in json.dumps(client.description)


def test_text_blocks_are_joined_and_an_error_is_a_fault(monkeypatch):
    client = anthropic()
    blocks = [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "a"}]
    replies = [
        {"content": blocks, "model": "m-1", "usage": {"input_tokens": 7, "output_tokens": 2}},
        {"type": "error", "error": {"type": "overloaded_error"}},
    ]

    class Wire:
        async def post(self, body):
            return replies.pop(0)

    client._wire = Wire()
    reply = asyncio.run(client.ask(ROW))
    assert (reply.text, reply.model, reply.input_tokens, reply.output_tokens) == ("a", "m-1", 7, 2)
    with pytest.raises(Fault, match="overloaded_error") as fault:
        asyncio.run(client.ask(ROW))
    assert fault.value.retry


def test_a_key_is_asked_for_by_name(monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(InputError, match="export ANTHROPIC_API_KEY"):
        AnthropicClient("m", prompt="x", labels=[], columns=[], timeout=1)


def test_a_chat_request_leaves_the_temperature_alone_and_takes_extra_fields():
    options = {"prompt": "{text}", "labels": [], "columns": ["text"], "timeout": 1}
    plain = OpenAIClient("m@http://127.0.0.1:9/v1", **options).question(ROW)
    assert set(plain) == {"model", "messages"}
    chat = ChatOptions(max_tokens=5, json_mode=True, extra='{"top_p": 0.5}', system="S")
    full = OpenAIClient("m@http://127.0.0.1:9/v1", chat=chat, **options).question(ROW)
    assert full["top_p"] == 0.5
    assert full["max_tokens"] == 5
    assert full["response_format"] == {"type": "json_object"}
    assert full["messages"][0] == {"role": "system", "content": "S"}


def test_azure_keeps_its_parameters_and_its_own_header(monkeypatch):
    monkeypatch.setenv("AZURE_KEY", "abc")
    monkeypatch.setenv("OPENAI_API_KEY", "other")
    client = OpenAIClient(
        "m@https://x.openai.azure.com/openai/deployments/d?api-version=2024-06-01",
        prompt="{text}",
        labels=[],
        columns=["text"],
        timeout=1,
        headers={"api-key": "$AZURE_KEY"},
    )
    assert client.description["url"].endswith("/d/chat/completions?api-version=2024-06-01")
    assert client.secrets == ("abc",)
