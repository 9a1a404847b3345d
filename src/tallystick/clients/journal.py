"""An append-only record of what was asked and what came back: nothing paid for is lost.

One line per event, written before it is acted on: *sent* before a request leaves, the answer before
it is used. So the journal counts at least the requests that a server saw.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log2
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tallystick.clients.client import texts_of
from tallystick.errors import FormatError, InputError
from tallystick.results import Json, count, harmless, number, percent
from tallystick.table.ledger import Ledger, LedgerKind

OTHER_DATA = (
    "the journal {} is of other data: item {!r} was asked something else then, or is not here; name"
    " another journal"
)

JOURNALS = LedgerKind(key="journal", what="journal", format=2)
"""Answers are kept whole and by item."""


@dataclass(frozen=True)
class JournalEntry:
    """One answer.

    Parameters
    ----------
    item
        The name of the item.
    code
        As it was read when it came; None if the question failed for good.
    text
        The whole answer, blank if the reply held none; for a failure the reason.
    asked
        A digest of what was asked.
    facts
        What the API said about it: ``cost``, ``seconds``, ``model``, ``fingerprint``,
        ``input_tokens``, ``output_tokens``, ``cut``; only those that are known.
    """

    item: str
    code: int | None
    text: str
    asked: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cut(self) -> bool:
        """Whether the reply was cut off, so that no answer is read from it."""
        return bool(self.facts.get("cut"))

    @property
    def answer(self) -> str | None:
        """The text that may hold an answer; None if the reply held none or was cut off."""
        return None if self.cut else self.text or None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens, time and names, over all resumes of a journal.

    Parameters
    ----------
    input_tokens, output_tokens
        In all, as the API counts them; None if it does not.
    latency, slowest
        The median and the longest time of an answered request, in seconds.
    models, fingerprints
        How many answers came from each, in the order in which they first appeared.
    cut
        Replies that were cut off because no more tokens were allowed; they count as unread.
    failures
        How many questions failed for each reason, the commonest first.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    latency: float | None = None
    slowest: float | None = None
    models: Mapping[str, int] = field(default_factory=dict)
    fingerprints: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)


class Journal:
    """The record of one run; without a path it is kept in memory only.

    Parameters
    ----------
    path
        The file, continued if it exists; None keeps nothing.
    head
        What the run is of: ``api`` must not change, but for its keys; the rest is for readers.
    secrets
        Values that are replaced by ``***`` wherever they turn up.
    """

    def __init__(
        self, path: Path | None, *, head: Mapping[str, Json], secrets: Sequence[str] = ()
    ) -> None:
        self.answers: dict[str, JournalEntry] = {}
        self.sent: Counter[str] = Counter()
        self.unbilled: Counter[str] = Counter()
        self.head: dict[str, Any] = dict(head)
        self.spent = 0.0
        self.notes: tuple[str, ...] = ()
        self._open: dict[str, list[float]] = {}
        self._secrets = tuple(secret for secret in secrets if secret)
        self._ledger: Ledger | None = None
        if path is None:
            return
        busy = f"the journal {path} is in use by another run: wait for it, or name another"
        self._ledger = Ledger(path, JOURNALS, head, busy=busy)
        try:
            self._take_over(self._ledger)
        except BaseException:
            self.close()
            raise

    def _take_over(self, ledger: Ledger) -> None:
        """Read what the file holds already."""
        events, path = ledger.events, ledger.path
        if ledger.lost:
            self.notes = (
                f"the last line of the journal {path} was not whole ({ledger.lost} bytes, by a kill"
                " or by damage) and is cut off: what it held is asked again",
            )
        if _keyless(events[0].get("api")) != _keyless(self.head.get("api")):
            raise FormatError(
                f"the journal {path} is of another run: the API, its template or its prompt"
                " changed; name another journal"
            )
        self.head = events[0]
        for event in events[1:]:
            self._take(event)
        ledger.events = []
        # What failed is asked again.
        self.answers = {key: one for key, one in self.answers.items() if one.code is not None}

    def _take(self, event: Mapping[str, Any]) -> None:
        """Count one event; all sums over a run are kept here, whether it is read or written."""
        if "sent" in event:
            key, most = event["sent"], event.get("most", 0.0)
            self.sent[key] += 1
            self.spent += most
            self._open.setdefault(key, []).append(most)
        elif "unbilled" in event:
            key = event["unbilled"]
            self.unbilled[key] += 1
            if self._open.get(key):
                self.spent -= self._open[key].pop()
        elif "answer" in event:
            key, entry = event["answer"], _entry(event)
            if "cost" in entry.facts and self._open.get(key):
                # What an answered request cost, for what it could have cost.
                self.spent += entry.facts["cost"] - self._open[key].pop()
            self.answers[key] = entry

    def find(self, item: str, draw: int, asked: str) -> JournalEntry | None:
        """Return the answer number *draw* to an item, or None; refuse one to another question."""
        entry = self.answers.get(key_of(item, draw))
        if entry is None or not entry.asked or entry.asked == asked:
            return entry
        where = "in memory" if self._ledger is None else self._ledger.path
        raise FormatError(OTHER_DATA.format(where, item))

    @property
    def paid_twice(self) -> int:
        """Requests beyond the first for one answer, at most so many billed, over all resumes."""
        extra = (self.sent[key] - self.unbilled[key] - 1 for key in self.answers)
        return sum(max(0, n) for n in extra)

    @property
    def in_flight(self) -> int:
        """Requests that were sent and neither answered nor refused: in flight when a run was
        killed, or lost.
        """
        waiting = set(self.sent) - set(self.answers)
        return sum(self.sent[key] - self.unbilled[key] for key in waiting)

    @property
    def billed(self) -> int:
        """Requests that may have been billed."""
        return self.sent.total() - self.unbilled.total()

    @property
    def usage(self) -> Usage:
        """What the API said of itself: tokens, latency, and which model answered."""
        entries = self.answers.values()
        facts = [one.facts for one in entries if one.code is not None]
        reasons = Counter(one.text for one in entries if one.code is None)

        def every(name: str) -> list[Any]:
            return [one[name] for one in facts if name in one]

        times = every("seconds")
        return Usage(
            input_tokens=sum(every("input_tokens")) if every("input_tokens") else None,
            output_tokens=sum(every("output_tokens")) if every("output_tokens") else None,
            latency=round(median(times), 3) if times else None,
            slowest=round(max(times), 3) if times else None,
            models=dict(Counter(every("model"))),
            fingerprints=dict(Counter(every("fingerprint"))),
            cut=sum(one.cut for one in entries),
            failures=dict(reasons.most_common(3)),
        )

    def note_sent(self, key: str, most: float = 0.0) -> None:
        """Note that a request is about to leave, and what it costs at most."""
        self._note({"sent": key, "most": most} if most else {"sent": key})

    def note_unbilled(self, key: str) -> None:
        """Note that the server refused a request outright."""
        self._note({"unbilled": key})

    def note_answer(self, key: str, entry: JournalEntry) -> None:
        """Note an answer, or that there will be none."""
        event = {"answer": key, "item": entry.item, "code": entry.code}
        event["text"] = self.redact(entry.text)
        event |= {name: value for name, value in entry.facts.items() if value is not None}
        self._note(event | ({"ask": entry.asked} if entry.asked else {}))

    def _note(self, event: Mapping[str, Any]) -> None:
        if self._ledger is not None:
            # A kill loses nothing that was handed to the system; a call is worth no wait for it.
            self._ledger.append([event], sync=False)
        self._take(event)

    def redact(self, text: str) -> str:
        """Return *text* without any secret."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def close(self) -> None:
        """Let go of the file."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None


def read_journal(path: Path) -> tuple[dict[str, Any], dict[str, JournalEntry]]:
    """Return the head and the answers of a finished (or unfinished) run."""
    events = JOURNALS.read(path)
    answers = {event["answer"]: _entry(event) for event in events if "answer" in event}
    return events[0], answers


def usage_warnings(usage: Usage) -> tuple[str, ...]:
    """Say if the API named more than one model, cut replies off, or failed, and why.

    >>> usage_warnings(Usage(models={"m-05": 40, "m-08": 2}, cut=3, failures={"HTTP 400": 7}))
    ('the API changed its model during the run: it named m-05 (40 answers), m-08 (2 answers)', \
'3 replies were cut off at the token limit and count as unread: allow longer ones (max_tokens in \
--request), in a new journal', 'the commonest reason why calls failed (7 times): HTTP 400')
    """
    found = []
    if len(usage.models) > 1:
        named = ", ".join(f"{name} ({count(n)} answers)" for name, n in usage.models.items())
        found.append(f"the API changed its model during the run: it named {named}")
    if usage.cut:
        found.append(
            f"{count(usage.cut)} replies were cut off at the token limit and count as unread: allow"
            " longer ones (max_tokens in --request), in a new journal"
        )
    for reason, times in list(usage.failures.items())[:1]:
        often = "once" if times == 1 else f"{count(times)} times"
        found.append(f"the commonest reason why calls failed ({often}): {reason}")
    return tuple(found)


UNREAD_SHARE = 0.02
"""From this share of unread answers on there is a warning."""


def unread_warnings(
    texts: Sequence[str], *, answers: int, labels: Sequence[str] = (), way: str = "see --answer"
) -> tuple[str, ...]:
    """Warn if more than 2% of the answers could not be read, with three of them.

    >>> unread_warnings(["Hm."] * 3, answers=100)
    ("3 of 100 answers (3.0%) could not be read as a label, e.g. 'Hm.': see --answer",)
    """
    if len(texts) <= UNREAD_SHARE * max(answers, 1):
        return ()
    wanted = f"one of {', '.join(labels)}" if labels else "a label"
    shown = "; ".join(repr(text[:60]) for text, _ in Counter(texts).most_common(3))
    return (
        f"{count(len(texts))} of {count(answers)} answers ({percent(len(texts) / answers)}) could"
        f" not be read as {wanted}, e.g. {shown}: {way}",
    )


def request_notes(journal: Journal, currency: str, *, reused: int) -> tuple[str, ...]:
    """Say what was sent, answered and paid, over all resumes of a journal."""
    done = sum(one.code is not None for one in journal.answers.values())
    counted = (
        (reused, "answers came from the journal"),
        (journal.paid_twice, "requests may have been paid twice"),
    )
    parts = [
        f"{count(done)} answers from {count(journal.sent.total())} requests sent,"
        f" {count(journal.billed)} of which may have been billed;"
        f" {count(len(journal.answers) - done)} questions failed"
    ]
    if journal.spent:
        parts.append(f"cost {number(journal.spent)} {currency}".rstrip())
    parts += [f"{count(n)} {what}" for n, what in counted if n]
    return ("; ".join(parts),) if journal.sent or reused else ()


def key_of(item: str, draw: int) -> str:
    """Return the key of the answer number *draw* to an item."""
    return f"{draw}:{item}"


_FACTS = ("cost", "seconds", "model", "fingerprint", "input_tokens", "output_tokens", "cut")


def _entry(event: Mapping[str, Any]) -> JournalEntry:
    return JournalEntry(
        event["item"],
        event["code"],
        event["text"],
        asked=event.get("ask", ""),
        facts={name: event[name] for name in _FACTS if name in event},
    )


def _keyless(api: Any) -> Any:
    """Return the description of an API without headers that name a key: who pays is not asked."""
    if not isinstance(api, Mapping) or not isinstance(api.get("headers"), Mapping):
        return api
    headers = {name: text for name, text in api["headers"].items() if not _VARIABLE.search(text)}
    return {**api, "headers": headers}


# Keys that were typed instead of named: they would end up in journals, pages and process lists.


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


def refuse_keys(url: str, request: Json, headers: Mapping[str, str]) -> None:
    """Refuse an address, a request or headers that hold a key.

    Of a request only known forms are refused, since texts may be anything.

    >>> refuse_keys("https://host/v1?key=$GOOGLE_KEY&api-version=2024-06-01", {}, {})
    """
    parts = urlsplit(url)
    typed = [("password", parts.username), ("password", parts.password), ("path", parts.path)]
    for name, value in [*typed, *parse_qsl(parts.query, keep_blank_values=True)]:
        refuse_key("URL", name, value or "")
    for name, text in texts_of(request):
        if _KNOWN.search(text):
            refuse_key("request field", name, text)
    for name, value in headers.items():
        refuse_key("header", name, value)


LONGEST = 200
"""Characters of what a server says about a failure."""

_HEADER = re.compile(
    r"(?i)\b((?:proxy-)?authorization|x-[\w-]*(?:key|token)|api[-_ ]?key|cookie)"
    r"(['\"]?\s*[:=]\s*['\"]?)(?:(?:bearer|basic|token)\s+)?[^\s'\",;}]+"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=*-]{6,}")
_STARRED = re.compile(r"\b(?:sk|pk|rk)-\S+|\S*\*{3,}\S*")


def failure(reason: str, body: Any, secrets: Sequence[str] = ()) -> str:
    """Return a reason with what a server says about it, on one line, without keys.

    Parameters
    ----------
    reason
        What happened; alone if the server says nothing.
    body
        The reply: parsed JSON, or text. Of JSON the message of the error is taken, of HTML nothing.
    secrets
        Values that were sent as keys.

    Examples
    --------
    >>> failure("HTTP 401", {"error": {"message": "Incorrect API key provided: sk-ab********yz."}})
    'HTTP 401: Incorrect API key provided: ***'
    >>> failure("HTTP 429", "no quota left for Authorization: Bearer hunter2-hunter2")
    'HTTP 429: no quota left for Authorization: ***'
    >>> failure("HTTP 502", "<html><body>Bad gateway</body></html>")
    'HTTP 502'
    """
    text = _message(body)
    # All keys go before the text is shortened: half a key would no longer be known as one.
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    text = _BEARER.sub(r"\1 ***", _HEADER.sub(r"\1\2***", text))
    text = _STARRED.sub("***", _KNOWN.sub("***", text))
    words = ["***" if looks_like_key(word) else word for word in text.split()]
    line = harmless(" ".join(words))
    line = line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()} …"
    return f"{reason}: {line}" if line else reason


def _message(body: Any) -> str:
    """Return the message of an error, wherever providers put it."""
    if isinstance(body, str):
        return "" if body.lstrip().startswith("<") else body
    if isinstance(body, Mapping):
        names = ("error", "message", "msg", "detail", "errors", "type", "code")
        body = [body.get(name) for name in names]
    said = map(_message, body) if isinstance(body, list) else ()
    return next((words for words in said if words), "")
