"""The types of requests and answers. Written by `generate` from the description of HTTP; do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class AppendAnswer(TypedDict):
    """What an append did. All of it is on disk."""
    # Events added.
    added: int
    # Events that were known already.
    known: int
    # Sequence number of the session's last event.
    last: int


class AppendEvent(TypedDict):
    """One message or tool event. Secrets in it are hidden before anything is written."""
    # When, RFC 3339, at most a day ahead of the server's clock; when left out, the time of arrival.
    at: NotRequired[str | None]
    # Whether it brings text from outside that its tool does not show: a page, a mail. With the setting
    # `disable_on_external_context`, memory leaves such a session out.
    external: NotRequired[bool]
    # Your own id of it, unique within the session: an event that is sent again with a known id is not added
    # again. Without one, an event is identified by its role, tool, text and time; and without a time, the
    # same text of the same role is one event of its session, except that it counts as often as it occurs in
    # one request.
    id: NotRequired[str | None]
    # Who speaks.
    role: Speaker
    # Its text; may be blank for `tool` alone. Of a text over 262144 bytes the head and the tail are kept.
    text: str
    # The tool that an assistant calls (its text is the tool's input), or that answers.
    tool: NotRequired[str | None]


class AppendRequest(TypedDict):
    """Events of one session, in order."""
    # The agent that holds the conversation: letters, digits, dots, dashes and underscores.
    agent: str
    # The branch that is worked on; when left out, the one that is checked out in the folder.
    branch: NotRequired[str | None]
    # The events, oldest first.
    events: list[AppendEvent]
    # The folder that the agent works in, as an absolute path. What is learned is filed under the folder's
    # project; without a folder, under the person.
    folder: NotRequired[str | None]
    kind: NotRequired[ConversationKind | None]
    # The room that the conversation is held in: what is learned is the room's alone. The first request of a
    # session decides; another room later is refused.
    room_id: NotRequired[str | None]
    # Whose memory everything that is learned becomes, in place of what the rules choose: a scope that this
    # agent takes part in, such as `agent/harbour-bot`.
    scope: NotRequired[str | None]
    # The agent's own id of the conversation: letters, digits and `. _ ~ : @ + | = # / -`.
    session: str
    # The team of agents that holds it, by its name or its members: what is learned is the team's.
    team: NotRequired[str | None]
    # The thread of the room.
    thread_id: NotRequired[str | None]
    # Whose words the `user` events are, where that is not the person of the data folder: what they prefer is
    # kept as theirs. Once set, it stays.
    user: NotRequired[str | None]


class CapShown(TypedDict):
    """A cap of the settings."""
    money: NotRequired[MoneyLeft | None]
    # Who is capped: `tenant`, or each `user`.
    of: str
    # For how long: `run`, `day` or `month`.
    period: str
    tokens: NotRequired[TokensLeft | None]
    # When the period ends, RFC 3339; `null` for a run.
    until: NotRequired[str | None]


class ChangedFile(TypedDict):
    """A file that differs between two states."""
    # `added`, `deleted` or `changed`.
    change: str
    # Its name in the memory folder.
    file: str
    # The removed and added lines, in the order of the file.
    lines: list[ChangedLine]


class ChangedLine(TypedDict):
    """A line that only one of two states has."""
    # `removed` or `added`.
    change: str
    # The heading above it; empty above the first.
    section: str
    # The line.
    text: str


class CompactRequest(TypedDict):
    """The chunks to compact."""
    # Ids of chunks; all that can be compacted when left out.
    chunks: NotRequired[list[str]]


class CompactionSummary(TypedDict):
    """A finished compaction."""
    # Who did it: a model, or `extractive`.
    by: str
    # Faults along the way.
    faults: list[str]
    # Tokens of the added chunks.
    tokens_after: int
    # Tokens of the removed chunks.
    tokens_before: int


class ContextAnswer(TypedDict):
    """The memory to give an agent at the start of its work."""
    # The branch that it is for.
    branch: NotRequired[str | None]
    # Entries that are included.
    entries: int
    # Entries that did not fit.
    left_out: int
    # The project whose memory it is.
    project: NotRequired[str | None]
    # The whole text, in one `daybook-memory` element; empty when no memory applies.
    text: str
    # Its size in tokens, estimated from above.
    tokens: int


class ContextRequest(TypedDict):
    """Options of the context for a model."""
    # Tokens of the window that are kept free for the answer.
    answer_tokens: NotRequired[int]
    # Chunks of these types are left out, such as `ENVIRONMENT`.
    exclude_types: NotRequired[list[str]]
    # The model's whole window, in tokens.
    max_tokens: int
    # Include what memory holds about this question, of at most 4096 bytes.
    recall: NotRequired[str | None]
    # How calls are written.
    style: NotRequired[StyleName]
    # The system prompt; never left out.
    system: NotRequired[str | None]
    # Tokens of the window that the schemas of tools take.
    tools_tokens: NotRequired[int]
    # The format of the messages.
    wire: NotRequired[WireName]


class Coverage(TypedDict):
    """How far sessions have been learned from."""
    # All sessions.
    all: int
    # Sessions of which every event was extracted, or lies in a shown gap.
    covered: int
    # Sessions whose last extraction failed, and is tried again.
    failing: int
    # Sessions that memory is never made from, by reason.
    never: dict[str, int]
    # Sessions with events that wait.
    pending: int
    # Sessions of the two before that have rested for longer than the setting `stale_after`: kept, however old
    # they are.
    stale: int


# A request for a thread.
CreateRequest = TypedDict(
    "CreateRequest",
    {
        # The agent that it belongs to; `agent` when left out.
        "agent": "NotRequired[str | None]",
        # Fork this thread: the fork has its agent, user, room and team.
        "from": "NotRequired[str | None]",
        # Its name; a session's label or id continues that session. Generated when left out.
        "name": "NotRequired[str | None]",
        # The room that it is held in: what is learned is the room's alone. Once the session exists, another
        # room is refused.
        "room_id": "NotRequired[str | None]",
        # Whose memory everything that is learned becomes, in place of what the rules choose: a scope that
        # this agent takes part in, such as `agent/harbour-bot`.
        "scope": "NotRequired[str | None]",
        # The id of the state to fork; the current one when left out.
        "state": "NotRequired[str | None]",
        # The team of agents that holds it, by its name or its members: what is learned is the team's.
        "team": "NotRequired[str | None]",
        # The thread of the room.
        "thread_id": "NotRequired[str | None]",
        # Whose words its human events are, where that is not the person of the data folder.
        "user": "NotRequired[str | None]",
    },
)


class CreatedThread(TypedDict):
    """A thread that was created, or existed already."""
    # Its short name.
    label: str
    # The id of its state.
    state: str
    # The thread, as `agent:id`.
    thread: str


class DeletedAnswer(TypedDict):
    """A thread that was deleted."""
    # Always true.
    deleted: bool
    # The thread, as `agent:id`.
    thread: str


class DeletedEntity(TypedDict):
    """What was deleted."""
    # The entity's word.
    deleted: str


class DispatchAnswer(TypedDict):
    """The results of events, in their order."""
    results: list[EventResult]


class EditAnswer(TypedDict):
    """What was changed."""
    # The change of memory files, which `daybook undo` takes back.
    change: MemoryChange
    # How many secrets in the words were hidden before they were kept.
    secrets_hidden: int


class EditRequest(TypedDict):
    """A line, and its new words."""
    # The agent that asks: it reads its own memory, and that of its teams.
    agent: NotRequired[str | None]
    # An id of `/v1/memories`, a part of the line's words, or `MEMORY.md:12`.
    line: str
    # The key of the project that it works in, where it names itself.
    project: NotRequired[str | None]
    # The room that it is in. In a room or a team no memory of one person is read.
    room_id: NotRequired[str | None]
    # Whose memory; all memories when left out.
    scope: NotRequired[str | None]
    # The team that it speaks for, by its name or its members.
    team: NotRequired[str | None]
    # The person that it talks with, where that is not the person of the data folder.
    user: NotRequired[str | None]
    # The new words.
    words: str


class EntityAnswer(TypedDict):
    """What was written."""
    # Whether the entity, or the record, is new.
    created: bool
    # The entity's word.
    entity: str
    # Secrets that were hidden in it.
    secrets_hidden: int


class EntityList(TypedDict):
    """The entities."""
    # The entities, in the order of `INDEX.md`.
    entities: list[ShownCard]


class EntityRequest(TypedDict):
    """The name of an entity, and what it is."""
    # What it is, up to 160 characters.
    description: str
    # Its name, up to 60 characters.
    name: str


class ErrorBody(TypedDict):
    """The body of every answer that is not a success."""
    error: ErrorShown


class ErrorShown(TypedDict):
    """What went wrong."""
    # For programs; stays the same while messages get better.
    code: str
    # For people: what happened, to which thing, and what to do next.
    message: str


class EventResult(TypedDict):
    """The result of an event. The event is on disk."""
    # Ids of chunks that were added.
    added: NotRequired[list[str] | None]
    # Why it changed nothing.
    error: NotRequired[str | None]
    # A warning: an event of an unknown type changes nothing.
    note: NotRequired[str | None]
    # Ids of chunks that were removed.
    removed: NotRequired[list[str] | None]
    # Its place in the thread, counted from 1.
    seq: int
    # The id of the state after it.
    state: NotRequired[str | None]
    # What it waits for, where it is not applied yet: `COMPACTING` or `PAUSED`.
    waits: NotRequired[str | None]


class FailedAgentRun(TypedDict):
    """A run of the consolidation agent that failed. The memory is as the rules make it, and its inputs are still
    pending.
    """
    # When, RFC 3339.
    at: NotRequired[str | None]
    # The scope whose memory it was to write.
    scope: str
    # Why.
    why: str


class FailingInput(TypedDict):
    """A file or a hook event that could not be imported. The others are imported all the same."""
    # The transcript, or the file of the hook event.
    path: str
    # Why.
    why: str


class FileChange(TypedDict):
    """What a change of a file did."""
    # The change that was made.
    change: MemoryChange
    # Secrets that were hidden in what was written.
    secrets_hidden: int


class FileList(TypedDict):
    """Some files of a memory, and where the list goes on."""
    # The files of this page, by name.
    files: list[ListedFile]
    # The value of `after` for the next page; `null` on the last.
    next: NotRequired[str | None]
    # Whose memory it is.
    scope: str


class FileText(TypedDict):
    """A memory file with its text."""
    commit: NotRequired[HistoryCommit | None]
    # Its name in the memory folder.
    file: str
    # Whose memory it is in.
    scope: str
    # Its text, in which secrets are hidden.
    text: str


class ForgetAnswer(TypedDict):
    """What was forgotten."""
    # The changes of memory files, which `daybook undo` takes back.
    changes: list[MemoryChange]
    # The ids of what was forgotten.
    forgotten: list[str]


class ForgetRequest(TypedDict):
    """What to forget."""
    # The agent that asks: it reads its own memory, and that of its teams.
    agent: NotRequired[str | None]
    # An id of `/v1/memories`, or the exact text.
    memory: str
    # The key of the project that it works in, where it names itself.
    project: NotRequired[str | None]
    # The room that it is in. In a room or a team no memory of one person is read.
    room_id: NotRequired[str | None]
    # Whose memory; all memories when left out.
    scope: NotRequired[str | None]
    # The team that it speaks for, by its name or its members.
    team: NotRequired[str | None]
    # The person that it talks with, where that is not the person of the data folder.
    user: NotRequired[str | None]


# A range that could not be processed.
GapShown = TypedDict(
    "GapShown",
    {
        # Why, as a word: `outage`, `content` or `vanished`.
        "class": "str",
        # First position inside.
        "from": "int",
        # The job that it is a gap of.
        "job": "str",
        # Last position inside.
        "to": "int",
        # Why, for people.
        "why": "str",
    },
)


class Health(TypedDict):
    """The server answers."""
    # Always true.
    ok: bool
    # The version of daybook.
    version: str


class HistoryAnswer(TypedDict):
    """The changes of a memory's files."""
    # The changes, newest first.
    commits: list[HistoryCommit]
    # The value of `after` for the next page; `null` on the last.
    next: NotRequired[str | None]
    # Whose memory it is.
    scope: str


class HistoryCommit(TypedDict):
    """One change of memory files."""
    # Who made it: `Daybook`, or a person's name.
    author: str
    # Whether a person made it.
    by_person: bool
    # Its id, forty digits; the first ones are enough to name it.
    id: str
    # What was done.
    subject: str
    # When it was made, RFC 3339.
    time: NotRequired[str | None]


class JobList(TypedDict):
    """Some jobs, what was given up, and where the list goes on."""
    # Events that were given up after failures; on the first page alone.
    gaps: list[ListedGap]
    # The jobs of this page, by kind and key.
    jobs: list[ListedJob]
    # The value of `after` for the next page; `null` on the last.
    next: NotRequired[str | None]


# Jobs that wait for the same reason.
JobWait = TypedDict(
    "JobWait",
    {
        # The kind of failure: `outage`, `content`, `vanished` or `at_cap`.
        "class": "str",
        # The model that could not be called, as provider and model; `null` where something else failed, such
        # as a disk.
        "model": "NotRequired[str | None]",
        # The first of them is tried again then.
        "next": "NotRequired[str | None]",
        # Scopes whose memory files wait to be written.
        "scopes": "int",
        # Sessions that wait to be read.
        "sessions": "int",
        # All of them are tried again by then.
        "until": "NotRequired[str | None]",
        # Why, for people.
        "why": "str",
    },
)


class LineOrigin(TypedDict):
    """Where a line of a memory file comes from."""
    # What stood there before.
    before: NotRequired[str | None]
    # Whether a person changed the line.
    changed_by_person: bool
    # The line.
    line: str
    # How many more there are.
    more_sources: int
    # What it was made from.
    observations: list[ListedMemory]
    # Whether a person pinned it.
    pinned: bool
    # Whose memory it is in.
    scope: str
    # Where it stands, as `MEMORY.md:12`; `MEMORY.md` first.
    shown_in: list[str]
    since: NotRequired[HistoryCommit | None]
    # The original texts behind its citations.
    sources: list[OriginalText]


class ListAnswer(TypedDict):
    """Threads."""
    # The value of `after` for the next page; `null` on the last.
    next: NotRequired[str | None]
    threads: list[ThreadListing]


class ListedFile(TypedDict):
    """One memory file."""
    # Its size in bytes.
    bytes: int
    # Its name in the memory folder.
    file: str


# Events that were given up.
ListedGap = TypedDict(
    "ListedGap",
    {
        # When, RFC 3339.
        "at": "NotRequired[str | None]",
        # The first one.
        "from": "int",
        # The job.
        "job": "str",
        # The last one.
        "to": "int",
        # Why.
        "why": "str",
    },
)


class ListedJob(TypedDict):
    """One job."""
    # How far it is.
    done: int
    # Why the last try failed.
    failure: NotRequired[str | None]
    # How far there is input.
    input: int
    # Its name.
    job: str
    # `extract`, `consolidate` or `redact`.
    kind: str
    # How soon among others: `low`, `normal`, `raised` or `high`.
    priority: str
    # `done`, `due`, `running`, `waiting` after a failure, `resting`, or `set_aside`.
    state: str
    # Tries so far on what it works on now.
    tries: int
    # Until when it runs, waits or rests; RFC 3339.
    until: NotRequired[str | None]


class ListedMemory(TypedDict):
    """One thing that is remembered."""
    # The first citation of each session that it rests on, for `show`.
    citations: list[str]
    # Its id; the first digits are enough to name it.
    id: str
    # What sort of thing: `correction`, `preference`, `fact`, `decision`, `value`, `fix`, `open_end` or
    # `note`.
    kind: str
    # When it was last stated, RFC 3339.
    last_at: NotRequired[str | None]
    # Where it was learned from: `typed`, `pasted`, `concluded`, `tool`, `external` or `unknown`.
    learned_from: str
    # Whether a person pinned it.
    pinned: bool
    # Whose memory it is in, such as `project/tidepool`.
    scope: str
    # The lines that show it, as `MEMORY.md:12`; empty where there is no room for it.
    shown_in: list[str]
    # Whether a person stated it; otherwise it was concluded.
    stated: bool
    # What the value is of, for values.
    subject: NotRequired[str | None]
    # What is remembered.
    text: str
    # How far it is trusted: `full`, `medium`, `low` or `untrusted`.
    trust: str


class ListedSession(TypedDict):
    """One session."""
    # How many events it has.
    events: int
    # How many of its events have been learned from.
    extracted: int
    # When its first event was, RFC 3339; `null` when unknown.
    first: NotRequired[str | None]
    # The session, as `agent:id`.
    id: str
    # Its short name in citations.
    label: str
    # When its last event was, RFC 3339; `null` when unknown.
    last: NotRequired[str | None]
    # The room that it is held in.
    room_id: NotRequired[str | None]
    # How far it has been learned from, in words.
    state: str
    # The team that holds it.
    team: NotRequired[str | None]
    # Whose words it holds, where that is not the person of the data folder.
    user: NotRequired[str | None]


class MemoryChange(TypedDict):
    """A change that was made."""
    # The commit that made it, and that `daybook undo` takes back; `null` when everything was so already, or
    # where a mem0 server keeps the memory.
    commit: NotRequired[str | None]
    # Whose memory it was made in.
    scope: str


class MemoryHistory(TypedDict):
    """The past of a memory."""
    # What happened to it there, newest first.
    changes: list[MemoryRevision]
    # The file that shows it; `null` while none does.
    file: NotRequired[str | None]
    # The memory's id.
    id: str
    # Whose memory it is in.
    scope: str


class MemoryList(TypedDict):
    """Some memories of a scope, and where the list goes on."""
    # Those of this page: what files show first, in their order.
    memories: list[ListedMemory]
    # The value of `after` for the next page; `null` on the last.
    next: NotRequired[str | None]
    # Whose memory it is.
    scope: str
    # How many memories match in all.
    total: int


class MemoryRevision(TypedDict):
    """A change of the line that shows a memory."""
    # The line after; `null` when it was removed.
    after: NotRequired[str | None]
    # The line before; `null` when it was added.
    before: NotRequired[str | None]
    # `added`, `changed` or `removed`.
    change: str
    # The change of the files that did it.
    commit: HistoryCommit


class MoneyLeft(TypedDict):
    """What is left of a cap in money. What was used is `null` for a run: each begins at zero."""
    cap: str
    left: NotRequired[str | None]
    used: NotRequired[str | None]


class OriginalText(TypedDict):
    """The original text behind a citation."""
    # The speaker, place and time.
    by: str
    # The citation, for `show`.
    citation: str
    # The text, cut if it is long; `null` when the source has expired, or is not for the caller to read.
    text: NotRequired[str | None]


class Overview(TypedDict):
    """The state of the memory, for programs."""
    # The last run of the consolidation agent in each scope, where it failed.
    agent_failures: list[FailedAgentRun]
    # Events in all sessions.
    events: int
    # Files and hook events that could not be imported, until an import succeeds.
    failing: list[FailingInput]
    # Ranges that were given up.
    gaps: list[GapShown]
    # Hook events in the spool that are not processed yet.
    notices: int
    # Observations that wait for the person's decision.
    quarantined: int
    # Files in memory folders that are not read, written or committed.
    refused: list[RefusedFile]
    # The scopes with memory.
    scopes: list[ScopeShown]
    # How far sessions have been learned from.
    sessions: Coverage
    # Scopes whose memory files do not show everything yet.
    waiting_to_be_written: int
    # Jobs that wait after a failure: for which model, until when, and why.
    waits: list[JobWait]


class PausedAnswer(TypedDict):
    """Whether a thread is paused."""
    # Whether it is paused now.
    paused: bool
    # The thread, as `agent:id`.
    thread: str
    # Whether it was paused before.
    was_paused: bool


class PurgeAnswer(TypedDict):
    """What was removed, or would be."""
    # Events.
    events: int
    # Memories of which nothing is left.
    observations: int
    # Whether it is removed; false of a dry run, and where there was nothing to remove.
    purged: bool
    # The number of the receipt in `purged/receipts.jsonl`.
    receipt: NotRequired[int | None]
    # Sessions of which nothing is left.
    sessions: int
    # What was not reached, and who can: remotes of memory folders, transcripts, and what holds everywhere.
    unreachable: list[str]


class PurgeRequest(TypedDict):
    """What to remove: exactly one of `memory`, `session` and `everything`."""
    # Only answer what would be removed.
    dry_run: NotRequired[bool]
    # All of the user: their memory, their sessions, and what names them.
    everything: NotRequired[bool]
    # An id of `/v1/memories`, or the exact text: with the events that it rests on.
    memory: NotRequired[str | None]
    # The key of the project that it works in, whose memories it names.
    project: NotRequired[str | None]
    # A whole session, by its label or the beginning of its id.
    session: NotRequired[str | None]
    # The user whose it is, and who asks for it; the person of the data folder when left out.
    user: NotRequired[str | None]


class RecallAnswer(TypedDict):
    """The nearest answers, best first, and whether they are likely to answer the question."""
    # How likely it is that the question was discussed at all. With `unlikely`, the results are near it but do
    # not answer it.
    confidence: LikelihoodName
    # The same as a number from 0 to 1, comparable between questions.
    confidence_score: float
    results: list[SearchResult]
    # Parts of memory that did not answer, each with the reason: an agent's memory on a mem0 server that is
    # down.
    unanswered: NotRequired[list[str]]
    # Why the answers were found by words alone, where the settings choose an embedding model that could not
    # be used.
    without_vectors: NotRequired[str | None]


class RecallRequest(TypedDict):
    """A search in memory."""
    # The agent that asks: it is given its own memory, and that of its teams.
    agent: NotRequired[str | None]
    # What was known and held at this time: a day, a month or RFC 3339; the present when left out.
    at: NotRequired[str | None]
    # Show the parts of each answer's score, as `parts`.
    explain: NotRequired[bool]
    # Only these layers; all when left out.
    layers: NotRequired[list[LayerName]]
    # Most answers.
    limit: NotRequired[int]
    # The key of the project that it works in, where it names itself.
    project: NotRequired[str | None]
    # The question, in words; at most 4096 bytes.
    question: str
    # The room that it is in. In a room or a team no memory of one person is shown.
    room_id: NotRequired[str | None]
    # Only the memory of these scopes, such as `project/tidepool`; all when left out.
    scopes: NotRequired[list[str]]
    # Return no answer unless the question was likely discussed.
    strict: NotRequired[bool]
    # The team that it speaks for, by its name or its members.
    team: NotRequired[str | None]
    # Search what tools were asked and answered, too.
    tools: NotRequired[bool]
    # The person that it talks with, where that is not the person of the data folder.
    user: NotRequired[str | None]


class RecordRequest(TypedDict):
    """The text of a record."""
    # The text, at most 65536 bytes. `[[word]]` links to another entity.
    content: str


class RefusedFile(TypedDict):
    """Something in a memory folder that is not read, written or committed."""
    # Its path.
    path: str
    # The scope of the memory folder.
    scope: str
    # Why it is not used.
    why: str


class RememberAnswer(TypedDict):
    """The note that was kept. Recall finds it at once; memory files show it after the next update."""
    # Its id.
    id: str
    # Whose memory it is in.
    scope: str
    # Secrets that were hidden in it.
    secrets_hidden: int
    # The text as it is kept.
    text: str


class RememberRequest(TypedDict):
    """A text to keep as it is."""
    # The agent that asks: it is given its own memory, and that of its teams.
    agent: NotRequired[str | None]
    # The folder that the agent works in, as an absolute path.
    folder: NotRequired[str | None]
    # The room that it is in. In a room or a team no memory of one person is shown.
    room_id: NotRequired[str | None]
    # Whose memory, such as `project/tidepool` or `user/ada`; that of the folder's project when left out, else
    # the person's.
    scope: NotRequired[str | None]
    # The team that it speaks for, by its name or its members.
    team: NotRequired[str | None]
    # What to remember; at most 16384 bytes. Secrets in it are hidden.
    text: str
    # The person that it talks with, where that is not the person of the data folder.
    user: NotRequired[str | None]


class ReplacedBy(TypedDict):
    """What took the place of an answer that no longer holds."""
    # Its citation, for `/v1/show`.
    citation: NotRequired[str | None]
    # Why: `updated`, `replaced`, `reversed`, `withdrawn` or `closed`.
    reason: str
    # Since when, RFC 3339.
    since: NotRequired[str | None]
    # The statement that holds.
    text: str


class ReservedShown(TypedDict):
    """The most that open calls can cost."""
    # Money.
    money: str
    # Tokens.
    tokens: int


class RestoreRequest(TypedDict):
    """The state to bring back."""
    # The first digits of a change's id, or a time such as `2026-02-04` or RFC 3339.
    at: str


class ScopeChange(TypedDict):
    """The data of one event."""
    # How many memories hold.
    memories: int
    # Raised with every change.
    revision: int
    # Whose memory has changed.
    scope: str


class ScopeShown(TypedDict):
    """One scope."""
    # Observations that hold.
    observations: int
    # How often something has changed that its files must show.
    revision: int
    # Its name.
    scope: str


class SearchResult(TypedDict):
    """One thing that is remembered, with its source."""
    # The citation, for `/v1/show`.
    citation: NotRequired[str | None]
    # Context that makes it understandable.
    context: NotRequired[str | None]
    # Sequence numbers of the events that it rests on.
    events: list[int]
    # The memory file that contains it, for entries.
    file: NotRequired[str | None]
    # Where it was found: `entry` (a memory file), `observation` or `event` (the original words).
    layer: str
    # Where it was learned from, for observations: `typed` or `pasted` by the person, `concluded` by the
    # agent, from a `tool`, `external` (the web, an MCP server), or `unknown` (stored before this was
    # recorded).
    learned_from: NotRequired[str | None]
    # The origin, for events: `human`, `assistant`, `tool_call`, `tool_result` and so on.
    origin: NotRequired[str | None]
    # The parts of the score, when they were requested.
    parts: NotRequired[dict[str, Any] | None]
    replaced: NotRequired[ReplacedBy | None]
    # Whose memory it is from, such as `project/tidepool`.
    scope: NotRequired[str | None]
    # How well it answers, from 0 to 1; comparable within one question only.
    score: float
    # The session that it is from, as `agent:session`.
    session: NotRequired[str | None]
    # What is remembered.
    text: str
    # The time of its source, RFC 3339; `null` when unknown.
    time: NotRequired[str | None]
    # How far it is trusted, which follows from where it was learned: `full`, `medium`, `low` or `untrusted`.
    trust: NotRequired[str | None]


class SessionList(TypedDict):
    """Some sessions, and where the list goes on."""
    # The value of `after` for the next page; `null` on the last.
    next: NotRequired[str | None]
    # The sessions of this page, newest activity first.
    sessions: list[ListedSession]


class ShowAnswer(TypedDict):
    """The original text behind a citation."""
    # There may be more: request a range of lines.
    cut: bool
    # The cited events, in order; at most 500.
    events: list[ShownEvent]
    # Its short name in citations.
    label: str
    # The session that they are from, as `agent:session`.
    session: str


class ShownCard(TypedDict):
    """An entity in a list."""
    # What it is.
    description: NotRequired[str | None]
    # Its word.
    entity: str
    # Its name; `null` when its file has no readable head.
    name: NotRequired[str | None]


class ShownEntity(TypedDict):
    """An entity with everything that is kept of it."""
    # Its other names.
    aliases: list[str]
    # What it is.
    description: NotRequired[str | None]
    # Its word.
    entity: str
    # Entities whose records link to it.
    linked_from: list[str]
    # Entities that its records link to.
    links: list[str]
    # Its name; `null` when its file has no readable head.
    name: NotRequired[str | None]
    # What is kept of it.
    records: list[ShownRecord]


class ShownEvent(TypedDict):
    """One event of a session."""
    # When, RFC 3339; `null` when unknown.
    at: NotRequired[str | None]
    # The number that citations give it.
    line: int
    # Its origin: `human`, `assistant`, `tool_call`, `tool_result`, `harness`, `synthetic`, `recalled` or
    # `retraction`.
    origin: str
    # Its place in the session, counted from 1.
    seq: int
    # Its text.
    text: str
    # The tool that was called, or answered.
    tool: NotRequired[str | None]


class ShownRecord(TypedDict):
    """A record of an entity."""
    # Its text.
    content: str
    # Its name.
    record: str


class SpendAnswer(TypedDict):
    """Calls of models, their cost, and what is left under caps."""
    # The sum of all calls.
    all: SpentShown
    # What the sums are made by.
    by: str
    # What settings allow, and what is left of it.
    caps: list[CapShown]
    # The currency of all amounts.
    currency: str
    # The present time, RFC 3339.
    now: NotRequired[str | None]
    # The first call that counts was made then or later, RFC 3339.
    since: NotRequired[str | None]
    # The sums.
    spent: list[SpentShown]


class SpentShown(TypedDict):
    """The calls of one model, day, user or the like. Money is text, because JSON numbers with decimals are not
    exact.
    """
    # Of these, tokens that the provider had kept.
    cached: int
    # Calls.
    calls: int
    # Calls that used more than was reserved for them.
    exceeded: int
    # Tokens that were sent.
    input: int
    # What they cost.
    money: str
    # Which one; empty for calls without one.
    name: str
    # Calls under way, or cut off before their cost was known.
    open: int
    # Tokens that were answered.
    output: int
    # The most that these can cost.
    reserved: ReservedShown
    # Calls of models without a price, which the money does not include.
    unpriced: int


# What changed between two states of memory files.
StateDiff = TypedDict(
    "StateDiff",
    {
        # The files that differ, by name.
        "files": "list[ChangedFile]",
        "from": "NotRequired[HistoryCommit | None]",
        # Whose memory it is, such as `project/tidepool`.
        "scope": "str",
        # The later state.
        "to": "HistoryCommit",
    },
)


class ThreadChange(TypedDict):
    """The result of a change that is no event."""
    # Ids of chunks that were added.
    added: list[str]
    compaction: NotRequired[CompactionSummary | None]
    # Ids of chunks that were removed.
    removed: list[str]
    # The id of the state after it.
    state: str
    # The thread, as `agent:id`.
    thread: str


class ThreadListing(TypedDict):
    """A thread, as lists show it."""
    # When it was made, RFC 3339.
    created: NotRequired[str | None]
    # Sequence number of its last event.
    events: int
    # The thread that it was forked from, by its id without the agent.
    forked_from: NotRequired[str | None]
    # Its short name.
    label: str
    # The thread, as `agent:id`.
    thread: str
    # When something was last stored, RFC 3339.
    updated: NotRequired[str | None]
    # What events wait for: `COMPACTING` or `PAUSED`.
    waits: NotRequired[str | None]


class TokensLeft(TypedDict):
    """What is left of a cap in tokens. What was used is `null` for a run: each begins at zero."""
    cap: int
    left: NotRequired[int | None]
    used: NotRequired[int | None]


class ToolInputView(TypedDict):
    """Show a file with line numbers, or what is in a folder."""
    command: Literal["view"]
    # The file or folder, below `/memories`.
    path: str
    # The first and the last line, counted from 1; -1 is the end.
    view_range: NotRequired[list[int] | None]


class ToolInputCreate(TypedDict):
    """Create a file."""
    command: Literal["create"]
    # Its text.
    file_text: str
    # The file, below `/memories`.
    path: str


class ToolInputStrReplace(TypedDict):
    """Replace a text that occurs once."""
    command: Literal["str_replace"]
    # What it becomes; nothing when left out.
    new_str: NotRequired[str | None]
    # The text.
    old_str: str
    # The file, below `/memories`.
    path: str


class ToolInputInsert(TypedDict):
    """Insert lines."""
    command: Literal["insert"]
    # The line behind which they come; 0 is the beginning.
    insert_line: int
    # The lines.
    insert_text: str
    # The file, below `/memories`.
    path: str


class ToolInputDelete(TypedDict):
    """Delete a file, or a folder with all that is in it."""
    command: Literal["delete"]
    # The file or folder, below `/memories`.
    path: str


class ToolInputRename(TypedDict):
    """Rename or move a file or a folder."""
    command: Literal["rename"]
    # Its new path.
    new_path: str
    # Its present path.
    old_path: str


class ToolResult(TypedDict):
    """The content of the tool's result."""
    # The text for the model.
    content: str
    # Whether the command failed and changed nothing.
    is_error: bool


class TriggerAnswer(TypedDict):
    """What a trigger did."""
    # When the session is extracted at the earliest, RFC 3339.
    due_at: NotRequired[str | None]
    # `due`, `nothing_new` (all events have been extracted), `never` (memory is not made from this session),
    # `raised` (other sessions go before the rest) or `swept` (waiting sessions that had rested became due).
    outcome: str
    priority: NotRequired[Urgency | None]
    # How many other sessions were raised, or are due now.
    sessions: NotRequired[int | None]
    # Why never.
    why: NotRequired[str | None]


class TriggerRequest(TypedDict):
    """What happened to a session."""
    # The agent that holds the conversation.
    agent: str
    # The agent's own id of the conversation.
    session: str
    # The agent's own id of the conversation that replaces this one: created once this one is marked, so that
    # no end in between loses anything. For `compaction` and `reset`.
    successor: NotRequired[str | None]
    # Whose words the session holds, where that is not the person of the data folder and nothing was appended
    # to it yet.
    user: NotRequired[str | None]
    # What happened.
    what: TriggerName


class UpdateRequest(TypedDict):
    """New words for a memory."""
    # The new words, which every file and recall show from now on.
    text: str


class WriteRequest(TypedDict):
    """The new text of a file."""
    # The state that you read, as the id of a change or a time: refused where the file has changed since.
    since: NotRequired[str | None]
    # All of it. A line that comes back as it was read keeps the person's words, secrets included.
    text: str


ConversationKind = Literal["root", "sub_agent", "ephemeral", "memory_agent"]
LayerName = Literal["entry", "observation", "event"]
LikelihoodName = Literal["likely", "weak", "unlikely"]
Speaker = Literal["user", "assistant", "tool", "system"]
StyleName = Literal["native", "tagged"]
ThreadEventShape = dict[str, Any]
ToolInput = ToolInputView | ToolInputCreate | ToolInputStrReplace | ToolInputInsert | ToolInputDelete | ToolInputRename
TriggerName = Literal["turn", "sleep", "end", "compaction", "reset", "prompt", "start"]
Urgency = Literal["low", "normal", "raised", "high"]
WireName = Literal["openai", "anthropic", "neutral"]
EventBody = ThreadEventShape | list[ThreadEventShape]
