"""Keys that were typed instead of named: they would end up in journals, pages and process lists."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import log2
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tallystick.errors import InputError
from tallystick.results import Json, harmless

__all__ = [
    "looks_like_key",
    "refuse_key",
    "refuse_keys_in_body",
    "refuse_keys_in_url",
    "server_words",
]

_SENSITIVE = re.compile(
    r"(?:^|[-_.])(?:auth(?:orization)?|api-?_?key|apikey|x-goog-api-key|key|token|secret|cookie"
    r"|password|passwd|pwd|sig|signature|credential|subscription-key|code)s?(?:$|[-_.])",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"(?:sk-[\w-]{8,}|AIza[\w-]{20,}|gh[pousr]_\w{20,}|xox[abprs]-[\w-]{10,}|hf_\w{20,}"
    r"|ya29\.[\w-]{10,}|eyJ[\w-]{10,}\.[\w-]+|AKIA[A-Z0-9]{12,}|glpat-[\w-]{12,}"
    r"|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)"
)
_VARIABLE = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?")
_SCHEME = re.compile(r"^(?:bearer|basic|token|apikey|key)\s+", re.IGNORECASE)


def looks_like_key(value: str) -> bool:
    """Say whether a text looks like a key: a known form, or a long run of random characters.

    >>> looks_like_key("sk-abcdefgh12345678"), looks_like_key("application/json")
    (True, False)
    >>> looks_like_key("Bearer $MY_KEY"), looks_like_key("0123456789abcdef0123456789abcdef")
    (False, True)
    """
    rest = _SCHEME.sub("", _VARIABLE.sub("", value).strip())
    if _KNOWN.search(rest):
        return True
    for word in re.split(r"[\s,;=&/:?@._-]+", rest):
        if len(word) < 16 or not re.fullmatch(r"[\w+~]+", word):
            continue
        kinds = sum(bool(re.search(kind, word)) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
        shares = [word.count(char) / len(word) for char in set(word)]
        entropy = -sum(share * log2(share) for share in shares)
        if kinds >= 2 and re.search("[0-9]", word) and entropy > 3.0:
            return True
    return False


def refuse_key(what: str, name: str, value: str) -> None:
    """Refuse a literal that looks like a key, or any literal under the name of one.

    The value itself is never shown.

    Parameters
    ----------
    what, name
        Where it stands: ``header`` and its name, ``URL parameter`` and its name, …
    value
        As typed; ``$NAME`` stands for an environment variable.
    """
    literal = _SCHEME.sub("", _VARIABLE.sub("", value).strip()).strip()
    named = _SENSITIVE.search(name) is not None and name != "an argument"
    if (named and literal and not _VARIABLE.search(value)) or looks_like_key(value):
        raise InputError(
            f"{what} {name} holds a key: write it as $NAME and put the key into the environment"
            " (export NAME=…), so that it is not kept anywhere"
        )


def refuse_keys_in_url(url: str) -> None:
    """Refuse an address whose password or parameters hold a key.

    >>> refuse_keys_in_url("https://host/v1?key=$GOOGLE_KEY&api-version=2024-06-01")
    """
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise InputError(
            "the address holds a password: put it into the environment and a header, as $NAME"
        )
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        refuse_key("URL parameter", name, value)
    if looks_like_key(parts.path):
        raise InputError("the path of the address holds a key: write it as $NAME")


def refuse_keys_in_body(body: Json, name: str = "body") -> None:
    """Refuse a request whose literals hold a key; only known forms, since texts may be anything."""
    if isinstance(body, Mapping):
        for key, value in body.items():
            refuse_keys_in_body(value, str(key))
    elif isinstance(body, list):
        for value in body:
            refuse_keys_in_body(value, name)
    elif isinstance(body, str) and _KNOWN.search(body):
        refuse_key("the request field", name, body)


LONGEST = 200
"""Characters of what a server says about a failure."""

_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|x-[\w-]*(?:key|token)|api[-_ ]?key|cookie)"
    r"(['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic|token)\s+)?[^\s'\",;}]+"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=*-]{6,}")
_STARRED = re.compile(r"\b(?:sk|pk|rk)-\S+|\S*\*{3,}\S*")


def server_words(body: Any, secrets: Sequence[str] = ()) -> str:
    """Return what a server says about a failure, on one line, without keys; blank if nothing.

    Parameters
    ----------
    body
        The reply: parsed JSON, or text. Of JSON the message of the error is taken, of HTML nothing.
    secrets
        Values that were sent as keys.

    Examples
    --------
    >>> server_words({"error": {"message": "Incorrect API key provided: sk-ab**********yz."}})
    'Incorrect API key provided: ***'
    >>> server_words("no quota left for Authorization: Bearer hunter2-hunter2")
    'no quota left for Authorization: ***'
    >>> server_words("<html><body>Bad gateway</body></html>")
    ''
    """
    text = _message(body)
    # All keys go before the text is shortened: half a key would no longer be known as one.
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    text = _BEARER.sub(r"\1 ***", _HEADER.sub(r"\1\2***", text))
    text = _STARRED.sub("***", _KNOWN.sub("***", text))
    words = ["***" if looks_like_key(word) else word for word in text.split()]
    line = harmless(" ".join(words))
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()} …"


def _message(body: Any) -> str:
    """Return the message of an error, wherever providers put it."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    if isinstance(body, Mapping):
        for name in ("error", "message", "msg", "detail", "errors", "type", "code"):
            found = _message(body.get(name))
            if found:
                return found
    return (
        next((found for one in body if (found := _message(one))), "")
        if isinstance(body, list)
        else ""
    )
