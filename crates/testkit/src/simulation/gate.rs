//! Holds an actor before each of its calls until the scheduler lets one of them through.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park};

/// One actor's gate. Several concurrent calls of one actor can wait here.
#[derive(Debug, Clone, Default)]
pub struct CallGate(Arc<Mutex<GateState>>);

#[derive(Debug, Default)]
struct GateState {
    last: u64,
    /// The calls that wait, by ticket number, in the order of their arrival.
    waiting: Vec<(u64, Waker)>,
    /// The ticket number of the call that may pass.
    open_for: Option<u64>,
    /// Whether the actor vanishes before the answer of its call reaches it.
    loses_answers: bool,
}

impl CallGate {
    /// Waits until the scheduler lets this call through.
    pub async fn pause(&self) {
        let ticket = Ticket {
            gate: self,
            number: self.next_number(),
        };
        poll_fn(|context| {
            let mut state = self.lock();
            if state.open_for == Some(ticket.number) {
                state.open_for = None;
                return Poll::Ready(());
            }
            state.waiting.retain(|(number, _)| *number != ticket.number);
            let waker = context.waker().clone();
            state.waiting.push((ticket.number, waker));
            state.waiting.sort_unstable_by_key(|(number, _)| *number);
            Poll::Pending
        })
        .await;
    }

    /// Returns at once where the actor may receive the answer of its call; otherwise never.
    pub fn await_answer(&self) -> impl Future<Output = ()> + Send + use<> {
        let loses_answers = self.lock().loses_answers;
        async move {
            if loses_answers {
                pending::<()>().await;
            }
        }
    }

    /// Lets one waiting call through; `draw` chooses which. False when none waits.
    pub fn open(&self, draw: u32) -> bool {
        let mut state = self.lock();
        if state.waiting.is_empty() {
            return false;
        }
        let chosen = draw as usize % state.waiting.len();
        let (number, waker) = state.waiting.remove(chosen);
        state.open_for = Some(number);
        drop(state);
        waker.wake();
        true
    }

    /// Sets whether the actor receives no more answers of its calls.
    pub fn set_loses_answers(&self, loses_answers: bool) {
        self.lock().loses_answers = loses_answers;
    }

    fn next_number(&self) -> u64 {
        let mut state = self.lock();
        state.last += 1;
        state.last
    }

    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Executes a call as a single step, also where it waits for a server: no other actor runs meanwhile.
pub async fn whole<T>(call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);
    let waker = Waker::from(Arc::new(Unpark(current())));
    poll_fn(|_| {
        loop {
            let polled = call.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() {
                return polled;
            }
            park();
        }
    })
    .await
}

/// Wakes a parked thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A call's place before the gate, given up when the call is dropped.
struct Ticket<'a> {
    gate: &'a CallGate,
    number: u64,
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut state = self.gate.lock();
        state.waiting.retain(|(number, _)| *number != self.number);
        if state.open_for == Some(self.number) {
            state.open_for = None;
        }
    }
}
