"""mem0 as the store of an agent's memory: Daybook against mem0's own `Memory`, behind a thin server.

`python mem0_backend.py <daybook> <folder>`: the server has the paths and bodies of mem0's own server; its model and its
embedder are scripted, so that nothing leaves the machine.
"""

import json
import math
import os
import re
import subprocess
import sys
import threading
import urllib.request
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

DAYBOOK, FOLDER = sys.argv[1:3]
os.environ["MEM0_TELEMETRY"] = "false"
os.environ["MEM0_DIR"] = os.path.join(FOLDER, "mem0")
os.environ["OPENAI_API_KEY"] = "none"

from mem0 import Memory

KEY = "m0-key-of-the-tests"
LEARNED = "Ada wants the test written first"
DIMENSIONS = 256


class ScriptedModel:
    """Learns one thing from one conversation, and nothing from any other."""

    def generate_response(self, messages, **_):
        learns = "always write the test first" in messages[-1]["content"]
        return json.dumps({"memory": [{"id": "0", "text": LEARNED}] if learns else []})


class WordEmbedder:
    """Texts with the same words are near each other."""

    def embed(self, text, memory_action=None):
        vector = [0.0] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
        length = math.sqrt(sum(part * part for part in vector)) or 1.0
        return [part / length for part in vector]

    def embed_batch(self, texts, memory_action=None):
        return [self.embed(text) for text in texts]


def memory():
    store = {"path": os.path.join(FOLDER, "vectors"), "embedding_model_dims": DIMENSIONS, "on_disk": True}
    made = Memory.from_config({
        "vector_store": {"provider": "qdrant", "config": store},
        "history_db_path": os.path.join(FOLDER, "history.db"),
    })
    made.llm, made.embedding_model = ScriptedModel(), WordEmbedder()
    return made


class Server(BaseHTTPRequestHandler):
    """The paths of mem0's own server that Daybook calls."""

    protocol_version = "HTTP/1.1"
    memory, lock, is_down = None, threading.Lock(), False

    def answer(self, status, body):
        data = json.dumps(body, default=str).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("X-API-Key") != KEY:
            return self.answer(401, {"detail": "Authentication required."})
        if Server.is_down:
            return self.answer(503, {"detail": "down"})
        target = urlsplit(self.path)
        with self.lock:
            try:
                found = self.work(target.path, parse_qs(target.query), json.loads(body or "{}"))
            except ValueError as error:
                return self.answer(404, {"detail": str(error)})
        self.answer(200, found)

    def work(self, path, query, body):
        own, one = self.memory, path.removeprefix("/memories/")
        match self.command, path:
            case "POST", "/memories":
                return own.add(body.pop("messages"), **body)
            case "GET", "/memories":
                return own.get_all(filters={"user_id": query["user_id"][0]}, top_k=int(query["top_k"][0]))
            case "POST", "/search":
                return own.search(body.pop("query"), **body)
            case "GET", _:
                return own.get(one)
            case "PUT", _:
                return own.update(one, text=body["text"])
            case "DELETE", _:
                own.delete(one)
                return {"message": "Memory deleted successfully"}

    do_GET = do_POST = do_PUT = do_DELETE = handle_request

    def log_message(self, *_):
        pass


class Daybook:
    def __init__(self, mem0):
        self.root = os.path.join(FOLDER, "root")
        os.makedirs(self.root)
        with open(os.path.join(self.root, "daybook.toml"), "w") as file:
            file.write(f'[mem0]\nurl = "{mem0}"\nkey = {{ env = "MEM0_KEY" }}\n[agents.alpha]\nmemory_backend = "mem0"\n')
        self.env = {**os.environ, "DAYBOOK_PERSON": "ada", "MEM0_KEY": KEY}
        command = [DAYBOOK, "serve", "--listen", "127.0.0.1:0", "--no-follow", "--root", self.root]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.env)
        self.address = re.search(r"http://\S+", self.process.stdout.readline())[0]
        with open(os.path.join(self.root, "token")) as file:
            self.token = file.read().strip()

    def ask(self, method, path, body=None, status=200):
        request = urllib.request.Request(self.address + path, method=method)
        request.add_header("Authorization", "Bearer " + self.token)
        request.add_header("Content-Type", "application/json")
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data) as answer:
                code, found = answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            code, found = error.code, json.load(error)
        assert code == status, (method, path, code, found)
        return found

    def run(self, *arguments):
        command = [DAYBOOK, *arguments, "--root", self.root]
        return subprocess.run(command, env=self.env, capture_output=True, text=True)


def listed(daybook):
    found = daybook.ask("GET", "/v1/memories?scope=agent/alpha&agent=alpha")
    return sorted(memory["text"] for memory in found["memories"])


def recalled(daybook, question):
    found = daybook.ask("POST", "/v1/recall", {"question": question, "agent": "alpha", "scopes": ["agent/alpha"]})
    return [result["text"] for result in found["results"]], found.get("unanswered", [])


def the_contract(daybook):
    def add(text):
        return daybook.ask("POST", "/v1/memories", {"text": text, "scope": "agent/alpha", "agent": "alpha"})["id"]

    harbour, _ = add("the harbour opens at seven"), add("the crane lifts nine tons")
    found, unanswered = recalled(daybook, "when does the harbour open")
    assert found[0] == "the harbour opens at seven" and not unanswered, (found, unanswered)
    path = f"/v1/memories/{harbour}?agent=alpha"
    daybook.ask("PATCH", path, {"text": "the harbour opens at eight"})
    assert daybook.ask("GET", path)["text"] == "the harbour opens at eight"
    assert listed(daybook) == ["the crane lifts nine tons", "the harbour opens at eight"]
    daybook.ask("GET", f"/v1/memories/{harbour}?agent=beta", status=404)
    daybook.ask("DELETE", path)
    daybook.ask("GET", path, status=404)
    daybook.ask("DELETE", path, status=404)
    assert listed(daybook) == ["the crane lifts nine tons"]


def a_conversation(daybook):
    events = [
        {"id": "1", "role": "user", "text": "please always write the test first"},
        {"id": "2", "role": "assistant", "text": "I will write the test first."},
    ]
    daybook.ask("POST", "/v1/append", {"agent": "alpha", "session": "pier-1", "events": events})
    daybook.ask("POST", "/v1/trigger", {"agent": "alpha", "session": "pier-1", "what": "reset"})
    Server.is_down = True
    daybook.run("update")
    status = daybook.run("status").stdout
    assert "the mem0 server cannot answer now (HTTP 503)" in status, status
    found, unanswered = recalled(daybook, "the crane")
    assert not found and unanswered == ["agent/alpha: the mem0 server cannot answer now (HTTP 503)"], (found, unanswered)
    Server.is_down = False
    for _ in range(2):
        done = daybook.run("update", "--all")
        assert done.returncode == 0, done.stderr
        assert listed(daybook) == [LEARNED, "the crane lifts nine tons"], listed(daybook)
    assert recalled(daybook, "should the test be written first")[0][0] == LEARNED


Server.memory = memory()
server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
daybook = Daybook(f"http://127.0.0.1:{server.server_port}")
try:
    the_contract(daybook)
    a_conversation(daybook)
finally:
    daybook.process.kill()
print("mem0 keeps an agent's memory: added, found, changed, removed, learned, and waited for")
