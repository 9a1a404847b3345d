import pytest

from tallystick.table.words import is_failed_call


@pytest.mark.parametrize(
    "text",
    [
        "Error: 429",
        "error 503",
        "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
        "ERROR",
        "<error>",
        "timeout",
        "Timed out",
        "Time-out",
        "rate limit",
        "Rate limit exceeded",
        "429 Too Many Requests",
        "503 Service Unavailable",
        "HTTP 500",
        "HTTP/1.1 502 Bad Gateway",
        "status_code=429",
        "openai.RateLimitError: Rate limit reached for gpt-4",
        "ReadTimeout",
        "ConnectionError: [Errno 111]",
        "Traceback (most recent call last):\n  File x",
        "API error",
        "Error: timeout",
        "Internal Server Error",
        "overloaded_error",
    ],
)
def test_a_failed_call_is_told(text):
    assert is_failed_call(text)


@pytest.mark.parametrize(
    "text",
    [
        "positive",
        "429",
        "500",
        "B",
        "refused",
        "I cannot answer that.",
        "The page returned an error: 404 is the answer",
        "error in the billing address",
        "Errors of judgement",
        "timeout requested by the coach",
        "connection",
        "failed exam",
        "",
        None,
        3,
    ],
)
def test_an_answer_is_not_a_failed_call(text):
    assert not is_failed_call(text)
