//! A model that misbehaves changes nothing, and the reason is stored.

use super::*;

/// Runs a script that must change nothing, and then a good one on the same inputs.
fn check_refused(why: &str, script: impl Fn() -> Vec<Step>) {
    on_each_store(async |fixture| {
        fixture.say("a", &[CACHE]).await;
        fixture.script(script());
        let report = fixture.work().await;
        let unanswered = &report.proposals.unanswered[&scope()].message;
        assert!(unanswered.contains(why), "{why}: {unanswered}");
        assert_eq!(fixture.handbook("MEMORY.md"), [""; 0]);
        assert!(fixture.text("MEMORY.md").contains(CACHE));
        let record = fixture.record().await;
        assert_eq!((record.accepted, record.agent.examined.len()), (vec![], 0));
        let failed = record.agent.failed.expect("the reason is stored");
        assert!(failed.reason.contains(why), "{}", failed.reason);
        fixture.check_script_is_used_up();
        fixture.clock.advance(HOUR);
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        assert_eq!(fixture.record().await.agent.failed, None);
    });
}

#[test]
fn answers_that_are_none_change_nothing() {
    check_refused("answer `DONE`", || {
        ["", "All is well.", "..."]
            .map(|text| reply(says(text)))
            .into()
    });
    check_refused("cut off", || {
        let cut_off = || ModelReply {
            finish: FinishReason::Length,
            ..says("DON")
        };
        (0..3).map(|_| reply(cut_off())).collect()
    });
}

#[test]
fn invented_citations_names_and_secrets_change_nothing() {
    for (line, why) in [
        ("The limit is 50 entries. [zzzz:L9]", "cites [zzzz:L9]"),
        ("The limit is 50 entries.", "is no item"),
        (
            "Call it sk-proj-abcdefghijklmnopqrstuvwxyz0123456789. [a:L1]",
            "holds a secret",
        ),
    ] {
        check_refused(why, || {
            let new = format!("## Handbook\n- {line}\n");
            let arguments = json!({"path": "MEMORY.md", "old": "## Handbook\n", "new": new});
            vec![
                reply(calls(&[("replace", arguments)])),
                done(),
                done(),
                done(),
            ]
        });
    }
    check_refused("names what the cited statements do not name", || {
        let lines = &[("The cache limit of Redis is 60 entries.", CACHE)];
        vec![read(), add("MEMORY.md", lines), done(), done(), done()]
    });
}

#[test]
fn a_model_that_calls_for_ever_is_stopped() {
    check_refused("its bound of turns", || {
        (0..AGENT_LIMITS.turns).map(|_| read()).collect()
    });
}

#[test]
fn paths_that_leave_the_copy_and_tools_that_do_not_exist_have_no_effect() {
    on_each_store(async |fixture| {
        let outside = fixture.root.path().join("outside.md");
        std::fs::write(&outside, "theirs").unwrap();
        let absolute = outside.to_str().unwrap();
        fixture.script(vec![
            reply(calls(&[
                ("write", json!({"path": "../../outside.md", "text": "x"})),
                ("write", json!({"path": absolute, "text": "x"})),
                ("delete", json!({"path": absolute})),
                ("read", json!({"path": absolute})),
                ("write", json!({"path": "notes/2026-01-27.md", "text": "x"})),
                ("write", json!({"path": "topics/deploys.md", "text": "x"})),
                ("write", json!({"path": "link/x.md", "text": "x"})),
                ("write", json!({"path": "MEMORY.md", "text": ""})),
                ("delete", json!({"path": "MEMORY.md"})),
                ("shell", json!({"command": "rm -r ."})),
                ("fetch", json!({"url": "https://example.org"})),
            ])),
            done(),
        ]);
        fixture.say("a", &[CACHE]).await;
        // A link in the folder, which the agent's copy does not have.
        std::fs::create_dir_all(fixture.path("")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(fixture.root.path(), fixture.path("link")).unwrap();
        let report = fixture.work().await;
        assert_eq!(report.proposals.agent_lines, [(scope(), 0)].into());
        let outcomes = fixture.model.requests.lock().unwrap()[1].clone();
        let outcomes = &texts(&outcomes)[3..];
        let refused = |text: &&str| {
            [
                "cannot be written",
                "There is no file",
                "are not yours",
                "no such tool",
            ]
            .iter()
            .any(|why| text.contains(why))
        };
        assert!(
            outcomes.len() == 11 && outcomes.iter().all(refused),
            "{outcomes:?}"
        );
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "theirs");
        assert!(fixture.text("MEMORY.md").contains(CACHE));
        for path in ["notes/2026-01-27.md", "topics/deploys.md", "x.md"] {
            assert!(!fixture.path(path).exists());
        }
    });
}

#[test]
fn deleting_everything_changes_nothing() {
    on_each_store(async |fixture| {
        let long = "Cache: the limit is 50 entries, and the cache limit is 50 entries as the limit of the cache is";
        let lines: &'static [(&str, &str)] = &[
            (
                "Cache: the limit is 50 entries, and the cache limit is 50 entries as the limit of the cache is",
                CACHE,
            ),
            (
                "The cache limit is 50 entries, and the cache limit is 50 entries as the limit of the cache is",
                CACHE,
            ),
            (
                "Cache limit: 50 entries, and the cache limit is 50 entries as the limit of the cache is",
                CACHE,
            ),
        ];
        fixture.script(vec![read(), add("MEMORY.md", lines), done()]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md")[0], long);
        let delete = Step::Reply(Box::new(|request| {
            let page = request
                .messages
                .iter()
                .rfind(|m| m.role == Role::Tool)
                .unwrap();
            let page: String = page
                .text
                .lines()
                .map(|line| format!("{}\n", &line[1..]))
                .collect();
            let (others, _) = page.split_once("## Handbook").unwrap();
            let text = format!("{others}## Handbook\n");
            calls(&[("write", json!({"path": "MEMORY.md", "text": text}))])
        }));
        fixture.script(vec![
            reply(calls(&[("read", json!({"path": "MEMORY.md"}))])),
            delete,
            done(),
            done(),
            done(),
        ]);
        fixture.say("b", &[FRIDAYS]).await;
        let report = fixture.work().await;
        let why = &report.proposals.unanswered[&scope()].message;
        assert!(why.contains("your text shrinks"), "{why}");
        assert_eq!(fixture.handbook("MEMORY.md").len(), 3);
    });
}

#[test]
fn the_same_inputs_are_tried_a_few_times_and_others_at_once() {
    on_each_store(async |fixture| {
        fixture.say("a", &[CACHE]).await;
        for tries in 1..=3 {
            fixture.script((0..3).map(|_| reply(says("no"))).collect());
            fixture.work().await;
            assert_eq!(fixture.record().await.agent.failures, tries);
            for _ in 0..4 {
                fixture.clock.advance(HOUR);
            }
        }
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.asked(), 9);
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("b", &[FRIDAYS]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
    });
}
