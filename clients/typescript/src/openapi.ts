// Written by `generate.mjs` from the description of HTTP; do not edit.

export interface paths {
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This description, as a page for people; needs no token */
        get: operations["getDocs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the server answers; needs no token */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Numbers for Prometheus
         * @description In its text format, version 0.0.4. docs/operating.md explains each.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This description, for programs; needs no token */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/append": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Append events to a session
         * @description Answers once the events are on disk; the session is extracted once it has rested. Sending the
         *     same again adds nothing.
         */
        post: operations["appendEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Watch what changes, as server-sent events
         * @description Each event is called `memory`, and its data names a scope, its revision and how many memories hold there. The stream
         *     begins with every scope as it is. At most 32 streams are open at once.
         */
        get: operations["watchChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The memory to give an agent
         * @description For the start of its work, or of a conversation; from the memory that applies where the agent works.
         */
        get: operations["getContext"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what changed in memory files between two states */
        get: operations["diffFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a line of memory other words, in every file that shows it */
        post: operations["editLine"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List entities with their names and descriptions */
        get: operations["listEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{entity}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an entity with its records and links */
        get: operations["getEntity"];
        /** Create an entity, or change its name and description */
        put: operations["writeEntity"];
        post?: never;
        /** Delete an entity; its file stays in the history of the person's memory */
        delete: operations["deleteEntity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{entity}/records/{record}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Add a record to an entity, or replace the record of that name */
        put: operations["writeRecord"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the files of a memory, by name */
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a memory file, as it is or as it was */
        get: operations["readFile"];
        /**
         * Write a memory file, or create one
         * @description It is a change of the person's through an agent, which `daybook undo` takes back. What the person edited by hand is
         *     kept in the history first.
         */
        put: operations["writeFile"];
        post?: never;
        /** Delete a memory file; its past stays in the history */
        delete: operations["deleteFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the changes of a memory file, newest first
         * @description At most 1000; `/v1/history` goes on from there.
         */
        get: operations["listFileHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/files/{file}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bring a memory file back to an earlier state */
        post: operations["restoreFile"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Forget something, in every file and in recall
         * @description Takes an id or the exact text. Other matches are not forgotten: the error names them.
         */
        post: operations["forgetMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the changes of memory files, newest first */
        get: operations["listFileChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List background work: what waits, runs, rests or has failed */
        get: operations["listJobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what is remembered, with ids, sources and the lines that show it */
        get: operations["listMemories"];
        put?: never;
        /**
         * Add a memory in your own words
         * @description The same as `/v1/remember`. Recall finds it at once; the memory files show it after the next update.
         */
        post: operations["addMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{memory}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show one memory, with its sources and the lines that show it */
        get: operations["getMemory"];
        put?: never;
        post?: never;
        /**
         * Forget a memory, in every file and in recall
         * @description `daybook undo` brings it back. The message that it came from stays in the log of its session; `/v1/purge` removes that,
         *     too.
         */
        delete: operations["deleteMemory"];
        options?: never;
        head?: never;
        /** Give a memory other words, in every file and in recall */
        patch: operations["updateMemory"];
        trace?: never;
    };
    "/v1/memories/{memory}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what became of a memory in the files, newest first */
        get: operations["getMemoryHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory-tool": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Carry out a command of Anthropic's memory tool
         * @description Takes the `input` of a `tool_use` of `memory_20250818`, and answers the `content` and `is_error` of its `tool_result`.
         *     `/memories` is the memory folder. Each change is a commit of the person's through an agent, which `daybook undo` takes
         *     back.
         */
        post: operations["runMemoryTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove something for good, so that nothing brings it back
         * @description Only what is one user's alone; everything else is purged with `daybook purge`. Other matches of a text are not removed:
         *     the error names them. An answer may take as long as the history of the memory files is.
         */
        post: operations["purgeMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Find what is remembered, with its source */
        post: operations["recallMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/remember": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep something in your own words */
        post: operations["rememberText"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sessions, newest activity first */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the original text behind a citation */
        get: operations["showCitation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show calls of models, their cost, and what is left under caps */
        get: operations["getSpend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what is covered, pending, in gaps, and why */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the threads, newest activity first */
        get: operations["listThreads"];
        put?: never;
        /**
         * Create a thread
         * @description An existing thread is returned unchanged. With a session's name, the thread continues that session.
         */
        post: operations["createThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Delete a thread; its session stays */
        delete: operations["deleteThread"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compact a thread, now
         * @description Answers 202 when it takes longer than a few seconds; the compaction then continues in the background.
         */
        post: operations["compactThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Build the messages for an agent's model, within its window
         * @description `messages` in the format that `wire` names, for `anthropic` with `system` beside them; `tokens`, never more than
         *     fit; `included`, `shortened` and `left_out` list the chunks.
         */
        post: operations["getThreadContext"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End the session
         * @description Ephemeral chunks are removed, and the session becomes due for extraction.
         */
        post: operations["endThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store events, and return the result of each
         * @description One event, an array of them, or one on each line, with Team9's names. Answers once all are on disk
         *     and applied; an event that waits for the end of a pause, or for a compaction of more than a few seconds,
         *     is marked as waiting, and is applied in its turn. Of a request with a bad event nothing is stored.
         *     `metadata.eventId` makes sending an event again safe.
         */
        post: operations["dispatchEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Pause a thread: events are stored, and wait */
        post: operations["pauseThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a paused thread */
        post: operations["resumeThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what a thread holds
         * @description With Team9's names: `id`, `chunkIds`, `chunks`, `metadata`; with `history`, `states` from the
         *     first one on, each with the event that produced it.
         */
        get: operations["getThreadState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what happened to a session
         * @description Decides when the session is extracted. Waits for no extraction; repeating it is safe.
         */
        post: operations["reportTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show where a line of memory comes from */
        get: operations["explainLine"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/words": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The old name of `/v1/show`, until the next release
         * @deprecated
         */
        get: operations["showWords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What an append did. All of it is on disk. */
        AppendAnswer: {
            /**
             * Format: int64
             * @description Events added.
             */
            added: number;
            /**
             * Format: int64
             * @description Events that were known already.
             */
            known: number;
            /**
             * Format: int64
             * @description Sequence number of the session's last event.
             */
            last: number;
        };
        /** @description One message or tool event. Secrets in it are hidden before anything is written. */
        AppendEvent: {
            /**
             * Format: date-time
             * @description When, RFC 3339, at most a day ahead of the server's clock; when left out, the time of
             *     arrival.
             * @example 2026-03-02T08:15:00Z
             */
            at?: string | null;
            /**
             * @description Whether it brings text from outside that its tool does not show: a page, a mail. With the setting
             *     `disable_on_external_context`, memory leaves such a session out.
             */
            external?: boolean;
            /**
             * @description Your own id of it, unique within the session: an event that is sent again with a known id
             *     is not added again. Without one, an event is identified by its role, tool, text and time; and
             *     without a time, the same text of the same role is one event of its session, except that it
             *     counts as often as it occurs in one request.
             * @example msg-17
             */
            id?: string | null;
            /** @description Who speaks. */
            role: components["schemas"]["Speaker"];
            /**
             * @description Its text; may be blank for `tool` alone. Of a text over 262144 bytes the head and the
             *     tail are kept.
             * @example please always write the test first
             */
            text: string;
            /**
             * @description The tool that an assistant calls (its text is the tool's input), or that answers.
             * @example Bash
             */
            tool?: string | null;
        };
        /** @description Events of one session, in order. */
        AppendRequest: {
            /**
             * @description The agent that holds the conversation: letters, digits, dots, dashes and underscores.
             * @example harbour-bot
             */
            agent: string;
            /**
             * @description The branch that is worked on; when left out, the one that is checked out in the folder.
             * @example main
             */
            branch?: string | null;
            /** @description The events, oldest first. */
            events: components["schemas"]["AppendEvent"][];
            /**
             * @description The folder that the agent works in, as an absolute path. What is learned is filed under the
             *     folder's project; without a folder, under the person.
             * @example /home/ada/tidepool
             */
            folder?: string | null;
            kind?: components["schemas"]["ConversationKind"] | null;
            /**
             * @description The room that the conversation is held in: what is learned is the room's alone. The first
             *     request of a session decides; another room later is refused.
             * @example !pier:example.org
             */
            room_id?: string | null;
            /**
             * @description Whose memory everything that is learned becomes, in place of what the rules choose: a scope that this agent takes
             *     part in, such as `agent/harbour-bot`.
             * @example agent/harbour-bot
             */
            scope?: string | null;
            /**
             * @description The agent's own id of the conversation: letters, digits and `. _ ~ : @ + | = # / -`.
             * @example 2026-03-02-tides
             */
            session: string;
            /**
             * @description The team of agents that holds it, by its name or its members: what is learned is the team's.
             * @example alpha+beta
             */
            team?: string | null;
            /**
             * @description The thread of the room.
             * @example $thread-1
             */
            thread_id?: string | null;
            /**
             * @description Whose words the `user` events are, where that is not the person of the data folder: what they
             *     prefer is kept as theirs. Once set, it stays.
             * @example ada
             */
            user?: string | null;
        };
        /** @description A cap of the settings. */
        CapShown: {
            money?: components["schemas"]["MoneyLeft"] | null;
            /** @description Who is capped: `tenant`, or each `user`. */
            of: string;
            /** @description For how long: `run`, `day` or `month`. */
            period: string;
            tokens?: components["schemas"]["TokensLeft"] | null;
            /**
             * Format: date-time
             * @description When the period ends, RFC 3339; `null` for a run.
             */
            until?: string | null;
        };
        /** @description A file that differs between two states. */
        ChangedFile: {
            /** @description `added`, `deleted` or `changed`. */
            change: string;
            /**
             * @description Its name in the memory folder.
             * @example MEMORY.md
             */
            file: string;
            /** @description The removed and added lines, in the order of the file. */
            lines: components["schemas"]["ChangedLine"][];
        };
        /** @description A line that only one of two states has. */
        ChangedLine: {
            /** @description `removed` or `added`. */
            change: string;
            /** @description The heading above it; empty above the first. */
            section: string;
            /** @description The line. */
            text: string;
        };
        /** @description The chunks to compact. */
        CompactRequest: {
            /** @description Ids of chunks; all that can be compacted when left out. */
            chunks?: string[];
        };
        /** @description A finished compaction. */
        CompactionSummary: {
            /** @description Who did it: a model, or `extractive`. */
            by: string;
            /** @description Faults along the way. */
            faults: string[];
            /**
             * Format: int64
             * @description Tokens of the added chunks.
             */
            tokens_after: number;
            /**
             * Format: int64
             * @description Tokens of the removed chunks.
             */
            tokens_before: number;
        };
        /** @description The memory to give an agent at the start of its work. */
        ContextAnswer: {
            /** @description The branch that it is for. */
            branch?: string | null;
            /** @description Entries that are included. */
            entries: number;
            /** @description Entries that did not fit. */
            left_out: number;
            /** @description The project whose memory it is. */
            project?: string | null;
            /** @description The whole text, in one `daybook-memory` element; empty when no memory applies. */
            text: string;
            /** @description Its size in tokens, estimated from above. */
            tokens: number;
        };
        /** @description Options of the context for a model. */
        ContextRequest: {
            /**
             * Format: int32
             * @description Tokens of the window that are kept free for the answer.
             * @default 1024
             */
            answer_tokens?: number;
            /** @description Chunks of these types are left out, such as `ENVIRONMENT`. */
            exclude_types?: string[];
            /**
             * Format: int32
             * @description The model's whole window, in tokens.
             * @example 8192
             */
            max_tokens: number;
            /** @description Include what memory holds about this question, of at most 4096 bytes. */
            recall?: string | null;
            /** @description How calls are written. */
            style?: components["schemas"]["StyleName"];
            /** @description The system prompt; never left out. */
            system?: string | null;
            /**
             * Format: int32
             * @description Tokens of the window that the schemas of tools take.
             */
            tools_tokens?: number;
            /** @description The format of the messages. */
            wire?: components["schemas"]["WireName"];
        };
        /**
         * @description What sort of conversation it is. Memory is made from `root` sessions alone.
         * @enum {string}
         */
        ConversationKind: "root" | "sub_agent" | "ephemeral" | "memory_agent";
        /** @description How far sessions have been learned from. */
        Coverage: {
            /**
             * Format: int64
             * @description All sessions.
             */
            all: number;
            /**
             * Format: int64
             * @description Sessions of which every event was extracted, or lies in a shown gap.
             */
            covered: number;
            /**
             * Format: int64
             * @description Sessions whose last extraction failed, and is tried again.
             */
            failing: number;
            /** @description Sessions that memory is never made from, by reason. */
            never: {
                [key: string]: number;
            };
            /**
             * Format: int64
             * @description Sessions with events that wait.
             */
            pending: number;
            /**
             * Format: int64
             * @description Sessions of the two before that have rested for longer than the setting `stale_after`: kept,
             *     however old they are.
             */
            stale: number;
        };
        /** @description A request for a thread. */
        CreateRequest: {
            /**
             * @description The agent that it belongs to; `agent` when left out.
             * @example harbour-bot
             */
            agent?: string | null;
            /** @description Fork this thread: the fork has its agent, user, room and team. */
            from?: string | null;
            /**
             * @description Its name; a session's label or id continues that session. Generated when left out.
             * @example 2026-03-02-tides
             */
            name?: string | null;
            /**
             * @description The room that it is held in: what is learned is the room's alone. Once the session exists, another room is
             *     refused.
             * @example !pier:example.org
             */
            room_id?: string | null;
            /**
             * @description Whose memory everything that is learned becomes, in place of what the rules choose: a scope that this agent takes
             *     part in, such as `agent/harbour-bot`.
             * @example agent/harbour-bot
             */
            scope?: string | null;
            /** @description The id of the state to fork; the current one when left out. */
            state?: string | null;
            /**
             * @description The team of agents that holds it, by its name or its members: what is learned is the team's.
             * @example alpha+beta
             */
            team?: string | null;
            /**
             * @description The thread of the room.
             * @example $thread-1
             */
            thread_id?: string | null;
            /**
             * @description Whose words its human events are, where that is not the person of the data folder.
             * @example ada
             */
            user?: string | null;
        };
        /** @description A thread that was created, or existed already. */
        CreatedThread: {
            /** @description Its short name. */
            label: string;
            /** @description The id of its state. */
            state: string;
            /**
             * @description The thread, as `agent:id`.
             * @example agent:thread_k2c0v7k3e1x5m8q4r9w6t0ya
             */
            thread: string;
        };
        /** @description A thread that was deleted. */
        DeletedAnswer: {
            /** @description Always true. */
            deleted: boolean;
            /** @description The thread, as `agent:id`. */
            thread: string;
        };
        /** @description What was deleted. */
        DeletedEntity: {
            /**
             * @description The entity's word.
             * @example tidepool
             */
            deleted: string;
        };
        /** @description The results of events, in their order. */
        DispatchAnswer: {
            results: components["schemas"]["EventResult"][];
        };
        /** @description What was changed. */
        EditAnswer: {
            /** @description The change of memory files, which `daybook undo` takes back. */
            change: components["schemas"]["MemoryChange"];
            /** @description How many secrets in the words were hidden before they were kept. */
            secrets_hidden: number;
        };
        /** @description A line, and its new words. */
        EditRequest: {
            /**
             * @description The agent that asks: it reads its own memory, and that of its teams.
             * @example harbour-bot
             */
            agent?: string | null;
            /** @description An id of `/v1/memories`, a part of the line's words, or `MEMORY.md:12`. */
            line: string;
            /**
             * @description The key of the project that it works in, where it names itself.
             * @example tidepool
             */
            project?: string | null;
            /**
             * @description The room that it is in. In a room or a team no memory of one person is read.
             * @example !pier:example.org
             */
            room_id?: string | null;
            /** @description Whose memory; all memories when left out. */
            scope?: string | null;
            /**
             * @description The team that it speaks for, by its name or its members.
             * @example alpha+beta
             */
            team?: string | null;
            /**
             * @description The person that it talks with, where that is not the person of the data folder.
             * @example ada
             */
            user?: string | null;
            /** @description The new words. */
            words: string;
        };
        /** @description What was written. */
        EntityAnswer: {
            /** @description Whether the entity, or the record, is new. */
            created: boolean;
            /**
             * @description The entity's word.
             * @example tidepool
             */
            entity: string;
            /** @description Secrets that were hidden in it. */
            secrets_hidden: number;
        };
        /** @description The entities. */
        EntityList: {
            /** @description The entities, in the order of `INDEX.md`. */
            entities: components["schemas"]["ShownCard"][];
        };
        /** @description The name of an entity, and what it is. */
        EntityRequest: {
            /** @description What it is, up to 160 characters. */
            description: string;
            /** @description Its name, up to 60 characters. */
            name: string;
        };
        /** @description The body of every answer that is not a success. */
        ErrorBody: {
            error: components["schemas"]["ErrorShown"];
        };
        /** @description What went wrong. */
        ErrorShown: {
            /**
             * @description For programs; stays the same while messages get better.
             * @example unknown_session
             */
            code: string;
            /** @description For people: what happened, to which thing, and what to do next. */
            message: string;
        };
        /** @description One event, or several. */
        EventBody: components["schemas"]["ThreadEventShape"] | components["schemas"]["ThreadEventShape"][];
        /** @description The result of an event. The event is on disk. */
        EventResult: {
            /** @description Ids of chunks that were added. */
            added?: string[] | null;
            /** @description Why it changed nothing. */
            error?: string | null;
            /** @description A warning: an event of an unknown type changes nothing. */
            note?: string | null;
            /** @description Ids of chunks that were removed. */
            removed?: string[] | null;
            /**
             * Format: int64
             * @description Its place in the thread, counted from 1.
             */
            seq: number;
            /** @description The id of the state after it. */
            state?: string | null;
            /** @description What it waits for, where it is not applied yet: `COMPACTING` or `PAUSED`. */
            waits?: string | null;
        };
        /** @description A run of the consolidation agent that failed. The memory is as the rules make it, and its inputs are still pending. */
        FailedAgentRun: {
            /**
             * Format: date-time
             * @description When, RFC 3339.
             */
            at?: string | null;
            /**
             * @description The scope whose memory it was to write.
             * @example project/tidepool
             */
            scope: string;
            /**
             * @description Why.
             * @example MEMORY.md: a line cites 7f78:L9, which is no line of its inputs
             */
            why: string;
        };
        /** @description A file or a hook event that could not be imported. The others are imported all the same. */
        FailingInput: {
            /**
             * @description The transcript, or the file of the hook event.
             * @example /home/ada/.claude/projects/tidepool/7f78.jsonl
             */
            path: string;
            /**
             * @description Why.
             * @example the line ends within a frame
             */
            why: string;
        };
        /** @description What a change of a file did. */
        FileChange: {
            /** @description The change that was made. */
            change: components["schemas"]["MemoryChange"];
            /** @description Secrets that were hidden in what was written. */
            secrets_hidden: number;
        };
        /** @description Some files of a memory, and where the list goes on. */
        FileList: {
            /** @description The files of this page, by name. */
            files: components["schemas"]["ListedFile"][];
            /** @description The value of `after` for the next page; `null` on the last. */
            next?: string | null;
            /**
             * @description Whose memory it is.
             * @example project/tidepool
             */
            scope: string;
        };
        /** @description A memory file with its text. */
        FileText: {
            commit?: components["schemas"]["HistoryCommit"] | null;
            /**
             * @description Its name in the memory folder.
             * @example MEMORY.md
             */
            file: string;
            /**
             * @description Whose memory it is in.
             * @example project/tidepool
             */
            scope: string;
            /** @description Its text, in which secrets are hidden. */
            text: string;
        };
        /** @description What was forgotten. */
        ForgetAnswer: {
            /** @description The changes of memory files, which `daybook undo` takes back. */
            changes: components["schemas"]["MemoryChange"][];
            /** @description The ids of what was forgotten. */
            forgotten: string[];
        };
        /** @description What to forget. */
        ForgetRequest: {
            /**
             * @description The agent that asks: it reads its own memory, and that of its teams.
             * @example harbour-bot
             */
            agent?: string | null;
            /** @description An id of `/v1/memories`, or the exact text. */
            memory: string;
            /**
             * @description The key of the project that it works in, where it names itself.
             * @example tidepool
             */
            project?: string | null;
            /**
             * @description The room that it is in. In a room or a team no memory of one person is read.
             * @example !pier:example.org
             */
            room_id?: string | null;
            /** @description Whose memory; all memories when left out. */
            scope?: string | null;
            /**
             * @description The team that it speaks for, by its name or its members.
             * @example alpha+beta
             */
            team?: string | null;
            /**
             * @description The person that it talks with, where that is not the person of the data folder.
             * @example ada
             */
            user?: string | null;
        };
        /** @description A range that could not be processed. */
        GapShown: {
            /** @description Why, as a word: `outage`, `content` or `vanished`. */
            class: string;
            /**
             * Format: int64
             * @description First position inside.
             */
            from: number;
            /**
             * @description The job that it is a gap of.
             * @example extract/harbour-bot:2026-03-02
             */
            job: string;
            /**
             * Format: int64
             * @description Last position inside.
             */
            to: number;
            /** @description Why, for people. */
            why: string;
        };
        /** @description The server answers. */
        Health: {
            /** @description Always true. */
            ok: boolean;
            /**
             * @description The version of daybook.
             * @example 0.1.0
             */
            version: string;
        };
        /** @description The changes of a memory's files. */
        HistoryAnswer: {
            /** @description The changes, newest first. */
            commits: components["schemas"]["HistoryCommit"][];
            /** @description The value of `after` for the next page; `null` on the last. */
            next?: string | null;
            /** @description Whose memory it is. */
            scope: string;
        };
        /** @description One change of memory files. */
        HistoryCommit: {
            /** @description Who made it: `Daybook`, or a person's name. */
            author: string;
            /** @description Whether a person made it. */
            by_person: boolean;
            /**
             * @description Its id, forty digits; the first ones are enough to name it.
             * @example 9f31ac2e5d1b4a7788990a1b2c3d4e5f60718293
             */
            id: string;
            /** @description What was done. */
            subject: string;
            /**
             * Format: date-time
             * @description When it was made, RFC 3339.
             */
            time?: string | null;
        };
        /** @description Some jobs, what was given up, and where the list goes on. */
        JobList: {
            /** @description Events that were given up after failures; on the first page alone. */
            gaps: components["schemas"]["ListedGap"][];
            /** @description The jobs of this page, by kind and key. */
            jobs: components["schemas"]["ListedJob"][];
            /** @description The value of `after` for the next page; `null` on the last. */
            next?: string | null;
        };
        /** @description Jobs that wait for the same reason. */
        JobWait: {
            /** @description The kind of failure: `outage`, `content`, `vanished` or `at_cap`. */
            class: string;
            /**
             * @description The model that could not be called, as provider and model; `null` where something else failed,
             *     such as a disk.
             * @example home/qwen3
             */
            model?: string | null;
            /** @description The first of them is tried again then. */
            next?: string | null;
            /**
             * Format: int64
             * @description Scopes whose memory files wait to be written.
             */
            scopes: number;
            /**
             * Format: int64
             * @description Sessions that wait to be read.
             */
            sessions: number;
            /** @description All of them are tried again by then. */
            until?: string | null;
            /** @description Why, for people. */
            why: string;
        };
        /**
         * @description A layer of memory to search.
         * @enum {string}
         */
        LayerName: "entry" | "observation" | "event";
        /**
         * @description How likely it is that a question was discussed.
         * @enum {string}
         */
        LikelihoodName: "likely" | "weak" | "unlikely";
        /** @description Where a line of a memory file comes from. */
        LineOrigin: {
            /** @description What stood there before. */
            before?: string | null;
            /** @description Whether a person changed the line. */
            changed_by_person: boolean;
            /** @description The line. */
            line: string;
            /** @description How many more there are. */
            more_sources: number;
            /** @description What it was made from. */
            observations: components["schemas"]["ListedMemory"][];
            /** @description Whether a person pinned it. */
            pinned: boolean;
            /** @description Whose memory it is in. */
            scope: string;
            /** @description Where it stands, as `MEMORY.md:12`; `MEMORY.md` first. */
            shown_in: string[];
            since?: components["schemas"]["HistoryCommit"] | null;
            /** @description The original texts behind its citations. */
            sources: components["schemas"]["OriginalText"][];
        };
        /** @description Threads. */
        ListAnswer: {
            /** @description The value of `after` for the next page; `null` on the last. */
            next?: string | null;
            threads: components["schemas"]["ThreadListing"][];
        };
        /** @description One memory file. */
        ListedFile: {
            /** @description Its size in bytes. */
            bytes: number;
            /**
             * @description Its name in the memory folder.
             * @example MEMORY.md
             */
            file: string;
        };
        /** @description Events that were given up. */
        ListedGap: {
            /**
             * Format: date-time
             * @description When, RFC 3339.
             */
            at?: string | null;
            /**
             * Format: int64
             * @description The first one.
             */
            from: number;
            /** @description The job. */
            job: string;
            /**
             * Format: int64
             * @description The last one.
             */
            to: number;
            /** @description Why. */
            why: string;
        };
        /** @description One job. */
        ListedJob: {
            /**
             * Format: int64
             * @description How far it is.
             */
            done: number;
            /** @description Why the last try failed. */
            failure?: string | null;
            /**
             * Format: int64
             * @description How far there is input.
             */
            input: number;
            /**
             * @description Its name.
             * @example extract/harbour-bot:2026-03-02-tides
             */
            job: string;
            /** @description `extract`, `consolidate` or `redact`. */
            kind: string;
            /** @description How soon among others: `low`, `normal`, `raised` or `high`. */
            priority: string;
            /**
             * @description `done`, `due`, `running`, `waiting` after a failure, `resting`, or `set_aside`.
             * @example due
             */
            state: string;
            /**
             * Format: int32
             * @description Tries so far on what it works on now.
             */
            tries: number;
            /**
             * Format: date-time
             * @description Until when it runs, waits or rests; RFC 3339.
             */
            until?: string | null;
        };
        /** @description One thing that is remembered. */
        ListedMemory: {
            /** @description The first citation of each session that it rests on, for `show`. */
            citations: string[];
            /**
             * @description Its id; the first digits are enough to name it.
             * @example 9f31ac2e5d1b4a77
             */
            id: string;
            /** @description What sort of thing: `correction`, `preference`, `fact`, `decision`, `value`, `fix`, `open_end` or `note`. */
            kind: string;
            /**
             * Format: date-time
             * @description When it was last stated, RFC 3339.
             */
            last_at?: string | null;
            /** @description Where it was learned from: `typed`, `pasted`, `concluded`, `tool`, `external` or `unknown`. */
            learned_from: string;
            /** @description Whether a person pinned it. */
            pinned: boolean;
            /** @description Whose memory it is in, such as `project/tidepool`. */
            scope: string;
            /** @description The lines that show it, as `MEMORY.md:12`; empty where there is no room for it. */
            shown_in: string[];
            /** @description Whether a person stated it; otherwise it was concluded. */
            stated: boolean;
            /** @description What the value is of, for values. */
            subject?: string | null;
            /** @description What is remembered. */
            text: string;
            /** @description How far it is trusted: `full`, `medium`, `low` or `untrusted`. */
            trust: string;
        };
        /** @description One session. */
        ListedSession: {
            /**
             * Format: int64
             * @description How many events it has.
             */
            events: number;
            /**
             * Format: int64
             * @description How many of its events have been learned from.
             */
            extracted: number;
            /**
             * Format: date-time
             * @description When its first event was, RFC 3339; `null` when unknown.
             */
            first?: string | null;
            /**
             * @description The session, as `agent:id`.
             * @example harbour-bot:2026-03-02-tides
             */
            id: string;
            /**
             * @description Its short name in citations.
             * @example 7f78
             */
            label: string;
            /**
             * Format: date-time
             * @description When its last event was, RFC 3339; `null` when unknown.
             */
            last?: string | null;
            /** @description The room that it is held in. */
            room_id?: string | null;
            /**
             * @description How far it has been learned from, in words.
             * @example extracted
             */
            state: string;
            /** @description The team that holds it. */
            team?: string | null;
            /** @description Whose words it holds, where that is not the person of the data folder. */
            user?: string | null;
        };
        /** @description A change that was made. */
        MemoryChange: {
            /**
             * @description The commit that made it, and that `daybook undo` takes back; `null` when everything was so already,
             *     or where a mem0 server keeps the memory.
             */
            commit?: string | null;
            /** @description Whose memory it was made in. */
            scope: string;
        };
        /** @description The past of a memory. */
        MemoryHistory: {
            /** @description What happened to it there, newest first. */
            changes: components["schemas"]["MemoryRevision"][];
            /**
             * @description The file that shows it; `null` while none does.
             * @example MEMORY.md
             */
            file?: string | null;
            /**
             * @description The memory's id.
             * @example 9f31ac2e5d1b4a77
             */
            id: string;
            /** @description Whose memory it is in. */
            scope: string;
        };
        /** @description Some memories of a scope, and where the list goes on. */
        MemoryList: {
            /** @description Those of this page: what files show first, in their order. */
            memories: components["schemas"]["ListedMemory"][];
            /** @description The value of `after` for the next page; `null` on the last. */
            next?: string | null;
            /** @description Whose memory it is. */
            scope: string;
            /** @description How many memories match in all. */
            total: number;
        };
        /** @description A change of the line that shows a memory. */
        MemoryRevision: {
            /** @description The line after; `null` when it was removed. */
            after?: string | null;
            /** @description The line before; `null` when it was added. */
            before?: string | null;
            /**
             * @description `added`, `changed` or `removed`.
             * @example changed
             */
            change: string;
            /** @description The change of the files that did it. */
            commit: components["schemas"]["HistoryCommit"];
        };
        /** @description What is left of a cap in money. What was used is `null` for a run: each begins at zero. */
        MoneyLeft: {
            cap: string;
            left?: string | null;
            used?: string | null;
        };
        /** @description The original text behind a citation. */
        OriginalText: {
            /** @description The speaker, place and time. */
            by: string;
            /**
             * @description The citation, for `show`.
             * @example 7f78:L382
             */
            citation: string;
            /** @description The text, cut if it is long; `null` when the source has expired, or is not for the caller to read. */
            text?: string | null;
        };
        /** @description The state of the memory, for programs. */
        Overview: {
            /** @description The last run of the consolidation agent in each scope, where it failed. */
            agent_failures: components["schemas"]["FailedAgentRun"][];
            /**
             * Format: int64
             * @description Events in all sessions.
             */
            events: number;
            /** @description Files and hook events that could not be imported, until an import succeeds. */
            failing: components["schemas"]["FailingInput"][];
            /** @description Ranges that were given up. */
            gaps: components["schemas"]["GapShown"][];
            /** @description Hook events in the spool that are not processed yet. */
            notices: number;
            /** @description Observations that wait for the person's decision. */
            quarantined: number;
            /** @description Files in memory folders that are not read, written or committed. */
            refused: components["schemas"]["RefusedFile"][];
            /** @description The scopes with memory. */
            scopes: components["schemas"]["ScopeShown"][];
            /** @description How far sessions have been learned from. */
            sessions: components["schemas"]["Coverage"];
            /** @description Scopes whose memory files do not show everything yet. */
            waiting_to_be_written: number;
            /** @description Jobs that wait after a failure: for which model, until when, and why. */
            waits: components["schemas"]["JobWait"][];
        };
        /** @description Whether a thread is paused. */
        PausedAnswer: {
            /** @description Whether it is paused now. */
            paused: boolean;
            /** @description The thread, as `agent:id`. */
            thread: string;
            /** @description Whether it was paused before. */
            was_paused: boolean;
        };
        /** @description What was removed, or would be. */
        PurgeAnswer: {
            /**
             * Format: int64
             * @description Events.
             */
            events: number;
            /**
             * Format: int64
             * @description Memories of which nothing is left.
             */
            observations: number;
            /** @description Whether it is removed; false of a dry run, and where there was nothing to remove. */
            purged: boolean;
            /**
             * Format: int64
             * @description The number of the receipt in `purged/receipts.jsonl`.
             */
            receipt?: number | null;
            /**
             * Format: int64
             * @description Sessions of which nothing is left.
             */
            sessions: number;
            /** @description What was not reached, and who can: remotes of memory folders, transcripts, and what holds everywhere. */
            unreachable: string[];
        };
        /** @description What to remove: exactly one of `memory`, `session` and `everything`. */
        PurgeRequest: {
            /** @description Only answer what would be removed. */
            dry_run?: boolean;
            /** @description All of the user: their memory, their sessions, and what names them. */
            everything?: boolean;
            /** @description An id of `/v1/memories`, or the exact text: with the events that it rests on. */
            memory?: string | null;
            /**
             * @description The key of the project that it works in, whose memories it names.
             * @example tidepool
             */
            project?: string | null;
            /**
             * @description A whole session, by its label or the beginning of its id.
             * @example 7f78
             */
            session?: string | null;
            /**
             * @description The user whose it is, and who asks for it; the person of the data folder when left out.
             * @example ada
             */
            user?: string | null;
        };
        /** @description The nearest answers, best first, and whether they are likely to answer the question. */
        RecallAnswer: {
            /**
             * @description How likely it is that the question was discussed at all. With `unlikely`, the results are near it but
             *     do not answer it.
             */
            confidence: components["schemas"]["LikelihoodName"];
            /**
             * Format: double
             * @description The same as a number from 0 to 1, comparable between questions.
             */
            confidence_score: number;
            results: components["schemas"]["SearchResult"][];
            /** @description Parts of memory that did not answer, each with the reason: an agent's memory on a mem0 server that is down. */
            unanswered?: string[];
            /**
             * @description Why the answers were found by words alone, where the settings choose an embedding model that could not be
             *     used.
             */
            without_vectors?: string | null;
        };
        /** @description A search in memory. */
        RecallRequest: {
            /**
             * @description The agent that asks: it is given its own memory, and that of its teams.
             * @example harbour-bot
             */
            agent?: string | null;
            /**
             * @description What was known and held at this time: a day, a month or RFC 3339; the present when left out.
             * @example 2026-02-04
             */
            at?: string | null;
            /** @description Show the parts of each answer's score, as `parts`. */
            explain?: boolean;
            /** @description Only these layers; all when left out. */
            layers?: components["schemas"]["LayerName"][];
            /**
             * @description Most answers.
             * @default 10
             */
            limit?: number;
            /**
             * @description The key of the project that it works in, where it names itself.
             * @example tidepool
             */
            project?: string | null;
            /**
             * @description The question, in words; at most 4096 bytes.
             * @example how large is the tide cache
             */
            question: string;
            /**
             * @description The room that it is in. In a room or a team no memory of one person is shown.
             * @example !pier:example.org
             */
            room_id?: string | null;
            /** @description Only the memory of these scopes, such as `project/tidepool`; all when left out. */
            scopes?: string[];
            /** @description Return no answer unless the question was likely discussed. */
            strict?: boolean;
            /**
             * @description The team that it speaks for, by its name or its members.
             * @example alpha+beta
             */
            team?: string | null;
            /** @description Search what tools were asked and answered, too. */
            tools?: boolean;
            /**
             * @description The person that it talks with, where that is not the person of the data folder.
             * @example ada
             */
            user?: string | null;
        };
        /** @description The text of a record. */
        RecordRequest: {
            /** @description The text, at most 65536 bytes. `[[word]]` links to another entity. */
            content: string;
        };
        /** @description Something in a memory folder that is not read, written or committed. */
        RefusedFile: {
            /**
             * @description Its path.
             * @example /home/ada/.daybook/projects/tidepool/memory/MEMORY.md
             */
            path: string;
            /**
             * @description The scope of the memory folder.
             * @example project/tidepool
             */
            scope: string;
            /**
             * @description Why it is not used.
             * @example it is a symbolic link
             */
            why: string;
        };
        /** @description The note that was kept. Recall finds it at once; memory files show it after the next update. */
        RememberAnswer: {
            /** @description Its id. */
            id: string;
            /** @description Whose memory it is in. */
            scope: string;
            /** @description Secrets that were hidden in it. */
            secrets_hidden: number;
            /** @description The text as it is kept. */
            text: string;
        };
        /** @description A text to keep as it is. */
        RememberRequest: {
            /**
             * @description The agent that asks: it is given its own memory, and that of its teams.
             * @example harbour-bot
             */
            agent?: string | null;
            /**
             * @description The folder that the agent works in, as an absolute path.
             * @example /home/ada/tidepool
             */
            folder?: string | null;
            /**
             * @description The room that it is in. In a room or a team no memory of one person is shown.
             * @example !pier:example.org
             */
            room_id?: string | null;
            /**
             * @description Whose memory, such as `project/tidepool` or `user/ada`; that of the folder's project when
             *     left out, else the person's.
             * @example project/tidepool
             */
            scope?: string | null;
            /**
             * @description The team that it speaks for, by its name or its members.
             * @example alpha+beta
             */
            team?: string | null;
            /**
             * @description What to remember; at most 16384 bytes. Secrets in it are hidden.
             * @example deploys happen on Tuesdays
             */
            text: string;
            /**
             * @description The person that it talks with, where that is not the person of the data folder.
             * @example ada
             */
            user?: string | null;
        };
        /** @description What took the place of an answer that no longer holds. */
        ReplacedBy: {
            /** @description Its citation, for `/v1/show`. */
            citation?: string | null;
            /** @description Why: `updated`, `replaced`, `reversed`, `withdrawn` or `closed`. */
            reason: string;
            /**
             * Format: date-time
             * @description Since when, RFC 3339.
             */
            since?: string | null;
            /** @description The statement that holds. */
            text: string;
        };
        /** @description The most that open calls can cost. */
        ReservedShown: {
            /** @description Money. */
            money: string;
            /**
             * Format: int64
             * @description Tokens.
             */
            tokens: number;
        };
        /** @description The state to bring back. */
        RestoreRequest: {
            /** @description The first digits of a change's id, or a time such as `2026-02-04` or RFC 3339. */
            at: string;
        };
        /** @description The data of one event. */
        ScopeChange: {
            /**
             * Format: int64
             * @description How many memories hold.
             */
            memories: number;
            /**
             * Format: int64
             * @description Raised with every change.
             */
            revision: number;
            /**
             * @description Whose memory has changed.
             * @example project/tidepool
             */
            scope: string;
        };
        /** @description One scope. */
        ScopeShown: {
            /**
             * Format: int64
             * @description Observations that hold.
             */
            observations: number;
            /**
             * Format: int64
             * @description How often something has changed that its files must show.
             */
            revision: number;
            /**
             * @description Its name.
             * @example project/tidepool
             */
            scope: string;
        };
        /** @description One thing that is remembered, with its source. */
        SearchResult: {
            /**
             * @description The citation, for `/v1/show`.
             * @example 7f78:L382,476-480
             */
            citation?: string | null;
            /** @description Context that makes it understandable. */
            context?: string | null;
            /** @description Sequence numbers of the events that it rests on. */
            events: number[];
            /** @description The memory file that contains it, for entries. */
            file?: string | null;
            /** @description Where it was found: `entry` (a memory file), `observation` or `event` (the original words). */
            layer: string;
            /**
             * @description Where it was learned from, for observations: `typed` or `pasted` by the person, `concluded` by the agent,
             *     from a `tool`, `external` (the web, an MCP server), or `unknown` (stored before this was recorded).
             */
            learned_from?: string | null;
            /** @description The origin, for events: `human`, `assistant`, `tool_call`, `tool_result` and so on. */
            origin?: string | null;
            /** @description The parts of the score, when they were requested. */
            parts?: Record<string, never> | null;
            replaced?: components["schemas"]["ReplacedBy"] | null;
            /**
             * @description Whose memory it is from, such as `project/tidepool`.
             * @example project/tidepool
             */
            scope?: string | null;
            /**
             * Format: double
             * @description How well it answers, from 0 to 1; comparable within one question only.
             */
            score: number;
            /** @description The session that it is from, as `agent:session`. */
            session?: string | null;
            /** @description What is remembered. */
            text: string;
            /**
             * Format: date-time
             * @description The time of its source, RFC 3339; `null` when unknown.
             */
            time?: string | null;
            /** @description How far it is trusted, which follows from where it was learned: `full`, `medium`, `low` or `untrusted`. */
            trust?: string | null;
        };
        /** @description Some sessions, and where the list goes on. */
        SessionList: {
            /** @description The value of `after` for the next page; `null` on the last. */
            next?: string | null;
            /** @description The sessions of this page, newest activity first. */
            sessions: components["schemas"]["ListedSession"][];
        };
        /** @description The original text behind a citation. */
        ShowAnswer: {
            /** @description There may be more: request a range of lines. */
            cut: boolean;
            /** @description The cited events, in order; at most 500. */
            events: components["schemas"]["ShownEvent"][];
            /** @description Its short name in citations. */
            label: string;
            /** @description The session that they are from, as `agent:session`. */
            session: string;
        };
        /** @description An entity in a list. */
        ShownCard: {
            /** @description What it is. */
            description?: string | null;
            /**
             * @description Its word.
             * @example tidepool
             */
            entity: string;
            /** @description Its name; `null` when its file has no readable head. */
            name?: string | null;
        };
        /** @description An entity with everything that is kept of it. */
        ShownEntity: {
            /** @description Its other names. */
            aliases: string[];
            /** @description What it is. */
            description?: string | null;
            /**
             * @description Its word.
             * @example tidepool
             */
            entity: string;
            /** @description Entities whose records link to it. */
            linked_from: string[];
            /** @description Entities that its records link to. */
            links: string[];
            /** @description Its name; `null` when its file has no readable head. */
            name?: string | null;
            /** @description What is kept of it. */
            records: components["schemas"]["ShownRecord"][];
        };
        /** @description One event of a session. */
        ShownEvent: {
            /**
             * Format: date-time
             * @description When, RFC 3339; `null` when unknown.
             */
            at?: string | null;
            /**
             * Format: int32
             * @description The number that citations give it.
             */
            line: number;
            /**
             * @description Its origin: `human`, `assistant`, `tool_call`, `tool_result`, `harness`, `synthetic`,
             *     `recalled` or `retraction`.
             */
            origin: string;
            /**
             * Format: int64
             * @description Its place in the session, counted from 1.
             */
            seq: number;
            /** @description Its text. */
            text: string;
            /** @description The tool that was called, or answered. */
            tool?: string | null;
        };
        /** @description A record of an entity. */
        ShownRecord: {
            /** @description Its text. */
            content: string;
            /** @description Its name. */
            record: string;
        };
        /**
         * @description Who speaks.
         * @enum {string}
         */
        Speaker: "user" | "assistant" | "tool" | "system";
        /** @description Calls of models, their cost, and what is left under caps. */
        SpendAnswer: {
            /** @description The sum of all calls. */
            all: components["schemas"]["SpentShown"];
            /**
             * @description What the sums are made by.
             * @example model
             */
            by: string;
            /** @description What settings allow, and what is left of it. */
            caps: components["schemas"]["CapShown"][];
            /**
             * @description The currency of all amounts.
             * @example USD
             */
            currency: string;
            /**
             * Format: date-time
             * @description The present time, RFC 3339.
             */
            now?: string | null;
            /**
             * Format: date-time
             * @description The first call that counts was made then or later, RFC 3339.
             */
            since?: string | null;
            /** @description The sums. */
            spent: components["schemas"]["SpentShown"][];
        };
        /** @description The calls of one model, day, user or the like. Money is text, because JSON numbers with decimals are not exact. */
        SpentShown: {
            /**
             * Format: int64
             * @description Of these, tokens that the provider had kept.
             */
            cached: number;
            /**
             * Format: int64
             * @description Calls.
             */
            calls: number;
            /**
             * Format: int64
             * @description Calls that used more than was reserved for them.
             */
            exceeded: number;
            /**
             * Format: int64
             * @description Tokens that were sent.
             */
            input: number;
            /**
             * @description What they cost.
             * @example 0.25
             */
            money: string;
            /** @description Which one; empty for calls without one. */
            name: string;
            /**
             * Format: int64
             * @description Calls under way, or cut off before their cost was known.
             */
            open: number;
            /**
             * Format: int64
             * @description Tokens that were answered.
             */
            output: number;
            /** @description The most that these can cost. */
            reserved: components["schemas"]["ReservedShown"];
            /**
             * Format: int64
             * @description Calls of models without a price, which the money does not include.
             */
            unpriced: number;
        };
        /** @description What changed between two states of memory files. */
        StateDiff: {
            /** @description The files that differ, by name. */
            files: components["schemas"]["ChangedFile"][];
            from?: components["schemas"]["HistoryCommit"] | null;
            /** @description Whose memory it is, such as `project/tidepool`. */
            scope: string;
            /** @description The later state. */
            to: components["schemas"]["HistoryCommit"];
        };
        /**
         * @description How calls are written.
         * @enum {string}
         */
        StyleName: "native" | "tagged";
        /** @description The result of a change that is no event. */
        ThreadChange: {
            /** @description Ids of chunks that were added. */
            added: string[];
            compaction?: components["schemas"]["CompactionSummary"] | null;
            /** @description Ids of chunks that were removed. */
            removed: string[];
            /** @description The id of the state after it. */
            state: string;
            /** @description The thread, as `agent:id`. */
            thread: string;
        };
        /** @description One event, with Team9's field names. A type that Team9 does not have is your own. */
        ThreadEventShape: {
            /** @description Further fields; `eventId` makes sending it again safe. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: int64
             * @description When, in milliseconds since 1970 UTC; now when left out.
             */
            timestamp?: number | null;
            /**
             * @description What: `USER_MESSAGE`, `LLM_TEXT_RESPONSE`, `LLM_TOOL_CALL`, `TOOL_RESULT`, …
             * @example USER_MESSAGE
             */
            type: string;
        } & {
            [key: string]: unknown;
        };
        /** @description A thread, as lists show it. */
        ThreadListing: {
            /**
             * Format: date-time
             * @description When it was made, RFC 3339.
             */
            created?: string | null;
            /**
             * Format: int64
             * @description Sequence number of its last event.
             */
            events: number;
            /** @description The thread that it was forked from, by its id without the agent. */
            forked_from?: string | null;
            /** @description Its short name. */
            label: string;
            /** @description The thread, as `agent:id`. */
            thread: string;
            /**
             * Format: date-time
             * @description When something was last stored, RFC 3339.
             */
            updated?: string | null;
            /** @description What events wait for: `COMPACTING` or `PAUSED`. */
            waits?: string | null;
        };
        /** @description What is left of a cap in tokens. What was used is `null` for a run: each begins at zero. */
        TokensLeft: {
            /** Format: int64 */
            cap: number;
            /** Format: int64 */
            left?: number | null;
            /** Format: int64 */
            used?: number | null;
        };
        /** @description The input of the tool, as the model wrote it. */
        ToolInput: {
            /** @enum {string} */
            command: "view";
            /** @description The file or folder, below `/memories`. */
            path: string;
            /** @description The first and the last line, counted from 1; -1 is the end. */
            view_range?: number[] | null;
        } | {
            /** @enum {string} */
            command: "create";
            /** @description Its text. */
            file_text: string;
            /** @description The file, below `/memories`. */
            path: string;
        } | {
            /** @enum {string} */
            command: "str_replace";
            /** @description What it becomes; nothing when left out. */
            new_str?: string | null;
            /** @description The text. */
            old_str: string;
            /** @description The file, below `/memories`. */
            path: string;
        } | {
            /** @enum {string} */
            command: "insert";
            /**
             * Format: int64
             * @description The line behind which they come; 0 is the beginning.
             */
            insert_line: number;
            /** @description The lines. */
            insert_text: string;
            /** @description The file, below `/memories`. */
            path: string;
        } | {
            /** @enum {string} */
            command: "delete";
            /** @description The file or folder, below `/memories`. */
            path: string;
        } | {
            /** @enum {string} */
            command: "rename";
            /** @description Its new path. */
            new_path: string;
            /** @description Its present path. */
            old_path: string;
        };
        /** @description The content of the tool's result. */
        ToolResult: {
            /**
             * @description The text for the model.
             * @example File created successfully at: /memories/tides.md
             */
            content: string;
            /** @description Whether the command failed and changed nothing. */
            is_error: boolean;
        };
        /** @description What a trigger did. */
        TriggerAnswer: {
            /**
             * Format: date-time
             * @description When the session is extracted at the earliest, RFC 3339.
             */
            due_at?: string | null;
            /**
             * @description `due`, `nothing_new` (all events have been extracted), `never` (memory is not made
             *     from this session), `raised` (other sessions go before the rest) or `swept` (waiting
             *     sessions that had rested became due).
             */
            outcome: string;
            priority?: components["schemas"]["Urgency"] | null;
            /** @description How many other sessions were raised, or are due now. */
            sessions?: number | null;
            /** @description Why never. */
            why?: string | null;
        };
        /**
         * @description What happened to a session, and when its extraction is due for it.
         * @enum {string}
         */
        TriggerName: "turn" | "sleep" | "end" | "compaction" | "reset" | "prompt" | "start";
        /** @description What happened to a session. */
        TriggerRequest: {
            /**
             * @description The agent that holds the conversation.
             * @example harbour-bot
             */
            agent: string;
            /**
             * @description The agent's own id of the conversation.
             * @example 2026-03-02-tides
             */
            session: string;
            /**
             * @description The agent's own id of the conversation that replaces this one: created once this one is marked,
             *     so that no end in between loses anything. For `compaction` and `reset`.
             * @example 2026-03-02-tides-2
             */
            successor?: string | null;
            /**
             * @description Whose words the session holds, where that is not the person of the data folder and nothing
             *     was appended to it yet.
             * @example ada
             */
            user?: string | null;
            /** @description What happened. */
            what: components["schemas"]["TriggerName"];
        };
        /** @description New words for a memory. */
        UpdateRequest: {
            /** @description The new words, which every file and recall show from now on. */
            text: string;
        };
        /**
         * @description How soon a session is extracted among others.
         * @enum {string}
         */
        Urgency: "low" | "normal" | "raised" | "high";
        /**
         * @description The format of the messages.
         * @enum {string}
         */
        WireName: "openai" | "anthropic" | "neutral";
        /** @description The new text of a file. */
        WriteRequest: {
            /** @description The state that you read, as the id of a change or a time: refused where the file has changed since. */
            since?: string | null;
            /** @description All of it. A line that comes back as it was read keeps the person's words, secrets included. */
            text: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getDocs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The numbers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description They could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The description */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    appendEvents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent": "harbour-bot",
                 *       "events": [
                 *         {
                 *           "id": "msg-17",
                 *           "role": "user",
                 *           "text": "please always write the test first"
                 *         },
                 *         {
                 *           "id": "msg-18",
                 *           "role": "assistant",
                 *           "text": "I will write the test first."
                 *         }
                 *       ],
                 *       "session": "2026-03-02-tides"
                 *     }
                 */
                "application/json": components["schemas"]["AppendRequest"];
            };
        };
        responses: {
            /** @description All of it is on disk */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendAnswer"];
                };
            };
            /** @description Nothing was acknowledged */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    watchChanges: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream, which has no end */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["ScopeChange"];
                };
            };
            /** @description There is no stream */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getContext: {
        parameters: {
            query?: {
                /**
                 * @description The folder that it works in, as an absolute path.
                 * @example /home/ada/tidepool
                 */
                folder?: string;
                /**
                 * @description The memory of this project, wherever the folder is.
                 * @example tidepool
                 */
                project?: string;
                /** @description As if on this branch; when left out, the one that is checked out in the folder. */
                branch?: string;
                /**
                 * @description Files that it works on, relative to the folder or as absolute paths, each in a line of its own: entries that
                 *     name them or their folder are included, too.
                 * @example src/cache.rs
                 *     src/chart.rs
                 */
                files?: string;
                /**
                 * @description The prompt that it was given: entries that are likely about it are included, too.
                 * @example why does the cache forget tides at a restart?
                 */
                prompt?: string;
                /** @description Most tokens; when left out, the setting `context_tokens`. */
                budget?: number;
                /**
                 * @description The agent that asks: it is given its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is shown.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What to put in front of the agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextAnswer"];
                };
            };
            /** @description The context could not be assembled */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    diffFiles: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; the person's when left out.
                 * @example project/tidepool
                 */
                scope?: string;
                /** @description The earlier state: the first digits of a change's id, or a time such as `2026-02-04` or RFC 3339. */
                from?: string;
                /** @description The later state; the newest when left out. */
                to?: string;
                /** @description Instead of both: what was changed at this state. */
                at?: string;
                /** @description Only this file. */
                file?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The removed and added lines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateDiff"];
                };
            };
            /** @description They could not be compared */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    editLine: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "line": "deploys happen on Tuesdays",
                 *       "words": "deploys happen on Wednesdays"
                 *     }
                 */
                "application/json": components["schemas"]["EditRequest"];
            };
        };
        responses: {
            /** @description It is changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EditAnswer"];
                };
            };
            /** @description It is not changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listEntities: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityList"];
                };
            };
            /** @description They could not be listed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getEntity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its word, its name, or another name of it
                 * @example tidepool
                 */
                entity: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entity */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownEntity"];
                };
            };
            /** @description It could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    writeEntity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description One lowercase word, a to z
                 * @example tidepool
                 */
                entity: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "the service that draws tide charts",
                 *       "name": "Tidepool"
                 *     }
                 */
                "application/json": components["schemas"]["EntityRequest"];
            };
        };
        responses: {
            /** @description It is kept */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityAnswer"];
                };
            };
            /** @description It is not kept */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    deleteEntity: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its word
                 * @example tidepool
                 */
                entity: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedEntity"];
                };
            };
            /** @description Nothing was deleted */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    writeRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The entity's word
                 * @example tidepool
                 */
                entity: string;
                /**
                 * @description The record's name
                 * @example deploys
                 */
                record: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "deploys happen on Tuesdays"
                 *     }
                 */
                "application/json": components["schemas"]["RecordRequest"];
            };
        };
        responses: {
            /** @description It is kept */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntityAnswer"];
                };
            };
            /** @description It is not kept */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listFiles: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; the person's when left out.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description Most files.
                 * @example 100
                 */
                limit?: number;
                /** @description The value of `next` of the page before. */
                after?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The files of the last change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileList"];
                };
            };
            /** @description They could not be listed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    readFile: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; the person's when left out.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description As it was: the first digits of a change's id, or a time such as `2026-02-04` or RFC 3339.
                 * @example 2026-02-04
                 */
                at?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its name in the memory folder, with %2F for each slash
                 * @example MEMORY.md
                 */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its text, in which secrets are hidden */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileText"];
                };
            };
            /** @description It could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    writeFile: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its name in the memory folder, with %2F for each slash
                 * @example tides.md
                 */
                file: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "# Tides\n\n- high at noon\n"
                 *     }
                 */
                "application/json": components["schemas"]["WriteRequest"];
            };
        };
        responses: {
            /** @description It is written */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileChange"];
                };
            };
            /** @description Nothing was written */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    deleteFile: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its name in the memory folder, with %2F for each slash
                 * @example tides.md
                 */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryChange"];
                };
            };
            /** @description Nothing was deleted */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listFileHistory: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its name in the memory folder, with %2F for each slash
                 * @example MEMORY.md
                 */
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryAnswer"];
                };
            };
            /** @description They could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    restoreFile: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its name in the memory folder, with %2F for each slash
                 * @example MEMORY.md
                 */
                file: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "at": "2026-02-04"
                 *     }
                 */
                "application/json": components["schemas"]["RestoreRequest"];
            };
        };
        responses: {
            /** @description It is as it was */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryChange"];
                };
            };
            /** @description Nothing was changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    forgetMemory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "memory": "deploys happen on Tuesdays"
                 *     }
                 */
                "application/json": components["schemas"]["ForgetRequest"];
            };
        };
        responses: {
            /** @description It is forgotten */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgetAnswer"];
                };
            };
            /** @description Nothing was forgotten */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listFileChanges: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; the person's when left out.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description Only changes of this file.
                 * @example MEMORY.md
                 */
                file?: string;
                /** @description Most changes. */
                limit?: number;
                /** @description The value of `next` of the page before. */
                after?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryAnswer"];
                };
            };
            /** @description They could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /**
                 * @description Jobs that are done, too.
                 * @example true
                 */
                all?: boolean;
                /**
                 * @description Most jobs.
                 * @example 50
                 */
                limit?: number;
                /** @description The value of `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The jobs, by kind and key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobList"];
                };
            };
            /** @description They could not be listed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listMemories: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; the person's when left out.
                 * @example project/tidepool
                 */
                scope?: string;
                /** @description Only this kind: `correction`, `preference`, `fact`, `decision`, `value`, `fix`, `open_end` or `note`. */
                kind?: string;
                /** @description Only memories that contain these words. */
                query?: string;
                /** @description Most memories. */
                limit?: number;
                /** @description The value of `next` of the page before. */
                after?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What files show first, then the rest */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryList"];
                };
            };
            /** @description It could not be listed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    addMemory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "deploys happen on Tuesdays"
                 *     }
                 */
                "application/json": components["schemas"]["RememberRequest"];
            };
        };
        responses: {
            /** @description It is kept */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberAnswer"];
                };
            };
            /** @description It is not kept */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getMemory: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its id, of which eight digits are enough
                 * @example 9f31ac2e5d1b4a77
                 */
                memory: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListedMemory"];
                };
            };
            /** @description It could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    deleteMemory: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its id, of which eight digits are enough
                 * @example 9f31ac2e5d1b4a77
                 */
                memory: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is forgotten */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgetAnswer"];
                };
            };
            /** @description Nothing was forgotten */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    updateMemory: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its id, of which eight digits are enough
                 * @example 9f31ac2e5d1b4a77
                 */
                memory: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "deploys happen on Wednesdays"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateRequest"];
            };
        };
        responses: {
            /** @description It has the new words */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EditAnswer"];
                };
            };
            /** @description Nothing was changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getMemoryHistory: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory; when left out, all that the caller reads, or the person's.
                 * @example project/tidepool
                 */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Its id, of which eight digits are enough
                 * @example 9f31ac2e5d1b4a77
                 */
                memory: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its past; empty before a file shows it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryHistory"];
                };
            };
            /** @description It could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    runMemoryTool: {
        parameters: {
            query?: {
                /**
                 * @description Whose memory folder; the person's when left out.
                 * @example project/tidepool
                 */
                scope?: string;
                /** @description Whose words the results have. */
                flavour?: "documented" | "python_sdk";
                /**
                 * @description The agent that asks: it works on its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "command": "create",
                 *       "file_text": "# Tides\n",
                 *       "path": "/memories/tides.md"
                 *     }
                 */
                "application/json": components["schemas"]["ToolInput"];
            };
        };
        responses: {
            /** @description The result for the model, also of a command that failed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolResult"];
                };
            };
            /** @description The command was not carried out */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    purgeMemory: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "dry_run": true,
                 *       "memory": "deploys happen on Tuesdays"
                 *     }
                 */
                "application/json": components["schemas"]["PurgeRequest"];
            };
        };
        responses: {
            /** @description It is removed, or what would be */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurgeAnswer"];
                };
            };
            /** @description Nothing was removed, or the next command goes on */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    recallMemories: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "limit": 5,
                 *       "question": "how large is the tide cache"
                 *     }
                 */
                "application/json": components["schemas"]["RecallRequest"];
            };
        };
        responses: {
            /** @description The nearest answers, best first, and how likely it is that they answer the question */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallAnswer"];
                };
            };
            /** @description The search failed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    rememberText: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "text": "deploys happen on Tuesdays"
                 *     }
                 */
                "application/json": components["schemas"]["RememberRequest"];
            };
        };
        responses: {
            /** @description It is kept */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberAnswer"];
                };
            };
            /** @description It is not kept */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /**
                 * @description Most sessions.
                 * @example 20
                 */
                limit?: number;
                /** @description The value of `next` of the page before. */
                after?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no session of one person is listed.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions that the caller reads */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description They could not be listed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showCitation: {
        parameters: {
            query: {
                /**
                 * @description A citation, or a session's short name for all of it.
                 * @example 7f78:L382,476-480
                 */
                citation: string;
                /** @description Lines before and after, too. */
                around?: number;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cited events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShowAnswer"];
                };
            };
            /** @description They could not be shown */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getSpend: {
        parameters: {
            query?: {
                /** @description What the sums are made by; `model` when left out. */
                by?: "model" | "stage" | "user" | "scope" | "session" | "day" | "month";
                /**
                 * @description Only calls since then: a date, or an age such as `7d`; since the first of this month, UTC, when left out.
                 * @example 2026-02-04
                 */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sums */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendAnswer"];
                };
            };
            /** @description They could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state of the memory */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
            /** @description It could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    listThreads: {
        parameters: {
            query?: {
                /**
                 * @description Most threads.
                 * @example 20
                 */
                limit?: number;
                /** @description The value of `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The threads */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAnswer"];
                };
            };
            /** @description They could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    createThread: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent": "harbour-bot",
                 *       "name": "2026-03-02-tides"
                 *     }
                 */
                "application/json": components["schemas"]["CreateRequest"];
            };
        };
        responses: {
            /** @description The thread exists */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedThread"];
                };
            };
            /** @description The thread was not created */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    deleteThread: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The thread is deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedAnswer"];
                };
            };
            /** @description The thread was not deleted */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    compactThread: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "chunks": []
                 *     }
                 */
                "application/json": components["schemas"]["CompactRequest"];
            };
        };
        responses: {
            /** @description The result of the compaction */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadChange"];
                };
            };
            /** @description The compaction continues in the background */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Nothing was changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getThreadContext: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "max_tokens": 8192,
                 *       "wire": "openai"
                 *     }
                 */
                "application/json": components["schemas"]["ContextRequest"];
            };
        };
        responses: {
            /** @description The messages, and what is in them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description The messages could not be assembled */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    endThread: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session has ended */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadChange"];
                };
            };
            /** @description Nothing was changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    dispatchEvent: {
        parameters: {
            query?: {
                /** @description Whether the answer holds the results of the events; otherwise only that they are on disk. */
                wait?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        /** @description 1 to 512 events */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "how high is the tide",
                 *       "type": "USER_MESSAGE"
                 *     }
                 */
                "application/json": components["schemas"]["EventBody"];
                /**
                 * @example {
                 *       "content": "how high is the tide",
                 *       "type": "USER_MESSAGE"
                 *     }
                 */
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description All of it is on disk */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DispatchAnswer"];
                };
            };
            /** @description Nothing was acknowledged */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    pauseThread: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The thread is paused */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PausedAnswer"];
                };
            };
            /** @description Nothing was changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    resumeThread: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What waited is applied */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PausedAnswer"];
                };
            };
            /** @description Nothing was changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    getThreadState: {
        parameters: {
            query?: {
                /** @description The id of an earlier state; the current one when left out. */
                state?: string;
                /** @description All states up to the current one. */
                history?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description `agent:id`, or its label
                 * @example harbour-bot:2026-03-02-tides
                 */
                thread: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description It could not be read */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    reportTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "agent": "harbour-bot",
                 *       "session": "2026-03-02-tides",
                 *       "what": "end"
                 *     }
                 */
                "application/json": components["schemas"]["TriggerRequest"];
            };
        };
        responses: {
            /** @description The trigger was applied */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TriggerAnswer"];
                };
            };
            /** @description Nothing was changed */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    explainLine: {
        parameters: {
            query: {
                /**
                 * @description A part of the line's words, an id of `/v1/memories`, or `MEMORY.md:12`.
                 * @example write the test first
                 */
                line: string;
                /** @description Whose memory; all memories when left out. */
                scope?: string;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Its observations, the original words, and its past */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LineOrigin"];
                };
            };
            /** @description It could not be explained */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
    showWords: {
        parameters: {
            query: {
                /**
                 * @description A citation, or a session's short name for all of it.
                 * @example 7f78:L382,476-480
                 */
                citation: string;
                /** @description Lines before and after, too. */
                around?: number;
                /**
                 * @description The agent that asks: it reads its own memory, and that of its teams.
                 * @example harbour-bot
                 */
                agent?: string;
                /**
                 * @description The person that it talks with, where that is not the person of the data folder.
                 * @example ada
                 */
                user?: string;
                /**
                 * @description The room that it is in. In a room or a team no memory of one person is read.
                 * @example !pier:example.org
                 */
                room_id?: string;
                /**
                 * @description The team that it speaks for, by its name or its members.
                 * @example alpha+beta
                 */
                team?: string;
                /**
                 * @description The key of the project that it works in, where it names itself.
                 * @example tidepool
                 */
                project?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The cited events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShowAnswer"];
                };
            };
            /** @description They could not be shown */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ErrorBody"];
                };
            };
        };
    };
}
