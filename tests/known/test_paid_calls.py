"""Calls that cost money: what is refused before the first, and what is said of bad replies."""

import csv
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

KEY = "hunter2-hunter2-hunter2"


class Fake:
    """A chat API on loopback: how it answers is a function of the prompt."""

    def __init__(self):
        self.prompts = []
        self.answer = lambda prompt: {"text": "yes"}
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet per reply

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = body["messages"][-1]["content"]
                fake.prompts.append(prompt)
                said = fake.answer(prompt)
                reply = json.dumps(fake.reply(self.path, said)).encode()
                self.send_response(said.get("status", 200))
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def reply(self, path, said):
        if "error" in said:
            return {"error": {"message": said["error"]}}
        text, model = said["text"], said.get("model", "m-05")
        ended = {} if "ended" not in said else {"ended": said["ended"]}
        if path == "/v1/messages":
            stop = {"stop_reason": ended["ended"]} if ended else {}
            return {"model": model, "content": [{"type": "text", "text": text}], **stop}
        finish = {"finish_reason": ended["ended"]} if ended else {}
        return {"model": model, "choices": [{"message": {"content": text}, **finish}]}


@pytest.fixture
def api():
    fake = Fake()
    thread = threading.Thread(target=fake.server.serve_forever, daemon=True)
    thread.start()
    yield fake
    fake.server.shutdown()
    fake.server.server_close()
    thread.join()


@pytest.fixture
def tallystick(in_process, monkeypatch):
    """Run a command in a folder of its own; return its exit code, JSON and messages."""
    monkeypatch.setenv("FAKE_KEY", KEY)

    def run(*arguments):
        seen = in_process(*arguments, "--json")
        body = json.loads(seen.stdout) if seen.stdout else None
        return SimpleNamespace(code=seen.returncode, body=body, out=seen.stdout, err=seen.stderr)

    return run


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        out = csv.DictWriter(stream, fieldnames=list(rows[0]))
        out.writeheader()
        out.writerows(rows)


def numbered(n, **columns):
    return [
        {"id": i, "text": f"item {i}.", **{name: f(i) for name, f in columns.items()}}
        for i in range(n)
    ]


KEY = "Authorization: Bearer $FAKE_KEY"


def openai(api, prompt="Is it so? {text}", **more):
    options = ("--api", f"openai:m@{api.address}", "--prompt", prompt, "--header", KEY)
    return (*options, "--yes", *(word for name, value in more.items() for word in (name, value)))


# {labels}


@pytest.mark.parametrize(
    "verb", [("ask", "table.csv"), ("shift", "baseline", "table.csv")], ids=["ask", "baseline"]
)
def test_labels_in_a_prompt_that_nobody_named_are_refused_before_the_first_call(
    api, tallystick, tmp_path, verb
):
    """They became an empty text, and 2,400 calls were paid for."""
    write(tmp_path / "table.csv", numbered(20))
    prompt = "Answer one of {labels}: {text}"
    done = tallystick(*verb, "-o", "out.csv", *openai(api, prompt))
    assert (done.code, api.prompts) == (1, [])
    assert "{labels}" in done.err
    assert "--labels" in done.err
    named = tallystick(*verb, "-o", "out.csv", *openai(api, prompt), "--labels", "yes,no")
    assert named.code == 0, named.err
    assert "Answer one of yes, no: item 3." in api.prompts


def test_old_answers_in_words_are_no_labels_for_a_prompt(api, tallystick, tmp_path):
    write(tmp_path / "table.csv", numbered(90, old=lambda i: f"I would say that it is {i}"))
    prompt = "Answer one of {labels}: {text}"
    options = ("shift", "table.csv", "--old", "old", "--budget", "40", *openai(api, prompt))
    done = tallystick(*options)
    assert (done.code, api.prompts) == (1, [])
    assert "no labels are known" in done.err


def test_a_column_called_labels_may_be_put_into_a_prompt(api, tallystick, tmp_path):
    write(tmp_path / "table.csv", numbered(3, labels=lambda i: f"A or B{i}"))
    prompt = "{text} {labels} {{labels}}"
    assert tallystick("ask", "table.csv", "-o", "out.csv", *openai(api, prompt)).code == 0
    assert sorted(api.prompts)[2] == "item 2. A or B2 {labels}"


# replies that were cut off


@pytest.mark.parametrize(("kind", "word"), [("openai", "length"), ("anthropic", "max_tokens")])
def test_a_reply_that_was_cut_off_is_unread_also_when_a_run_is_resumed(
    api, tallystick, tmp_path, kind, word
):
    """ "No" of "No doubt, yes" was an answer."""
    write(tmp_path / "table.csv", numbered(40))
    ended = {True: word, False: "stop"}
    api.answer = lambda prompt: {
        "text": "no" if prompt.endswith("7.") else "yes",
        "ended": ended[prompt.endswith("7.")],
    }
    command = (
        *("ask", "table.csv", "--labels", "yes,no", "--journal", "run.journal"),
        *("--as", "said", "--api", f"{kind}:m@{api.address}", "--prompt", "{text}", "--yes"),
    )
    for calls in (40, 40):
        done = tallystick(*command, "-o", "out.csv")
        assert done.code == 0, done.err
        assert len(api.prompts) == calls
        assert (done.body["unread"], done.body["usage"]["cut"]) == (4, 4)
        assert any(
            "4 replies were cut off" in text and "max_tokens in --request" in text
            for text in done.body["warnings"]
        )
        with (tmp_path / "out.csv").open(encoding="utf-8") as stream:
            said = {row["id"]: row["said"] for row in csv.DictReader(stream)}
        assert {item for item, label in said.items() if label == "(unread)"} == {
            *("7", "17", "27", "37")
        }


def test_a_journal_that_does_not_say_how_replies_ended_is_read(api, tallystick, tmp_path):
    write(tmp_path / "table.csv", numbered(20))
    command = ("ask", "table.csv", "--labels", "yes,no", "--journal", "run.journal", *openai(api))
    first = tallystick(*command)
    assert '"cut"' not in (tmp_path / "run.journal").read_text(encoding="utf-8")
    again = tallystick(*command)
    assert len(api.prompts) == 20
    assert again.body["counts"] == first.body["counts"] == {"yes": 20}
    assert not any("cut off" in text for text in again.body["warnings"])


def test_cut_replies_do_not_make_an_api_worse(api, tallystick, tmp_path):
    """With max_tokens too small, every other reply ends in the middle of its reasoning."""
    rows = numbered(200, truth=lambda i: "yes" if i % 3 else "no")
    write(tmp_path / "table.csv", [{**row, "old": row["truth"]} for row in rows])
    truth = {f"{row['text']}": row["truth"] for row in rows}

    def answer(prompt):
        if prompt.endswith(("1.", "4.", "7.")):
            return {"text": "Let me think. On the one hand", "ended": "length"}
        return {"text": truth[prompt], "ended": "stop"}

    api.answer = answer
    options = ("--truth", "truth", "--old", "old", "--budget", "120", "--answer", "words")
    done = tallystick(
        "shift", "table.csv", *options, *openai(api, "{text}"), "--gate", "accuracy_change >= -5%"
    )
    assert done.code == 11, done.body["verdict"]
    assert done.body["decision"] == "undecided"
    assert done.body["requests"]["unread"] > 20
    assert any("replies were cut off" in text for text in done.body["warnings"])


# what is said


def test_two_columns_of_old_answers_are_refused_with_what_to_do(tallystick, tmp_path):
    """The last one was used, and nothing was said."""
    write(tmp_path / "table.csv", numbered(30, a=str, b=str, new=str))
    done = tallystick("shift", "table.csv", "--old", "a", "--old", "b", "--new", "new")
    assert done.code == 2
    assert "--old A --old-draws B" in done.err
    assert done.out == ""


def test_two_addresses_are_refused_where_one_is_asked(api, tallystick, tmp_path):
    write(tmp_path / "table.csv", numbered(5))
    done = tallystick("ask", "table.csv", *openai(api), "--api", "python:math:sqrt")
    assert (done.code, api.prompts) == (2, [])
    assert "'--api' takes one value" in done.err


def failing(prompt):
    if prompt.endswith("3."):
        secret = f"bad request to m (Authorization: Bearer {KEY}; sk-abcdefgh12345678)"
        return {"status": 400, "error": f"{secret}: the content policy forbids it"}
    if prompt.endswith("4."):
        return {"status": 422, "error": "too long"}
    return {"text": "yes"}


@pytest.mark.parametrize("verb", ["ask", "baseline", "shift"])
def test_the_commonest_reason_of_failed_calls_is_shown_without_keys(
    api, tallystick, tmp_path, verb
):
    write(tmp_path / "table.csv", numbered(34, truth=lambda i: "yes", old=lambda i: "yes"))
    api.answer = failing
    command = {
        "ask": ("ask", "table.csv", "--labels", "yes,no"),
        "baseline": ("shift", "baseline", "table.csv", "--as", "now", "--repeats", "1"),
        "shift": ("shift", "table.csv", "--truth", "truth", "--old", "old", "--budget", "34"),
    }[verb]
    done = tallystick(*command, *openai(api), "--journal", "j")
    assert done.code == 0, done.err
    [said] = [text for text in done.body["warnings"] if "commonest reason" in text]
    assert "(4 times)" in said
    assert "answered HTTP 400" in said
    assert "the content policy forbids it" in said
    everything = done.out + done.err + (tmp_path / "j").read_text(encoding="utf-8")
    assert KEY not in everything
    assert "abcdefgh12345678" not in everything


def test_a_key_that_the_server_repeats_is_not_shown_when_a_run_ends(api, tallystick, tmp_path):
    write(tmp_path / "table.csv", numbered(5))
    api.answer = lambda prompt: {"status": 403, "error": f"{'x' * 190} {KEY} is not allowed here"}
    done = tallystick("ask", "table.csv", "-o", "out.csv", *openai(api))
    assert done.code == 1
    assert "HTTP 403" in done.err
    assert KEY[:8] not in done.err


def test_a_model_that_changed_its_name_is_said_in_the_verdict(api, tallystick, tmp_path):
    rows = numbered(60, truth=lambda i: "yes", old=lambda i: "yes")
    write(tmp_path / "table.csv", rows)
    command = (
        *("shift", "table.csv", "--truth", "truth", "--old", "old", "--budget", "40"),
        *("--labels", "yes,no", "--item", "id", *openai(api)),
    )
    kept = (*command, "--history", "history.ndjson")
    first = tallystick(*kept, "--journal", "first")
    same = tallystick(*kept, "--since", "first")
    assert first.code == same.code == 0, first.err + same.err
    assert "model" not in first.body["verdict"] + same.body["verdict"]
    api.answer = lambda prompt: {"text": "yes", "model": "m-08"}
    now = tallystick(*kept)
    assert "another model than before: m-08 (before: m-05)" in now.body["verdict"]
    since = tallystick(*command, "--since", "first")
    assert "another model than before: m-08 (before: m-05)" in since.body["verdict"]
