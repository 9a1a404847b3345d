"""Batches kept together: as if one came after the other, whatever is refused among them."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from tallystick.serve.auth import HttpProblem
from tallystick.serve.client import check_stream
from tallystick.serve.database import Transaction
from tallystick.serve.ingest import parse
from tallystick.serve.ingest_write import Accepted, Post, Source, keep_posts
from tallystick.serve.jobs import Service
from tests.serve.web import Web

both = pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)


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
    for seed in range(25):
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
    assert refused > 20


def test_those_that_are_refused_leave_no_column_behind(web: Web, service: Service) -> None:
    web.put("/v1/streams/qa", json={})
    good = [{"item": "a", "votes": {"gpt": "yes"}}]
    bad = [{"item": "b", "votes": {"new": "x"}}, {"item": "b", "votes": {"new": "y"}}]
    posts = [post_of(service, "qa", records, None) for records in (bad, good, good)]
    assert together(service, posts) == {}  # each is tried alone
    assert isinstance(alone(service, posts[0]), HttpProblem)
    assert [alone(service, post).new for post in posts[1:]] == [1, 0]
    assert service.read(lambda reader: reader.all("select name from stream_column")) == [("gpt",)]


def test_a_group_asks_the_database_as_often_as_one_batch(
    web: Web, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.put("/v1/streams/qa", json={})
    calls: list[str] = []

    def counted(transaction: Transaction, posts: list[Post]) -> Any:
        for name in ("find", "numbers", "add", "run"):
            real = getattr(transaction, name)

            def call(*given: Any, real: Any = real, name: str = name) -> Any:
                calls.append(name)
                return real(*given)

            monkeypatch.setattr(transaction, name, call, raising=False)
        return keep_posts(transaction, posts)

    posts = [
        post_of(service, "qa", [{"item": f"i{n}", "votes": {"gpt": "yes"}}], f"k{n}")
        for n in range(30)
    ]
    answers = service.writer.do(lambda transaction: counted(transaction, posts))
    assert [answers[n].seq for n in range(30)] == list(range(1, 31))
    assert sorted(calls) == ["add", "add", "add", "find", "numbers", "run"]
