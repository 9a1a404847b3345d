"""Settings: keys are shown once, retention is saved, and nothing secret is listed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from tallystick.serve.jobs import Service
from tests.serve.pages.form import submit
from tests.serve.queue.people import STREAM, fill
from tests.serve.web import Web


def test_a_key_is_shown_once_works_and_can_be_revoked(web: Web, far: Callable[..., Web]) -> None:
    fill(web, n=5)
    made = submit(web, "/settings", "/settings/keys", name="ann", role="label", stream=STREAM)
    found = re.search(r"<code>(ts_\w+?_[\w-]+)</code>", made.text)
    assert found is not None
    key = found[1]
    again = web.get("/settings").text
    assert key not in again
    assert key.split("_", 2)[2] not in again
    assert "ann" in again
    assert far(key).get(f"/v1/streams/{STREAM}/next").status_code == 204
    ident = key.split("_")[1]
    gone = submit(web, "/settings", f"/settings/keys/{ident}/revoke")
    assert gone.status_code == 303
    assert far(key).get(f"/v1/streams/{STREAM}/next").status_code == 401
    for bad in ({"name": "", "role": "label"}, {"name": "x", "role": "king"}):
        assert submit(web, "/settings", "/settings/keys", **bad).status_code == 422
    assert (
        submit(web, "/settings", "/settings/keys", name="x", role="read", days="x").status_code
        == 422
    )


def test_retention_is_saved_and_the_rest_of_the_settings_stays(web: Web) -> None:
    fill(web, n=5, question="Right?")
    path = f"/settings/streams/{STREAM}/retention"
    assert submit(web, "/settings", path, days="30").status_code == 303
    settings = web.get(f"/v1/streams/{STREAM}").json()["settings"]
    assert settings["retention_days"] == 30
    assert settings["question"] == "Right?"
    assert 'value="30"' in web.get("/settings").text
    submit(web, "/settings", path, days="")
    assert "retention_days" not in web.get(f"/v1/streams/{STREAM}").json()["settings"]
    assert submit(web, "/settings", path, days="soon").status_code == 422


def test_the_webhook_is_set_and_its_secret_shown_once(web: Web, service: Service) -> None:
    service.config = replace(service.config, allow_hosts=("127.0.0.1",))
    made = submit(web, "/settings", "/settings/webhook", url="http://127.0.0.1:9/in")
    assert "The secret of the webhook" in made.text
    text = web.get("/settings").text
    assert "http://127.0.0.1:9/in" in text
    assert "The secret of" not in text
    assert submit(web, "/settings", "/settings/webhook", do="test").status_code == 303
    assert "sample" in web.get("/settings").text
    assert submit(web, "/settings", "/settings/webhook", do="delete").status_code == 303
    assert "http://127.0.0.1:9/in" not in web.get("/settings").text


def test_copies_and_version_are_said(web: Web, engine: str) -> None:
    text = web.get("/settings").text
    assert ("vacuum into" if engine == "sqlite" else "pg_dump") in text
    assert "tallystick serve check" in text
    assert "MB" in text
