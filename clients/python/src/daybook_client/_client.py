"""The clients: every operation of the server, and what goes over more than one request."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Self

from ._operations import AsyncOperations, Operations
from ._transport import DEFAULT_URL
from ._types import ListedMemory, ListedSession

PAGE = 100


def local_token(root: str | os.PathLike[str] | None = None) -> str:
    """The token of the server on this machine, from its data folder: `root`, else `DAYBOOK_HOME`, else `~/.daybook`."""
    folder = Path(root or os.environ.get("DAYBOOK_HOME") or Path.home() / ".daybook")
    return (folder / "token").read_text(encoding="utf-8").strip()


class Daybook(Operations):
    """A client that waits for each answer. Use it as a context manager, or call `close`."""

    @classmethod
    def local(cls, url: str = DEFAULT_URL, *, root: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """A client of the server on this machine, with the token from its data folder."""
        return cls(url, local_token(root), **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def all_memories(self, **chosen: Any) -> Iterator[ListedMemory]:
        """All pages of `list_memories`, memory by memory."""
        after: str | None = None
        while True:
            page = self.list_memories(**{"limit": PAGE, **chosen, "after": after})
            yield from page["memories"]
            after = page.get("next")
            if after is None:
                return

    def all_sessions(self, **chosen: Any) -> Iterator[ListedSession]:
        """All pages of `list_sessions`, session by session."""
        after: str | None = None
        while True:
            page = self.list_sessions(**{"limit": PAGE, **chosen, "after": after})
            yield from page["sessions"]
            after = page.get("next")
            if after is None:
                return


class AsyncDaybook(AsyncOperations):
    """A client for programs with an event loop. Use it as a context manager, or call `close`."""

    @classmethod
    def local(cls, url: str = DEFAULT_URL, *, root: str | os.PathLike[str] | None = None, **options: Any) -> Self:
        """A client of the server on this machine, with the token from its data folder."""
        return cls(url, local_token(root), **options)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def all_memories(self, **chosen: Any) -> AsyncIterator[ListedMemory]:
        """All pages of `list_memories`, memory by memory."""
        after: str | None = None
        while True:
            page = await self.list_memories(**{"limit": PAGE, **chosen, "after": after})
            for memory in page["memories"]:
                yield memory
            after = page.get("next")
            if after is None:
                return

    async def all_sessions(self, **chosen: Any) -> AsyncIterator[ListedSession]:
        """All pages of `list_sessions`, session by session."""
        after: str | None = None
        while True:
            page = await self.list_sessions(**{"limit": PAGE, **chosen, "after": after})
            for session in page["sessions"]:
                yield session
            after = page.get("next")
            if after is None:
                return
