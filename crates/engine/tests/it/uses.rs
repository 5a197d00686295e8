//! Memories that agents cite are kept before those that they do not cite, from the transcript to MEMORY.md.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use daybook_domain::eligibility::Switches;
use daybook_domain::seams::Store;
use daybook_domain::trigger::DueLimits;
use daybook_domain::{JobKey, Observation, SessionId, Tenant, Use, UseKind, UsedBy};
use daybook_engine::append::IngestContext;
use daybook_engine::append::batch::{AppendBatch, ReportedEvent, SpeakerRole, append_batch};
use daybook_engine::extract::extractive::Extractive;
use daybook_engine::import::{ImportReport, import, scan};
use daybook_engine::jobs::{WorkLimits, WorkerContext, work};
use daybook_engine::stop::Stop;
use daybook_testkit::fixtures::{
    append, at, events, evidence, observation, project_scope, session,
};
use daybook_testkit::{ManualClock, run, suites};
use daybook_text::redact::Redactor;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::silent_progress::SilentProgress;
use crate::stores;

/// Rules stated once each, one more than MEMORY.md has places for in a section.
const RULES: u64 = 17;

/// A data folder whose project `tidepool` has [`RULES`] observations from the session `aaaa`, one for each
/// event.
struct UseFixture {
    worker: WorkerContext,
    intake: IngestContext,
    root: TempDir,
    logs: TempDir,
    _made: stores::TestStore,
}

impl UseFixture {
    async fn new(made: stores::TestStore) -> Self {
        let root = TempDir::new().unwrap();
        let clock = Arc::new(ManualClock::at(at(10_000)));
        let worker = WorkerContext {
            store: Arc::clone(&made.store),
            trees: made.trees.clone(),
            before_files: None,
            root: root.path().to_owned(),
            clock: clock.clone(),
            extractor: Arc::new(Extractive),
            consolidation_model: None,
            holder: "worker".to_owned(),
            person: "ada".to_owned(),
            zone: TimeZone::UTC,
            tenant: Tenant::local(),
            switches: Switches::default(),
            redactor: daybook_text::redact::Redactor::standard(),
            limits: WorkLimits::default(),
        };
        let intake = IngestContext {
            teams: Default::default(),
            store: Arc::clone(&made.store),
            clock,
            tenant: Tenant::local(),
            patience: DueLimits::default(),
            switches: Switches::default(),
            redactor: Arc::new(Redactor::standard()),
            readers: 1,
        };
        let old = session("aaaa-old");
        let told = append(&old, events("rule", RULES));
        worker.store.append(&told).await.unwrap();
        let rules = (1..=RULES).map(|n| rule(&old, n)).collect();
        suites::extract(&*worker.store, &old, rules).await;
        Self {
            worker,
            intake,
            root,
            logs: TempDir::new().unwrap(),
            _made: made,
        }
    }

    fn store(&self) -> &dyn Store {
        &*self.worker.store
    }

    /// Runs all work, and reads the project's memory files.
    async fn memory(&self) -> Vec<(PathBuf, String)> {
        work(&self.worker, &Stop::default(), &SilentProgress)
            .await
            .unwrap();
        let folder = self.root.path().join("projects/tidepool/memory");
        let mut files = Vec::new();
        read_markdown(&folder, &mut files);
        files.sort();
        files
    }

    async fn import(&self, names: &[&str]) -> ImportReport {
        let paths: Vec<PathBuf> = names.iter().map(|it| self.logs.path().join(it)).collect();
        let stop = Stop::default();
        let importing = import(&self.intake, "all", scan(&paths), &stop, &SilentProgress);
        importing.await.unwrap()
    }

    fn write(&self, name: &str, lines: &[Value]) {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(self.logs.path().join(name), lines).unwrap();
    }

    async fn uses(&self) -> Vec<(UseKind, u64, String)> {
        let sessions = [session("aaaa-old")];
        let uses = self.store().uses(&Tenant::local(), &sessions).await;
        let named = |one: Use| {
            let by = match one.by {
                UsedBy::Session { session, .. } => session.host_id,
                UsedBy::Interface(interface) => interface,
            };
            (one.kind, one.event.0, by)
        };
        let mut uses: Vec<_> = uses.unwrap().into_iter().map(named).collect();
        uses.sort();
        uses
    }

    async fn revision(&self) -> u64 {
        let key = JobKey::Consolidate(project_scope("tidepool"));
        self.store().job(&key).await.unwrap().unwrap().input
    }
}

fn rule(of: &SessionId, n: u64) -> Observation {
    let text = format!("rule{n} of harbour{n} is boat{n}");
    observation(&project_scope("tidepool"), &text, vec![evidence(of, &[n])])
}

fn read_markdown(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(".git") {
            read_markdown(&path, files);
        } else if path.extension().is_some_and(|it| it == "md") {
            files.push((path.clone(), std::fs::read_to_string(path).unwrap()));
        }
    }
}

/// The rules in MEMORY.md, in its order.
fn rules(memory: &[(PathBuf, String)]) -> Vec<u64> {
    let is_curated = |(path, _): &&(PathBuf, String)| path.ends_with("MEMORY.md");
    let (_, curated) = memory.iter().find(is_curated).expect("it was written");
    let after = curated.split("\"rule").skip(1);
    let after = after.chain(curated.split("- rule").skip(1));
    let number = |rest: &str| rest.split(' ').next().and_then(|it| it.parse().ok());
    after.filter_map(number).collect()
}

fn line(session: &str, n: u32, rest: &Value) -> Value {
    let mut line = json!({
        "uuid": format!("{session}-{n}"),
        "sessionId": session,
        "cwd": "/nowhere/ada/elsewhere",
        "timestamp": format!("2026-11-02T10:00:{n:02}Z"),
    });
    let (line_fields, rest) = (line.as_object_mut().unwrap(), rest.as_object().unwrap());
    line_fields.extend(rest.clone());
    line
}

fn person(text: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn agent(text: &str) -> Value {
    let content = json!([{"type": "text", "text": text}]);
    json!({"type": "assistant", "message": {"role": "assistant", "model": "m", "content": content}})
}

fn hook(text: &str) -> Value {
    json!({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [text]}})
}

fn tool(text: &str) -> [Value; 2] {
    let call =
        json!([{"type": "tool_use", "id": "c1", "name": "Read", "input": {"path": "[aaaa:L1]"}}]);
    let answer = json!([{"type": "tool_result", "tool_use_id": "c1", "content": text}]);
    [
        json!({"type": "assistant", "message": {"role": "assistant", "model": "m", "content": call}}),
        json!({"type": "user", "message": {"role": "user", "content": answer}}),
    ]
}

fn transcript(session: &str, said: Vec<Value>) -> Vec<Value> {
    let numbered = (1..).zip(said);
    numbered.map(|(n, it)| line(session, n, &it)).collect()
}

/// A session in which a hook shows rule 2, and in which a person, a tool and a page cite rule 1.
fn shown(session: &str) -> Vec<Value> {
    let element = "<daybook-memory>\n`[aaaa:L1]` is a source; `daybook show aaaa:L1` prints it.\n\
        - \"rule2\" [aaaa:L2]\n</daybook-memory>\n";
    let [call, answer] = tool("a page that says [aaaa:L1], [aaaa:L3]");
    let mut said = vec![
        hook(element),
        person("they wrote [aaaa:L1]; what is that?"),
        call,
        answer,
    ];
    said.push(agent(
        "It is a citation such as aaaa:L1 of another tool, see main.rs:L1.",
    ));
    transcript(session, said)
}

/// A session whose agent cites rule 1, itself, and unknown sessions.
fn cited(session: &str) -> Vec<Value> {
    let text =
        "As agreed [aaaa:L1], see also [aaaa:L1,999] [zzzz:L1] and above [bbbb:L1] [cccc:L1].";
    transcript(session, vec![person("which rule holds?"), agent(text)])
}

#[test]
fn a_rule_that_two_sessions_cite_wins_a_place_over_one_that_none_cites() {
    for made in stores::ALL.iter().filter_map(|make| make()) {
        run(async {
            let fixture = UseFixture::new(made).await;
            let before = fixture.memory().await;
            let newest_first: Vec<u64> = (2..=RULES).rev().collect();
            assert_eq!(rules(&before), newest_first);

            fixture.write("shown.jsonl", &shown("dddd-shown"));
            fixture.import(&["shown.jsonl"]).await;
            let shown = (UseKind::Shown, 2, "dddd-shown".to_owned());
            assert_eq!(fixture.uses().await, std::slice::from_ref(&shown));
            assert_eq!(
                fixture.memory().await,
                before,
                "being shown changes nothing"
            );

            let revision = fixture.revision().await;
            fixture.write("b.jsonl", &cited("bbbb-new"));
            fixture.write("c.jsonl", &cited("cccc-new"));
            let report = fixture.import(&["b.jsonl", "c.jsonl"]).await;
            let by = |host_id: &str| (UseKind::Cited, 1, host_id.to_owned());
            let all = [shown.clone(), by("bbbb-new"), by("cccc-new")];
            assert_eq!(fixture.uses().await, all);
            assert_eq!(fixture.revision().await, revision + 2);
            let after = fixture.memory().await;
            let first: Vec<u64> = std::iter::once(1).chain((3..=RULES).rev()).collect();
            assert_eq!(rules(&after), first);

            // Rewritten files are read again: the same uses are recorded, and nothing is due.
            let raised = fixture.revision().await;
            for name in ["b.jsonl", "c.jsonl"] {
                let path = fixture.logs.path().join(name);
                let text = std::fs::read_to_string(&path).unwrap();
                std::fs::write(path, format!("{{\"type\":\"summary\"}}\n{text}")).unwrap();
            }
            fixture.import(&["b.jsonl", "c.jsonl"]).await;
            assert_eq!(fixture.uses().await, all);
            assert_eq!(fixture.revision().await, raised);
            assert_eq!(fixture.memory().await, after);

            let (local, import) = (Tenant::local(), report.import.unwrap());
            let undoing = fixture.store().undo_import(&local, import, at(10_000));
            undoing.await.unwrap();
            assert_eq!(fixture.uses().await, [shown]);
            assert_eq!(fixture.memory().await, before, "nothing is left of it");
        });
    }
}

#[test]
fn what_lands_before_the_session_that_it_cites_counts_all_the_same() {
    run(async {
        let fixture = UseFixture::new(stores::in_memory().unwrap()).await;
        // The larger file is read first.
        let mut newer = transcript(
            "ffff-newer",
            vec![person("go on"), agent("As you said [eeee:L1].")],
        );
        newer.push(line("ffff-newer", 9, &person(&"and on ".repeat(99))));
        fixture.write("newer.jsonl", &newer);
        fixture.write(
            "older.jsonl",
            &transcript("eeee-older", vec![person("be brief")]),
        );
        fixture.import(&["newer.jsonl", "older.jsonl"]).await;
        let older = session("eeee-older");
        let uses = fixture
            .store()
            .uses(&Tenant::local(), &[older])
            .await
            .unwrap();
        assert_eq!(uses.len(), 1);
    });
}

#[test]
fn appended_events_count_like_imported_ones_unless_memory_is_off() {
    run(async {
        let mut fixture = UseFixture::new(stores::in_memory().unwrap()).await;
        let telling = |host_id: &str, role, text: &str| AppendBatch {
            session: session(host_id),
            kind: None,
            user: None,
            place: None,
            venue: daybook_domain::Venue::default(),
            events: vec![ReportedEvent {
                id: None,
                role,
                text: text.to_owned(),
                at: None,
                tool: None,
                external: false,
            }],
        };
        let element = "<daybook-memory>\n- \"rule\" [aaaa:L3]\n</daybook-memory>";
        for (host_id, role, text) in [
            ("told-1", SpeakerRole::Assistant, "as agreed [aaaa:L2]"),
            ("told-2", SpeakerRole::User, "as agreed [aaaa:L2]"),
            ("told-3", SpeakerRole::Tool, "as agreed [aaaa:L2]"),
            ("told-4", SpeakerRole::Tool, element),
            ("told-5", SpeakerRole::Assistant, element),
        ] {
            let telling = telling(host_id, role, text);
            append_batch(&fixture.intake, telling).await.unwrap();
        }
        fixture.intake.switches.all_off = true;
        let off = telling("told-6", SpeakerRole::Assistant, "as agreed [aaaa:L2]");
        append_batch(&fixture.intake, off).await.unwrap();
        let named = |kind, event, by: &str| (kind, event, by.to_owned());
        assert_eq!(
            fixture.uses().await,
            [
                named(UseKind::Shown, 3, "told-4"),
                named(UseKind::Cited, 2, "told-1"),
                named(UseKind::Cited, 3, "told-5"),
            ]
        );
    });
}

/// As Codex's agents end their answers: the block names whole sessions by their hosts' ids.
#[test]
fn c111_a_session_that_a_block_names_is_used_and_the_block_is_nowhere() {
    let id = "0194f5a6-89ab-7cde-8123-456789abcdef";
    let block = |id: &str| {
        format!(
            "<oai-mem-citation>\n<citation_entries>\nMEMORY.md:3-4|note=[the rule]\n</citation_entries>\n\
             <rollout_ids>\n{id}\n{id}\nno-id\n</rollout_ids>\n</oai-mem-citation>"
        )
    };
    run(async {
        let fixture = UseFixture::new(stores::in_memory().unwrap()).await;
        let told = append(&session(id), events("rule", 3));
        fixture.store().append(&told).await.unwrap();
        fixture.write(
            "reader.jsonl",
            &transcript(
                "gggg-reader",
                vec![
                    person("go on"),
                    agent(&format!("As you said.\n\n{}", block(id))),
                ],
            ),
        );
        fixture.import(&["reader.jsonl"]).await;
        let uses = fixture.store().uses(&Tenant::local(), &[session(id)]).await;
        let uses = uses.unwrap();
        let used: Vec<_> = uses.iter().map(|one| (one.kind, one.event.0)).collect();
        assert_eq!(used, [1, 2, 3].map(|event| (UseKind::Cited, event)));
        let reader = session("gggg-reader");
        let (begin, end) = (daybook_domain::EventSeq(0), daybook_domain::EventSeq(9));
        let events = fixture.store().events(&reader, begin, end, 9, 9_999).await;
        let texts: Vec<String> = events.unwrap().into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["go on", "As you said."]);
        // Importing it again counts nothing twice.
        fixture.import(&["reader.jsonl"]).await;
        let again = fixture.store().uses(&Tenant::local(), &[session(id)]).await;
        assert_eq!(again.unwrap(), uses);
    });
}
