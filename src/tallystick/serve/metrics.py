"""Figures for Prometheus: how much came, how long it took, what was noticed and spent.

Names of streams, judges and watches are labels; items and votes never are: their number grows, and
they are nobody's business.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from starlette.responses import Response

from tallystick.serve.routes import Incoming, Route
from tallystick.serve.store import Reader

__all__ = ["ROUTES", "figures"]

TYPE = "text/plain; version=0.0.4; charset=utf-8"

Sample = tuple[dict[str, str], float]


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _block(name: str, kind: str, help_: str, samples: Iterable[Sample]) -> str:
    lines = [f"# HELP {name} {help_}", f"# TYPE {name} {kind}"]
    for labels, value in samples:
        inside = ",".join(f'{key}="{_escaped(held)}"' for key, held in labels.items())
        lines.append(f"{name}{{{inside}}} {value:.10g}" if inside else f"{name} {value:.10g}")
    return "\n".join(lines) + "\n"


def figures(reader: Reader) -> str:
    """Return what the database knows, in the text format of Prometheus."""
    records = reader.all(
        "select s.name, coalesce(sum(b.n), 0) from stream s left join batch b on b.stream = s.id"
        " group by s.name order by s.name"
    )
    rows = reader.all("select name, rows from stream order by name")
    alarms = reader.all(
        "select coalesce(s.name, ''), a.name, count(*) from alert a"
        " left join stream s on s.id = a.stream group by 1, 2 order by 1, 2"
    )
    spent = reader.all("select name, spent from watch order by name")
    waiting = reader.one("select count(*) from delivery where next is not null")
    return "".join(
        (
            _block(
                "tallystick_records_total",
                "counter",
                "Records that were accepted.",
                [({"stream": name}, n) for name, n in records],
            ),
            _block(
                "tallystick_rows",
                "gauge",
                "Rows that a stream has.",
                [({"stream": name}, n) for name, n in rows],
            ),
            _block(
                "tallystick_alarms_total",
                "counter",
                "Alarms.",
                [({"stream": stream, "name": name}, n) for stream, name, n in alarms],
            ),
            _block(
                "tallystick_judge_accuracy_ratio",
                "gauge",
                "Accuracy of each judge in the last closed window: the ends of its range.",
                _accuracies(reader),
            ),
            _block(
                "tallystick_watch_spent_total",
                "counter",
                "Money that a watch spent this month.",
                [({"watch": name}, amount) for name, amount in spent],
            ),
            _block(
                "tallystick_deliveries_waiting",
                "gauge",
                "Alarms that hooks have not received yet.",
                [({}, waiting[0] if waiting is not None else 0)],
            ),
        )
    )


def _accuracies(reader: Reader) -> list[Sample]:
    found = reader.all(
        "select s.name, w.result from windows w join stream s on s.id = w.stream"
        " where w.result is not null and w.idx = (select max(v.idx) from windows v"
        " where v.stream = w.stream and v.result is not null) order by s.name"
    )
    samples: list[Sample] = []
    for stream, text in found:
        for judge in json.loads(text).get("judges") or ():
            ends = judge.get("interval") or judge.get("range")
            if not ends or None in ends:
                continue
            for end, value in zip(("low", "high"), ends, strict=True):
                labels = {"stream": stream, "judge": str(judge["name"]), "end": end}
                samples.append((labels, value))
    return samples


def _of_the_writer(incoming: Incoming) -> str:
    held = incoming.service.writer.figures
    blocks = [
        _block(
            "tallystick_queue_bytes",
            "gauge",
            "Bytes that wait for the writer.",
            [({}, held.waiting_bytes)],
        )
    ]
    lines = ["# HELP tallystick_commit_seconds How long commits take."]
    lines.append("# TYPE tallystick_commit_seconds histogram")
    lines += [
        f'tallystick_commit_seconds_bucket{{le="{top:g}"}} {n}'
        for top, n in sorted(held.buckets.items())
    ]
    lines.append(f'tallystick_commit_seconds_bucket{{le="+Inf"}} {held.commits}')
    lines.append(f"tallystick_commit_seconds_sum {held.seconds:.6f}")
    lines.append(f"tallystick_commit_seconds_count {held.commits}")
    return "".join(blocks) + "\n".join(lines) + "\n"


async def get_metrics(incoming: Incoming) -> Response:
    """Return all figures."""
    text = await incoming.service.reading(figures)
    return Response(text + _of_the_writer(incoming), media_type=TYPE)


ROUTES = tuple(
    Route(
        method="GET",
        path=f"{before}/metrics",
        role="read",
        work=get_metrics,
        summary="Figures for Prometheus.",
        answer="text/plain",
    )
    for before in ("", "/v1")
)
"""Routes of this file."""
