"""Daybook from Python: memory for AI agents that outlives the session.

    from daybook_client import Daybook

    with Daybook.local() as memory:
        memory.append_events("harbour-bot", "talk-1", [{"role": "user", "text": "Releases go out on Thursdays."}])
        memory.report_trigger("harbour-bot", "talk-1", "end")
        print(memory.recall_memories("When do releases go out?")["results"][0]["text"])
"""

from . import _types as types
from ._client import AsyncDaybook, Daybook, local_token
from ._errors import (
    Conflict,
    ConnectionFailed,
    DaybookError,
    InvalidRequest,
    NotAuthorized,
    NotFound,
    RequestFailed,
    Unavailable,
)

__all__ = [
    "AsyncDaybook",
    "Conflict",
    "ConnectionFailed",
    "Daybook",
    "DaybookError",
    "InvalidRequest",
    "NotAuthorized",
    "NotFound",
    "RequestFailed",
    "Unavailable",
    "local_token",
    "types",
]
