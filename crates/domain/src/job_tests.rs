//! Every transition of a job. A script drives one job; [`check`] compares the resulting state.
//!
//! Times are seconds. `mark 3` raises the input to 3, due now; `idle 9`, `by 60` and a priority say
//! otherwise. Words that begin a step with `old` use the first claim's token instead of the newest.
//! A state reads `done/input due-time`, then whatever is out of the ordinary.

use std::time::Duration;

use super::*;
use crate::failure::{RetryPolicy, RetryWait};
use crate::ids::{Scope, ScopeKind, SessionId, Tenant};
use crate::limits::{
    BACKOFF_FIRST, BACKOFF_MOST, FAILURE_TEXT, RETRY_AFTER_MOST, TRIES, WAIT_MOST,
};
use crate::trigger::DueLimits;

const LEASE: Duration = Duration::from_secs(100);

struct Driver {
    job: Job,
    now: Timestamp,
    tokens: Vec<LeaseToken>,
    results: Vec<String>,
}

fn seconds(n: u64) -> Timestamp {
    Timestamp::ZERO.plus(Duration::from_secs(n))
}

fn key() -> JobKey {
    JobKey::Extract(SessionId {
        tenant: Tenant::local(),
        agent: "agent".to_owned(),
        host_id: "session".to_owned(),
    })
}

/// Drives a job through `script` and compares its state, or else the outcome of the last step.
#[track_caller]
fn check(script: &str, expected: &str) {
    let driver = drive(script);
    let last = driver.results.last().cloned().unwrap_or_default();
    let state = describe(&driver.job);
    assert!(
        expected == state || expected == last,
        "{script}\n expected: {expected}\n    state: {state}\n     last: {last}"
    );
}

fn drive(script: &str) -> Driver {
    let mut driver = Driver {
        job: Job::new(key()),
        now: seconds(0),
        tokens: Vec::new(),
        results: Vec::new(),
    };
    for step in script.split("; ") {
        driver.step(step);
    }
    driver
}

impl Driver {
    fn step(&mut self, step: &str) {
        let words: Vec<&str> = step.split(' ').collect();
        let number = |at: usize| {
            words
                .get(at)
                .and_then(|w| w.parse::<u64>().ok())
                .unwrap_or(0)
        };
        let result = match words[0] {
            "at" => {
                self.now = seconds(number(1));
                String::new()
            }
            "mark" => {
                self.job.mark(self.mark(&words));
                String::new()
            }
            "activity" => {
                let mark = DueMark::activity(number(1), self.now, DueLimits::default());
                self.job.mark(mark);
                String::new()
            }
            "turn" => {
                let mark = DueMark::activity(number(1), self.now, DueLimits::default());
                self.job.mark(mark.with_turns(1));
                String::new()
            }
            "cancel" => match self.job.cancel(self.now, "engine/1") {
                Some(gap) => format!("gap {}..={}", gap.from, gap.to),
                None => "nothing".to_owned(),
            },
            "retry" => {
                self.job.retry(self.now);
                String::new()
            }
            "pass" => match self.job.pass(number(1)) {
                Some((from, to)) => format!("past {from}..={to}"),
                None => String::new(),
            },
            "hasten" => {
                self.job.hasten(self.now, Priority::High);
                String::new()
            }
            "claim" => self.claim(),
            "redo" => {
                self.job.begin_redo(self.now);
                String::new()
            }
            "shorten" => {
                self.job.shorten(number(1), self.now);
                String::new()
            }
            "caught" => format!("caught up: {}", self.job.take_caught_up()),
            "abandon" => format!("{}", self.job.abandon("worker")),
            "abandon-other" => format!("{}", self.job.abandon("somebody else")),
            "old" => {
                let token = self.tokens[0].clone();
                self.with_token(&token, &words[1..])
            }
            _ => {
                let token = self.tokens.last().expect("the script claims first").clone();
                self.with_token(&token, &words)
            }
        };
        self.results.push(result);
    }

    fn with_token(&mut self, token: &LeaseToken, words: &[&str]) -> String {
        match words[0] {
            "beat" => format!("{}", self.job.heartbeat(token, self.now, LEASE)),
            "release" => format!("{}", self.job.release(token, self.now)),
            "finish" => {
                let upto = words[1].parse().expect("finish names a position");
                format!("{:?}", self.job.finish(token, upto, self.now))
            }
            "fail" => self.fail(token, &words[1..].join(" ")),
            other => panic!("no step is called {other}"),
        }
    }

    fn mark(&self, words: &[&str]) -> DueMark {
        let mut mark = DueMark::at_once(words[1].parse().unwrap(), self.now, Priority::Low);
        for pair in words[2..].chunks(2) {
            match *pair {
                ["idle", at] => mark.idle_due = seconds(at.parse().unwrap()),
                ["by", at] => mark.deadline = seconds(at.parse().unwrap()),
                ["first", "normal"] => mark.priority = Priority::Normal,
                ["first", "raised"] => mark.priority = Priority::Raised,
                ["first", "high"] => mark.priority = Priority::High,
                _ => panic!("no part of a mark is called {pair:?}"),
            }
        }
        mark
    }

    fn claim(&mut self) -> String {
        match self.job.claim("worker", self.now, LEASE) {
            None => "refused".to_owned(),
            Some(claimed) => {
                self.tokens.push(claimed.token);
                format!("{}..={}", claimed.after + 1, claimed.upto)
            }
        }
    }

    fn fail(&mut self, token: &LeaseToken, how: &str) -> String {
        let words: Vec<&str> = how.split(' ').collect();
        let class = words[0]
            .parse::<FailureClass>()
            .expect("a class of failures");
        let wait = match words[1..] {
            ["for", wait] => RetryWait::For(Duration::from_secs(wait.parse().unwrap())),
            ["until", at] => RetryWait::Until(seconds(at.parse().unwrap())),
            _ => RetryWait::Unspecified,
        };
        let failure = Failure {
            class,
            message: "x".repeat(FAILURE_TEXT + 9),
        };
        let failed = FailedTry {
            failure,
            wait,
            retry: RetryPolicy::default(),
            jitter: 1.0,
            engine: "engine/1".to_owned(),
        };
        match self.job.fail(token, &failed, self.now) {
            FailOutcome::RetryAt(at) => format!("again at {}", at.0 / 1000),
            FailOutcome::Narrowed { span, retry_at } => {
                format!("narrowed to {span} at {}", retry_at.0 / 1000)
            }
            FailOutcome::GaveUp(gap) => format!("gap {}..={}", gap.from, gap.to),
            FailOutcome::LeaseLost => "LeaseLost".to_owned(),
        }
    }

    /// Fails every claim whose range touches `bad` and finishes all others, until nothing is due
    /// within days. Returns the granted ranges and the gaps.
    fn work_around(&mut self, bad: &[u64]) -> (Vec<String>, Vec<String>) {
        let mut ranges: Vec<String> = Vec::new();
        let mut gaps = Vec::new();
        while let Some(due) = self.job.due_at().filter(|&due| due < seconds(1_000_000)) {
            self.now = self.now.max(due);
            let claimed = self
                .job
                .claim("worker", self.now, LEASE)
                .expect("it is due");
            let range = claimed.after + 1..=claimed.upto;
            let shown = format!("{}-{}", range.start(), range.end());
            if ranges.last() != Some(&shown) {
                ranges.push(shown);
            }
            if bad.iter().any(|position| range.contains(position)) {
                let result = self.fail(&claimed.token, "content");
                gaps.extend(result.strip_prefix("gap ").map(str::to_owned));
            } else {
                let _ = self.job.finish(&claimed.token, claimed.upto, self.now);
            }
        }
        (ranges, gaps)
    }
}

fn describe(job: &Job) -> String {
    let mut state = format!("{}/{}", job.done, job.input);
    match job.due_at() {
        None => state.push_str(" rests"),
        Some(at) => state.push_str(&format!(" due {}", at.0 / 1000)),
    }
    match job.priority {
        Priority::Low => {}
        Priority::Normal => state.push_str(" normal"),
        Priority::Raised => state.push_str(" raised"),
        Priority::High => state.push_str(" high"),
    }
    if job.lease.is_some() {
        state.push_str(" held");
    }
    if let Some(span) = job.span {
        state.push_str(&format!(" span {span}"));
    }
    if job.tries != 0 {
        state.push_str(&format!(" tries {}", TRIES - job.tries));
    }
    if job.redo > 0 {
        state.push_str(&format!(" redo {}", job.redo));
    }
    if let Some(until) = job.redo_until {
        state.push_str(&format!(" until {until}"));
    }
    state
}

#[test]
fn a_job_without_input_is_never_due() {
    check("at 5", "0/0 rests");
    check("claim", "refused");
    check("hasten", "0/0 rests");
    check("mark 0 first high", "0/0 rests");
}

#[test]
fn a_session_is_due_once_it_has_rested() {
    check("activity 1", "0/1 due 120 normal");
    check("activity 1; at 119; claim", "refused");
    check("activity 1; at 120; claim", "1..=1");
}

#[test]
fn each_activity_puts_the_rest_off_but_never_the_deadline() {
    check("activity 1; at 60; activity 2", "0/2 due 180 normal");
    check("activity 1; at 500; activity 2", "0/2 due 600 normal");
    check("activity 1; at 9000; activity 2", "0/2 due 600 normal");
}

#[test]
fn a_mark_overwrites_idle_and_only_lowers_the_deadline() {
    check("mark 1 idle 50 by 90; mark 2 idle 20 by 95", "0/2 due 20");
    check("mark 1 idle 50 by 90; mark 2 idle 99 by 95", "0/2 due 90");
    check("mark 1 idle 50 by 90; mark 2 idle 99 by 70", "0/2 due 70");
}

#[test]
fn the_input_never_falls() {
    check("mark 5 idle 9 by 9; mark 3 idle 7 by 9", "0/5 due 7");
}

#[test]
fn priority_only_rises_until_the_finish() {
    check("mark 1 first high; mark 2 first normal", "0/2 due 0 high");
    check("mark 1; mark 2 first raised", "0/2 due 0 raised");
    check("mark 1 first high; claim; finish 1", "1/1 rests");
    check("mark 1 first high; claim; finish 1; mark 2", "1/2 due 0");
}

#[test]
fn hastening_lowers_the_deadline_and_raises_the_priority_of_waiting_work() {
    check("activity 1; at 30; hasten", "0/1 due 30 high");
    check("mark 1; claim; fail outage; at 5; hasten; claim", "refused");
}

#[test]
fn what_is_done_is_not_due_again() {
    check("mark 3; claim; finish 3", "3/3 rests");
    check("mark 3; claim; finish 3", "Complete");
    check("mark 3; claim; finish 3; mark 3 first high", "3/3 rests");
    check("mark 3; claim; finish 3; mark 4", "3/4 due 0");
}

#[test]
fn a_partial_finish_leaves_the_rest_due_at_once() {
    check("mark 9; claim; at 7; finish 4", "StillDue");
    check("mark 9 idle 0 by 600; claim; at 7; finish 4", "4/9 due 0");
    check(
        "activity 9; at 120; claim; at 130; finish 4; claim",
        "5..=9",
    );
}

#[test]
fn done_never_moves_back_and_never_past_what_was_granted() {
    check("mark 5; claim; mark 9; finish 9", "5/9 due 0");
    check("mark 5; claim; finish 0", "0/5 due 0");
    check("mark 5; claim; finish 3; claim; finish 1", "3/5 due 0");
}

#[test]
fn what_arrives_during_a_claim_waits_by_its_own_deadline() {
    check(
        "activity 3; at 120; claim; at 125; activity 4; at 130; finish 3",
        "3/4 due 245 normal",
    );
    // The session stays busy: the deadline of what arrived first counts, not that of what is done.
    check(
        "activity 3; at 120; claim; at 125; activity 4; at 130; finish 3; at 700; activity 5",
        "3/5 due 725 normal",
    );
    check(
        "activity 3; at 120; claim; at 125; activity 3; at 130; finish 3",
        "3/3 rests",
    );
}

#[test]
fn what_was_granted_and_not_read_goes_on_at_once_whatever_arrived() {
    check(
        "activity 3; at 120; claim; at 125; activity 4; at 130; finish 2",
        "2/4 due 130 normal",
    );
}

#[test]
fn a_held_job_is_not_granted_again_before_its_lease_ends() {
    check("mark 1; claim", "0/1 due 100 held");
    check("mark 1; claim; at 99; claim", "refused");
    check("mark 1; claim; at 100; claim", "1..=1");
}

#[test]
fn a_token_that_lapsed_or_was_overtaken_changes_nothing() {
    for step in ["finish 3", "fail content", "fail outage"] {
        check(&format!("mark 3; claim; at 100; old {step}"), "LeaseLost");
        check(
            &format!("mark 3; claim; at 100; claim; old {step}"),
            "LeaseLost",
        );
        let driven = drive(&format!("mark 3; claim; at 100; claim; old {step}"));
        assert_eq!(
            driven.job,
            drive("mark 3; claim; at 100; claim").job,
            "{step}"
        );
    }
    for step in ["beat", "release"] {
        check(
            &format!("mark 3; claim; at 100; claim; old {step}"),
            "false",
        );
        let driven = drive(&format!("mark 3; claim; at 100; claim; old {step}"));
        assert_eq!(
            driven.job,
            drive("mark 3; claim; at 100; claim").job,
            "{step}"
        );
    }
}

#[test]
fn a_token_of_another_job_changes_nothing() {
    let mut driver = drive("mark 3; claim");
    let other = JobKey::Consolidate(crate::ids::Scope {
        tenant: Tenant::local(),
        kind: crate::ids::ScopeKind::User,
        name: "ada".to_owned(),
    });
    let forged = LeaseToken::issue(other, 1);
    assert_eq!(
        driver.job.finish(&forged, 3, driver.now),
        FinishOutcome::LeaseLost
    );
    assert!(!driver.job.heartbeat(&forged, driver.now, LEASE));
}

#[test]
fn a_heartbeat_moves_the_end_of_a_lease_on() {
    check("mark 3; claim; at 60; beat", "0/3 due 160 held");
    check(
        "mark 3; claim; at 60; beat; at 120; beat; at 200; finish 3",
        "3/3 rests",
    );
    // Clocks step back; a lease that was granted does not.
    check("at 50; mark 3; claim; at 0; beat", "0/3 due 150 held");
}

#[test]
fn a_released_job_costs_nothing() {
    check("mark 3; claim; at 5; release", "0/3 due 0");
    check("mark 3; claim; at 5; release; claim", "1..=3");
}

#[test]
fn waits_double_after_each_failure_and_are_bounded() {
    check("mark 1; claim; fail outage", "again at 30");
    check(
        "mark 1; claim; fail outage; at 30; claim; fail outage",
        "again at 90",
    );
    check("mark 1; claim; fail outage; at 29; claim", "refused");
    let waits: Vec<u64> = [1, 2, 3, 4, 7, 8, 99, u32::MAX]
        .map(|failures| RetryPolicy::default().wait(failures, 1.0).as_secs())
        .to_vec();
    assert_eq!(waits, [30, 60, 120, 240, 1920, 3600, 3600, 3600]);
}

#[test]
fn the_last_quarter_of_a_wait_is_random() {
    assert_eq!(
        RetryPolicy::default().wait(1, 0.0),
        Duration::from_millis(22_500)
    );
    assert_eq!(
        RetryPolicy::default().wait(1, 0.5),
        Duration::from_millis(26_250)
    );
    assert_eq!(RetryPolicy::default().wait(1, 7.0), BACKOFF_FIRST);
    assert_eq!(
        RetryPolicy::default().wait(1, -7.0),
        Duration::from_millis(22_500)
    );
}

#[test]
fn an_outage_spends_no_try_however_long_it_lasts() {
    let mut driver = drive("mark 4");
    for _ in 0..50 {
        driver.now = driver.job.due_at().unwrap();
        driver.step("claim");
        driver.step("fail outage");
    }
    assert_eq!((driver.job.tries, driver.job.span), (0, None));
    assert_eq!(driver.job.due_at(), Some(driver.now.plus(BACKOFF_MOST)));
}

#[test]
fn a_job_is_not_tried_before_it_makes_sense() {
    check("mark 1; claim; fail outage for 90", "again at 90");
    check("mark 1; claim; fail outage for 9", "again at 30");
    check("mark 1; claim; fail content until 70", "again at 70");
    check("at 50; mark 1; claim; fail content until 7", "again at 80");
    check(
        "mark 2; claim; fail content; at 30; claim; fail content; at 90; claim; fail content for 900",
        "narrowed to 1 at 990",
    );
    let hour = RETRY_AFTER_MOST.as_secs();
    for never in [
        "for 99999999999",
        "for 18446744073709551615",
        "until 9999999999",
    ] {
        for class in ["outage", "content"] {
            check(
                &format!("at 5; mark 1; claim; fail {class} {never}"),
                &format!("again at {}", hour + 5),
            );
        }
    }
    let month = WAIT_MOST.as_secs();
    for never in ["for 99999999999999999", "until 9999999999"] {
        check(
            &format!("at 5; mark 1; claim; fail at_cap {never}"),
            &format!("again at {}", month + 5),
        );
    }
}

#[test]
fn only_a_wait_beyond_the_bound_is_overlong() {
    let retry = RetryPolicy::default();
    let mut driver = drive("mark 1; claim; fail outage for 3600");
    assert!(!driver.job.is_overlong_wait(driver.now, &retry));
    driver.job.retry_at = Some(seconds(3_601));
    assert!(driver.job.is_overlong_wait(driver.now, &retry));
    let patient = RetryPolicy {
        retry_after_most: Duration::from_secs(7_200),
        ..retry
    };
    assert!(!driver.job.is_overlong_wait(driver.now, &patient));
    let capped = drive("mark 1; claim; fail at_cap until 99999");
    assert!(!capped.job.is_overlong_wait(capped.now, &retry));
}

#[test]
fn at_a_cap_a_job_waits_at_no_cost() {
    let mut driver = drive("mark 4");
    for _ in 0..50 {
        driver.now = driver.job.due_at().unwrap();
        driver.step("claim");
        driver.step("fail at_cap");
        assert_eq!(driver.job.due_at(), Some(driver.now.plus(BACKOFF_FIRST)));
    }
    let job = &driver.job;
    assert_eq!((job.tries, job.failures, job.span), (0, 0, None));
    assert!(job.is_at_cap());
    check(
        "mark 4; claim; fail at_cap until 900; at 5; mark 5 idle 6 by 9",
        "0/5 due 900",
    );
    check(
        "mark 4; claim; fail at_cap until 900; at 5; retry",
        "0/4 due 0",
    );
    check(
        "mark 4; claim; fail content; at 30; claim; fail at_cap; at 60; claim; fail content",
        "again at 120",
    );
}

#[test]
fn newer_input_ends_the_wait_for_content_but_not_for_an_outage() {
    check(
        "mark 1; claim; fail content; at 5; mark 2 idle 6 by 9",
        "0/2 due 0",
    );
    check(
        "mark 1; claim; fail content; at 5; mark 1 idle 6 by 9",
        "0/1 due 30 tries 2",
    );
    check(
        "mark 1; claim; fail outage; at 5; mark 2 idle 6 by 9",
        "0/2 due 30",
    );
}

#[test]
fn newer_input_restores_the_tries() {
    check("mark 1; claim; fail content", "0/1 due 30 tries 2");
    check("mark 1; claim; fail content; mark 2", "0/2 due 0");
    check(
        "mark 1; claim; fail content; at 30; claim; fail outage; mark 2; at 90; claim; fail content",
        "0/2 due 210 tries 2",
    );
}

#[test]
fn progress_forgets_failures() {
    let script = "mark 5; claim; fail content; at 30; claim; finish 2";
    check(script, "2/5 due 0");
    let job = drive(script).job;
    assert_eq!((job.failures, job.last_failure), (0, None));
    check(&format!("{script}; claim; fail content"), "again at 60");
}

#[test]
fn a_finish_without_progress_keeps_what_is_known_of_failures() {
    let job = drive("mark 5; claim; fail content; at 30; claim; finish 0").job;
    assert_eq!((job.failures, job.tries), (1, 1));
    assert!(job.last_failure.is_some());
}

#[test]
fn a_failures_message_is_bounded() {
    let job = drive("mark 1; claim; fail content").job;
    assert_eq!(
        job.last_failure.unwrap().message.chars().count(),
        FAILURE_TEXT
    );
}

#[test]
fn out_of_tries_a_window_is_halved() {
    let tired =
        "mark 8; claim; fail content; at 30; claim; fail content; at 90; claim; fail content";
    check(tired, "narrowed to 4 at 210");
    check(&format!("{tired}; at 210; claim"), "1..=4");
    // What arrives meanwhile does not widen the search.
    check(&format!("{tired}; mark 20; at 210; claim"), "1..=4");
    check(&format!("{tired}; at 210; claim; finish 4; claim"), "5..=8");
}

#[test]
fn the_search_ends_at_one_position_which_becomes_a_gap_and_the_job_goes_on_behind_it() {
    for bad in 1..=8 {
        let (ranges, gaps) = drive("mark 8").work_around(&[bad]);
        assert_eq!(gaps, [format!("{bad}..={bad}")], "{ranges:?}");
    }
    let mut driver = drive("mark 8");
    let (ranges, _) = driver.work_around(&[6]);
    assert_eq!(ranges, ["1-8", "1-4", "5-8", "5-6", "5-5", "6-6", "7-8"]);
    assert_eq!(describe(&driver.job), "8/8 rests");
}

#[test]
fn every_position_is_done_or_in_a_gap() {
    for bad in [
        vec![1, 2],
        vec![3, 9],
        vec![1, 16],
        (1..=16).collect::<Vec<u64>>(),
    ] {
        let mut driver = drive("mark 16");
        let (ranges, gaps) = driver.work_around(&bad);
        let expected: Vec<String> = bad.iter().map(|n| format!("{n}..={n}")).collect();
        assert_eq!(gaps, expected, "{ranges:?}");
        assert_eq!(describe(&driver.job), "16/16 rests");
    }
}

#[test]
fn the_span_ends_behind_the_suspect_range() {
    let narrowed = "mark 4; claim; fail content; at 30; claim; fail content; at 90; claim; fail content; at 210";
    check(narrowed, "0/4 due 210 span 2");
    check(
        &format!("{narrowed}; mark 40; claim; finish 2"),
        "2/40 due 210 span 2",
    );
    check(
        &format!("{narrowed}; mark 40; claim; finish 2; claim"),
        "3..=4",
    );
    check(
        &format!("{narrowed}; mark 40; claim; finish 2; claim; finish 4; claim"),
        "5..=40",
    );
}

#[test]
fn a_single_position_is_given_up_without_a_search() {
    let script =
        "mark 1; claim; fail content; at 30; claim; fail content; at 90; claim; fail content";
    check(script, "gap 1..=1");
    check(script, "1/1 rests");
    check(&format!("{script}; mark 2"), "1/2 due 90");
}

#[test]
fn an_abandoned_job_is_due_at_once_and_spends_no_try() {
    check("mark 3; claim; abandon", "true");
    check("mark 3; claim; abandon", "0/3 due 0");
    check("mark 3; claim; abandon-other", "false");
    check("mark 3; claim; abandon-other", "0/3 due 100 held");
    check("mark 3; abandon", "false");
    assert_eq!(
        drive("mark 3; claim; abandon; claim; at 100; claim")
            .job
            .vanished,
        2
    );
    assert_eq!(
        drive("mark 3; claim; abandon; claim; finish 3")
            .job
            .vanished,
        0
    );
}

#[test]
fn workers_that_keep_vanishing_narrow_the_window() {
    let mut driver = drive("mark 8");
    for _ in 0..VANISHED {
        driver.step("claim");
        driver.step("abandon");
    }
    assert_eq!(describe(&driver.job), "0/8 due 0");
    driver.step("claim");
    driver.step("abandon");
    assert_eq!(describe(&driver.job), "0/8 due 0 span 4");
    let failure = driver.job.last_failure.clone().unwrap();
    assert_eq!(failure.class, FailureClass::Vanished);
    driver.step("claim");
    assert_eq!(driver.results.last().unwrap(), "1..=4");
}

#[test]
fn a_position_that_ends_every_worker_becomes_a_gap() {
    let mut job = Job::new(JobKey::Consolidate(Scope {
        tenant: Tenant::local(),
        kind: ScopeKind::Project,
        name: "tidepool".to_owned(),
    }));
    job.mark(DueMark::at_once(1, Timestamp(0), Priority::Normal));
    let lease = std::time::Duration::from_secs(9);
    for _ in 0..=VANISHED {
        let claimed = job.claim("worker", Timestamp(0), lease).unwrap();
        assert!(!claimed.deadly);
        assert!(job.abandon("worker"));
    }
    let claimed = job.claim("worker", Timestamp(0), lease).unwrap();
    assert!(claimed.deadly);
    let failure = Failure {
        class: FailureClass::Vanished,
        message: "deadly".to_owned(),
    };
    let failed = FailedTry {
        failure,
        wait: RetryWait::default(),
        retry: RetryPolicy::default(),
        jitter: 0.0,
        engine: "daybook/0".to_owned(),
    };
    let outcome = job.fail(&claimed.token, &failed, Timestamp(0));
    assert!(matches!(outcome, FailOutcome::GaveUp(gap) if (gap.from, gap.to) == (1, 1)));
    assert!(!job.is_ahead());
}

#[test]
fn a_redo_begins_from_the_start_and_has_caught_up_where_the_old_one_was() {
    let done = "mark 5; claim; finish 5; mark 8";
    check(&format!("{done}; at 9; redo"), "0/8 due 9 redo 1 until 5");
    check(
        &format!("{done}; redo; claim; finish 4; caught"),
        "caught up: false",
    );
    check(
        &format!("{done}; redo; claim; finish 5; caught"),
        "caught up: true",
    );
    check(
        &format!("{done}; redo; claim; finish 8; caught; caught"),
        "caught up: false",
    );
    check(
        &format!("{done}; redo; claim; finish 8; caught"),
        "8/8 rests redo 1",
    );
}

#[test]
fn nothing_is_redone_when_nothing_was_done() {
    check("redo", "0/0 rests");
    check("mark 3 idle 9 by 9; redo", "0/3 due 9");
}

#[test]
fn a_redo_takes_the_job_from_whoever_holds_it() {
    check(
        "mark 5; claim; finish 3; claim; redo; finish 5",
        "LeaseLost",
    );
}

#[test]
fn a_second_redo_must_catch_up_with_the_furthest() {
    let halfway = "mark 8; claim; finish 8; redo; claim; finish 3; redo";
    check(halfway, "0/8 due 0 redo 2 until 8");
    check(&format!("{halfway}; redo"), "0/8 due 0 redo 2 until 8");
}

#[test]
fn a_redo_ends_a_wait_and_a_search() {
    let narrowed = "mark 9; claim; finish 1; claim; fail content; at 30; claim; fail content; at 90; claim; fail content";
    check(narrowed, "1/9 due 210 span 4");
    check(&format!("{narrowed}; redo"), "0/9 due 90 redo 1 until 1");
    check(
        "mark 9; claim; finish 1; claim; fail outage; redo",
        "0/9 due 0 redo 1 until 1",
    );
}

#[test]
fn a_shortened_log_is_done_anew_up_to_its_end() {
    check(
        "mark 9; claim; finish 9; at 7; shorten 4",
        "0/4 due 7 redo 1 until 4",
    );
    check(
        "mark 9; claim; finish 3; at 7; shorten 4",
        "0/4 due 7 redo 1 until 3",
    );
    check("mark 9 idle 5 by 8; shorten 4", "0/4 due 5");
    check(
        "mark 9; claim; finish 9; shorten 4; shorten 2",
        "0/2 due 0 redo 1 until 2",
    );
    check("mark 9; claim; shorten 4; finish 4", "LeaseLost");
    check("mark 9; shorten 12", "0/9 due 0");
}

#[test]
fn with_the_sixth_turn_a_busy_session_is_due() {
    let five = "turn 1; turn 2; turn 3; turn 4; turn 5";
    check(five, "0/5 due 120 normal");
    check(&format!("{five}; at 7; turn 6"), "0/6 due 7 normal");
    check(&format!("{five}; at 7; turn 5"), "0/5 due 127 normal");
    check(&format!("{five}; at 7; turn 6; turn 7"), "0/7 due 7 normal");
}

#[test]
fn turns_count_from_what_was_done() {
    let six = "turn 1; turn 2; turn 3; turn 4; turn 5; turn 6; claim";
    check(&format!("{six}; finish 6; turn 7"), "6/7 due 120 normal");
    check(&format!("{six}; turn 7; finish 6"), "6/7 due 120 normal");
    let more = "turn 7; turn 8; turn 9; turn 10; turn 11; turn 12";
    check(&format!("{six}; {more}; finish 6"), "6/12 due 0 normal");
}

#[test]
fn cancelled_work_is_a_gap_and_its_holder_changes_nothing() {
    check("mark 5; claim; finish 2; cancel", "gap 3..=5");
    check("mark 5; claim; cancel; finish 5", "LeaseLost");
    check("mark 5; claim; finish 5; cancel", "nothing");
    check("mark 5; cancel; mark 6", "5/6 due 0");
}

#[test]
fn a_retry_by_hand_ends_every_wait_and_gives_all_tries_back() {
    check("mark 1; claim; fail content; retry", "0/1 due 0");
    check("mark 1; claim; fail outage; retry", "0/1 due 0");
    check("activity 1; retry", "0/1 due 0 normal");
}

#[test]
fn what_is_said_while_memory_is_off_is_passed_over() {
    check("pass 4", "4/4 rests");
    check("mark 2; claim; pass 4; finish 2", "LeaseLost");
    check("pass 4; activity 6", "4/6 due 120 normal");
}

#[test]
fn a_redo_that_is_passed_over_replaces_nothing() {
    check("mark 4; claim; finish 4; redo", "0/4 due 0 redo 1 until 4");
    check("mark 4; claim; finish 4; redo; pass 4", "4/4 rests redo 1");
}

#[test]
fn what_is_passed_over_is_said_once_and_a_redo_s_old_results_stay() {
    check("mark 2; claim; finish 2; pass 5", "past 3..=5");
    check("pass 5; pass 5", "");
    check("mark 4; claim; finish 4; redo; pass 4", "");
    check("mark 4; claim; finish 4; redo; pass 6", "past 5..=6");
}

#[test]
fn a_job_that_is_set_aside_waits_for_its_next_mark() {
    let aside = seconds(0);
    let mut driver = drive("mark 3; claim");
    let token = driver.tokens[0].clone();
    assert!(driver.job.set_aside(&token, Timestamp::MAX, aside));
    assert_eq!(driver.job.due_at(), None);
    driver.step("activity 4");
    assert_eq!(driver.job.due_at(), Some(seconds(120)));
}
