//! Real transcripts, where this machine has them: what must hold of all of them together.
//!
//! They lie outside the repository, in `shared/data/transcripts` of a folder above it. Without them
//! the tests say so and pass.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use daybook_domain::{Event, EventSeq, Origin, SessionKind, ToolStatus};

use super::beside::pieces_beside;
use super::detect::{TranscriptFormat, detect};
use super::item::{RawEvent, TranscriptItem};
use super::lines::PieceStep;
use super::pieces::{PieceReader, head};
use super::reader_test_support::no_git;
use super::readers::reader;

/// What was read of one file.
#[derive(Default)]
struct Sample {
    name: String,
    format: Option<TranscriptFormat>,
    events: Vec<RawEvent>,
    sessions: Vec<(String, SessionKind)>,
    titles: usize,
    pull_requests: usize,
    bad: Vec<(u32, String)>,
}

fn samples(folder: &str) -> Vec<Sample> {
    let Some(root) = root() else {
        return Vec::new();
    };
    let mut files = Vec::new();
    collect(&root.join(folder), &mut files);
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

#[expect(clippy::print_stderr, reason = "a test that was skipped must say so")]
fn root() -> Option<PathBuf> {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = folders
        .map(|folder| folder.join("shared/data/transcripts"))
        .find(|folder| folder.is_dir());
    if found.is_none() {
        eprintln!(
            "SKIPPED: there is no shared/data/transcripts above {}",
            env!("CARGO_MANIFEST_DIR")
        );
    }
    found
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn read(path: &Path) -> Sample {
    let mut sample = Sample {
        name: path.to_string_lossy().into_owned(),
        ..Sample::default()
    };
    let format = detect(&head(File::open(path).unwrap()).unwrap());
    let reader = reader(&format, "unnamed", &no_git, None).unwrap();
    sample.format = Some(format.clone());
    let Some(mut reader) = reader else {
        return sample;
    };
    let mut pieces = PieceReader::new(File::open(path).unwrap(), &format).unwrap();
    let mut out = Vec::new();
    for (number, piece) in pieces_beside(path, &format) {
        reader.line(number, &piece, &mut out).unwrap();
    }
    loop {
        let line = match pieces.step().unwrap() {
            PieceStep::Piece(line) => line,
            PieceStep::TooLong { number, .. } => {
                sample.bad.push((number, "too long".to_owned()));
                continue;
            }
            PieceStep::Partial { .. } => match pieces.finish_partial() {
                Some(line) => line,
                None => break,
            },
            PieceStep::End => break,
        };
        if let Err(bad) = reader.line(line.number, line.bytes, &mut out) {
            sample.bad.push((line.number, bad.0));
        }
    }
    for parsed in out {
        match parsed {
            TranscriptItem::Event(event) => sample.events.push(event),
            TranscriptItem::Session(hint) => sample.sessions.push((hint.host_id, hint.kind)),
            TranscriptItem::Title(_) => sample.titles += 1,
            TranscriptItem::PullRequest(_) => sample.pull_requests += 1,
        }
    }
    sample
}

#[test]
fn all_real_sessions_are_read_without_a_bad_line() {
    for (folder, format) in [
        ("claude-code", TranscriptFormat::ClaudeCode),
        ("codex", TranscriptFormat::Codex),
    ] {
        for sample in samples(folder) {
            assert_eq!(sample.format, Some(format.clone()), "{}", sample.name);
            assert_eq!(sample.bad, [], "{}", sample.name);
            assert!(
                !sample.sessions.is_empty() && !sample.events.is_empty(),
                "{}",
                sample.name
            );
        }
    }
}

/// The numbers were counted by hand, or by searching the files for the words that matter.
#[test]
fn what_people_said_in_real_sessions_is_found() {
    let samples = samples("claude-code");
    if samples.is_empty() {
        return;
    }
    // Three files are snapshots of one session, so that events count once by id.
    let mut seen = BTreeSet::new();
    let events: Vec<&RawEvent> = samples
        .iter()
        .flat_map(|sample| &sample.events)
        .filter(|event| seen.insert(event.id))
        .collect();
    let count =
        |filter: &dyn Fn(&RawEvent) -> bool| events.iter().filter(|event| filter(event)).count();

    assert_eq!(samples.len(), 36);
    let sessions: BTreeMap<_, _> = samples
        .iter()
        .flat_map(|sample| sample.sessions.clone())
        .collect();
    assert_eq!(sessions.len(), 29);

    let refused = count(&|event| event.status == Some(ToolStatus::Refused));
    assert_eq!(refused, 11);
    let refused_with_words = events
        .windows(2)
        .filter(|pair| pair[0].status == Some(ToolStatus::Refused) && pair[0].line == pair[1].line)
        .filter(|pair| pair[1].origin == Origin::Human)
        .count();
    assert_eq!(refused_with_words, 9);

    let said = |words: &str| count(&|event| event.origin == Origin::Human && event.text == words);
    for words in [
        "tests tests tests",
        "draft PR please",
        "do you have context7?",
        "can we have a quick look to see if there are direct git things elsewhere as well?",
        "are they still being written?",
        "use subagent",
    ] {
        assert_eq!(said(words), 1, "{words}");
    }
    assert_eq!(count(&|event| event.origin == Origin::Synthetic), 7);
    assert_eq!(
        samples.iter().map(|sample| sample.titles).sum::<usize>(),
        59
    );
    assert_eq!(
        samples
            .iter()
            .map(|sample| sample.pull_requests)
            .sum::<usize>(),
        1
    );
}

#[test]
fn nothing_that_is_not_a_persons_is_taken_for_human() {
    const NEVER: &[&str] = &[
        "<system-reminder>",
        "<command-name>",
        "<local-command",
        "<task-notification>",
        "Base directory for this skill",
        "This session is being continued",
        "[Request interrupted",
        "The user doesn't want to proceed",
        "Implement the following plan",
        "ARGUMENTS:",
    ];
    for sample in samples("claude-code") {
        for event in sample
            .events
            .iter()
            .filter(|event| event.origin == Origin::Human)
        {
            for never in NEVER {
                let there = event.text.starts_with(never)
                    || never.starts_with('<') && event.text.contains(never);
                assert!(
                    !there,
                    "{} line {}: {}",
                    sample.name, event.line, event.text
                );
            }
            assert!(!event.sidechain, "{} line {}", sample.name, event.line);
        }
    }
}

#[test]
fn no_progress_leaks_into_an_event() {
    for sample in samples("claude-code") {
        let Ok(file) = fs::read_to_string(&sample.name) else {
            continue;
        };
        let silent: BTreeSet<u32> = file
            .lines()
            .zip(1..)
            .filter(|(line, _)| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                matches!(
                    line["type"].as_str(),
                    Some("progress" | "file-history-snapshot" | "system")
                )
            })
            .map(|(_, number)| number)
            .collect();
        for event in &sample.events {
            assert!(
                !silent.contains(&event.line),
                "{} line {}",
                sample.name,
                event.line
            );
        }
    }
}

#[test]
fn snapshots_of_one_session_share_their_events() {
    let samples = samples("claude-code");
    let ids = |name: &str| -> BTreeSet<_> {
        let of = samples.iter().filter(|sample| sample.name.contains(name));
        of.flat_map(|sample| &sample.events)
            .map(|event| event.id)
            .collect()
    };
    let (first, second, third) = (ids("session_c0"), ids("session_e0"), ids("session_ca"));
    assert!(first.is_subset(&second) && second.is_subset(&third));
    if !samples.is_empty() {
        assert!(first.len() < second.len() && second.len() < third.len());
    }
}

#[test]
fn worktrees_of_real_sessions_are_folded() {
    for sample in samples("claude-code") {
        let roots: BTreeSet<&str> = sample
            .events
            .iter()
            .filter_map(|event| Some(&*event.place.as_ref()?.root))
            .collect();
        assert!(roots.len() <= 1, "{}: {roots:?}", sample.name);
        assert!(
            roots.iter().all(|root| !root.contains("worktrees")),
            "{}: {roots:?}",
            sample.name
        );
    }
}

/// The format of each sample of another agent; none for a file that is named and left.
fn sample_format(name: &str) -> Option<&'static str> {
    const FORMATS: &[(&str, Option<&str>)] = &[
        ("agents/codex/schema_drift", Some("chat")),
        (".meta.json", None),
        ("agents/claude/", Some("claude-code")),
        ("agents/codex/", Some("codex")),
        ("fixtures/codex_", Some("codex")),
        ("fixtures/session_", Some("chat")),
        ("agents/hermes/", Some("hermes")),
        ("agents/gemini/schema_drift", None),
        ("agents/gemini/", Some("gemini")),
        ("agents/qwen/", Some("qwen")),
        ("agents/copilot/", Some("copilot")),
        ("agents/cursor/", Some("cursor")),
        ("storage_legacy/session/", Some("opencode")),
        ("storage_v2/session/", Some("opencode")),
        ("agents/pi/", Some("pi")),
        ("agents/openclaw/", Some("pi")),
        ("agents/droid/", Some("droid")),
        ("agents/kimi/small.jsonl", Some("kimi")),
        ("agents/kimi/assistant_tools.jsonl", Some("kimi")),
        ("agents/kimi/subagent_agent-0.jsonl", Some("kimi")),
        ("grok/chat_history.jsonl", Some("grok")),
        ("grok/subagent/chat_history.jsonl", Some("grok")),
        ("agents/antigravity/cli", Some("antigravity")),
    ];
    FORMATS.iter().find(|(part, _)| name.contains(part))?.1
}

#[test]
fn sessions_of_other_agents_are_told_apart() {
    for sample in samples("fixtures") {
        let name = sample.name.split("transcripts/").last().unwrap_or_default();
        match (sample_format(name), &sample.format) {
            (Some(expected), Some(format)) => {
                assert_eq!(format.as_str(), expected, "{name}");
                assert_eq!(sample.bad, [], "{name}");
            }
            (None, Some(TranscriptFormat::Unknown(reason))) => {
                assert!(!reason.is_empty(), "{name}");
            }
            (expected, format) => panic!("{name}: {expected:?}, {format:?}"),
        }
    }
}

/// The numbers were counted by hand: a person's messages, the agent's, calls, and results.
#[test]
fn who_wrote_what_in_samples_of_other_agents_is_found() {
    const COUNTED: &[(&str, [usize; 4])] = &[
        ("gemini/jsonl_v040.jsonl", [1, 1, 1, 1]),
        ("gemini/large.json", [2, 2, 2, 2]),
        ("gemini/small.json", [1, 1, 0, 0]),
        (
            "qwen/019f0000-0000-7000-8000-000000000001.jsonl",
            [1, 1, 1, 1],
        ),
        (
            "qwen/019f0000-0000-7000-8000-000000000004.jsonl",
            [2, 2, 1, 0],
        ),
        (
            "qwen/019f0000-0000-7000-8000-000000000005.jsonl",
            [1, 1, 0, 0],
        ),
    ];
    let samples = samples("fixtures");
    if samples.is_empty() {
        return;
    }
    for (name, expected) in COUNTED {
        let sample = samples
            .iter()
            .find(|sample| sample.name.ends_with(name))
            .unwrap();
        let count = |origin| {
            sample
                .events
                .iter()
                .filter(|event| event.origin == origin)
                .count()
        };
        let origins = [
            Origin::Human,
            Origin::Assistant,
            Origin::ToolCall,
            Origin::ToolResult,
        ];
        assert_eq!(origins.map(count), *expected, "{name}");
    }
}

/// The events of each real session, each once, as the log would hold them; files of more than
/// `most` bytes are left out.
pub(crate) fn logs(folder: &str, most: u64) -> Vec<Vec<Event>> {
    let mut sessions: BTreeMap<String, Vec<RawEvent>> = BTreeMap::new();
    for sample in samples(folder) {
        let size = fs::metadata(&sample.name).map_or(0, |file| file.len());
        if let Some((host_id, _)) = sample.sessions.first().filter(|_| size <= most) {
            let events = sessions.entry(host_id.clone()).or_default();
            events.extend(sample.events);
        }
    }
    sessions.into_values().map(logged).collect()
}

fn logged(events: Vec<RawEvent>) -> Vec<Event> {
    let mut seen = BTreeSet::new();
    let events = events.into_iter().filter(|event| seen.insert(event.id));
    let numbered = (1..).map(EventSeq).zip(events);
    numbered
        .map(|(seq, event)| Event {
            seq,
            line: event.line,
            origin: event.origin,
            at: event.at,
            text: event.text,
            tool: event.tool,
            call: event.call,
            status: event.status,
            sidechain: event.sidechain,
            place: event.place,
        })
        .collect()
}
