"""The MCP server over streamable HTTP, called by the Python SDK: `python mcp_http.py <daybook> <root>`.

The root holds the sample. Also sends what no client sends: too slowly, and from elsewhere.
"""

import asyncio
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time

from mcp import Client, ClientSession, MCPError
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

DAYBOOK, ROOT = sys.argv[1:3]
SESSIONS = 20


class Server:
    """`daybook serve`, until it is left."""

    def __enter__(self):
        command = [DAYBOOK, "serve", "--listen", "127.0.0.1:0", "--no-follow", "--root", ROOT]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "DAYBOOK_PERSON": "ada"}
        )
        self.address = re.search(r"http://(\S+)", self.process.stdout.readline())[1]
        with open(os.path.join(ROOT, "token")) as file:
            self.token = file.read().strip()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        assert self.process.wait(timeout=10) == 0, "it did not end at once"


def streams(server, path="/mcp"):
    client = create_mcp_http_client(headers={"Authorization": f"Bearer {server.token}"})
    return streamable_http_client(f"http://{server.address}{path}", http_client=client)


def text_of(result):
    return result.content[0].text


async def told(session, tool, /, **arguments):
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result), result.structured_content


async def tools_resources_and_prompts(server):
    changed = asyncio.Event()

    async def note(message):
        updated = getattr(message, "root", message)
        if getattr(updated, "method", "") == "notifications/resources/updated":
            changed.set()

    async with streams(server, "/mcp?tools=entities") as pipes:
        async with ClientSession(*pipes[:2], message_handler=note) as session:
            greeting = await session.initialize()
            assert greeting.server_info.name == "daybook"
            assert len((await session.list_tools()).tools) == 9
            text, _ = await told(session, "remember", text="the ferry leaves from pier seven")
            assert text == "Remembered in user/ada.", text
            text, _ = await told(session, "recall", question="where does the ferry leave", limit=3)
            assert "pier seven" in text, text
            listed = (await session.list_resources()).resources
            page = next(it.uri for it in listed if str(it.uri).endswith("tidepool/memory/MEMORY.md"))
            assert (await session.read_resource(page)).contents[0].text.startswith("# ")
            await session.subscribe_resource(page)
            with open(os.path.join(ROOT, str(page).removeprefix("daybook:///")), "a") as file:
                file.write("\nAda wrote this by hand.\n")
            await asyncio.wait_for(changed.wait(), timeout=30)
            filled = await session.get_prompt("what-do-we-know", {"question": "what is the limit of the cache"})
            assert "<daybook-memory>" in filled.messages[0].content.text, filled


async def the_newest_protocol(server):
    async with Client(streams(server)) as client:
        assert client.protocol_version >= "2026-07-28", client.protocol_version
        result = await client.call_tool("recall", {"question": "where does the ferry leave"})
        assert "pier seven" in text_of(result), text_of(result)
        listed = (await client.list_resources()).resources
        page = next(it.uri for it in listed if str(it.uri).endswith("tidepool/memory/MEMORY.md"))
        async with client.listen(resource_subscriptions=[page, "daybook:///daybook.toml"]) as subscription:
            with open(os.path.join(ROOT, page.removeprefix("daybook:///")), "a") as file:
                file.write("\nAda wrote this, too.\n")
            event = await asyncio.wait_for(anext(aiter(subscription)), timeout=30)
            assert page in str(event), event


async def cancellation(server):
    async with streams(server) as pipes, ClientSession(*pipes[:2]) as session:
        await session.initialize()
        database = sqlite3.connect(os.path.join(ROOT, "daybook.db"), isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        first = asyncio.create_task(told(session, "remember", text="the gulls nest in April"))
        await asyncio.sleep(0.5)
        try:
            await session.call_tool("remember", {"text": "the heron fishes at dusk"}, read_timeout_seconds=0.5)
        except MCPError as error:
            assert "imed out" in str(error), error
        else:
            raise AssertionError("nothing held the call up")
        await told(session, "recall", question="where does the ferry leave")
        database.execute("ROLLBACK")
        await first
        text, _ = await told(session, "recall", question="when does the heron fish, when do gulls nest")
        assert "in April" in text and "at dusk" not in text, text


async def one_of_many(server, n):
    async with streams(server) as pipes, ClientSession(*pipes[:2]) as session:
        await session.initialize()
        await told(session, "remember", text=f"mooring {n} belongs to boat {n}")
        text, _ = await told(session, "recall", question=f"mooring {n} boat", limit=50)
        assert f"mooring {n} belongs to boat {n}" in text, text


def refused(server, parts, status, code):
    """Sends parts of a request, slower than a client does, and checks the refusal."""
    host, port = server.address.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as client:
        client.settimeout(30)
        for part in parts:
            client.sendall(part.encode())
            time.sleep(0.2)
        answer = b""
        while more := client.recv(4096):
            answer += more
    head, body = answer.decode().split("\r\n\r\n", 1)
    assert head.split()[1] == str(status), head
    assert json.loads(body)["error"]["code"] == code, body


def strangers(server):
    start = f"POST /mcp HTTP/1.1\r\nHost: {server.address}\r\nContent-Type: application/json\r\n"
    accepts = "Accept: application/json, text/event-stream\r\n"
    token = f"Authorization: Bearer {server.token}\r\n"
    length = "Content-Length: 100\r\n\r\n"
    refused(server, [start + accepts + length], 401, "unauthorized")
    refused(server, [start + accepts + token.replace(server.token, "0" * 64) + length], 401, "unauthorized")
    refused(server, [start + token + "Origin: https://ferry.example\r\n" + length], 403, "wrong_origin")
    refused(server, [start.replace(server.address, "ferry.example") + token + length], 403, "wrong_host")
    refused(server, [start + token + length.replace("100", str(1 << 30))], 413, "too_large")
    # Headers, then a body, of which the rest never comes.
    refused(server, [start], 408, "slow_request")
    refused(server, [start + accepts + token + length, '{"jsonrpc"', ': "2.0"'], 408, "slow_request")


async def main():
    with Server() as server:
        await tools_resources_and_prompts(server)
        await the_newest_protocol(server)
        await cancellation(server)
        began = time.monotonic()
        await asyncio.gather(*(one_of_many(server, n) for n in range(SESSIONS)))
        took = time.monotonic() - began
        await asyncio.to_thread(strangers, server)
    print(f"the Python SDK gets on with /mcp; {SESSIONS} sessions at once took {took:.1f} s")


asyncio.run(main())
