//! The origins of each profile's numbers: a system and its version, or Daybook where that system has
//! none or would lose an event.

/// One number's origin.
pub(super) struct NumberOrigin {
    pub(super) profile: &'static str,
    pub(super) setting: &'static str,
    pub(super) says: &'static str,
}

const fn origin(profile: &'static str, setting: &'static str, says: &'static str) -> NumberOrigin {
    NumberOrigin {
        profile,
        setting,
        says,
    }
}

/// Descriptions of the profiles, in a sentence or two.
pub(super) const PROFILES: [(&str, &str); 4] = [
    (
        "daybook",
        "The default: every trigger that one of the others has, soon after it happened. Its numbers are \
         theirs where they agree, and Daybook's own elsewhere.",
    ),
    (
        "daycare",
        "Sessions are due when their agent sleeps, after five turns, and when they are compacted or \
         reset; first in, first out, one at a time. As of February 2026.",
    ),
    (
        "codex",
        "A starting root session sweeps over what has long rested. As of February 2026; newer \
         versions sweep over less.",
    ),
    (
        "mindroom",
        "Sessions are due when they have rested, or have waited for ten minutes; a prompt brings its \
         agent's other sessions forward. As planned on 27 February 2026, before it was built.",
    ),
];

/// Origins, by profile. A number that differs from Daybook's own has one.
pub(super) const ORIGINS: &[NumberOrigin] = &[
    origin("daybook", "idle", "as in MindRoom"),
    origin("daybook", "max_dirty_age", "as in MindRoom"),
    origin("daybook", "turn_limit", "as in Daycare"),
    origin(
        "daybook",
        "sweep_max_age",
        "Daybook's own: after a month away nothing is passed over. What is in the log already stays \
         due, however old it is",
    ),
    origin("daybook", "reprioritize", "as in MindRoom"),
    origin("daybook", "sweep_scan", "as in Codex, its bound of a scan"),
    origin("daybook", "sweep_claims", "as in Codex, February 2026"),
    origin(
        "daybook",
        "poll",
        "as in Daycare; it wakes earlier when something is due",
    ),
    origin("daybook", "batch", "as in Daycare and MindRoom"),
    origin("daybook", "tries", "as in Codex and MindRoom"),
    origin(
        "daybook",
        "stale_after",
        "as in MindRoom, which then drops what is named here",
    ),
    origin(
        "daycare",
        "extractor",
        "a memory agent for each source agent, with tools, that answers in XML",
    ),
    origin(
        "daycare",
        "layout",
        "`observations.md`, a block for each observation, beside INDEX.md and entities; one memory for each person, over all \
         projects",
    ),
    origin(
        "codex",
        "extractor",
        "raw memory, a summary and a slug by schema",
    ),
    origin(
        "mindroom",
        "extractor",
        "a silent turn that writes lines, or NO_REPLY",
    ),
    origin("daybook", "drain", "as in Codex, its shutdown timeout"),
    origin(
        "daycare",
        "idle",
        "a promise wins: Daycare has no rule for time, so that a session which neither sleeps nor \
         ends is never taken. No event is skipped; the hour after which its host ends an agent \
         that nobody talks to (3,600,000 ms) stands in",
    ),
    origin(
        "daycare",
        "max_dirty_age",
        "a promise wins: a day bounds every wait",
    ),
    origin(
        "daycare",
        "turn_limit",
        "due at the sixth. Turns are counted, not history records as in its first days, and \
         counted since the last success, also over a restart",
    ),
    origin(
        "daycare",
        "urgent",
        "what was invalidated first is taken first",
    ),
    origin("daycare", "reprioritize", "it brings nothing forward"),
    origin("daycare", "sweep", "it looks over nothing at a start"),
    origin("daycare", "poll", "30,000 ms, the same since"),
    origin("daycare", "batch", "10, the same since"),
    origin(
        "daycare",
        "parallel",
        "it works on one session after another",
    ),
    origin(
        "daycare",
        "tries",
        "a promise wins: Daycare tries for ever, and one session that fails holds up all others",
    ),
    origin(
        "codex",
        "idle",
        "a promise wins: Codex takes sessions at a start alone. Here they are due, too, once they \
         have rested for as long as a sweep asks for",
    ),
    origin(
        "codex",
        "max_dirty_age",
        "a promise wins: in Codex, a session that is too old at the next start is lost",
    ),
    origin("codex", "turn_limit", "it counts no turns"),
    origin("codex", "reprioritize", "it brings nothing forward"),
    origin("codex", "sweep_surfaces", "its interactive sources"),
    origin(
        "codex",
        "sweep_max_age",
        "February 2026; 10 days in the newest version",
    ),
    origin(
        "codex",
        "sweep_min_idle",
        "February 2026; 6 hours in the newest version",
    ),
    origin(
        "codex",
        "sweep_claims",
        "February 2026; 64 before that, 2 in the newest version",
    ),
    origin("codex", "sweep_scan", "5,000, the same since"),
    origin("codex", "batch", "as many as may run"),
    origin("codex", "parallel", "8, the same since"),
    origin(
        "codex",
        "running",
        "as many as a start claims, other processes' included",
    ),
    origin("codex", "lease", "3,600 s, the same since"),
    origin("codex", "tries", "3, the same since"),
    origin("codex", "drain", "its shutdown timeout, the same since"),
    origin("codex", "retry_first", "3,600 s, the same since"),
    origin("codex", "retry_most", "3,600 s: every wait is the same"),
    origin(
        "codex",
        "layout",
        "`raw_memories.md` with the latest first, and a file in `rollout_summaries/` for each selected session",
    ),
    origin(
        "codex",
        "selected_sessions",
        "256, the same since (1 to 4,096)",
    ),
    origin(
        "codex",
        "unused_after",
        "30 days, the same since. A session that was never used counts from its extraction, and a promise wins: \
         what lapses is left out and never deleted",
    ),
    origin(
        "codex",
        "cooldown",
        "6 h = 21,600 s after a success, the same since; a person's `daybook consolidate` does not wait",
    ),
    origin("mindroom", "idle", "the plan, and as shipped: 120 s"),
    origin(
        "mindroom",
        "max_dirty_age",
        "the plan, and as shipped: 600 s",
    ),
    origin("mindroom", "turn_limit", "it counts no turns"),
    origin("mindroom", "reprioritize", "the plan, and as shipped"),
    origin("mindroom", "sweep", "it looks over nothing at a start"),
    origin(
        "mindroom",
        "poll",
        "the plan, 180 s; 1,800 s since 28 February 2026. What falls due earlier is not kept waiting for it",
    ),
    origin("mindroom", "batch", "the plan, and as shipped"),
    origin("mindroom", "batch_per_agent", "the plan, and as shipped"),
    origin(
        "mindroom",
        "window_messages",
        "the plan, and as shipped: 20. A promise wins: MindRoom shows the newest and moves its cursor past \
         the rest, here a pass reads no more than it shows",
    ),
    origin(
        "mindroom",
        "window_chars",
        "the plan, and as shipped: 12,000",
    ),
    origin(
        "mindroom",
        "known_diary_lines",
        "the plan; what shipped has no tail of the diary",
    ),
    origin("mindroom", "known_snippets", "the plan, and as shipped"),
    origin(
        "mindroom",
        "known_snippet_chars",
        "the plan, and as shipped",
    ),
    origin(
        "mindroom",
        "extraction_timeout",
        "the plan, and as shipped: 30 s. What takes longer spends one of its tries, and is read in shorter stretches \
         once they are spent",
    ),
    origin(
        "mindroom",
        "running_per_agent",
        "the plan; as shipped, one session after another over all agents",
    ),
    origin(
        "mindroom",
        "tries",
        "the plan. What shipped tries for ever; here a failing stretch becomes a gap that is shown",
    ),
    origin("codex", "context_source", "the summary, and nothing else"),
    origin(
        "mindroom",
        "context_source",
        "the first lines of MEMORY.md with each prompt, and what is found for it",
    ),
    origin("mindroom", "context_lines", "200, as shipped"),
    origin("mindroom", "retry_first", "as shipped; the plan has none"),
    origin(
        "mindroom",
        "retry_most",
        "as shipped: 30, 60, 120, 240, 300 s",
    ),
    origin(
        "mindroom",
        "stale_after",
        "the plan, and as shipped: 86,400 s. A promise wins: what waits for longer is named, where \
         MindRoom drops it",
    ),
    origin(
        "mindroom",
        "ledger",
        "the plan. A promise wins: how far a session was read stands in the database, so that a broken file forgets nothing",
    ),
    origin(
        "mindroom",
        "layout",
        "the plan: a log in `daily/` for each day, and MEMORY.md, with the lines of what shipped; their ids are five digits longer, \
         so that a line proves whose it is",
    ),
];
