"""The drift test: once per window, when its rows have come and the settle time of each is over.

A window is the next N rows by arrival, or a whole day or week of a stream
with a season. The test sees the votes that came within the settle time of
their row; late votes and labels change results, never that test. The bound on
false alarms is `judge`'s: at most 5% of quiet streams raise one in 10,000
items.

**Seasons.** The bound holds while the blocks of the test are exchangeable.
Where votes follow the time of the day, blocks of 25 rows in a row are not,
but days are. So a day's rows pass the test in a random order, and days are
compared with days when they are over.

**One event, one alarm.** After an alarm the test begins anew behind the
change. What it finds within the next `_SAME_EVENT` rows is taken for the same
event: it is added to the alarm and not sent again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from tallystick.results import count, percent
from tallystick.serve.alerts import AlertNote, amend_alert, raise_alert
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.jobs import Held, Service, job
from tallystick.serve.routes import Incoming, Limit, Query, reads
from tallystick.serve.streams import (
    CODES,
    Codebook,
    StreamRecord,
    find_stream,
    names_of,
    new_version,
)

ALPHA = 0.05
_PATIENCE = 100.0
"""Seconds that the worker may take for a window; the lease of the job is longer."""

_MOST_IDS = 50_000
"""Rows that are looked at for one transaction: after an import there are thousands of windows."""

_MOST_TESTED = 20_000
"""Rows of a day or week that pass the test: a random sample of more would show nothing else."""

_SAME_EVENT = 2_000
"""Rows after an alarm within which another one is about the same event."""

_MOST_LATER = 5

_SEASONS = {"daily": (24, 0), "weekly": (168, 72)}
"""Hours of a season, and how many of them had passed when 1970 began (a Thursday)."""

_NOTICES = {
    "silent": (
        "silent",
        "why: a judge may be switched off, out of money, or the items may no longer reach it; what"
        " it would have said is unknown",
    ),
    "new label": (
        "spelling",
        "whether its opinion changed: only the word is new, and until it is mapped votes are lost",
    ),
}
"""Kinds of notices: the names of the alarms that they become, and what they do not prove."""


class WindowBody(msgspec.Struct):
    """A window of the drift test."""

    index: int
    rows: int
    opened: float
    full_at: float | None
    closed: float | None
    result: Any = None
    change: Any = None


class WindowList(msgspec.Struct):
    """Windows, the oldest first."""

    windows: list[WindowBody]


class WindowQuery(Query):
    """How many windows."""

    limit: Limit = 200


@reads("/v1/streams/{stream}/windows", "read", answer=WindowList, query=WindowQuery)
def get_windows(reader: Reader, incoming: Incoming) -> WindowList:
    """List the last windows of the drift test, the oldest first."""
    rows = reader.all(
        "select idx, rows, opened, full_at, closed, result, change from windows"
        " where stream = ? order by idx desc limit ?",
        (find_stream(reader, incoming.path["stream"]).id, incoming.query.limit),
    )
    return WindowList(
        [
            WindowBody(*row[:5], *(None if text is None else json.loads(text) for text in row[5:]))
            for row in reversed(rows)
        ]
    )


@job("drift", every=5.0, lease=120.0)
def watch_drift(service: Service, held: Held) -> None:
    """Open, fill and close the windows of every stream."""
    for name in service.read(names_of):
        if service.jobs.stopping.is_set():
            return
        stream = service.read(partial(find_stream, name=name))
        for step in (_fill, see_rows, _close):
            while step(service, held, stream):
                held.renew()


# Windows: where each begins and ends.


def _fill(service: Service, held: Held, stream: StreamRecord) -> bool:
    """Keep the next windows that are full; return whether there may be more."""

    def look(reader: Reader) -> tuple[int, list[tuple[int, int, int]]]:
        """Return the index of the first one, and each (first row, last row, n)."""
        last = reader.one(
            "select idx, row_from, row_to from windows where stream = ? order by idx desc limit 1",
            (stream.id,),
        )
        index, start = 0, 0
        if last is not None:  # earlier versions opened a window with its first row
            index, start = (last[0], last[1]) if last[2] is None else (last[0] + 1, last[2] + 1)
        full = _season if stream.settings.season else _next_rows
        return index, full(reader, stream, start)

    index, found = service.read(look)
    now = service.clock()

    def work(transaction: Transaction) -> None:
        for place, (first, last, n) in enumerate(found, start=index):
            transaction.run(
                "insert into windows (stream, idx, seq_from, row_from, row_to, rows, opened,"
                f" full_at) select {stream.id}, {place}, seq_first, id, ?, ?, ?, ? from rows r"
                f" where r.stream = ? and {transaction.row_is('=', first)}"
                " on conflict (stream, idx) do update set row_to = excluded.row_to,"
                " rows = excluded.rows, full_at = excluded.full_at",
                (last, n, now, now, stream.id),
            )

    if found:
        held.write(work)
    return bool(found)


def _next_rows(reader: Reader, stream: StreamRecord, start: int) -> list[tuple[int, int, int]]:
    """Return the next windows of N rows each."""
    size = stream.settings.window
    ids = [
        ident
        for (ident,) in reader.all(
            f"select r.id from rows r where r.stream = ? and {reader.row_is('>=', start)}"
            f" order by {reader.in_order()} limit ?",
            (stream.id, size * max(1, _MOST_IDS // size)),
        )
    ]
    return [(ids[k], ids[k + size - 1], size) for k in range(0, len(ids) - size + 1, size)]


def _season(reader: Reader, stream: StreamRecord, start: int) -> list[tuple[int, int, int]]:
    """Return the next window of a whole season: it ends before the first row of a later one.

    A late row, of a day that is over, belongs to the day in which it came.
    """
    first = reader.one(
        f"select r.id, r.bucket from rows r where r.stream = ? and {reader.row_is('>=', start)}"
        f" order by {reader.in_order()} limit 1",
        (stream.id,),
    )
    if first is None:
        return []
    _, after = season_of(stream, first[1])
    later = reader.value(
        f"select min(r.id) from rows r where r.stream = ? and r.bucket >= ?"
        f" and {reader.row_is('>', first[0])}",
        (stream.id, after),
    )
    if later is None:
        return []
    [(end, n)] = reader.all(
        f"select max(r.id), count(*) from rows r where r.stream = ?"
        f" and {reader.row_is('>=', first[0])} and {reader.row_is('<', later)}",
        (stream.id,),
    )
    return [(first[0], end, int(n))]


def season_of(stream: StreamRecord, bucket: int) -> tuple[int, int]:
    """Return the first hour of the season of a row, and that of the next."""
    hours, passed = _SEASONS[stream.settings.season or "daily"]
    first = (bucket + passed) // hours * hours - passed
    return first, first + hours


# Testing a window, and what is told of it.


def _close(service: Service, held: Held, stream: StreamRecord) -> bool:
    """Test the oldest window that has settled; return whether there was one."""
    now = service.clock()

    def look(reader: Reader) -> tuple[Any, ...] | None:
        window = reader.one(
            "select idx, row_from, row_to from windows"
            " where stream = ? and closed is null order by idx limit 1",
            (stream.id,),
        )
        if window is None or window[2] is None or not is_seen(reader, stream.id, window[2]):
            return None
        shuffled = stream.settings.season is not None
        votes = vote_columns(reader, stream, window[1], window[2], shuffled=shuffled)
        first = (
            f"select r.bucket from rows r where r.stream = ? and {reader.row_is('=', window[1])}"
        )
        bucket = reader.value(first, (stream.id,)) or 0
        state = json.loads(reader.fact(_fact(stream)) or "null")
        return window[0], window[2], votes, state, bucket

    found = service.read(look)
    if found is None:
        return False
    index, end, votes, state, bucket = found
    step = _tested(service, stream, votes, state, bucket)

    def work(transaction: Transaction) -> None:
        changed = transaction.run(
            "update windows set closed = ?, seq_to = ?, result = ?, change = ?"
            " where stream = ? and idx = ? and closed is null",
            (
                now,
                transaction.newest(stream.id),
                None if step.get("result") is None else json.dumps(step["result"]),
                json.dumps({name: step.get(name) for name in ("alarms", "notices", "reason")}),
                stream.id,
                index,
            ),
        )
        if not changed:
            return
        transaction.run("delete from seen where stream = ? and row_id <= ?", (stream.id, end))
        notes = _notes(stream, index, step, bucket=bucket, now=now)
        if step.get("state") is not None:
            transaction.keep(_fact(stream), json.dumps(step["state"]))
        for note in notes:
            _tell(transaction, stream, note, now=now)
        for naming in step.get("namings") or ():
            _rename(transaction, stream, naming, now=now)
        new_version(transaction, stream)

    held.write(work)
    return True


def _tested(
    service: Service,
    stream: StreamRecord,
    votes: dict[str, list[str | None]],
    state: Any,
    bucket: int,
) -> dict[str, Any]:
    """Let the votes pass the test; what cannot be tested is said, and does not stop the stream."""
    season = stream.settings.season
    if state is not None and state.get("season") != season:
        state = None  # blocks of another kind cannot be compared with these
    if state is None and season is not None and season_of(stream, bucket)[0] != bucket:
        return {"reason": "the first day or week is not whole: the test begins with the next"}
    if state is not None:
        size = len(next(iter(votes.values()), ())) or state["size"]
        votes = votes or {name: [None] * size for name in state["rows"]}
    if not votes:
        return {"reason": "no judge voted on these rows: there is nothing to test"}
    key = f"{stream.name}:{stream.id}"
    given = {"state": state, "columns": votes, "alpha": ALPHA, "key": key, "season": season}
    given["missing"] = stream.settings.missing
    step: dict[str, Any] = service.worker.ask(
        "drift:worked", stream.name, given, patience=_PATIENCE
    )
    step["restarted"] = bool(step.get("started")) and state is not None
    untold = {} if state is None or step["restarted"] else state.get("untold", {})
    step["state"] |= {"season": season, "untold": untold}
    return step


def _fact(stream: StreamRecord) -> str:
    return f"drift:{stream.id}"


def _notes(
    stream: StreamRecord, index: int, step: dict[str, Any], *, bucket: int, now: float
) -> list[AlertNote]:
    """Return what is to be told of a window: changes, facts, a new start."""
    where: dict[str, Any] = {"window": index, "last_window": index}
    if stream.settings.season:
        day = datetime.fromtimestamp(season_of(stream, bucket)[0] * 3600, UTC)
        where["from"] = f"{day:%Y-%m-%d}"

    def note(name: str, what: str, proves: str, limits: str, more: Any) -> AlertNote:
        return AlertNote(
            name=name,
            what=what,
            proves=proves,
            does_not_prove=limits,
            stream=stream.id,
            detail={**where, **more},
            muted=stream.settings.is_muted(now),
        )

    # A fact about one judge comes first: it names what the test only notices.
    told = [
        note(_NOTICES[kind][0], f"{stream.name}: {text}", text, _NOTICES[kind][1], {})
        for kind, text in step.get("notices") or ()
        if kind in _NOTICES
    ]
    if step.get("restarted"):
        text = "the judges or the size of windows changed: the drift test began anew"
        limits = "that votes changed: the test needs 500 items to begin"
        told.append(note("panel", f"{stream.name}: {text}", text, limits, {}))
    for one in step.get("alarms") or ():
        if _is_large(stream, one, step["state"]["untold"]):
            what = _title(stream, {**where, **one})
            told.append(note("change", what, one["proves"], one["does_not_prove"], one))
    return told


def _is_large(stream: StreamRecord, change: dict[str, Any], untold: dict[str, float]) -> bool:
    """Say whether a change is worth telling; smaller ones of one series add up in *untold*."""
    series = f"{change['series']}:{change['judge']}:{change['label']}"
    before = untold.pop(series, change["before"])
    if abs(change["after"] - before) < stream.settings.smallest_change:
        untold[series] = before
        return False
    if before != change["before"]:
        change["proves"] += f". With smaller changes before it, it came from {percent(before)}"
        change["before"] = before
    return True


def _title(stream: StreamRecord, change: Mapping[str, Any]) -> str:
    """Return what changed, or that something did, and where."""
    what = change["likely"] or "the votes changed"
    if "from" in change:
        span = "day" if stream.settings.season == "daily" else "week"
        return f"{stream.name}: {what}, seen in the {span} from {change['from']}"
    return f"{stream.name}: {what}, around item {count(change['around'])}"


def _tell(transaction: Transaction, stream: StreamRecord, note: AlertNote, *, now: float) -> None:
    """Raise an alarm, or add to the one that told of the same event."""
    earlier = transaction.one(
        "select id, name, proves, detail from alert where stream = ?"
        " and name in ('change', 'silent', 'spelling') order by id desc limit 1",
        (stream.id,),
    )
    # Two facts are two events; whatever the test finds beside a fact, or after a change, is not.
    if earlier is not None and "change" in (note.name, earlier[1]) and note.name != "panel":
        ident, _, proves, text = earlier
        detail = json.loads(text)
        reach = 1 if stream.settings.season else max(1, _SAME_EVENT // stream.settings.window)
        last = detail.get("last_window", detail.get("window", -reach - 1))
        if note.detail["window"] - last <= reach:
            later = [*detail.get("later", ()), note.proves]
            detail |= {"later": later[:_MOST_LATER], "last_window": note.detail["window"]}
            if len(later) <= _MOST_LATER:
                proves = f"{proves}. Then: {note.proves}"
            amend_alert(transaction, ident, send=False, now=now, detail=detail, proves=proves)
            return
    raise_alert(transaction, note, now=now)


def _rename(
    transaction: Transaction, stream: StreamRecord, naming: Mapping[str, Any], *, now: float
) -> None:
    """Give an earlier alarm the cause that 1,000 more items show, where it is another one."""
    earlier = transaction.all(
        "select id, proves, detail from alert"
        " where stream = ? and name = 'change' order by id desc limit 50",
        (stream.id,),
    )
    for ident, proves, text in earlier:
        detail = json.loads(text)
        if detail.get("item") != naming["item"] or detail.get("cause") == naming["cause"]:
            continue
        detail |= {"likely": naming["likely"], "cause": naming["cause"]}
        proves = f"{proves}. With 1,000 more items: {naming['cause']}"
        said = {"detail": detail, "proves": proves, "what": _title(stream, detail)}
        send = not stream.settings.is_muted(now)
        amend_alert(transaction, ident, send=send, now=now, **said)
        return


# What the drift test may see of a row: the votes that came within its own
# settle time.
#
# Every row gets the same time, counted from its own arrival. Read when the
# window closes, its first rows would have had hours for their late votes and
# the last ones minutes: false alarms rise from .05 to 1.5 per 10,000 items on
# quiet days.


_MOST = 10_000
"""Rows per transaction: nobody waits for a long one."""


def see_rows(service: Service, held: Held, stream: StreamRecord) -> bool:
    """Keep the votes of the rows whose time is over; return whether there may be more."""
    until = service.clock() - stream.settings.settle

    def look(reader: Reader) -> tuple[int, int] | None:
        """Return the rows to keep: after the first number, up to the second."""
        last = reader.value("select max(row_id) from seen where stream = ?", (stream.id,))
        closed = reader.value(
            "select max(row_to) from windows where stream = ? and closed is not null", (stream.id,)
        )
        start = max(last or 0, closed or 0)
        found = reader.all(
            "select r.id, b.at from rows r left join batch b on b.seq = r.seq_first"
            f" where r.stream = ? and {reader.row_is('>', start)}"
            f" order by {reader.in_order()} limit ?",
            (stream.id, _MOST),
        )
        # Rows are kept in their order: if the clock stepped back, the later ones wait.
        due = 0
        for ident, at in found:
            if at is not None and at > until:
                break
            due = ident
        return (start, due) if due else None

    found = service.read(look)
    if found is None:
        return False

    def work(transaction: Transaction) -> int:
        return transaction.run(
            "insert into seen (stream, row_id, pattern) select stream, id, pattern from rows r"
            f" where r.stream = ? and {transaction.row_is('>', found[0])}"
            f" and {transaction.row_is('<=', found[1])}",
            (stream.id,),
        )

    return held.write(work) == _MOST


def is_seen(reader: Reader, stream: int, row: int) -> bool:
    """Say whether the time of a row, and so of all rows before it, is over."""
    sql = "select 1 from seen where stream = ? and row_id >= ? limit 1"
    return reader.value(sql, (stream, row)) is not None


def vote_columns(
    reader: Reader, stream: StreamRecord, start: int, end: int, *, shuffled: bool = False
) -> dict[str, list[str | None]]:
    """Return the votes on the rows between two ids as the test may see them, by judge.

    Rows are in order of arrival, or *shuffled* by the hash of their names. Judges without a vote
    among them are left out.
    """
    sql = "select pattern from seen where stream = ? and row_id between ? and ? order by row_id"
    if shuffled:
        sql = (
            "select s.pattern from seen s join rows r on r.stream = s.stream"
            f" and {reader.row_is('=', 's.row_id')} where s.stream = ? and s.row_id between ? and ?"
            f" order by r.u, r.id limit {_MOST_TESTED}"
        )
    patterns = [ident for (ident,) in reader.all(sql, (stream.id, start, end))]
    codes = dict(reader.by_id(CODES, set(patterns)))
    book = Codebook(reader, stream)  # after the patterns: it must know all of their words
    said = {ident: book.cells(bytes(packed))[0] for ident, packed in codes.items()}
    columns = zip(*(said[ident] for ident in patterns), strict=True)
    votes = dict(zip(book.columns["vote"], map(list, columns), strict=False))
    return {name: held for name, held in sorted(votes.items()) if set(held) != {None}}


# One window of the drift test, as a function of JSON types: any process may
# compute it.
#
# It is the stream of `judge` itself (`tallystick judge --window`), so the
# alarms are those of the command line on the same rows in the same order.


def worked(store: Any, stream: str, given: dict[str, Any]) -> dict[str, Any]:
    """Do `drift_step` for the worker, which gives it a store that is not needed."""
    return drift_step(given)


def drift_step(given: dict[str, Any]) -> dict[str, Any]:
    """Close one window.

    Parameters
    ----------
    given
        ``state`` (what this function returned before, or None), ``columns`` (judge to votes, None
        for no vote, all as long as the window), ``alpha``, ``key``, ``season`` where windows
        differ in size, and ``missing``, the words that are no vote.

    Returns
    -------
    dict
        ``state``, ``result`` (what `judge` says of the window, or None), ``reason``, ``alarms``,
        ``notices`` (kind and words), ``namings`` (item of an earlier alarm, and its cause as more
        items show it), ``started`` (whether the test began anew, because there are
        new judges or windows of another size).

    Examples
    --------
    >>> votes = {"ann": ["a", "b", None], "bob": ["a", "b", "b"], "eve": ["a", "a", "b"]}
    >>> step = drift_step({"state": None, "columns": votes, "alpha": 0.05, "key": "s"})
    >>> step["alarms"], step["notices"], step["started"]
    ([], [], True)
    """
    from tallystick.results import to_json
    from tallystick.verbs.judge.windows import Windows

    columns: dict[str, list[Any]] = given["columns"]
    size = len(next(iter(columns.values())))
    saved = given["state"]
    if saved is not None and given.get("season"):
        saved["size"] = size  # each day has its own; all of its rows are here
    panel = set() if saved is None else set(saved["rows"])
    started = saved is None or saved["size"] != size or not set(columns) <= panel
    missing = tuple(given.get("missing", ()))
    stream = Windows(size=size, alpha=given["alpha"], key=given["key"], missing=missing)
    if not started:
        stream.restore(saved)
        # A judge of the panel that has no vote in this window is silent, not gone.
        columns = {name: columns.get(name, [None] * size) for name in saved["rows"]}
    window = stream.push(columns)[0]
    alarms = [
        {"name": one.name, "proves": one.proves, "does_not_prove": one.does_not_prove, **more}
        for one, more in zip(window.alarms, window.details, strict=True)
    ]
    return {
        "state": stream.to_dict(),
        "result": None if window.result is None else json.loads(to_json(window.result.to_dict())),
        "reason": window.reason,
        "alarms": alarms,
        "notices": [list(one) for one in window.notices],
        "namings": [dict(one) for one in window.namings],
        "started": started,
    }
