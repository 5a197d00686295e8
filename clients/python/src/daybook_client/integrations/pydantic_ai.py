"""Memory for agents of Pydantic AI: two tools, and instructions with what is known.

    agent = Agent(model, toolsets=[memory_tools(memory, agent="harbour-bot")])
    agent.instructions(known(memory, agent="harbour-bot"))
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, RunContext

from .. import AsyncDaybook, InvalidRequest

# Most answers that a model reads.
ANSWERS = 8
# Most tokens of the instructions.
BUDGET = 1_500


def memory_tools(memory: AsyncDaybook, *, agent: str | None = None, user: str | None = None) -> FunctionToolset[Any]:
    """The tools `recall` and `remember`, for what this agent and user may read."""
    tools: FunctionToolset[Any] = FunctionToolset()

    @tools.tool_plain
    async def recall(question: str) -> list[dict[str, str | None]]:
        """Search what is remembered from earlier conversations: preferences, decisions, facts.

        Args:
            question: The question, in plain words.
        """
        try:
            answer = await memory.recall_memories(question, limit=ANSWERS, agent=agent, user=user)
        except InvalidRequest as error:
            raise ModelRetry(str(error)) from error
        if answer["confidence"] == "unlikely":
            return []
        return [{"text": one["text"], "citation": one.get("citation")} for one in answer["results"]]

    @tools.tool_plain
    async def remember(text: str) -> str:
        """Keep a fact for later conversations.

        Args:
            text: The fact, in one sentence that can be understood alone.
        """
        try:
            return (await memory.remember_text(text, agent=agent, user=user))["text"]
        except InvalidRequest as error:
            raise ModelRetry(str(error)) from error

    return tools


def known(
    memory: AsyncDaybook, *, agent: str | None = None, user: str | None = None
) -> Callable[[RunContext[Any]], Awaitable[str]]:
    """Instructions for each run: the context that memory has for its prompt."""

    async def instructions(run: RunContext[Any]) -> str:
        prompt = run.prompt if isinstance(run.prompt, str) else None
        return (await memory.get_context(prompt=prompt, budget=BUDGET, agent=agent, user=user))["text"]

    return instructions
