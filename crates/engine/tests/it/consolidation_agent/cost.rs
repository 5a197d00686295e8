//! What a run sends, to whom it is charged, and what is kept of it.

use super::*;

#[test]
fn calls_are_charged_and_the_agent_has_no_session() {
    on_each_store(async |fixture| {
        let spending: Arc<dyn SpendStore> = Arc::new(MemoryStore::new());
        let meter = SpendMeter {
            store: Arc::clone(&spending),
            clock: Arc::clone(&fixture.clock) as Arc<dyn Clock>,
            prices: PriceTable::default(),
            caps: Vec::new(),
            run: "1".to_owned(),
        };
        let model = Arc::clone(&fixture.model) as Arc<dyn Model>;
        fixture.worker.consolidation_model = Some(Arc::new(move |scope: &Scope| {
            let charged = meter.budgeted_for_scope(Arc::clone(&model), "consolidate", scope, "bob");
            Some(Arc::new(charged) as Arc<dyn Model>)
        }));
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        let always = (Timestamp::ZERO, Timestamp::MAX);
        let spent = spending
            .spent(&Tenant::local(), always, SpendBy::Stage, 9)
            .await
            .unwrap();
        let stages: Vec<&str> = spent.iter().map(|sum| sum.name.as_str()).collect();
        assert_eq!(stages, ["consolidate"]);
        // Its words and its reads are in no log, so that nothing is extracted from them.
        let page = PageRequest::first(9);
        let sessions = fixture
            .worker
            .store
            .sessions(&Tenant::local(), page)
            .await
            .unwrap();
        let ids: Vec<_> = sessions
            .items
            .iter()
            .map(|it| it.id.host_id.as_str())
            .collect();
        assert_eq!(ids, ["a"]);
        let again = fixture.work().await;
        assert_eq!((again.read.len(), fixture.asked()), (0, 3));
    });
}

#[test]
fn a_consolidation_of_256_inputs_sends_at_most_twice_their_tokens_and_40000() {
    for at_once in [usize::MAX, 1] {
        let made = stores::ALL[0]().expect("the first store needs no server");
        let mut fixture = AgentFixture::new(made, Vec::new());
        run(check_cost(&mut fixture, at_once));
    }
}

/// Files of the statements of [`check_cost`].
const FILES: usize = 9;

/// Forty words of which no other number has one: statements with a word in common could end each other.
fn invented_words(n: usize) -> Vec<String> {
    let syllables = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "va",
    ];
    let word = |k: usize| -> String {
        let number = n * 40 + k;
        let parts = [number / 4_096, number / 256, number / 16, number];
        parts.map(|part| syllables[part % 16]).concat()
    };
    (0..40).map(word).collect()
}

/// Has the model read `at_once` files in each turn.
#[expect(clippy::print_stdout, reason = "the figure is what the test is for")]
async fn check_cost(fixture: &mut AgentFixture, at_once: usize) {
    for n in 0..256 {
        let text = invented_words(n).join(" ");
        fixture.say(&format!("s{n}"), &[&text]).await;
    }
    // Reads each added file once, and rewrites each of the three artefacts.
    let read = move |turn: usize| {
        Step::Reply(Box::new(move |request| {
            let files = request.messages[1].text.lines();
            let files = files.filter_map(|line| line.strip_prefix("- [added] "));
            let paths = files.map(|line| line.split(':').next().unwrap());
            let paths = paths.skip(turn.saturating_mul(at_once)).take(at_once);
            let reads = paths.map(|path| ("read", json!({"path": path})));
            calls(&reads.collect::<Vec<_>>())
        }))
    };
    let write = Step::Reply(Box::new(|_| {
        let line = |n: usize| {
            let words = invented_words(n)[..8].join(" ");
            format!("- {words} [s{n}:L1]\n")
        };
        let section = |lines: String| json!(format!("## Handbook\n{lines}"));
        let title = invented_words(1)[..2].join(" ");
        let skill = format!("# {title}\n\n{}{}", line(1), line(2));
        let handbook = section((0..40).map(line).collect());
        let summary = section((0..8).map(line).collect());
        calls(&[
            (
                "replace",
                json!({"path": "MEMORY.md", "old": "## Handbook\n", "new": handbook}),
            ),
            (
                "replace",
                json!({"path": "memory_summary.md", "old": "## Handbook\n", "new": summary}),
            ),
            (
                "write",
                json!({"path": "skills/services/SKILL.md", "text": skill}),
            ),
        ])
    }));
    let files = if at_once == 1 { FILES } else { 1 };
    let reads = (0..files).map(read);
    fixture.script(reads.chain([write, done()]).collect());
    let report = fixture.work().await;
    let written = &report.proposals;
    assert_eq!(written.agent_lines, [(scope(), 50)].into(), "{written:?}");
    assert_eq!(fixture.handbook("MEMORY.md").len(), 40);
    let requests = fixture.model.requests.lock().unwrap().clone();
    // Each outcome of a read, once, although it may have been sent more often.
    let outcomes = requests.iter().flat_map(|request| &request.messages);
    let read: BTreeSet<&str> = outcomes
        .filter(|message| message.role == Role::Tool && message.text.starts_with(" - ["))
        .map(|message| message.text.as_str())
        .collect();
    let statements: usize = read.iter().map(|text| text.lines().count()).sum();
    assert_eq!(statements, 256);
    let tokens = read
        .iter()
        .map(|text| u64::from(fixture.model.count_tokens(text)));
    let inputs: u64 = tokens.sum();
    let sent = fixture.model.sent_tokens.load(Ordering::Relaxed);
    println!(
        "256 inputs of {inputs} tokens: {sent} tokens sent in {} requests",
        requests.len()
    );
    assert!(
        sent <= 2 * inputs + 40_000,
        "{sent} tokens sent for inputs of {inputs}"
    );
    // Unchanged inputs cost none.
    fixture.touch().await;
    fixture.work().await;
    assert_eq!(fixture.model.sent_tokens.load(Ordering::Relaxed), sent);
}
