//! Where an actor stops before each of its calls, until the scheduler lets one of them through.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{Thread, current, park};

/// One actor's gate. Work that an actor does side by side waits here side by side.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// Those before the gate, in the order in which they came.
    waiting: Vec<(u64, Waker)>,
    /// Who may pass.
    open_for: Option<u64>,
    /// The actor vanishes before it hears how its call went.
    deaf: bool,
}

impl Gate {
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

    /// Returns when the actor is there to hear the answer of a call: at once, or never.
    pub fn hear(&self) -> impl Future<Output = ()> + Send + use<> {
        let deaf = self.lock().deaf;
        async move {
            if deaf {
                pending::<()>().await;
            }
        }
    }

    /// Lets one of those that wait through, if there is any.
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

    /// Whether the actor hears how its calls go.
    pub fn set_deaf(&self, deaf: bool) {
        self.lock().deaf = deaf;
    }

    fn next_number(&self) -> u64 {
        let mut state = self.lock();
        state.last += 1;
        state.last
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Carries a call out as a single step, also where it waits for a server: nobody else acts meanwhile.
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

/// Goes on with a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// A place before the gate, given up when whoever holds it vanishes.
struct Ticket<'a> {
    gate: &'a Gate,
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
