"""The errors of requests, by what a program can do."""

from __future__ import annotations


class DaybookError(Exception):
    """Any failure of a request."""


class ConnectionFailed(DaybookError):
    """No answer came, however often it was tried. The server may not run, or its address may be wrong."""


class RequestFailed(DaybookError):
    """The server refused the request. `code` is for programs, and stays the same while messages get better."""

    def __init__(self, status: int, code: str, message: str, request_id: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id


class InvalidRequest(RequestFailed):
    """The request is wrong; the message names what to change."""


class NotAuthorized(RequestFailed):
    """There is no token, or it is not the server's, or it allows less."""


class NotFound(RequestFailed):
    """What the request names does not exist, or no longer."""


class Conflict(RequestFailed):
    """The present state of the memory forbids it."""


class Unavailable(RequestFailed):
    """The server has too much to do, or cannot reach its database. Safe to repeat later."""


def error_of(status: int, code: str, message: str, request_id: str | None) -> RequestFailed:
    """The error for an answer that is not a success."""
    kinds: dict[int, type[RequestFailed]] = {
        401: NotAuthorized,
        403: NotAuthorized,
        404: NotFound,
        409: Conflict,
        429: Unavailable,
        503: Unavailable,
        504: Unavailable,
    }
    usual = InvalidRequest if status < 500 else RequestFailed
    return kinds.get(status, usual)(status, code, message, request_id)
