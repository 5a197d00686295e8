//! The callers of the two processes, and the passing of time.

use std::sync::Arc;
use std::time::Duration;

use daybook_domain::time::Clock;
use daybook_domain::working::{ThreadEvent, ThreadStore};
use daybook_domain::{SessionId, Timestamp};
use daybook_testkit::simulation::{CheckResult, Decision, SeededRandom, SimulationResult};
use daybook_testkit::{ManualClock, run};
use daybook_working::manager::{MemoryManager, WorkingError};
use serde_json::json;
use tokio::task::JoinHandle;

use super::process::{ManagerCall, SimulatedProcess};
use super::promises::ThreadPromises;
use crate::faulty_store::StoreMistake;
use crate::working_test_support::{NOW, event, manager_of, no_auto_compaction, number_of, wish};

/// Number of callers. Half of them call the first process, half the second.
pub(super) const CALLERS: usize = 6;
/// Rounds after which no caller may wait any more.
const LAST_ROUNDS: usize = 200;

pub(super) struct SimulationWorld {
    store: Arc<dyn ThreadStore>,
    clock: Arc<ManualClock>,
    mistake: Option<StoreMistake>,
    processes: [SimulatedProcess; 2],
    /// Number of processes started so far.
    started: u64,
    callers: Vec<Caller>,
    /// Number of command events so far.
    orders: usize,
    thread: SessionId,
    promises: ThreadPromises,
    result: SimulationResult,
}

/// A caller that makes one call after another.
#[derive(Default)]
struct Caller {
    /// Number of its wishes so far.
    wish_count: usize,
    act: Option<JoinHandle<CheckResult>>,
    /// The wishes that must be stored when its call succeeds.
    expected: Vec<usize>,
}

fn process_of(caller: usize) -> usize {
    caller % 2
}

impl SimulationWorld {
    pub(super) fn new(store: Arc<dyn ThreadStore>, mistake: Option<StoreMistake>) -> Self {
        let clock = Arc::new(ManualClock::at(NOW));
        let start = |number| SimulatedProcess::start(&store, &clock, mistake, number);
        let processes = [start(0), start(1)];
        let manager = processes[0].manager.clone();
        let created = processes[0].whole(async move { manager.create_thread().await });
        let thread = created.expect("a thread").0.id.clone();
        Self {
            processes,
            started: 2,
            callers: (0..CALLERS).map(|_| Caller::default()).collect(),
            orders: 0,
            thread,
            promises: ThreadPromises::default(),
            result: SimulationResult::default(),
            store,
            clock,
            mistake,
        }
    }

    pub(super) fn play(mut self, decisions: &[Decision]) -> SimulationResult {
        let mut decided = decisions.iter().copied();
        let kept = decided.try_for_each(|decision| self.carry_out(decision));
        self.result.broken = kept.and_then(|()| self.settle()).err();
        self.result
    }

    fn carry_out(&mut self, decision: Decision) -> CheckResult {
        match decision {
            Decision::Go { actor, draw } => {
                if self.callers[actor].act.is_none() {
                    self.begin(actor, draw);
                }
                self.processes[process_of(actor)].step(draw);
            }
            Decision::Crash { actor } => self.crash(process_of(actor)),
            Decision::CrashUnheard { actor } => {
                self.processes[process_of(actor)].step_unheard();
                self.check()?;
                self.crash(process_of(actor));
            }
            Decision::Wait(time) => self.wait(time),
            Decision::SetBack(time) => {
                let back = i64::try_from(time.as_millis()).unwrap_or(0);
                self.clock.set(Timestamp(self.now().0 - back));
                self.say(format!("the clock is set back by {} s", time.as_secs()));
            }
        }
        self.check()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn wait(&mut self, time: Duration) {
        self.clock.advance(time);
        for process in &self.processes {
            process.wait(time);
        }
        self.say(format!("{} s pass", time.as_secs()));
    }

    /// Lets an idle caller begin a call.
    fn begin(&mut self, caller: usize, draw: u32) {
        let mut random = SeededRandom::of(u64::from(draw));
        let process = &self.processes[process_of(caller)];
        let (manager, thread) = (process.manager.clone(), self.thread.clone());
        let (what, act): (_, ManagerCall) = match random.below(16) {
            0 => ("compacts", compact(manager, thread)),
            1 => ("pauses", pause(manager, thread)),
            2 | 3 => ("resumes", resume(manager, thread)),
            5 => ("unloads what rests", unload(manager)),
            6 => ("ends the session", end(manager, thread)),
            7 | 8 => ("orders a pause", self.order("EXECUTION_PAUSE", manager)),
            9 | 10 => ("orders to go on", self.order("EXECUTION_RESUME", manager)),
            kind => {
                let many = 1 + random.index(3);
                self.callers[caller].wish(caller, many, random.below(4) == 0);
                let expected = self.callers[caller].expected.clone();
                match kind {
                    4 => ("appends", append(manager, thread, expected)),
                    _ => ("dispatches", dispatch(manager, thread, expected)),
                }
            }
        };
        let act = self.processes[process_of(caller)].begin(act);
        self.callers[caller].act = Some(act);
        self.say(format!(
            "{caller} {what} {:?}",
            self.callers[caller].expected
        ));
    }

    /// Dispatches a command event, which may wait for ever in a paused thread.
    fn order(&mut self, word: &str, manager: MemoryManager) -> ManagerCall {
        self.orders += 1;
        let order = event(json!({"type": word, "timestamp": 1}));
        let order = order.with_id(format!("order-{}", self.orders));
        let thread = self.thread.clone();
        Box::pin(async move {
            let result = manager.dispatch(&thread, &order).await;
            result.map(drop).map_err(|error| error.to_string())
        })
    }

    /// Ends a process in the middle of its work.
    fn crash(&mut self, process: usize) {
        self.started += 1;
        let new = SimulatedProcess::start(&self.store, &self.clock, self.mistake, self.started);
        self.processes[process] = new;
        for (number, caller) in self.callers.iter_mut().enumerate() {
            if process_of(number) == process {
                (caller.act, caller.expected) = (None, Vec::new());
            }
        }
        self.promises.record_restart(process);
        self.say(format!("process {process} vanishes"));
    }

    fn check(&mut self) -> CheckResult {
        for number in 0..self.processes.len() {
            for call in self.processes[number].take_calls() {
                self.result.calls += 1;
                self.say(format!("process {number}: {call}"));
            }
        }
        let applied = [0, 1].map(|number| self.processes[number].take_applied());
        run(self.promises.check(&*self.store, &self.thread, applied))?;
        for number in 0..CALLERS {
            let process = &self.processes[process_of(number)];
            let Some(kept) = process.end(&mut self.callers[number].act) else {
                continue;
            };
            kept?;
            let expected = std::mem::take(&mut self.callers[number].expected);
            self.promises.check_acknowledged(&expected)?;
            self.say(format!("{number} has what it asked for"));
        }
        Ok(())
    }

    /// Lets all calls end, without new ones, and checks the final state.
    fn settle(&mut self) -> CheckResult {
        for _ in 0..LAST_ROUNDS {
            for _ in 0..8 {
                self.processes.iter().for_each(|process| process.step(0));
                self.check()?;
            }
            let is_quiet = self.callers.iter().all(|caller| caller.act.is_none());
            if is_quiet && !self.promises.stands_still(self.now()) {
                return self.compare();
            }
            let (manager, thread) = (self.processes[0].manager.clone(), self.thread.clone());
            drop(self.processes[0].begin(resume(manager, thread)));
            // Where the clock was set back, a block lasts that much longer.
            self.wait(Duration::from_secs(600));
        }
        let waiting = self.callers.iter().filter(|caller| caller.act.is_some());
        let waiting: Vec<_> = waiting.map(|caller| &caller.expected).collect();
        Err(format!("these wait for ever: {waiting:?}"))
    }

    /// Checks that both processes, and a new one, see the same state.
    fn compare(&mut self) -> CheckResult {
        let states = self.processes.each_ref().map(|process| {
            let (manager, thread) = (process.manager.clone(), self.thread.clone());
            process.whole(async move { manager.current_state(&thread).await })
        });
        let fresh = manager_of(Arc::clone(&self.store), no_auto_compaction());
        run(async {
            let fresh_state = fresh.current_state(&self.thread).await;
            let fresh_state = fresh_state.map_err(|error| error.to_string())?;
            for (number, state) in states.into_iter().enumerate() {
                let state = state.map_err(|error| error.to_string())?;
                if state != fresh_state {
                    return Err(format!(
                        "process {number} sees another state than a new one"
                    ));
                }
            }
            self.promises
                .check_settled(&fresh, &self.thread, &fresh_state)
                .await
        })
    }

    fn say(&mut self, line: String) {
        let since = (self.now().0 - NOW.0) / 1_000;
        self.result.trace.push(format!("{since:>6} s  {line}"));
    }
}

impl Caller {
    /// Chooses the wishes to store next; with `is_again` they begin with the last one of before.
    fn wish(&mut self, caller: usize, many: usize, is_again: bool) {
        let first = match is_again && self.wish_count > 0 {
            true => self.wish_count,
            false => self.wish_count + 1,
        };
        self.wish_count = first + many - 1;
        self.expected = (first..=self.wish_count)
            .map(|it| 1_000 * (caller + 1) + it)
            .collect();
    }
}

fn wishes(numbers: &[usize]) -> Vec<ThreadEvent> {
    let wish = |number: &usize| wish(*number).with_id(format!("wish-{number}"));
    numbers.iter().map(wish).collect()
}

fn dispatch(manager: MemoryManager, thread: SessionId, numbers: Vec<usize>) -> ManagerCall {
    Box::pin(async move {
        let result = manager.dispatch_all(&thread, &wishes(&numbers)).await;
        let result = result.map_err(|error| error.to_string())?;
        let told = result
            .added_chunks
            .iter()
            .map(|it| number_of(&it.content.to_text()));
        let added: Vec<_> = told.flatten().collect();
        // The first one may be a repetition.
        match added == numbers || added == numbers[1..] {
            true => Ok(()),
            false => Err(format!("{numbers:?} were dispatched, and {added:?} told")),
        }
    })
}

fn append(manager: MemoryManager, thread: SessionId, numbers: Vec<usize>) -> ManagerCall {
    Box::pin(async move {
        for wish in wishes(&numbers) {
            let stored = manager.append(&thread, &wish).await;
            stored.map_err(|error| error.to_string())?;
        }
        Ok(())
    })
}

fn compact(manager: MemoryManager, thread: SessionId) -> ManagerCall {
    Box::pin(async move { accept_blocked(manager.trigger_compaction(&thread, None).await) })
}

fn pause(manager: MemoryManager, thread: SessionId) -> ManagerCall {
    Box::pin(async move { accept_blocked(manager.pause(&thread).await) })
}

fn resume(manager: MemoryManager, thread: SessionId) -> ManagerCall {
    Box::pin(async move { accept_blocked(manager.resume(&thread).await) })
}

fn unload(manager: MemoryManager) -> ManagerCall {
    Box::pin(async move { accept_blocked(manager.unload_idle(0).await) })
}

fn end(manager: MemoryManager, thread: SessionId) -> ManagerCall {
    Box::pin(async move { accept_blocked(manager.end_session(&thread).await) })
}

/// Accepts the error that a thread is blocked.
fn accept_blocked<T>(result: Result<T, WorkingError>) -> CheckResult {
    match result {
        Ok(_) | Err(WorkingError::Blocked(_) | WorkingError::NotCompacted(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}
