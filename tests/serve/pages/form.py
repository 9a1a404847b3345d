"""Send a form as a browser would: with the session's token and its origin."""

from __future__ import annotations

import re

import httpx

from tests.serve.web import Web

TOKEN = re.compile(r'name="csrf" value="([^"]*)"')


def submit(web: Web, page: str, path: str, **fields: str) -> httpx.Response:
    """Load *page*, take its token, post *fields* to *path*."""
    found = TOKEN.search(web.get(page).text)
    assert found is not None, page
    origin = {"origin": str(web.base)}
    return web.post(path, data={"csrf": found[1], **fields}, headers=origin)
