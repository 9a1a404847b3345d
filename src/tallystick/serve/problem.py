"""Errors of the service: ``application/problem+json`` with the way out (RFC 9457)."""

from __future__ import annotations

import msgspec

__all__ = ["Fix", "HttpProblem", "ProblemBody"]

_TITLES = {
    400: "The request cannot be read",
    401: "A key is needed",
    403: "This key may not do that",
    404: "There is no such thing",
    405: "This address does not take that method",
    409: "This contradicts what is kept",
    413: "The request is too large",
    415: "This kind of body is not read",
    422: "The request cannot be used",
    429: "Too many requests",
    500: "An error of ours",
    503: "Not now; try again",
}

MOST_FIXES = 20
"""Errors that are listed; a batch of ten thousand bad lines need not be answered in full."""


class Fix(msgspec.Struct, omit_defaults=True):
    """One thing that is wrong, where, and what to do about it."""

    way_out: str
    line: int | None = None
    column: str | None = None
    value: str | None = None


class ProblemBody(msgspec.Struct):
    """The body of every error."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[Fix] = []


class HttpProblem(Exception):
    """Raise it anywhere below a route: it becomes the answer.

    Parameters
    ----------
    status
        The HTTP status.
    detail
        What was wrong with this request, in one sentence.
    errors
        What to change, place by place.
    headers
        Headers of the answer, such as ``Retry-After``.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        errors: tuple[Fix, ...] | list[Fix] = (),
        **headers: str,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors)[:MOST_FIXES]
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def body(self) -> ProblemBody:
        """Return what is sent.

        >>> HttpProblem(404, "there is no stream 'qa'").body().title
        'There is no such thing'
        """
        return ProblemBody(
            type=f"urn:tallystick:problem:{self.status}",
            title=_TITLES.get(self.status, "Error"),
            status=self.status,
            detail=self.detail,
            errors=self.errors,
        )
