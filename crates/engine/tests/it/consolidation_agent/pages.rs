//! What the agent writes stands on the pages while what it rests on holds, and a person has the last word.

use super::*;

#[test]
fn c78_the_agents_lines_stand_on_the_pages_and_unchanged_inputs_cost_nothing() {
    on_each_store(async |fixture| {
        fixture.script(vec![
            read(),
            write_cache(),
            add("memory_summary.md", &[]),
            done(),
        ]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        let report = fixture.work().await;
        assert_eq!(report.proposals.agent_lines, [(scope(), 1)].into());
        assert_eq!(
            fixture.handbook("MEMORY.md"),
            ["Cache: the limit is 50 entries."]
        );
        assert!(
            fixture
                .text("MEMORY.md")
                .contains("## Facts that ada stated")
        );
        assert!(!fixture.job().await.is_ahead());
        let first = fixture.model.requests.lock().unwrap()[0].clone();
        let question = texts(&first)[1].to_owned();
        assert!(
            question.contains("Mode: INIT") && question.contains("last success: 2"),
            "{question}"
        );
        // Nothing is new: the files are made again without a call.
        for _ in 0..2 {
            fixture.touch().await;
            fixture.work().await;
        }
        assert_eq!(fixture.asked(), 4);
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        assert_eq!(fixture.record().await.agent.failed, None);
    });
}

#[test]
fn c86_what_is_added_and_what_changed_in_the_folder_is_shown_later() {
    on_each_store(async |fixture| {
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        fixture.script(vec![
            reply(calls(&[
                ("read", json!({"path": "inputs/added-001.md"})),
                ("read", json!({"path": "phase2_workspace_diff.md"})),
                ("read", json!({"path": "MEMORY.md"})),
            ])),
            add("MEMORY.md", &[("Never deploy on Fridays.", FRIDAYS)]),
            done(),
        ]);
        fixture.say("b", &[FRIDAYS]).await;
        fixture.work().await;
        let requests = fixture.model.requests.lock().unwrap().clone();
        let question = texts(&requests[3])[1];
        for line in [
            "Mode: INCREMENTAL",
            "- newly added since the last success: 1",
            "- retained from the last success: 1",
            "- removed since the last success: 0",
        ] {
            assert!(question.contains(line), "{line}: {question}");
        }
        let diff = texts(&requests[4])[4];
        assert!(
            diff.contains("M MEMORY.md") && diff.contains(FRIDAYS),
            "{diff}"
        );
        let page = texts(&requests[4])[5];
        assert!(
            page.contains("- Cache: the limit is 50 entries. ["),
            "{page}"
        );
        // In the order of its own page.
        let lines = [
            "Never deploy on Fridays.",
            "Cache: the limit is 50 entries.",
        ];
        assert_eq!(fixture.handbook("MEMORY.md"), lines);
    });
}

#[test]
fn a_persons_word_about_a_line_of_the_agent_is_the_last() {
    on_each_store(async |fixture| {
        fixture.script(vec![
            read(),
            add(
                "MEMORY.md",
                &[
                    ("Cache: the limit is 50 entries.", CACHE),
                    ("Never deploy on Fridays.", FRIDAYS),
                ],
            ),
            done(),
        ]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        let text = fixture.text("MEMORY.md");
        let lines = text
            .lines()
            .filter(|line| !line.starts_with("- Never deploy"));
        let lines: Vec<String> = lines
            .map(|line| line.replace("Cache: the limit", "Cache (ask ada): the limit"))
            .collect();
        std::fs::write(fixture.path("MEMORY.md"), lines.join("\n")).unwrap();
        // A person's changed line is new to it once.
        fixture.script(vec![done()]);
        fixture.touch().await;
        fixture.work().await;
        for _ in 0..2 {
            fixture.touch().await;
            fixture.work().await;
        }
        let text = fixture.text("MEMORY.md");
        assert!(text.contains("Cache (ask ada): the limit"), "{text}");
        assert!(
            !text.contains("- Never deploy") && !text.contains("- Cache: the limit"),
            "{text}"
        );
        // What the deleted line rested on still holds.
        assert!(text.contains(FRIDAYS), "{text}");
        assert_eq!(fixture.record().await.agent_lines().count(), 0);
    });
}

#[test]
fn a_line_goes_with_what_it_rests_on() {
    on_each_store(async |fixture| {
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        // The person deletes the statement: it is retracted.
        let text = fixture.text("MEMORY.md");
        let kept = text.lines().filter(|line| !line.contains(CACHE));
        let kept: Vec<&str> = kept.collect();
        std::fs::write(fixture.path("MEMORY.md"), kept.join("\n")).unwrap();
        fixture.script(vec![done()]);
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md"), [""; 0]);
        let requests = fixture.model.requests.lock().unwrap().clone();
        let question = texts(requests.last().unwrap())[1];
        assert!(
            question.contains("- removed since the last success: 1"),
            "{question}"
        );
        assert!(
            !requests
                .last()
                .unwrap()
                .messages
                .iter()
                .any(|m| m.text.contains(CACHE))
        );
    });
}

#[test]
fn a_skill_stands_in_a_file_of_its_own_and_goes_with_its_steps() {
    on_each_store(async |fixture| {
        let (build, upload) = (
            "build the release with make dist",
            "upload the release with make put",
        );
        let write = Step::Reply(Box::new(move |request| {
            let text = format!(
                "# The release\n\n- Build the release with make dist. {}\n- Upload the release with make put. {}\n",
                cited(request, build),
                cited(request, upload)
            );
            calls(&[(
                "write",
                json!({"path": "skills/release/SKILL.md", "text": text}),
            )])
        }));
        fixture.script(vec![read(), write, done()]);
        fixture.say("a", &[build]).await;
        fixture.say("b", &[upload]).await;
        fixture.work().await;
        let page = fixture.text("skills/release/SKILL.md");
        assert!(page.starts_with("# The release"), "{page}");
        assert_eq!(
            page.lines().filter(|line| line.starts_with("- ")).count(),
            2
        );
        // Files are made again without a model.
        fixture.worker.consolidation_model = None;
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.text("skills/release/SKILL.md"), page);
    });
}

#[test]
fn in_profile_codex_the_agent_reads_the_selected_sessions_and_its_lines_do_not_wait() {
    on_each_store(async |fixture| {
        let rules = &mut fixture.worker.limits.consolidation;
        (rules.layout, rules.cooldown) = (FileLayout::Codex, 6 * HOUR);
        fixture.script(vec![
            reply(calls(&[
                ("read", json!({"path": "inputs/added-001.md"})),
                ("read", json!({"path": "raw_memories.md"})),
            ])),
            write_cache(),
            done(),
        ]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        let requests = fixture.model.requests.lock().unwrap().clone();
        let question = texts(&requests[0])[1];
        assert!(question.contains("- [added] thread_id=a\n"), "{question}");
        let raw = texts(&requests[1])[4];
        assert!(raw.contains("# Raw Memories"), "{raw}");
    });
}
