"""Random commands of the memory tool, given to the local tool of the `anthropic` package and to `daybook serve`: each has
the same outcome, and the trees are the same.

    memory_tool.py <daybook> <scratch folder> [commands]

The package decides what is right. Three things are not compared: sizes of folders (the package shows those of its file
system), empty folders (a memory folder holds files alone, so they are removed from the package's tree), and the words
of a failure that the package did not foresee (it lets the system's error through).
"""

import json
import os
import random
import subprocess
import sys
import time
import uuid
from http.client import HTTPConnection
from pathlib import Path

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

COMMANDS = 5000
SEED = 20261126
# Most times that a request is sent.
TRIES = 200
NAMES = ["a", "b.md", "tides", "größe", "x y"]
TEXTS = ["", "\n", "high\nlow\n", "no end", "a\r\nb\r\n", "aaa\naa\n", "ä\u2028ö\n", "\n\n- one\n- two\n- three\n- four\n\n"]
VIEW, CREATE, REPLACE, INSERT, DELETE, RENAME = range(6)


class Daybook:
    """A server on a new data folder."""

    def __init__(self, binary: str, root: Path):
        command = [binary, "serve", "--root", str(root), "--listen", "127.0.0.1:0", "--set", "person=ada"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.connection = HTTPConnection(line.strip().rsplit("http://", 1)[1], timeout=60)
        self.token = (root / "token").read_text().strip()
        self.memory = root / "users" / "ada" / "memory"

    def run(self, command: dict) -> tuple[str, bool]:
        """Carries a command out once: where the server is busy or slow, the request is repeated with its key."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        }
        for _ in range(TRIES):
            self.connection.request("POST", "/v1/memory-tool?flavour=python_sdk", json.dumps(command), headers)
            response = self.connection.getresponse()
            answer = json.loads(response.read())
            if response.status not in (409, 503, 504):
                break
            time.sleep(0.1)
        assert response.status == 200, (command, answer)
        return answer["content"], answer["is_error"]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)


def run_package(tool: BetaLocalFilesystemMemoryTool, command: dict) -> tuple[str | None, bool]:
    try:
        return tool.call(command), False
    except ToolError as error:
        return str(error), True
    except OSError:
        return None, True


def tree(folder: Path) -> dict[str, bytes]:
    files = {}
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(place) / name
            files[str(path.relative_to(folder))] = path.read_bytes()
    return files


def remove_empty(folder: Path) -> None:
    for place, _, _ in os.walk(folder, topdown=False):
        if Path(place) != folder and not os.listdir(place):
            os.rmdir(place)


def without_sizes_of_folders(content: str | None, command: dict) -> str | None:
    if content is None or not content.startswith("Here're the files"):
        return content
    head, first, *rest = content.split("\n")
    shown = [line.split("\t", 1)[1] if line.endswith("/") else line for line in rest]
    return "\n".join([head, first.split("\t", 1)[1], *shown])


class Commands:
    """Random commands about the files that are there, and about some that are not."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def path(self, files: dict[str, bytes], known: float = 0.8) -> str:
        r = self.random
        kind = r.random()
        if kind < known and files:
            path = "/memories/" + r.choice(sorted(files))
        elif kind < known + 0.08 and files:
            path = str(Path("/memories/" + r.choice(sorted(files))).parent)
        else:
            path = "/memories/" + "/".join(r.choice(NAMES) for _ in range(r.randint(1, 3)))
        return self.disguised(path)

    def disguised(self, path: str) -> str:
        r = self.random
        kind = r.random()
        if kind < 0.90:
            return path
        if kind < 0.92:
            return path.replace("/memories", "/memories/./a/..", 1)
        if kind < 0.94:
            return path.replace("/", "//", 2).replace("//memories", "/memories", 1)
        if kind < 0.96:
            return path.replace("/memories", "/memories/..", 1)
        if kind < 0.98:
            return path.replace("/memories", "/elsewhere", 1)
        return "/memories"

    def part_of(self, text: str) -> str:
        r = self.random
        if not text or r.random() < 0.2:
            return r.choice(["", "a", "aa", "tide", "\n"])
        begin = r.randrange(len(text))
        return text[begin : begin + r.randint(1, 8)]

    def text(self, files: dict[str, bytes], path: str) -> str:
        return files.get(path.removeprefix("/memories/"), b"").decode()

    def next(self, files: dict[str, bytes]) -> dict:
        r = self.random
        path = self.path(files)
        text = self.text(files, path)
        lines = text.count("\n")
        kind = r.choices(range(6), weights=[3, 4, 4, 3, 2, 2])[0]
        if kind == VIEW:
            command = {"command": "view", "path": r.choice([path, "/memories", "/memories/"])}
            if r.random() < 0.4:
                command["view_range"] = [r.randint(-1, lines + 2), r.choice([-1, -2, 0, r.randint(0, lines + 3)])]
            return command
        if kind == CREATE:
            path = self.path(files, known=0.1)
            return {"command": "create", "path": path, "file_text": r.choice(TEXTS) * r.choice([1, 1, 1, 300])}
        if kind == REPLACE:
            new = r.choice(["", "x", "new\nlines\n", "ä"])
            return {"command": "str_replace", "path": path, "old_str": self.part_of(text), "new_str": new}
        if kind == INSERT:
            line = r.randint(-1, lines + 2)
            return {"command": "insert", "path": path, "insert_line": line, "insert_text": r.choice(["", "one", "one\n", "one\ntwo\n\n"])}
        if kind == DELETE:
            return {"command": "delete", "path": path}
        return {"command": "rename", "old_path": path, "new_path": self.path(files, known=0.1)}


def main() -> None:
    binary, scratch = sys.argv[1], Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else COMMANDS
    tool = BetaLocalFilesystemMemoryTool(str(scratch / "package"))
    folder = scratch / "package" / "memories"
    daybook = Daybook(binary, scratch / "daybook")
    failed = 0
    try:
        commands = Commands(SEED)
        for number in range(count):
            files = tree(folder)
            command = commands.next(files)
            expected, is_error = run_package(tool, command)
            remove_empty(folder)
            found, is_refused = daybook.run(command)
            failed += is_error
            where = f"command {number}: {command}"
            assert is_refused == is_error, f"{where}\n{expected}\n{found}"
            if expected is not None:
                expected, found = (without_sizes_of_folders(it, command) for it in (expected, found))
                assert found == expected, f"{where}\n{expected!r}\n{found!r}"
            assert tree(daybook.memory) == tree(folder), where
    finally:
        daybook.end()
    assert count / 10 < failed < count * 0.9, f"{failed} of {count} failed, which shows little"
    commits = subprocess.run(
        ["git", "-C", str(daybook.memory), "rev-list", "--count", "HEAD"], capture_output=True, text=True, check=True
    )
    print(f"memory tool: {count} commands, {failed} of them failures, {commits.stdout.strip()} commits")


main()
