"""The MCP server, called by the Python SDK: `python mcp_client.py <daybook> <root>`.

The root holds the sample. Also starts twenty servers at once.
"""

import asyncio
import os
import re
import sys
import time

from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client

DAYBOOK, ROOT = sys.argv[1:3]
SERVERS = 20


def server(*more):
    return StdioServerParameters(
        command=DAYBOOK,
        args=["mcp", "--root", ROOT, *more],
        env={**os.environ, "DAYBOOK_PERSON": "ada"},
    )


def text_of(result):
    return result.content[0].text


async def told(session, tool, /, **arguments):
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result), result.structured_content


async def refused(session, tool, why, /, **arguments):
    result = await session.call_tool(tool, arguments)
    assert result.is_error and re.search(why, text_of(result)), result


async def each_tool():
    async with stdio_client(server("--tools", "entities")) as streams, ClientSession(*streams) as session:
        greeting = await session.initialize()
        assert greeting.server_info.name == "daybook" and "`recall`" in greeting.instructions
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == [
            "recall",
            "remember",
            "context",
            "show",
            "list",
            "forget",
            "memory_create_entity",
            "memory_upsert_record",
            "memory_list_entities",
        ]
        assert all(tool.annotations.open_world_hint is False for tool in tools)
        text, _ = await told(session, "remember", text="the ferry leaves from pier seven", everywhere=True)
        assert text == "Remembered in user/ada.", text
        text, data = await told(session, "recall", question="where does the ferry leave", limit=3)
        assert text.startswith("<daybook-memory>") and "pier seven" in text, text
        citation = next(found["citation"] for found in data["results"] if found["citation"])
        text, _ = await told(session, "show", target=citation)
        assert "pier seven" in text, text
        _, data = await told(session, "context", project="tidepool", budget=500)
        assert data["tokens"] <= 500, data
        _, data = await told(
            session, "memory_create_entity", entity="ferry", name='The "Ferry"', description="to the islands"
        )
        assert data["path"] == "users/ada/memory/entities/ferry.md", data
        for content in ["seven\n## not a record", "eight"]:
            await told(session, "memory_upsert_record", entity="ferry", record="Pier", content=content)
        text, data = await told(session, "memory_list_entities", limit=200)
        assert '- ferry: The "Ferry" — to the islands' in text and data["count"] >= 1, text
        text, _ = await told(session, "show", target="users/ada/memory/entities/ferry.md")
        assert "## Pier\neight" in text, text
        await refused(session, "recall", "missing field `question`")
        await refused(session, "recall", "give 1 to 50", question="x", limit=99)
        await refused(session, "show", "does not name a memory file", target="/etc/passwd")
        await refused(session, "memory_create_entity", "^Name is required", entity="a", name=" ", description="d")
        try:
            await session.call_tool("forget_all", {})
        except MCPError as error:
            assert "there is no tool forget_all" in str(error), error
        else:
            raise AssertionError("a tool that is not there was called")


async def resources_and_prompts():
    changed = asyncio.Event()

    async def note(message):
        updated = getattr(message, "root", message)
        if getattr(updated, "method", "") == "notifications/resources/updated":
            changed.set()

    async with stdio_client(server()) as streams, ClientSession(*streams, message_handler=note) as session:
        await session.initialize()
        listed = (await session.list_resources()).resources
        page = next(it.uri for it in listed if str(it.uri).endswith("tidepool/memory/MEMORY.md"))
        assert (await session.list_resource_templates()).resource_templates
        before = (await session.read_resource(page)).contents[0].text
        assert before.startswith("# "), before
        await session.subscribe_resource(page)
        with open(os.path.join(ROOT, str(page).removeprefix("daybook:///")), "a") as file:
            file.write("\nAda wrote this by hand.\n")
        await asyncio.wait_for(changed.wait(), timeout=30)
        assert "by hand" in (await session.read_resource(page)).contents[0].text
        await session.unsubscribe_resource(page)
        try:
            await session.read_resource("daybook:///daybook.db")
        except MCPError as error:
            assert "memory file" in str(error), error
        else:
            raise AssertionError("a file that is no memory was read")
        names = [prompt.name for prompt in (await session.list_prompts()).prompts]
        assert names == ["where-was-i", "what-do-we-know"], names
        filled = await session.get_prompt("what-do-we-know", {"question": "what is the limit of the cache"})
        assert "<daybook-memory>" in filled.messages[0].content.text, filled


async def one_of_many(n):
    async with stdio_client(server()) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await told(session, "remember", text=f"mooring {n} belongs to boat {n}", everywhere=True)
        text, _ = await told(session, "recall", question=f"mooring {n} boat", limit=50)
        assert f"mooring {n} belongs to boat {n}" in text, text


async def main():
    await each_tool()
    await resources_and_prompts()
    began = time.monotonic()
    await asyncio.gather(*(one_of_many(n) for n in range(SERVERS)))
    print(f"the Python SDK gets on with daybook mcp; {SERVERS} at once took {time.monotonic() - began:.1f} s")


asyncio.run(main())
