"""Sends requests: tries again where that is safe, and turns refusals into errors.

A request that changes something has an `Idempotency-Key`, which all its tries share: the server does its work once.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from ._errors import ConnectionFailed, RequestFailed, error_of

DEFAULT_URL = "http://127.0.0.1:8765"
# The server answers every request within 10 seconds.
TIMEOUT = 15.0
RETRIES = 3
FIRST_WAIT = 0.1
LONGEST_WAIT = 5.0

Query = Mapping[str, Any]


def _part(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _query(fields: Query | None) -> dict[str, str]:
    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return {name: text(value) for name, value in _given(fields or {}).items()}


def _failure(answer: httpx.Response) -> RequestFailed:
    """The error in an answer."""
    try:
        error = answer.json()["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        # Something between here and the server answered.
        code, message = "unknown", f"the answer has status {answer.status_code} and no error in words"
    return error_of(answer.status_code, code, message, answer.headers.get("x-request-id"))


def _is_worth_repeating(answer: httpx.Response) -> bool:
    """Whether the same request may succeed in a moment."""
    return answer.status_code in (429, 502, 503, 504) or (
        answer.status_code == 409 and _failure(answer).code == "in_progress"
    )


def _wait(tries: int, answer: httpx.Response | None) -> float:
    """How long to wait before the next try, in seconds: as the server requests, else twice as long each time."""
    requested = answer.headers.get("retry-after") if answer is not None else None
    usual = FIRST_WAIT * 2.0**tries
    return min(float(requested) if requested and requested.isdigit() else usual, LONGEST_WAIT)


class _Settings:
    """What both transports have in common."""

    def __init__(self, url: str, token: str | None, retries: int) -> None:
        self._url = url.rstrip("/")
        self._retries = retries
        self._headers = {"authorization": f"Bearer {token}"} if token else {}

    def _request(self, method: str, path: str, query: Query | None, body: Any, keyed: bool) -> dict[str, Any]:
        headers = dict(self._headers)
        if keyed:
            headers["idempotency-key"] = str(uuid.uuid4())
        request: dict[str, Any] = {"method": method, "url": self._url + path, "headers": headers}
        request["params"] = _query(query)
        if body is not None:
            request["json"] = body
        return request


class SyncTransport(_Settings):
    """Sends requests and waits for their answers."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        retries: int = RETRIES,
        timeout: float = TIMEOUT,
        http: httpx.Client | None = None,
    ) -> None:
        """`http` is a client of your own, with proxies or certificates; it is not closed here."""
        super().__init__(url, token, retries)
        self._is_own = http is None
        self._http = http or httpx.Client(timeout=timeout)

    def close(self) -> None:
        """Closes the connections."""
        if self._is_own:
            self._http.close()

    def _send(
        self, method: str, path: str, query: Query | None = None, body: Any = None, keyed: bool = False
    ) -> httpx.Response:
        request = self._request(method, path, query, body, keyed)
        for tries in range(self._retries + 1):
            answer, failure = None, None
            try:
                answer = self._http.request(**request)
            except httpx.TransportError as error:
                failure = error
            is_last = tries == self._retries
            if answer is not None and (is_last or not _is_worth_repeating(answer)):
                if answer.is_success:
                    return answer
                raise _failure(answer)
            if failure is not None and is_last:
                raise ConnectionFailed(f"{self._url} does not answer: {failure}") from failure
            time.sleep(_wait(tries, answer))
        raise AssertionError("the last try returns or raises")

    def _json(self, *request: Any, **fields: Any) -> Any:
        return self._send(*request, **fields).json()

    def _text(self, *request: Any, **fields: Any) -> str:
        return self._send(*request, **fields).text

    def _stream(self, method: str, path: str) -> Iterator[Any]:
        request = self._request(method, path, None, None, False)
        with self._http.stream(**request, timeout=None) as answer:
            if not answer.is_success:
                answer.read()
                raise _failure(answer)
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))


class AsyncTransport(_Settings):
    """Sends requests without blocking the event loop."""

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        retries: int = RETRIES,
        timeout: float = TIMEOUT,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        """`http` is a client of your own, with proxies or certificates; it is not closed here."""
        super().__init__(url, token, retries)
        self._is_own = http is None
        self._http = http or httpx.AsyncClient(timeout=timeout)

    async def close(self) -> None:
        """Closes the connections."""
        if self._is_own:
            await self._http.aclose()

    async def _send(
        self, method: str, path: str, query: Query | None = None, body: Any = None, keyed: bool = False
    ) -> httpx.Response:
        request = self._request(method, path, query, body, keyed)
        for tries in range(self._retries + 1):
            answer, failure = None, None
            try:
                answer = await self._http.request(**request)
            except httpx.TransportError as error:
                failure = error
            is_last = tries == self._retries
            if answer is not None and (is_last or not _is_worth_repeating(answer)):
                if answer.is_success:
                    return answer
                raise _failure(answer)
            if failure is not None and is_last:
                raise ConnectionFailed(f"{self._url} does not answer: {failure}") from failure
            await asyncio.sleep(_wait(tries, answer))
        raise AssertionError("the last try returns or raises")

    async def _json(self, *request: Any, **fields: Any) -> Any:
        return (await self._send(*request, **fields)).json()

    async def _text(self, *request: Any, **fields: Any) -> str:
        return (await self._send(*request, **fields)).text

    async def _stream(self, method: str, path: str) -> AsyncIterator[Any]:
        request = self._request(method, path, None, None, False)
        async with self._http.stream(**request, timeout=None) as answer:
            if not answer.is_success:
                await answer.aread()
                raise _failure(answer)
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))
