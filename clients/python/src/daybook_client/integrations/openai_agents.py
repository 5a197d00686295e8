"""A `Session` of the OpenAI Agents SDK whose conversation is a thread of Daybook.

The conversation outlives the process, becomes memory like every other session, and stays small: old parts of it are
condensed, and stand in one message then. What providers add for themselves (reasoning, their ids) is not kept.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from .. import AsyncDaybook, NotFound

if TYPE_CHECKING:
    from agents.items import TResponseInputItem
    from agents.memory.session_settings import SessionSettings

# Most events of one request.
BATCH = 512


class DaybookSession:
    """`Runner.run(agent, text, session=DaybookSession(memory, "talk-1"))`"""

    session_settings: SessionSettings | None = None

    def __init__(
        self, memory: AsyncDaybook, session_id: str, *, agent: str = "agent", user: str | None = None
    ) -> None:
        """`agent` and `user` decide whose memory the conversation becomes."""
        self.session_id = session_id
        self._memory = memory
        self._agent = agent
        self._user = user
        self._thread = f"{agent}:{session_id}"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest items, in the order in which they came."""
        items = [_item(chunk) for chunk in await self._chunks()]
        return items if limit is None else items[len(items) - min(limit, len(items)) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Adds items. They are on disk when this returns."""
        tools = _tools(await self._chunks())
        events = [event for item in items for event in _events(cast("dict[str, Any]", item), tools)]
        if events:
            await self._memory.create_thread(agent=self._agent, name=self.session_id, user=self._user)
        for start in range(0, len(events), BATCH):
            await self._memory.dispatch_event(self._thread, events[start : start + BATCH])

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the newest item back. The log of the session keeps it."""
        chunks = await self._chunks()
        if not chunks:
            return None
        added = chunks[-1]["metadata"]["custom"]["seq"]
        await self._resume_before(added)
        return _item(chunks[-1])

    async def clear_session(self) -> None:
        """Begins again without items. The log of the session keeps them."""
        if await self._chunks():
            await self._resume_before(1)

    async def _chunks(self) -> list[dict[str, Any]]:
        try:
            state = await self._memory.get_thread_state(self._thread)
        except NotFound:
            return []
        return [state["chunks"][name] for name in state["chunkIds"]]

    async def _resume_before(self, seq: int) -> None:
        """Goes back to the last state that an event before `seq` led to."""
        states = (await self._memory.get_thread_state(self._thread, history=True))["states"]
        before = [one["id"] for one in states if one["provenance"].get("seq", seq) < seq]
        await self._memory.dispatch_event(self._thread, {"type": "EXECUTION_RESUME", "resumeFromStateId": before[-1]})


def _text(content: Any) -> str:
    """The words of a message; images and files have none."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or [] if isinstance(part.get("text"), str))


def _tools(chunks: list[dict[str, Any]]) -> dict[str, str]:
    """The name of the tool of each call."""
    contents = [chunk["content"] for chunk in chunks]
    return {one["callId"]: one["toolName"] for one in contents if "callId" in one and "toolName" in one}


def _events(item: dict[str, Any], tools: dict[str, str]) -> list[dict[str, Any]]:
    """The events for an item: none for what has no words and calls no tool. `tools` learns the names of calls."""
    match item.get("type", "message"):
        case "message":
            text = _text(item.get("content"))
            kind = "LLM_TEXT_RESPONSE" if item.get("role") == "assistant" else "USER_MESSAGE"
            return [{"type": kind, "content": text}] if text.strip() else []
        case "function_call":
            tools[item["call_id"]] = item["name"]
            try:
                arguments = json.loads(item["arguments"])
            except ValueError:
                arguments = item["arguments"]
            call = {"toolName": item["name"], "callId": item["call_id"], "arguments": arguments}
            return [{"type": "LLM_TOOL_CALL", **call}]
        case "function_call_output":
            output = item["output"]
            result = output if isinstance(output, str) else _text(output)
            called = {"toolName": tools.get(item["call_id"], "tool"), "callId": item["call_id"]}
            return [{"type": "TOOL_RESULT", **called, "result": result, "success": True}]
        case _:
            return []


def _item(chunk: dict[str, Any]) -> TResponseInputItem:
    """The item for a chunk; condensed parts are a message of the developer."""
    content = chunk["content"]
    item: dict[str, Any]
    match chunk.get("subType"):
        case "USER":
            item = {"role": "user", "content": content["text"]}
        case "RESPONSE":
            item = {"role": "assistant", "content": content["text"]}
        case "AGENT_ACTION":
            arguments = content["arguments"]
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            called = {"call_id": content["callId"], "name": content["toolName"], "arguments": text}
            item = {"type": "function_call", **called}
        case "ACTION_RESPONSE":
            result = content.get("result", content.get("error", ""))
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            item = {"type": "function_call_output", "call_id": content["callId"], "output": text}
        case _:
            text = content.get("text") or json.dumps(content, ensure_ascii=False)
            item = {"role": "developer", "content": f"Earlier in this conversation:\n{text}"}
    return cast("TResponseInputItem", item)
