"""The client against `daybook serve`: every operation, both clients, retries and errors.

`python routes.py <daybook> <folder>`: starts servers on new data folders there.
"""

import asyncio
import inspect
import json
import os
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from daybook_client import (
    AsyncDaybook,
    Conflict,
    ConnectionFailed,
    Daybook,
    InvalidRequest,
    NotAuthorized,
    NotFound,
    Unavailable,
)

DAYBOOK, FOLDER = sys.argv[1], Path(sys.argv[2])
DESCRIPTION = Path(__file__).resolve().parents[3] / "crates/app/openapi.json"
ENV = {**os.environ, "DAYBOOK_PERSON": "ada"}


def serve(root):
    command = [DAYBOOK, "serve", "--listen", "127.0.0.1:0", "--no-follow", "--root", str(root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENV)
    return process, re.search(r"http://\S+", process.stdout.readline())[0]


class Calls:
    """A client whose calls are counted by operation; those of the asynchronous one are awaited."""

    def __init__(self, client, loop=None):
        self.client, self.loop, self.called = client, loop, set()

    def __getattr__(self, name):
        method = getattr(self.client, name)

        def call(*arguments, **named):
            self.called.add(name)
            answer = method(*arguments, **named)
            return self.loop.run_until_complete(answer) if inspect.iscoroutine(answer) else answer

        return call

    def first(self, items):
        """The first item of an iterator, which is closed then."""
        if self.loop is None:
            found = next(items)
            items.close()
            return found

        async def first():
            async for found in items:
                await items.aclose()
                return found

        return self.loop.run_until_complete(first())

    def every(self, items):
        if self.loop is None:
            return list(items)

        async def every():
            return [item async for item in items]

        return self.loop.run_until_complete(every())


def refused(kind, work, *arguments, **named):
    try:
        work(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"it was not refused with {kind.__name__}")


def learned(memory, holds, **chosen):
    """Waits until the server has learned what `holds`."""
    for _ in range(600):
        try:
            found = [one for one in memory.list_memories(**chosen)["memories"] if holds in one["text"]]
        except NotFound:
            found = []
        if found and found[0]["shown_in"]:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"nothing was learned about {holds}")


def the_server_itself(memory):
    assert memory.get_health()["version"]
    assert "<html" in memory.get_docs()
    assert "daybook_" in memory.get_metrics()
    assert memory.get_open_api()["info"]["title"] == "Daybook"
    assert memory.get_status()["events"] >= 0


def a_session_becomes_memory(memory):
    events = [
        {"role": "user", "text": "Set the tide cache limit to 50 entries.", "id": "m1"},
        {"role": "assistant", "text": "Done: the limit is 50."},
    ]
    added = memory.append_events("harbour-bot", "talk-1", events)
    assert added["added"] == 2, added
    assert memory.append_events("harbour-bot", "talk-1", events)["added"] == 0
    assert memory.report_trigger("harbour-bot", "talk-1", "end")
    listed = memory.list_sessions()["sessions"]
    assert [one["id"] for one in listed] == ["harbour-bot:talk-1"], listed
    assert len(memory.every(memory.client.all_sessions(limit=1))) == 1
    found = learned(memory, "50")
    answer = memory.recall_memories("How large is the tide cache limit?", limit=3)
    assert answer["confidence"] == "likely" and "50" in answer["results"][0]["text"], answer
    citation = found["citations"][0]
    assert "tide cache" in memory.show_citation(citation)["events"][0]["text"]
    assert memory.show_words(citation, around=1)["label"]
    assert memory.explain_line(found["id"])["observations"]
    context = memory.get_context(prompt="How large is the tide cache limit?", budget=500)
    assert "50" in context["text"], context
    assert memory.list_jobs(all=True)["jobs"]
    assert memory.get_spend()["currency"]


def words_are_kept_and_changed(memory):
    kept = memory.remember_text("Ada's boat is called Tern.")
    more = memory.add_memory("The pier opens at nine.")
    memory.add_memory("The crane is blue.")
    # The list begins with what files show, so it rests when they are written.
    for words in ["Tern", "pier", "crane"]:
        learned(memory, words)
    assert len(memory.every(memory.client.all_memories(limit=1))) == 4
    changed = memory.update_memory(kept["id"], "Ada's boat is called Avocet.")
    assert changed["change"]["commit"], changed
    boat = learned(memory, "Avocet")
    assert memory.get_memory(boat["id"])["text"] == "Ada's boat is called Avocet."
    assert memory.get_memory_history(boat["id"])["changes"]
    assert memory.edit_line("The crane is blue.", "The crane is green.")["change"]["commit"]
    assert memory.forget_memory("The crane is green.")["forgotten"]
    assert memory.delete_memory(more["id"])["forgotten"]
    assert memory.purge_memory(memory=boat["id"], dry_run=True)["purged"] is False


def files_are_read_and_written(memory):
    listed = [one["file"] for one in memory.list_files()["files"]]
    assert "MEMORY.md" in listed, listed
    name = "knowledge/tides & ebbs.md"
    first = memory.write_file(name, "# Tides\n\nHigh at noon.\n")
    assert first["change"]["commit"], first
    assert "noon" in memory.read_file(name)["text"]
    memory.write_file(name, "# Tides\n\nHigh at one.\n")
    commits = memory.list_file_history(name)["commits"]
    assert len(commits) == 2, commits
    refused(Conflict, memory.write_file, name, "# Tides\n", since=commits[1]["id"])
    memory.restore_file(name, commits[1]["id"])
    assert "noon" in memory.read_file(name)["text"]
    assert memory.diff_files(from_=commits[1]["id"], file=name)["scope"]
    assert memory.delete_file(name)["commit"]
    refused(NotFound, memory.read_file, name)
    assert memory.list_file_changes(limit=2)["next"]
    made = memory.run_memory_tool({"command": "create", "path": "/memories/lamps.md", "file_text": "The green lamp.\n"})
    assert made["is_error"] is False, made


def entities_have_records(memory):
    memory.write_entity("ada", "Ada", "keeps the harbour")
    memory.write_record("ada", "boats", "Ada sails the Avocet.")
    shown = memory.get_entity("ada")
    assert shown["name"] == "Ada" and len(shown["records"]) == 1, shown
    assert [one["entity"] for one in memory.list_entities()["entities"]] == ["ada"]
    assert memory.delete_entity("ada")
    refused(NotFound, memory.get_entity, "ada")


def threads_hold_conversations(memory):
    made = memory.create_thread(agent="harbour-bot", name="watch-1")
    thread = made["thread"]
    talk = [
        {"type": "USER_MESSAGE", "content": "Which lamp is lit?"},
        {"type": "LLM_TEXT_RESPONSE", "content": "The green lamp."},
    ]
    assert len(memory.dispatch_event(thread, talk)["results"]) == 2
    assert len(memory.dispatch_event(thread, talk[0], wait=False)["results"]) == 1
    assert memory.pause_thread(thread)["paused"]
    assert memory.resume_thread(thread)["was_paused"]
    assert len(memory.get_thread_state(thread, history=True)["states"]) >= 3
    context = memory.get_thread_context(thread, 8192, wire="openai", recall="Which lamp is lit?")
    assert any("lamp" in json.dumps(message) for message in context["messages"]), context
    long = [{"type": "USER_MESSAGE", "content": f"Is part {n} fine? " + "It is long. " * 20} for n in range(8)]
    memory.dispatch_event(thread, long)
    assert memory.compact_thread(thread)["compaction"]
    assert memory.end_thread(thread)["thread"] == thread
    assert [one["thread"] for one in memory.list_threads()["threads"]] == [thread]
    memory.delete_thread(thread)
    refused(NotFound, memory.get_thread_state, thread)


def changes_are_watched(memory):
    change = memory.first(memory.watch_changes())
    assert change["scope"] == "user/ada" and change["revision"] > 0, change


def refusals_have_kinds(memory, url):
    wrong = refused(InvalidRequest, memory.recall_memories, "")
    assert wrong.status == 400 and wrong.code == "invalid_request" and wrong.request_id, wrong
    missing = refused(NotFound, memory.get_memory, "0123456789abcdef")
    assert missing.code == "not_found" and "0123456789abcdef" in str(missing), missing
    with Daybook(url, "not-the-token") as stranger:
        refused(NotAuthorized, stranger.get_status)
    with Daybook("http://127.0.0.1:9", retries=1) as nowhere:
        refused(ConnectionFailed, nowhere.get_health)


def every_operation(client, url, loop=None):
    memory = Calls(client, loop)
    the_server_itself(memory)
    a_session_becomes_memory(memory)
    words_are_kept_and_changed(memory)
    files_are_read_and_written(memory)
    entities_have_records(memory)
    threads_hold_conversations(memory)
    changes_are_watched(memory)
    refusals_have_kinds(memory, url)
    paths = json.loads(DESCRIPTION.read_text())["paths"].values()
    ids = [operation["operationId"] for methods in paths for operation in methods.values()]
    missed = [one for one in ids if re.sub(r"(?<!^)(?=[A-Z])", "_", one).lower() not in memory.called]
    assert missed == [], missed
    return len(ids)


class Busy(BaseHTTPRequestHandler):
    """Has too much to do twice, then keeps the text; and never has room for questions."""

    seen: list = []

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        Busy.seen.append((self.path, self.headers.get("idempotency-key")))
        is_kept = self.path == "/v1/remember" and len(Busy.seen) == 3
        error = {"error": {"code": "busy", "message": "too many requests at once"}}
        body = {"id": "1", "scope": "user/ada", "text": "Hello.", "secrets_hidden": 0} if is_kept else error
        text = json.dumps(body).encode()
        self.send_response(200 if is_kept else 503)
        self.send_header("content-length", str(len(text)))
        self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def a_busy_server_is_asked_again():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Busy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with Daybook(url) as memory:
        assert memory.remember_text("Hello.")["text"] == "Hello."
        keys = {key for _, key in Busy.seen}
        assert len(Busy.seen) == 3 and len(keys) == 1 and None not in keys, Busy.seen
        Busy.seen.clear()
        refused(Unavailable, memory.recall_memories, "Hello?")
        assert Busy.seen == [("/v1/recall", None)] * 4, Busy.seen
    server.shutdown()


def main():
    root = FOLDER / "sync"
    process, url = serve(root)
    try:
        with Daybook.local(url, root=root) as client:
            operations = every_operation(client, url)
    finally:
        process.terminate()
        process.wait()
    root = FOLDER / "async"
    process, url = serve(root)
    loop = asyncio.new_event_loop()
    try:
        client = AsyncDaybook.local(url, root=root)
        every_operation(client, url, loop)
        loop.run_until_complete(client.close())
    finally:
        process.terminate()
        process.wait()
    a_busy_server_is_asked_again()
    print(f"python client: {operations} operations, waiting and asynchronous, with retries and errors")


main()
