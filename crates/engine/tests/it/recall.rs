//! The same memory gives the same answers in every store, to the last bit of every score: by words and by
//! vectors, and after every kind of change.

use std::sync::Arc;

use daybook_domain::index::{FileEntry, MemoryLayer};
use daybook_domain::page::read_all;
use daybook_domain::seams::{SessionCatalog, SessionLog, Store};
use daybook_domain::{EventId, EventSeq, NewEvent, Observation, Origin, Scope, SessionId, Tenant};
use daybook_engine::recall::embedding::{embed_all, embed_some};
use daybook_engine::recall::search::{RecallQuestion, RecallResult, recall};
use daybook_testkit::fixtures::{
    EventFixture, append, at, event, evidence, imported, observation, project, project_scope,
    session, user_scope,
};
use daybook_testkit::{FakeEmbedder, run};
use daybook_text::indexed::indexed_tokens;
use daybook_text::tokens::outlined_text;

use crate::stores;

const ROOT: &str = "/home/ada/pier";
/// Words of the corpus.
const WORDS: [&str; 24] = [
    "harbour",
    "port",
    "pilot",
    "boat",
    "ship",
    "vessel",
    "wind",
    "gale",
    "storm",
    "retry",
    "budget",
    "limit",
    "batch",
    "spool",
    "getFieldOffsets",
    "reset_offsets",
    "KITE-77",
    "always",
    "cache",
    "the",
    "is",
    "of",
    "数据库",
    "tide",
];
const GROUPS: [&str; 5] = [
    "harbour port pier",
    "boat ship vessel",
    "wind gale storm",
    "retry again repeat",
    "budget limit cap",
];

/// One store, and its answers so far.
struct RecallProbe {
    store: Arc<dyn Store>,
    model: FakeEmbedder,
    answered: Vec<(String, RecallResult)>,
}

impl RecallProbe {
    /// Asks all questions, by words alone and with vectors.
    async fn ask(&mut self, when: &str) {
        for (n, question) in questions().into_iter().enumerate() {
            for has_vectors in [false, true] {
                let question = RecallQuestion {
                    embedder: has_vectors.then_some(&self.model as _),
                    ..question.clone()
                };
                let recalled = recall(&*self.store, &Tenant::local(), &question).await;
                let name = format!("{when}, question {n}, vectors {has_vectors}");
                self.answered.push((name, recalled.expect("it answers")));
            }
        }
    }

    /// The answers of the last round of questions.
    fn newest(&self) -> Vec<&RecallResult> {
        let from = self.answered.len() - 2 * questions().len();
        let newest = self.answered[from..].iter();
        newest.map(|(_, recalled)| recalled).collect()
    }

    async fn embed(&self, most: usize) {
        let tenant = Tenant::local();
        let some = embed_some(&*self.store, &tenant, &self.model, most).await;
        some.expect("the model answers");
    }

    async fn append_events(&self, id: &SessionId, events: Vec<NewEvent>) {
        let appended = self.store.append(&append(id, events)).await;
        appended.expect("events are taken in");
    }

    async fn write(&self, scope: &Scope, file: &str, texts: &[&str]) {
        let entries: Vec<FileEntry> = (1..)
            .zip(texts)
            .map(|(line, text)| entry(line, text))
            .collect();
        let put = self.store.put_file(scope, file, "", &entries, at(50)).await;
        put.expect("a file is taken in");
    }

    async fn observe(&self, observed: &[Observation]) {
        let put = self.store.observe(observed, at(60)).await;
        put.expect("observations are taken in");
    }
}

fn question(text: &str) -> RecallQuestion<'_> {
    RecallQuestion {
        text,
        reach: daybook_domain::Reach::Everything,
        layers: Vec::new(),
        tools: false,
        limit: 20,
        rare: false,
        embedder: None,
        until: None,
        now: at(90_000),
    }
}

fn questions() -> Vec<RecallQuestion<'static>> {
    let texts = [
        "where is the boat in the harbour?",
        "retry budget of the batch",
        "\"retry budget\" or limit",
        "getFieldOffsets",
        "what did Ada say about the pilot?",
        "which gale came up yesterday?",
        "数据库",
        "KITE-77 cache spool tide",
        "who is it?",
        "zeppelin",
        "repeat",
    ];
    let mut all: Vec<RecallQuestion<'_>> = texts.map(question).into();
    let storm = question("storm limit");
    all.push(RecallQuestion {
        tools: true,
        limit: 100,
        ..storm.clone()
    });
    all.push(RecallQuestion {
        layers: vec![MemoryLayer::Event],
        ..storm.clone()
    });
    all.push(RecallQuestion {
        layers: vec![MemoryLayer::Observation, MemoryLayer::Entry],
        ..storm.clone()
    });
    all.push(RecallQuestion {
        reach: daybook_domain::Reach::Scopes(vec![project_scope("pier"), user_scope("ada")]),
        ..storm.clone()
    });
    all.push(RecallQuestion {
        rare: true,
        ..storm
    });
    all
}

/// A text of 1 to 90 words, different for each number.
fn text(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let length = if next(5) == 0 { 90 } else { 12 };
    let length = 1 + next(length);
    let mut text = match next(4) {
        0 => "Ada: ".to_owned(),
        1 => "Ben: ".to_owned(),
        _ => String::new(),
    };
    for _ in 0..length {
        text.push_str(WORDS[next(WORDS.len())]);
        text.push_str(if next(9) == 0 { ". " } else { " " });
    }
    text
}

/// `count` events of a session, of all origins, an hour apart.
fn events(number: u64, count: u64) -> Vec<NewEvent> {
    let made = (1..=count).map(|n| {
        let text = text(number * 1000 + n);
        let origin = match n % 7 {
            3 => Origin::ToolCall,
            4 => Origin::ToolResult,
            n if n % 2 == 0 => Origin::Assistant,
            _ => Origin::Human,
        };
        let made = event(&text).with_origin(origin).with_time(at(n * 3600));
        let made = if n % 5 == 0 {
            made.with_place(ROOT)
        } else {
            made
        };
        NewEvent {
            id: EventId::of(&[&number.to_le_bytes(), &n.to_le_bytes()]),
            tokens: indexed_tokens(origin, &text),
            ..made
        }
    });
    made.collect()
}

fn entry(line: u32, text: &str) -> FileEntry {
    FileEntry {
        line,
        text: text.to_owned(),
        heading: String::new(),
        observation: None,
        citation: None,
        tokens: outlined_text(text),
    }
}

fn observed(scope: &Scope, id: &SessionId, text: &str, seq: u64) -> Observation {
    Observation {
        tokens: outlined_text(&format!("{text} context of {text}")),
        ..observation(scope, text, vec![evidence(id, &[seq])])
    }
}

/// Indexes everything again, as a rebuild does.
async fn rebuild(store: &dyn Store, files: &[(&Scope, &str, &[&str])]) {
    let tenant = Tenant::local();
    store.clear(&tenant).await.unwrap();
    let list = |page| SessionCatalog::sessions(store, &tenant, page);
    let sessions = read_all(list).await.unwrap();
    for session in sessions {
        let (id, upto) = (&session.id, session.events);
        let events = SessionLog::events(store, id, EventSeq(0), upto, 500, usize::MAX);
        let tokens = |event: daybook_domain::Event| {
            let tokens = indexed_tokens(event.origin, &event.text);
            (event.seq, tokens)
        };
        let tokens: Vec<_> = events.await.unwrap().into_iter().map(tokens).collect();
        store.index_events(id, &tokens).await.unwrap();
    }
    for state in read_all(|page| store.scopes(&tenant, page)).await.unwrap() {
        store.index_observations(&state.scope).await.unwrap();
    }
    for (scope, file, texts) in files {
        let entries: Vec<FileEntry> = (1..)
            .zip(*texts)
            .map(|(line, text)| entry(line, text))
            .collect();
        let put = store.put_file(scope, file, "", &entries, at(50)).await;
        put.unwrap();
    }
}

/// Applies every kind of change to a memory, and asks all questions after each.
async fn run_all_changes(probe: &mut RecallProbe) {
    let tenant = Tenant::local();
    let (ada, pier) = (user_scope("ada"), project_scope("pier"));
    let ids: Vec<SessionId> = (0..4).map(|n| session(&format!("a{n}"))).collect();
    for (n, id) in (0..).zip(&ids[..3]) {
        probe.append_events(id, events(n, 90)).await;
    }
    let project = project("pier");
    let assigned = probe.store.assign_root(&tenant, ROOT, &project, at(1));
    assigned.await.unwrap();
    let kept = observed(&ada, &ids[0], "the batch limit is a storm of 500", 1);
    let withdrawn = observed(&pier, &ids[1], "retry budget of the storm", 2);
    probe.observe(&[kept, withdrawn.clone()]).await;
    let written = [
        "the harbour is in the storm",
        "no limit",
        "boat of the retry budget",
    ];
    probe.write(&ada, "MEMORY.md", &written).await;
    probe.ask("before there are vectors").await;
    probe.embed(100).await;
    probe.ask("with the newest vectors").await;
    probe.embed(usize::MAX).await;
    probe.ask("with all vectors").await;

    let import = probe.store.begin_import(&tenant, "chats", at(70)).await;
    let import = import.unwrap();
    let added = imported(&ids[3], events(3, 40), "/home/ada/chats.jsonl", import);
    probe.store.append(&added).await.unwrap();
    probe.ask("with an import without vectors").await;
    probe.embed(usize::MAX).await;
    probe.ask("with an import").await;

    let edited = ["the harbour is in the storm", "a limit of 7 vessels"];
    probe.write(&ada, "MEMORY.md", &edited).await;
    let gone = withdrawn.id;
    assert!(probe.store.retract(&pier, gone, at(71)).await.unwrap());
    probe.ask("after edits and a withdrawal").await;
    let undone = probe.store.undo_import(&tenant, import, at(72)).await;
    assert_eq!(undone.unwrap().events, 40);
    probe.embed(usize::MAX).await;
    probe.ask("after the import was undone").await;

    let before: Vec<RecallResult> = probe.newest().into_iter().cloned().collect();
    rebuild(&*probe.store, &[(&ada, "MEMORY.md", &edited)]).await;
    probe.ask("after a rebuild without vectors").await;
    let all = embed_all(&*probe.store, &tenant, &probe.model, |_| {}).await;
    assert!(all.unwrap() > 100);
    probe.ask("after a rebuild").await;
    assert!(probe.newest().into_iter().eq(&before));
}

fn answered(made: &stores::TestStore) -> Vec<(String, RecallResult)> {
    let mut probe = RecallProbe {
        store: Arc::clone(&made.store),
        model: FakeEmbedder::new("ada/small@1", &GROUPS),
        answered: Vec::new(),
    };
    run(run_all_changes(&mut probe));
    probe.answered
}

#[test]
fn every_store_answers_the_same_to_the_last_bit() {
    let memory = answered(&stores::in_memory().expect("memory is always there"));
    let found = memory.iter().filter(|(_, r)| !r.answers.is_empty());
    assert!(found.count() > memory.len() / 2, "the corpus has answers");
    for make in &stores::ALL[1..] {
        let Some(made) = make() else { continue };
        let other = answered(&made);
        assert_eq!(memory.len(), other.len());
        for ((when, expected), (_, answered)) in memory.iter().zip(&other) {
            // The debug output of a number shows all its bits, and the sign of zero too.
            assert_eq!(format!("{expected:#?}"), format!("{answered:#?}"), "{when}");
        }
    }
}
