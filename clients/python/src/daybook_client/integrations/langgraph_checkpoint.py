"""A checkpointer of LangGraph that hands conversations to Daybook, beside the one that keeps the checkpoints.

`graph.compile(checkpointer=RememberingSaver(InMemorySaver(), memory, agent="harbour-bot"))`: every message of a thread becomes an
event of the session of the thread's name, from which memory is made. Messages have ids, so that none is counted twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from .. import Daybook, DaybookError
from .._types import AppendEvent

# Most events of one request.
BATCH = 512
ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}

log = logging.getLogger(__name__)


class RememberingSaver(BaseCheckpointSaver[Any]):
    """Keeps checkpoints where `inner` does, and appends their new messages to sessions of Daybook."""

    def __init__(
        self, inner: BaseCheckpointSaver[Any], memory: Daybook, *, agent: str, user: str | None = None
    ) -> None:
        super().__init__(serde=inner.serde)
        self.inner = inner
        self._memory = memory
        self._agent = agent
        self._user = user
        # How many messages of each thread are appended.
        self._appended: dict[str, int] = {}

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.inner.get_tuple(config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        return self.inner.list(config, filter=filter, before=before, limit=limit)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        kept = self.inner.put(config, checkpoint, metadata, new_versions)
        self._append_new(config["configurable"]["thread_id"], checkpoint["channel_values"].get("messages"))
        return kept

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self.inner.put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Deletes the checkpoints. What was learned stays; `purge_memory` removes it."""
        self.inner.delete_thread(thread_id)
        self._appended.pop(thread_id, None)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self.inner.aget_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        async for found in self.inner.alist(config, filter=filter, before=before, limit=limit):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        kept = await self.inner.aput(config, checkpoint, metadata, new_versions)
        messages = checkpoint["channel_values"].get("messages")
        await asyncio.to_thread(self._append_new, config["configurable"]["thread_id"], messages)
        return kept

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self.inner.aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await self.inner.adelete_thread(thread_id)
        self._appended.pop(thread_id, None)

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self.inner.get_next_version(current, channel)

    def _append_new(self, thread: str, messages: Any) -> None:
        """Appends what is new. A server that does not answer costs memory, and never the conversation."""
        if not isinstance(messages, Sequence) or isinstance(messages, str):
            return
        known = self._appended.get(thread, 0)
        events = [event for message in messages[known:] for event in _events(message)]
        try:
            for start in range(0, len(events), BATCH):
                some = events[start : start + BATCH]
                self._memory.append_events(self._agent, thread, some, user=self._user)
            self._appended[thread] = len(messages)
        except DaybookError as error:
            log.warning("Daybook has not kept the messages of %s: %s", thread, error)


def _events(message: Any) -> list[AppendEvent]:
    """The events of a message: its words, and the calls of tools in it."""
    if not isinstance(message, BaseMessage) or message.type not in ROLES:
        return []
    events: list[AppendEvent] = []
    text = message.text if isinstance(message.text, str) else message.text()
    named = {"id": message.id} if message.id else {}
    if text.strip():
        event: Any = {"role": ROLES[message.type], "text": text, **named}
        if message.type == "tool":
            event["tool"] = message.name or "tool"
        events.append(event)
    for call in getattr(message, "tool_calls", []):
        events.append({"role": "assistant", "tool": call["name"], "text": str(call["args"]), "id": call["id"]})
    return events
