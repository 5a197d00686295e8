"""One method for each operation. Written by `generate` from the description of HTTP; do not edit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal, cast

from ._transport import AsyncTransport, SyncTransport, _given, _part
from ._types import (
    AppendAnswer,
    AppendEvent,
    ContextAnswer,
    ConversationKind,
    CreatedThread,
    DeletedAnswer,
    DeletedEntity,
    DispatchAnswer,
    EditAnswer,
    EntityAnswer,
    EntityList,
    EventBody,
    FileChange,
    FileList,
    FileText,
    ForgetAnswer,
    Health,
    HistoryAnswer,
    JobList,
    LayerName,
    LineOrigin,
    ListAnswer,
    ListedMemory,
    MemoryChange,
    MemoryHistory,
    MemoryList,
    Overview,
    PausedAnswer,
    PurgeAnswer,
    RecallAnswer,
    RememberAnswer,
    ScopeChange,
    SessionList,
    ShowAnswer,
    ShownEntity,
    SpendAnswer,
    StateDiff,
    StyleName,
    ThreadChange,
    ToolInput,
    ToolResult,
    TriggerAnswer,
    TriggerName,
    WireName,
)


class Operations(SyncTransport):
    """Every operation of the server."""

    def get_docs(
        self,
    ) -> str:
        """This description, as a page for people; needs no token."""
        return self._text("GET", "/docs")

    def get_health(
        self,
    ) -> Health:
        """Whether the server answers; needs no token."""
        return cast("Health", self._json("GET", "/health"))

    def get_metrics(
        self,
    ) -> str:
        """Numbers for Prometheus.

        In its text format, version 0.0.4. docs/operating.md explains each.
        """
        return self._text("GET", "/metrics")

    def get_open_api(
        self,
    ) -> Any:
        """This description, for programs; needs no token."""
        return cast("Any", self._json("GET", "/openapi.json"))

    def append_events(
        self,
        agent: str,
        session: str,
        events: list[AppendEvent],
        *,
        branch: str | None = None,
        folder: str | None = None,
        kind: ConversationKind | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        thread_id: str | None = None,
        user: str | None = None,
    ) -> AppendAnswer:
        """Append events to a session.

        Answers once the events are on disk; the session is extracted once it has rested. Sending the same
        again adds nothing.
        """
        fields: dict[str, Any] = {
            "agent": agent,
            "session": session,
            "events": events,
            "branch": branch,
            "folder": folder,
            "kind": kind,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "thread_id": thread_id,
            "user": user,
        }
        return cast("AppendAnswer", self._json("POST", "/v1/append", body=_given(fields), keyed=True))

    def watch_changes(
        self,
    ) -> Iterator[ScopeChange]:
        """Watch what changes, as server-sent events.

        Each event is called `memory`, and its data names a scope, its revision and how many memories hold
        there. The stream begins with every scope as it is. At most 32 streams are open at once.
        """
        return cast("Iterator[ScopeChange]", self._stream("GET", "/v1/changes"))

    def get_context(
        self,
        *,
        folder: str | None = None,
        project: str | None = None,
        branch: str | None = None,
        files: str | None = None,
        prompt: str | None = None,
        budget: int | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
    ) -> ContextAnswer:
        """The memory to give an agent.

        For the start of its work, or of a conversation; from the memory that applies where the agent works.
        """
        params: dict[str, Any] = {
            "folder": folder,
            "project": project,
            "branch": branch,
            "files": files,
            "prompt": prompt,
            "budget": budget,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
        }
        return cast("ContextAnswer", self._json("GET", "/v1/context", query=params))

    def diff_files(
        self,
        *,
        scope: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        at: str | None = None,
        file: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> StateDiff:
        """Show what changed in memory files between two states."""
        params: dict[str, Any] = {
            "scope": scope,
            "from": from_,
            "to": to,
            "at": at,
            "file": file,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("StateDiff", self._json("GET", "/v1/diff", query=params))

    def edit_line(
        self,
        line: str,
        words: str,
        *,
        agent: str | None = None,
        project: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> EditAnswer:
        """Give a line of memory other words, in every file that shows it."""
        fields: dict[str, Any] = {
            "line": line,
            "words": words,
            "agent": agent,
            "project": project,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("EditAnswer", self._json("POST", "/v1/edit", body=_given(fields), keyed=True))

    def list_entities(
        self,
    ) -> EntityList:
        """List entities with their names and descriptions."""
        return cast("EntityList", self._json("GET", "/v1/entities"))

    def get_entity(
        self,
        entity: str,
    ) -> ShownEntity:
        """Show an entity with its records and links."""
        return cast("ShownEntity", self._json("GET", f"/v1/entities/{_part(entity)}"))

    def write_entity(
        self,
        entity: str,
        name: str,
        description: str,
    ) -> EntityAnswer:
        """Create an entity, or change its name and description."""
        fields: dict[str, Any] = {
            "name": name,
            "description": description,
        }
        return cast("EntityAnswer", self._json("PUT", f"/v1/entities/{_part(entity)}", body=_given(fields), keyed=True))

    def delete_entity(
        self,
        entity: str,
    ) -> DeletedEntity:
        """Delete an entity; its file stays in the history of the person's memory."""
        return cast("DeletedEntity", self._json("DELETE", f"/v1/entities/{_part(entity)}", keyed=True))

    def write_record(
        self,
        entity: str,
        record: str,
        content: str,
    ) -> EntityAnswer:
        """Add a record to an entity, or replace the record of that name."""
        fields: dict[str, Any] = {
            "content": content,
        }
        return cast("EntityAnswer", self._json("PUT", f"/v1/entities/{_part(entity)}/records/{_part(record)}", body=_given(fields), keyed=True))

    def list_files(
        self,
        *,
        scope: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> FileList:
        """List the files of a memory, by name."""
        params: dict[str, Any] = {
            "scope": scope,
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("FileList", self._json("GET", "/v1/files", query=params))

    def read_file(
        self,
        file: str,
        *,
        scope: str | None = None,
        at: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> FileText:
        """Read a memory file, as it is or as it was."""
        params: dict[str, Any] = {
            "scope": scope,
            "at": at,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("FileText", self._json("GET", f"/v1/files/{_part(file)}", query=params))

    def write_file(
        self,
        file: str,
        text: str,
        *,
        since: str | None = None,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> FileChange:
        """Write a memory file, or create one.

        It is a change of the person's through an agent, which `daybook undo` takes back. What the person
        edited by hand is kept in the history first.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        fields: dict[str, Any] = {
            "text": text,
            "since": since,
        }
        return cast("FileChange", self._json("PUT", f"/v1/files/{_part(file)}", query=params, body=_given(fields), keyed=True))

    def delete_file(
        self,
        file: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryChange:
        """Delete a memory file; its past stays in the history."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("MemoryChange", self._json("DELETE", f"/v1/files/{_part(file)}", query=params, keyed=True))

    def list_file_history(
        self,
        file: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> HistoryAnswer:
        """List the changes of a memory file, newest first.

        At most 1000; `/v1/history` goes on from there.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("HistoryAnswer", self._json("GET", f"/v1/files/{_part(file)}/history", query=params))

    def restore_file(
        self,
        file: str,
        at: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryChange:
        """Bring a memory file back to an earlier state."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        fields: dict[str, Any] = {
            "at": at,
        }
        return cast("MemoryChange", self._json("POST", f"/v1/files/{_part(file)}/restore", query=params, body=_given(fields), keyed=True))

    def forget_memory(
        self,
        memory: str,
        *,
        agent: str | None = None,
        project: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> ForgetAnswer:
        """Forget something, in every file and in recall.

        Takes an id or the exact text. Other matches are not forgotten: the error names them.
        """
        fields: dict[str, Any] = {
            "memory": memory,
            "agent": agent,
            "project": project,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("ForgetAnswer", self._json("POST", "/v1/forget", body=_given(fields), keyed=True))

    def list_file_changes(
        self,
        *,
        scope: str | None = None,
        file: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> HistoryAnswer:
        """List the changes of memory files, newest first."""
        params: dict[str, Any] = {
            "scope": scope,
            "file": file,
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("HistoryAnswer", self._json("GET", "/v1/history", query=params))

    def list_jobs(
        self,
        *,
        all: bool | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> JobList:
        """List background work: what waits, runs, rests or has failed."""
        params: dict[str, Any] = {
            "all": all,
            "limit": limit,
            "after": after,
        }
        return cast("JobList", self._json("GET", "/v1/jobs", query=params))

    def list_memories(
        self,
        *,
        scope: str | None = None,
        kind: str | None = None,
        query: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryList:
        """List what is remembered, with ids, sources and the lines that show it."""
        params: dict[str, Any] = {
            "scope": scope,
            "kind": kind,
            "query": query,
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("MemoryList", self._json("GET", "/v1/memories", query=params))

    def add_memory(
        self,
        text: str,
        *,
        agent: str | None = None,
        folder: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> RememberAnswer:
        """Add a memory in your own words.

        The same as `/v1/remember`. Recall finds it at once; the memory files show it after the next update.
        """
        fields: dict[str, Any] = {
            "text": text,
            "agent": agent,
            "folder": folder,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("RememberAnswer", self._json("POST", "/v1/memories", body=_given(fields), keyed=True))

    def get_memory(
        self,
        memory: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ListedMemory:
        """Show one memory, with its sources and the lines that show it."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ListedMemory", self._json("GET", f"/v1/memories/{_part(memory)}", query=params))

    def delete_memory(
        self,
        memory: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ForgetAnswer:
        """Forget a memory, in every file and in recall.

        `daybook undo` brings it back. The message that it came from stays in the log of its session;
        `/v1/purge` removes that, too.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ForgetAnswer", self._json("DELETE", f"/v1/memories/{_part(memory)}", query=params, keyed=True))

    def update_memory(
        self,
        memory: str,
        text: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> EditAnswer:
        """Give a memory other words, in every file and in recall."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        fields: dict[str, Any] = {
            "text": text,
        }
        return cast("EditAnswer", self._json("PATCH", f"/v1/memories/{_part(memory)}", query=params, body=_given(fields), keyed=True))

    def get_memory_history(
        self,
        memory: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryHistory:
        """Show what became of a memory in the files, newest first."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("MemoryHistory", self._json("GET", f"/v1/memories/{_part(memory)}/history", query=params))

    def run_memory_tool(
        self,
        body: ToolInput,
        *,
        scope: str | None = None,
        flavour: Literal["documented", "python_sdk"] | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ToolResult:
        """Carry out a command of Anthropic's memory tool.

        Takes the `input` of a `tool_use` of `memory_20250818`, and answers the `content` and `is_error` of
        its `tool_result`. `/memories` is the memory folder. Each change is a commit of the person's through
        an agent, which `daybook undo` takes back.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "flavour": flavour,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ToolResult", self._json("POST", "/v1/memory-tool", query=params, body=body, keyed=True))

    def purge_memory(
        self,
        *,
        dry_run: bool | None = None,
        everything: bool | None = None,
        memory: str | None = None,
        project: str | None = None,
        session: str | None = None,
        user: str | None = None,
    ) -> PurgeAnswer:
        """Remove something for good, so that nothing brings it back.

        Only what is one user's alone; everything else is purged with `daybook purge`. Other matches of a text
        are not removed: the error names them. An answer may take as long as the history of the memory files
        is.
        """
        fields: dict[str, Any] = {
            "dry_run": dry_run,
            "everything": everything,
            "memory": memory,
            "project": project,
            "session": session,
            "user": user,
        }
        return cast("PurgeAnswer", self._json("POST", "/v1/purge", body=_given(fields), keyed=True))

    def recall_memories(
        self,
        question: str,
        *,
        agent: str | None = None,
        at: str | None = None,
        explain: bool | None = None,
        layers: list[LayerName] | None = None,
        limit: int | None = None,
        project: str | None = None,
        room_id: str | None = None,
        scopes: list[str] | None = None,
        strict: bool | None = None,
        team: str | None = None,
        tools: bool | None = None,
        user: str | None = None,
    ) -> RecallAnswer:
        """Find what is remembered, with its source."""
        fields: dict[str, Any] = {
            "question": question,
            "agent": agent,
            "at": at,
            "explain": explain,
            "layers": layers,
            "limit": limit,
            "project": project,
            "room_id": room_id,
            "scopes": scopes,
            "strict": strict,
            "team": team,
            "tools": tools,
            "user": user,
        }
        return cast("RecallAnswer", self._json("POST", "/v1/recall", body=_given(fields)))

    def remember_text(
        self,
        text: str,
        *,
        agent: str | None = None,
        folder: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> RememberAnswer:
        """Keep something in your own words."""
        fields: dict[str, Any] = {
            "text": text,
            "agent": agent,
            "folder": folder,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("RememberAnswer", self._json("POST", "/v1/remember", body=_given(fields), keyed=True))

    def list_sessions(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> SessionList:
        """List sessions, newest activity first."""
        params: dict[str, Any] = {
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("SessionList", self._json("GET", "/v1/sessions", query=params))

    def show_citation(
        self,
        citation: str,
        *,
        around: int | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ShowAnswer:
        """Show the original text behind a citation."""
        params: dict[str, Any] = {
            "citation": citation,
            "around": around,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ShowAnswer", self._json("GET", "/v1/show", query=params))

    def get_spend(
        self,
        *,
        by: Literal["model", "stage", "user", "scope", "session", "day", "month"] | None = None,
        since: str | None = None,
    ) -> SpendAnswer:
        """Show calls of models, their cost, and what is left under caps."""
        params: dict[str, Any] = {
            "by": by,
            "since": since,
        }
        return cast("SpendAnswer", self._json("GET", "/v1/spend", query=params))

    def get_status(
        self,
    ) -> Overview:
        """Show what is covered, pending, in gaps, and why."""
        return cast("Overview", self._json("GET", "/v1/status"))

    def list_threads(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
    ) -> ListAnswer:
        """List the threads, newest activity first."""
        params: dict[str, Any] = {
            "limit": limit,
            "after": after,
        }
        return cast("ListAnswer", self._json("GET", "/v1/threads", query=params))

    def create_thread(
        self,
        *,
        agent: str | None = None,
        from_: str | None = None,
        name: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        state: str | None = None,
        team: str | None = None,
        thread_id: str | None = None,
        user: str | None = None,
    ) -> CreatedThread:
        """Create a thread.

        An existing thread is returned unchanged. With a session's name, the thread continues that session.
        """
        fields: dict[str, Any] = {
            "agent": agent,
            "from": from_,
            "name": name,
            "room_id": room_id,
            "scope": scope,
            "state": state,
            "team": team,
            "thread_id": thread_id,
            "user": user,
        }
        return cast("CreatedThread", self._json("POST", "/v1/threads", body=_given(fields), keyed=True))

    def delete_thread(
        self,
        thread: str,
    ) -> DeletedAnswer:
        """Delete a thread; its session stays."""
        return cast("DeletedAnswer", self._json("DELETE", f"/v1/threads/{_part(thread)}", keyed=True))

    def compact_thread(
        self,
        thread: str,
        *,
        chunks: list[str] | None = None,
    ) -> ThreadChange:
        """Compact a thread, now.

        Answers 202 when it takes longer than a few seconds; the compaction then continues in the background.
        """
        fields: dict[str, Any] = {
            "chunks": chunks,
        }
        return cast("ThreadChange", self._json("POST", f"/v1/threads/{_part(thread)}/compact", body=_given(fields), keyed=True))

    def get_thread_context(
        self,
        thread: str,
        max_tokens: int,
        *,
        answer_tokens: int | None = None,
        exclude_types: list[str] | None = None,
        recall: str | None = None,
        style: StyleName | None = None,
        system: str | None = None,
        tools_tokens: int | None = None,
        wire: WireName | None = None,
    ) -> Any:
        """Build the messages for an agent's model, within its window.

        `messages` in the format that `wire` names, for `anthropic` with `system` beside them; `tokens`, never
        more than fit; `included`, `shortened` and `left_out` list the chunks.
        """
        fields: dict[str, Any] = {
            "max_tokens": max_tokens,
            "answer_tokens": answer_tokens,
            "exclude_types": exclude_types,
            "recall": recall,
            "style": style,
            "system": system,
            "tools_tokens": tools_tokens,
            "wire": wire,
        }
        return cast("Any", self._json("POST", f"/v1/threads/{_part(thread)}/context", body=_given(fields)))

    def end_thread(
        self,
        thread: str,
    ) -> ThreadChange:
        """End the session.

        Ephemeral chunks are removed, and the session becomes due for extraction.
        """
        return cast("ThreadChange", self._json("POST", f"/v1/threads/{_part(thread)}/end", keyed=True))

    def dispatch_event(
        self,
        thread: str,
        body: EventBody,
        *,
        wait: bool | None = None,
    ) -> DispatchAnswer:
        """Store events, and return the result of each.

        One event, an array of them, or one on each line, with Team9's names. Answers once all are on disk and
        applied; an event that waits for the end of a pause, or for a compaction of more than a few seconds,
        is marked as waiting, and is applied in its turn. Of a request with a bad event nothing is stored.
        `metadata.eventId` makes sending an event again safe.
        """
        params: dict[str, Any] = {
            "wait": wait,
        }
        return cast("DispatchAnswer", self._json("POST", f"/v1/threads/{_part(thread)}/events", query=params, body=body, keyed=True))

    def pause_thread(
        self,
        thread: str,
    ) -> PausedAnswer:
        """Pause a thread: events are stored, and wait."""
        return cast("PausedAnswer", self._json("POST", f"/v1/threads/{_part(thread)}/pause", keyed=True))

    def resume_thread(
        self,
        thread: str,
    ) -> PausedAnswer:
        """Resume a paused thread."""
        return cast("PausedAnswer", self._json("POST", f"/v1/threads/{_part(thread)}/resume", keyed=True))

    def get_thread_state(
        self,
        thread: str,
        *,
        state: str | None = None,
        history: bool | None = None,
    ) -> Any:
        """Show what a thread holds.

        With Team9's names: `id`, `chunkIds`, `chunks`, `metadata`; with `history`, `states` from the first
        one on, each with the event that produced it.
        """
        params: dict[str, Any] = {
            "state": state,
            "history": history,
        }
        return cast("Any", self._json("GET", f"/v1/threads/{_part(thread)}/state", query=params))

    def report_trigger(
        self,
        agent: str,
        session: str,
        what: TriggerName,
        *,
        successor: str | None = None,
        user: str | None = None,
    ) -> TriggerAnswer:
        """Report what happened to a session.

        Decides when the session is extracted. Waits for no extraction; repeating it is safe.
        """
        fields: dict[str, Any] = {
            "agent": agent,
            "session": session,
            "what": what,
            "successor": successor,
            "user": user,
        }
        return cast("TriggerAnswer", self._json("POST", "/v1/trigger", body=_given(fields), keyed=True))

    def explain_line(
        self,
        line: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> LineOrigin:
        """Show where a line of memory comes from."""
        params: dict[str, Any] = {
            "line": line,
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("LineOrigin", self._json("GET", "/v1/why", query=params))

    def show_words(
        self,
        citation: str,
        *,
        around: int | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ShowAnswer:
        """The old name of `/v1/show`, until the next release."""
        params: dict[str, Any] = {
            "citation": citation,
            "around": around,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ShowAnswer", self._json("GET", "/v1/words", query=params))


class AsyncOperations(AsyncTransport):
    """Every operation of the server."""

    async def get_docs(
        self,
    ) -> str:
        """This description, as a page for people; needs no token."""
        return await self._text("GET", "/docs")

    async def get_health(
        self,
    ) -> Health:
        """Whether the server answers; needs no token."""
        return cast("Health", await self._json("GET", "/health"))

    async def get_metrics(
        self,
    ) -> str:
        """Numbers for Prometheus.

        In its text format, version 0.0.4. docs/operating.md explains each.
        """
        return await self._text("GET", "/metrics")

    async def get_open_api(
        self,
    ) -> Any:
        """This description, for programs; needs no token."""
        return cast("Any", await self._json("GET", "/openapi.json"))

    async def append_events(
        self,
        agent: str,
        session: str,
        events: list[AppendEvent],
        *,
        branch: str | None = None,
        folder: str | None = None,
        kind: ConversationKind | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        thread_id: str | None = None,
        user: str | None = None,
    ) -> AppendAnswer:
        """Append events to a session.

        Answers once the events are on disk; the session is extracted once it has rested. Sending the same
        again adds nothing.
        """
        fields: dict[str, Any] = {
            "agent": agent,
            "session": session,
            "events": events,
            "branch": branch,
            "folder": folder,
            "kind": kind,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "thread_id": thread_id,
            "user": user,
        }
        return cast("AppendAnswer", await self._json("POST", "/v1/append", body=_given(fields), keyed=True))

    def watch_changes(
        self,
    ) -> AsyncIterator[ScopeChange]:
        """Watch what changes, as server-sent events.

        Each event is called `memory`, and its data names a scope, its revision and how many memories hold
        there. The stream begins with every scope as it is. At most 32 streams are open at once.
        """
        return cast("AsyncIterator[ScopeChange]", self._stream("GET", "/v1/changes"))

    async def get_context(
        self,
        *,
        folder: str | None = None,
        project: str | None = None,
        branch: str | None = None,
        files: str | None = None,
        prompt: str | None = None,
        budget: int | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
    ) -> ContextAnswer:
        """The memory to give an agent.

        For the start of its work, or of a conversation; from the memory that applies where the agent works.
        """
        params: dict[str, Any] = {
            "folder": folder,
            "project": project,
            "branch": branch,
            "files": files,
            "prompt": prompt,
            "budget": budget,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
        }
        return cast("ContextAnswer", await self._json("GET", "/v1/context", query=params))

    async def diff_files(
        self,
        *,
        scope: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        at: str | None = None,
        file: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> StateDiff:
        """Show what changed in memory files between two states."""
        params: dict[str, Any] = {
            "scope": scope,
            "from": from_,
            "to": to,
            "at": at,
            "file": file,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("StateDiff", await self._json("GET", "/v1/diff", query=params))

    async def edit_line(
        self,
        line: str,
        words: str,
        *,
        agent: str | None = None,
        project: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> EditAnswer:
        """Give a line of memory other words, in every file that shows it."""
        fields: dict[str, Any] = {
            "line": line,
            "words": words,
            "agent": agent,
            "project": project,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("EditAnswer", await self._json("POST", "/v1/edit", body=_given(fields), keyed=True))

    async def list_entities(
        self,
    ) -> EntityList:
        """List entities with their names and descriptions."""
        return cast("EntityList", await self._json("GET", "/v1/entities"))

    async def get_entity(
        self,
        entity: str,
    ) -> ShownEntity:
        """Show an entity with its records and links."""
        return cast("ShownEntity", await self._json("GET", f"/v1/entities/{_part(entity)}"))

    async def write_entity(
        self,
        entity: str,
        name: str,
        description: str,
    ) -> EntityAnswer:
        """Create an entity, or change its name and description."""
        fields: dict[str, Any] = {
            "name": name,
            "description": description,
        }
        return cast("EntityAnswer", await self._json("PUT", f"/v1/entities/{_part(entity)}", body=_given(fields), keyed=True))

    async def delete_entity(
        self,
        entity: str,
    ) -> DeletedEntity:
        """Delete an entity; its file stays in the history of the person's memory."""
        return cast("DeletedEntity", await self._json("DELETE", f"/v1/entities/{_part(entity)}", keyed=True))

    async def write_record(
        self,
        entity: str,
        record: str,
        content: str,
    ) -> EntityAnswer:
        """Add a record to an entity, or replace the record of that name."""
        fields: dict[str, Any] = {
            "content": content,
        }
        return cast("EntityAnswer", await self._json("PUT", f"/v1/entities/{_part(entity)}/records/{_part(record)}", body=_given(fields), keyed=True))

    async def list_files(
        self,
        *,
        scope: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> FileList:
        """List the files of a memory, by name."""
        params: dict[str, Any] = {
            "scope": scope,
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("FileList", await self._json("GET", "/v1/files", query=params))

    async def read_file(
        self,
        file: str,
        *,
        scope: str | None = None,
        at: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> FileText:
        """Read a memory file, as it is or as it was."""
        params: dict[str, Any] = {
            "scope": scope,
            "at": at,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("FileText", await self._json("GET", f"/v1/files/{_part(file)}", query=params))

    async def write_file(
        self,
        file: str,
        text: str,
        *,
        since: str | None = None,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> FileChange:
        """Write a memory file, or create one.

        It is a change of the person's through an agent, which `daybook undo` takes back. What the person
        edited by hand is kept in the history first.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        fields: dict[str, Any] = {
            "text": text,
            "since": since,
        }
        return cast("FileChange", await self._json("PUT", f"/v1/files/{_part(file)}", query=params, body=_given(fields), keyed=True))

    async def delete_file(
        self,
        file: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryChange:
        """Delete a memory file; its past stays in the history."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("MemoryChange", await self._json("DELETE", f"/v1/files/{_part(file)}", query=params, keyed=True))

    async def list_file_history(
        self,
        file: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> HistoryAnswer:
        """List the changes of a memory file, newest first.

        At most 1000; `/v1/history` goes on from there.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("HistoryAnswer", await self._json("GET", f"/v1/files/{_part(file)}/history", query=params))

    async def restore_file(
        self,
        file: str,
        at: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryChange:
        """Bring a memory file back to an earlier state."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        fields: dict[str, Any] = {
            "at": at,
        }
        return cast("MemoryChange", await self._json("POST", f"/v1/files/{_part(file)}/restore", query=params, body=_given(fields), keyed=True))

    async def forget_memory(
        self,
        memory: str,
        *,
        agent: str | None = None,
        project: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> ForgetAnswer:
        """Forget something, in every file and in recall.

        Takes an id or the exact text. Other matches are not forgotten: the error names them.
        """
        fields: dict[str, Any] = {
            "memory": memory,
            "agent": agent,
            "project": project,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("ForgetAnswer", await self._json("POST", "/v1/forget", body=_given(fields), keyed=True))

    async def list_file_changes(
        self,
        *,
        scope: str | None = None,
        file: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> HistoryAnswer:
        """List the changes of memory files, newest first."""
        params: dict[str, Any] = {
            "scope": scope,
            "file": file,
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("HistoryAnswer", await self._json("GET", "/v1/history", query=params))

    async def list_jobs(
        self,
        *,
        all: bool | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> JobList:
        """List background work: what waits, runs, rests or has failed."""
        params: dict[str, Any] = {
            "all": all,
            "limit": limit,
            "after": after,
        }
        return cast("JobList", await self._json("GET", "/v1/jobs", query=params))

    async def list_memories(
        self,
        *,
        scope: str | None = None,
        kind: str | None = None,
        query: str | None = None,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryList:
        """List what is remembered, with ids, sources and the lines that show it."""
        params: dict[str, Any] = {
            "scope": scope,
            "kind": kind,
            "query": query,
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("MemoryList", await self._json("GET", "/v1/memories", query=params))

    async def add_memory(
        self,
        text: str,
        *,
        agent: str | None = None,
        folder: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> RememberAnswer:
        """Add a memory in your own words.

        The same as `/v1/remember`. Recall finds it at once; the memory files show it after the next update.
        """
        fields: dict[str, Any] = {
            "text": text,
            "agent": agent,
            "folder": folder,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("RememberAnswer", await self._json("POST", "/v1/memories", body=_given(fields), keyed=True))

    async def get_memory(
        self,
        memory: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ListedMemory:
        """Show one memory, with its sources and the lines that show it."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ListedMemory", await self._json("GET", f"/v1/memories/{_part(memory)}", query=params))

    async def delete_memory(
        self,
        memory: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ForgetAnswer:
        """Forget a memory, in every file and in recall.

        `daybook undo` brings it back. The message that it came from stays in the log of its session;
        `/v1/purge` removes that, too.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ForgetAnswer", await self._json("DELETE", f"/v1/memories/{_part(memory)}", query=params, keyed=True))

    async def update_memory(
        self,
        memory: str,
        text: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> EditAnswer:
        """Give a memory other words, in every file and in recall."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        fields: dict[str, Any] = {
            "text": text,
        }
        return cast("EditAnswer", await self._json("PATCH", f"/v1/memories/{_part(memory)}", query=params, body=_given(fields), keyed=True))

    async def get_memory_history(
        self,
        memory: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> MemoryHistory:
        """Show what became of a memory in the files, newest first."""
        params: dict[str, Any] = {
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("MemoryHistory", await self._json("GET", f"/v1/memories/{_part(memory)}/history", query=params))

    async def run_memory_tool(
        self,
        body: ToolInput,
        *,
        scope: str | None = None,
        flavour: Literal["documented", "python_sdk"] | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ToolResult:
        """Carry out a command of Anthropic's memory tool.

        Takes the `input` of a `tool_use` of `memory_20250818`, and answers the `content` and `is_error` of
        its `tool_result`. `/memories` is the memory folder. Each change is a commit of the person's through
        an agent, which `daybook undo` takes back.
        """
        params: dict[str, Any] = {
            "scope": scope,
            "flavour": flavour,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ToolResult", await self._json("POST", "/v1/memory-tool", query=params, body=body, keyed=True))

    async def purge_memory(
        self,
        *,
        dry_run: bool | None = None,
        everything: bool | None = None,
        memory: str | None = None,
        project: str | None = None,
        session: str | None = None,
        user: str | None = None,
    ) -> PurgeAnswer:
        """Remove something for good, so that nothing brings it back.

        Only what is one user's alone; everything else is purged with `daybook purge`. Other matches of a text
        are not removed: the error names them. An answer may take as long as the history of the memory files
        is.
        """
        fields: dict[str, Any] = {
            "dry_run": dry_run,
            "everything": everything,
            "memory": memory,
            "project": project,
            "session": session,
            "user": user,
        }
        return cast("PurgeAnswer", await self._json("POST", "/v1/purge", body=_given(fields), keyed=True))

    async def recall_memories(
        self,
        question: str,
        *,
        agent: str | None = None,
        at: str | None = None,
        explain: bool | None = None,
        layers: list[LayerName] | None = None,
        limit: int | None = None,
        project: str | None = None,
        room_id: str | None = None,
        scopes: list[str] | None = None,
        strict: bool | None = None,
        team: str | None = None,
        tools: bool | None = None,
        user: str | None = None,
    ) -> RecallAnswer:
        """Find what is remembered, with its source."""
        fields: dict[str, Any] = {
            "question": question,
            "agent": agent,
            "at": at,
            "explain": explain,
            "layers": layers,
            "limit": limit,
            "project": project,
            "room_id": room_id,
            "scopes": scopes,
            "strict": strict,
            "team": team,
            "tools": tools,
            "user": user,
        }
        return cast("RecallAnswer", await self._json("POST", "/v1/recall", body=_given(fields)))

    async def remember_text(
        self,
        text: str,
        *,
        agent: str | None = None,
        folder: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        team: str | None = None,
        user: str | None = None,
    ) -> RememberAnswer:
        """Keep something in your own words."""
        fields: dict[str, Any] = {
            "text": text,
            "agent": agent,
            "folder": folder,
            "room_id": room_id,
            "scope": scope,
            "team": team,
            "user": user,
        }
        return cast("RememberAnswer", await self._json("POST", "/v1/remember", body=_given(fields), keyed=True))

    async def list_sessions(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> SessionList:
        """List sessions, newest activity first."""
        params: dict[str, Any] = {
            "limit": limit,
            "after": after,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("SessionList", await self._json("GET", "/v1/sessions", query=params))

    async def show_citation(
        self,
        citation: str,
        *,
        around: int | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ShowAnswer:
        """Show the original text behind a citation."""
        params: dict[str, Any] = {
            "citation": citation,
            "around": around,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ShowAnswer", await self._json("GET", "/v1/show", query=params))

    async def get_spend(
        self,
        *,
        by: Literal["model", "stage", "user", "scope", "session", "day", "month"] | None = None,
        since: str | None = None,
    ) -> SpendAnswer:
        """Show calls of models, their cost, and what is left under caps."""
        params: dict[str, Any] = {
            "by": by,
            "since": since,
        }
        return cast("SpendAnswer", await self._json("GET", "/v1/spend", query=params))

    async def get_status(
        self,
    ) -> Overview:
        """Show what is covered, pending, in gaps, and why."""
        return cast("Overview", await self._json("GET", "/v1/status"))

    async def list_threads(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
    ) -> ListAnswer:
        """List the threads, newest activity first."""
        params: dict[str, Any] = {
            "limit": limit,
            "after": after,
        }
        return cast("ListAnswer", await self._json("GET", "/v1/threads", query=params))

    async def create_thread(
        self,
        *,
        agent: str | None = None,
        from_: str | None = None,
        name: str | None = None,
        room_id: str | None = None,
        scope: str | None = None,
        state: str | None = None,
        team: str | None = None,
        thread_id: str | None = None,
        user: str | None = None,
    ) -> CreatedThread:
        """Create a thread.

        An existing thread is returned unchanged. With a session's name, the thread continues that session.
        """
        fields: dict[str, Any] = {
            "agent": agent,
            "from": from_,
            "name": name,
            "room_id": room_id,
            "scope": scope,
            "state": state,
            "team": team,
            "thread_id": thread_id,
            "user": user,
        }
        return cast("CreatedThread", await self._json("POST", "/v1/threads", body=_given(fields), keyed=True))

    async def delete_thread(
        self,
        thread: str,
    ) -> DeletedAnswer:
        """Delete a thread; its session stays."""
        return cast("DeletedAnswer", await self._json("DELETE", f"/v1/threads/{_part(thread)}", keyed=True))

    async def compact_thread(
        self,
        thread: str,
        *,
        chunks: list[str] | None = None,
    ) -> ThreadChange:
        """Compact a thread, now.

        Answers 202 when it takes longer than a few seconds; the compaction then continues in the background.
        """
        fields: dict[str, Any] = {
            "chunks": chunks,
        }
        return cast("ThreadChange", await self._json("POST", f"/v1/threads/{_part(thread)}/compact", body=_given(fields), keyed=True))

    async def get_thread_context(
        self,
        thread: str,
        max_tokens: int,
        *,
        answer_tokens: int | None = None,
        exclude_types: list[str] | None = None,
        recall: str | None = None,
        style: StyleName | None = None,
        system: str | None = None,
        tools_tokens: int | None = None,
        wire: WireName | None = None,
    ) -> Any:
        """Build the messages for an agent's model, within its window.

        `messages` in the format that `wire` names, for `anthropic` with `system` beside them; `tokens`, never
        more than fit; `included`, `shortened` and `left_out` list the chunks.
        """
        fields: dict[str, Any] = {
            "max_tokens": max_tokens,
            "answer_tokens": answer_tokens,
            "exclude_types": exclude_types,
            "recall": recall,
            "style": style,
            "system": system,
            "tools_tokens": tools_tokens,
            "wire": wire,
        }
        return cast("Any", await self._json("POST", f"/v1/threads/{_part(thread)}/context", body=_given(fields)))

    async def end_thread(
        self,
        thread: str,
    ) -> ThreadChange:
        """End the session.

        Ephemeral chunks are removed, and the session becomes due for extraction.
        """
        return cast("ThreadChange", await self._json("POST", f"/v1/threads/{_part(thread)}/end", keyed=True))

    async def dispatch_event(
        self,
        thread: str,
        body: EventBody,
        *,
        wait: bool | None = None,
    ) -> DispatchAnswer:
        """Store events, and return the result of each.

        One event, an array of them, or one on each line, with Team9's names. Answers once all are on disk and
        applied; an event that waits for the end of a pause, or for a compaction of more than a few seconds,
        is marked as waiting, and is applied in its turn. Of a request with a bad event nothing is stored.
        `metadata.eventId` makes sending an event again safe.
        """
        params: dict[str, Any] = {
            "wait": wait,
        }
        return cast("DispatchAnswer", await self._json("POST", f"/v1/threads/{_part(thread)}/events", query=params, body=body, keyed=True))

    async def pause_thread(
        self,
        thread: str,
    ) -> PausedAnswer:
        """Pause a thread: events are stored, and wait."""
        return cast("PausedAnswer", await self._json("POST", f"/v1/threads/{_part(thread)}/pause", keyed=True))

    async def resume_thread(
        self,
        thread: str,
    ) -> PausedAnswer:
        """Resume a paused thread."""
        return cast("PausedAnswer", await self._json("POST", f"/v1/threads/{_part(thread)}/resume", keyed=True))

    async def get_thread_state(
        self,
        thread: str,
        *,
        state: str | None = None,
        history: bool | None = None,
    ) -> Any:
        """Show what a thread holds.

        With Team9's names: `id`, `chunkIds`, `chunks`, `metadata`; with `history`, `states` from the first
        one on, each with the event that produced it.
        """
        params: dict[str, Any] = {
            "state": state,
            "history": history,
        }
        return cast("Any", await self._json("GET", f"/v1/threads/{_part(thread)}/state", query=params))

    async def report_trigger(
        self,
        agent: str,
        session: str,
        what: TriggerName,
        *,
        successor: str | None = None,
        user: str | None = None,
    ) -> TriggerAnswer:
        """Report what happened to a session.

        Decides when the session is extracted. Waits for no extraction; repeating it is safe.
        """
        fields: dict[str, Any] = {
            "agent": agent,
            "session": session,
            "what": what,
            "successor": successor,
            "user": user,
        }
        return cast("TriggerAnswer", await self._json("POST", "/v1/trigger", body=_given(fields), keyed=True))

    async def explain_line(
        self,
        line: str,
        *,
        scope: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> LineOrigin:
        """Show where a line of memory comes from."""
        params: dict[str, Any] = {
            "line": line,
            "scope": scope,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("LineOrigin", await self._json("GET", "/v1/why", query=params))

    async def show_words(
        self,
        citation: str,
        *,
        around: int | None = None,
        agent: str | None = None,
        user: str | None = None,
        room_id: str | None = None,
        team: str | None = None,
        project: str | None = None,
    ) -> ShowAnswer:
        """The old name of `/v1/show`, until the next release."""
        params: dict[str, Any] = {
            "citation": citation,
            "around": around,
            "agent": agent,
            "user": user,
            "room_id": room_id,
            "team": team,
            "project": project,
        }
        return cast("ShowAnswer", await self._json("GET", "/v1/words", query=params))
