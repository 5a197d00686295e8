//! Outages, lost leases, killed workers and people at work: nothing is lost, nothing is done twice.

use super::*;

#[test]
fn an_outage_leaves_the_inputs_for_later() {
    on_each_store(async |fixture| {
        fixture.script(vec![read(), Step::Outage]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        let record = fixture.record().await;
        assert_eq!((record.agent.failures, record.agent.examined.len()), (0, 0));
        fixture.work().await;
        assert_eq!(fixture.asked(), 2, "not before the wait is over");
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.clock.advance(HOUR);
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
    });
}

#[test]
fn c84_a_lease_that_is_lost_in_the_middle_merges_nothing_and_the_next_run_once() {
    on_each_store(async |fixture| {
        let lost = Step::LoseLease(says("DONE"));
        fixture.script(vec![
            read(),
            write_cache(),
            lost,
            read(),
            write_cache(),
            done(),
        ]);
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        assert_eq!(fixture.asked(), 6);
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
        assert_eq!(fixture.record().await.agent_lines().count(), 1);
    });
}

#[test]
fn a_worker_that_is_killed_at_any_request_leaves_the_next_one_the_same_memory() {
    let undisturbed = |fixture: &AgentFixture| fixture.text("MEMORY.md");
    let expected = Mutex::new(Vec::new());
    on_each_store(async |fixture| {
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        expected.lock().unwrap().push(undisturbed(fixture));
    });
    let expected = expected.into_inner().unwrap();
    for killed_at in 0..3 {
        let stores = Mutex::new(expected.iter());
        on_each_store(async |fixture| {
            let before = [read(), write_cache()].into_iter().take(killed_at);
            fixture.script(before.chain([Step::Hang]).collect());
            fixture.say("a", &[CACHE, FRIDAYS]).await;
            fixture.work_until_killed().await;
            assert_eq!(fixture.handbook("MEMORY.md"), [""; 0]);
            fixture.script(vec![read(), write_cache(), done()]);
            fixture.worker.holder = "second".to_owned();
            fixture.work().await;
            let expected = stores.lock().unwrap().next().unwrap();
            assert_eq!(&fixture.text("MEMORY.md"), expected);
        });
    }
}

#[test]
fn a_person_who_edits_while_the_agent_runs_loses_nothing() {
    on_each_store(async |fixture| {
        let path = fixture.path("MEMORY.md");
        let edited = path.clone();
        let edit = Step::Reply(Box::new(move |_| {
            let text = std::fs::read_to_string(&edited).unwrap();
            let text = text.replace(FRIDAYS, "never deploy on Fridays or Mondays");
            std::fs::write(&edited, format!("{text}\nada's own line\n")).unwrap();
            says("DONE")
        }));
        // Their lines are new to the agent, which runs again.
        fixture.script(vec![read(), write_cache(), edit, done()]);
        fixture.say("a", &[CACHE, FRIDAYS]).await;
        fixture.work().await;
        let text = std::fs::read_to_string(&path).unwrap();
        for line in [
            "ada's own line",
            "never deploy on Fridays or Mondays",
            "Cache: the limit is 50 entries.",
        ] {
            assert_eq!(text.matches(line).count(), 1, "{line}: {text}");
        }
    });
}

#[test]
fn a_caller_that_waits_and_a_worker_without_the_setting_run_no_agent() {
    on_each_store(async |fixture| {
        fixture.worker.limits.agent = None;
        fixture.say("a", &[CACHE]).await;
        fixture.work().await;
        fixture.worker.limits.agent = Some(AGENT_LIMITS);
        fixture.worker.limits.proposals = false;
        fixture.touch().await;
        fixture.work().await;
        assert_eq!(fixture.asked(), 0);
        fixture.worker.limits.proposals = true;
        fixture.clock.advance(HOUR);
        fixture.script(vec![read(), write_cache(), done()]);
        fixture.work().await;
        assert_eq!(fixture.handbook("MEMORY.md").len(), 1);
    });
}
