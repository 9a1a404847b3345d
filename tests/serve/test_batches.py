"""Batches kept together, as if one came after the other, and the numbers that stand for words."""

from __future__ import annotations

import random
import threading
from typing import Any

import msgspec
import pytest

from tallystick.serve.auth import HttpProblem
from tallystick.serve.client import check_stream
from tallystick.serve.database import Transaction
from tallystick.serve.ingest import RowPlaces, parse
from tallystick.serve.ingest_write import Accepted, Post, Source, keep_posts
from tallystick.serve.jobs import Service
from tests.serve.postgres import both
from tests.serve.web import Web


def post_of(service: Service, stream: str, records: Any, key: str | None) -> Post:
    body = msgspec.json.encode(records)
    source = Source(by="test", key=key, body=body)
    return Post(service, stream, parse(body, now=service.clock()), source)


def together(service: Service, posts: list[Post]) -> dict[int, Any]:
    return service.writer.do(lambda transaction: keep_posts(transaction, posts))


def alone(service: Service, post: Post) -> Any:
    try:
        return service.writer.do(post)
    except HttpProblem as problem:
        return problem


def plain(answer: Any) -> Any:
    """Return an answer without its number, which a refusal before it may shift."""
    if isinstance(answer, Accepted):
        return answer.accepted, answer.new, answer.changed, answer.same, answer.again
    return answer.status, answer.body().detail


def kept(service: Service, stream: str) -> Any:
    """Return the rows, the labels and the counts of a stream in words."""

    def look(reader: Any) -> Any:
        columns = "r.item, r.system, r.bucket, s.body, r.grades"
        of = "from stream t join rows r on r.stream = t.id join slice s on s.id = r.slice"
        words = {
            code: (name, label)
            for code, name, label in reader.all(
                "select c.id, s.name, c.label from label_code c"
                " join stream_column s on s.id = c.stream_column"
            )
        }
        rows = {}
        for item, system, bucket, body, _, codes in reader.all(
            f"select {columns}, p.codes {of} join pattern p on p.id = r.pattern where t.name = ?",
            (stream,),
        ):
            votes = memoryview(bytes(codes)).cast("I").tolist()
            rows[item, system] = (bucket, body, sorted(words[one] for one in votes))
        labels = reader.all(
            f"select r.item, r.system, l.annotator, l.value, l.current {of}"
            " join label l on l.row_id = r.id where t.name = ? order by l.id",
            (stream,),
        )
        return rows, labels

    return service.read(look)


def random_posts(seed: int) -> list[tuple[list[dict[str, Any]], str | None]]:
    """Few items and many contradictions, so that batches meet and some are refused."""
    rng = random.Random(seed)
    batches = []
    for n in range(rng.randint(2, 12)):
        records = []
        for _ in range(rng.randint(1, 5)):
            record: dict[str, Any] = {"item": rng.choice("abcdefgh")}
            if rng.random() < 0.3:
                record["system"] = rng.choice(['s"1', "s\\2"])
            if rng.random() < 0.8:
                record["votes"] = {rng.choice(["gpt", "rule"]): rng.choice(["yes", "yes", "no"])}
            if rng.random() < 0.2:
                record["label"] = {"value": rng.choice(["yes", "no"]), "by": rng.choice("xyz")}
            if rng.random() < 0.2:
                record["slice"] = {"lang": rng.choice(["en", "de"])}
            if rng.random() < 0.2:
                record["grades"] = {"len": rng.choice([1.0, 2.5])}
            if rng.random() < 0.3:
                record["replace"] = True
            records.append(record)
        batches.append((records, rng.choice([None, f"k{n}", "k0"])))
    return batches


@both
def test_a_group_is_kept_as_if_its_batches_came_one_after_the_other(
    web: Web, service: Service
) -> None:
    refused = 0
    for seed in range(6):
        one, many = f"one{seed}", f"many{seed}"
        for name in (one, many):
            assert web.put(f"/v1/streams/{name}", json={}).status_code == 200
        batches = random_posts(seed)
        posts = [post_of(service, many, *batch) for batch in batches]
        answers = together(service, posts)
        order = [*answers, *(place for place in range(len(posts)) if place not in answers)]
        answers |= {place: alone(service, posts[place]) for place in order[len(answers) :]}
        # The others of a group come after it, so that is the order to compare with.
        for place in order:
            expected = alone(service, post_of(service, one, *batches[place]))
            assert plain(answers[place]) == plain(expected), (seed, place)
            refused += isinstance(expected, HttpProblem)
        assert kept(service, many) == kept(service, one), seed
        assert check_stream(service.store, many).problems == ()
    assert refused > 4


def test_those_that_are_refused_leave_no_column_behind(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    good = [{"item": "a", "votes": {"gpt": "yes"}}]
    bad = [{"item": "b", "votes": {"new": "x"}}, {"item": "b", "votes": {"new": "y"}}]
    posts = [post_of(service, "qa", records, None) for records in (bad, good, good)]
    assert together(service, posts) == {}  # each is tried alone
    assert isinstance(alone(service, posts[0]), HttpProblem)
    assert [alone(service, post).new for post in posts[1:]] == [1, 0]
    assert service.read(lambda reader: reader.all("select name from stream_column")) == [("gpt",)]


def test_numbers_are_the_same_after_the_memory_is_dropped(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    for round_ in range(3):
        records = [
            {"item": f"{round_}-{n}", "votes": {"a": "x", "b": "y"}, "slice": {"s": "u"}}
            for n in range(5)
        ]
        assert web.post("/v1/streams/qa/records", json=records).json()["new"] == 5
        service.forget()
    counts = service.read(
        lambda reader: [
            reader.one(f"select count(*) from {table}")
            for table in ("stream_column", "label_code", "pattern", "slice")
        ]
    )
    assert counts == [(3,), (2,), (1,), (2,)]
    assert check_stream(service.store, "qa").problems == ()


def test_names_that_the_command_line_cannot_say_are_refused(web: Web) -> None:
    web.put("/v1/streams/qa", json={})
    web.post("/v1/streams/qa/records", json=[{"item": "a", "votes": {"gpt": "x"}}])
    for name in ("a,b", "a*", " a", "GPT", "Label", "ITEM", "row", "a\nb", ""):
        answer = web.post("/v1/streams/qa/records", json=[{"item": "a", "votes": {name: "x"}}])
        assert answer.status_code == 422, name


def test_places_are_those_that_earlier_versions_gave() -> None:
    assert RowPlaces(b"0123456789abcdef")["item-7", "new"] == 2251863899260676614
    assert RowPlaces(b"0")["\u00e4", ""] == 258497132133684658


def test_what_waits_together_is_committed_together(service: Service) -> None:
    gate = threading.Event()
    first = service.writer.submit(lambda _: gate.wait(30))
    rest = [
        service.writer.submit(
            lambda transaction, n=n: transaction.run(
                "insert into fact (name, value) values (?, '')", (f"f{n}",)
            )
        )
        for n in range(50)
    ]
    before = service.writer.figures.commits
    gate.set()
    first.result(30)
    for one in rest:
        assert one.result(30) == 1
    assert service.writer.figures.commits - before <= 3


def test_one_that_is_refused_leaves_the_others_of_its_group(service: Service) -> None:
    gate = threading.Event()
    held = service.writer.submit(lambda _: gate.wait(30))

    def good(transaction: Transaction) -> int:
        return transaction.run("insert into fact (name, value) values ('good', '')")

    def bad(transaction: Transaction) -> None:
        transaction.run("insert into fact (name, value) values ('bad', '')")
        raise HttpProblem(409, "no")

    futures = [service.writer.submit(good), service.writer.submit(bad)]
    gate.set()
    held.result(30)
    assert futures[0].result(30) == 1
    with pytest.raises(HttpProblem):
        futures[1].result(30)
    names = service.read(lambda reader: reader.all("select name from fact"))
    assert names == [("good",)]


def test_a_writer_that_was_stopped_refuses(service: Service) -> None:
    service.writer.stop()
    with pytest.raises(HttpProblem, match="stopping"):
        service.writer.submit(lambda _: None)
