"""A `BaseStore` of LangGraph whose items are memory files of Daybook.

Each item is a file that people can read and change, with a history; a search with a query is a recall.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from .. import Daybook, NotFound

# The folder of items among memory files.
FOLDER = "store"
# Most files of one page, and most answers of one recall.
PAGE = 1000
ANSWERS = 100
# Longest question, in letters of at most four bytes.
QUESTION = 1024


class DaybookStore(BaseStore):
    """`graph.compile(store=DaybookStore(memory))`"""

    def __init__(self, memory: Daybook, *, scope: str | None = None, agent: str | None = None) -> None:
        """Items are in the memory of `scope`, which `agent` takes part in; in the person's when both are left out."""
        self._memory = memory
        self._whose: dict[str, str | None] = {"scope": scope, "agent": agent}

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does the operations in their order."""
        return [self._do(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _do(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._read(_file(op.namespace, op.key))
            case PutOp():
                self._write(op)
                return None
            case SearchOp():
                found = self._recalled(op) if op.query else self._listed(op)
                wanted = [item for item in found if _fits(item.value, op.filter or {})]
                return wanted[op.offset : op.offset + op.limit]
            case ListNamespacesOp():
                return self._namespaces(op)
        raise ValueError(f"{type(op).__name__} is no operation of a store")

    def _read(self, file: str) -> Item | None:
        try:
            text = self._memory.read_file(file, **self._whose)["text"]
            kept = json.loads(text.split("```json\n", 1)[1].rsplit("\n```", 1)[0])
            namespace, key = _place(file)
            return Item(
                value=kept["value"],
                key=key,
                namespace=namespace,
                created_at=kept["created_at"],
                updated_at=kept["updated_at"],
            )
        except (NotFound, IndexError, KeyError, ValueError):
            # A person may have made it something else; one file never hides the others.
            return None

    def _write(self, op: PutOp) -> None:
        file = _file(op.namespace, op.key)
        if op.value is None:
            try:
                self._memory.delete_file(file, **self._whose)
            except NotFound:
                pass
            return
        now = datetime.now(UTC).isoformat()
        known = self._read(file)
        created = known.created_at.isoformat() if known else now
        kept = {"value": op.value, "created_at": created, "updated_at": now}
        block = json.dumps(kept, ensure_ascii=False, indent=1)
        self._memory.write_file(file, f"# {op.key}\n\n```json\n{block}\n```\n", **self._whose)

    def _recalled(self, op: SearchOp) -> Iterator[SearchItem]:
        """Items that answer the query, best first."""
        scopes = [self._whose["scope"]] if self._whose["scope"] else None
        question, agent = (op.query or "")[:QUESTION], self._whose["agent"]
        answer = self._memory.recall_memories(question, limit=ANSWERS, layers=["entry"], scopes=scopes, agent=agent)
        seen = set()
        for result in answer["results"]:
            file = result.get("file") or ""
            if _is_below(file, op.namespace_prefix) and file not in seen:
                seen.add(file)
                item = self._read(file)
                if item is not None:
                    yield SearchItem(**_fields(item), score=result["score"])

    def _listed(self, op: SearchOp) -> Iterator[SearchItem]:
        for file in self._files():
            item = self._read(file) if _is_below(file, op.namespace_prefix) else None
            if item is not None:
                yield SearchItem(**_fields(item))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        all_of_them = {_place(file)[0] for file in self._files()}
        wanted = [one for one in all_of_them if all(_matches(one, rule) for rule in op.match_conditions or ())]
        cut = sorted({one[: op.max_depth] for one in wanted})
        return cut[op.offset : op.offset + op.limit]

    def _files(self) -> Iterator[str]:
        after: str | None = None
        while True:
            try:
                page = self._memory.list_files(limit=PAGE, after=after, **self._whose)
            except NotFound:
                return
            yield from (one["file"] for one in page["files"] if _is_below(one["file"], ()))
            after = page.get("next")
            if after is None:
                return


def _file(namespace: tuple[str, ...], key: str) -> str:
    """The file of an item: `store/users/ada/tea.md`."""
    return "/".join([FOLDER, *(quote(label, safe=" ") for label in [*namespace, key])]) + ".md"


def _place(file: str) -> tuple[tuple[str, ...], str]:
    """The namespace and the key of a file."""
    labels = [unquote(label) for label in file.removesuffix(".md").split("/")[1:]]
    return tuple(labels[:-1]), labels[-1]


def _is_below(file: str, prefix: tuple[str, ...]) -> bool:
    is_item = file.startswith(f"{FOLDER}/") and file.endswith(".md")
    return is_item and _place(file)[0][: len(prefix)] == prefix


def _fields(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("namespace", "key", "value", "created_at", "updated_at")}


def _matches(namespace: tuple[str, ...], rule: MatchCondition) -> bool:
    path = rule.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if rule.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": lambda value, wanted: float(value) > float(wanted),
    "$gte": lambda value, wanted: float(value) >= float(wanted),
    "$lt": lambda value, wanted: float(value) < float(wanted),
    "$lte": lambda value, wanted: float(value) <= float(wanted),
}


def _fits(value: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a value has the fields that a filter names."""

    def fits(name: str, rule: Any) -> bool:
        if isinstance(rule, dict) and any(key.startswith("$") for key in rule):
            return all(name in value and COMPARISONS[key](value[name], one) for key, one in rule.items())
        return bool(value.get(name) == rule)

    return all(fits(name, rule) for name, rule in wanted.items())
