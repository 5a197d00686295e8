//! Where work is done that a request asks for.

use std::future::Future;
use std::sync::Arc;

use anyhow::Result;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::{Instrument, Span};

use super::fault::Fault;
use super::traffic::Traffic;
use crate::wiring::Daybook;

/// Where requests are served, a bounded number at once.
#[derive(Clone)]
pub(super) struct Counter {
    daybook: Arc<Daybook>,
    room: Arc<Semaphore>,
    traffic: Arc<Traffic>,
}

impl Counter {
    pub(super) fn new(daybook: Arc<Daybook>, most: usize) -> Self {
        let room = Arc::new(Semaphore::new(most));
        Self {
            daybook,
            room,
            traffic: Arc::default(),
        }
    }

    /// What was asked so far.
    pub(super) fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    /// Does `work` on a thread that it may block, and holds its place until it is really done,
    /// even when nobody waits for it any more.
    pub(super) async fn serve<T, F>(
        &self,
        work: impl FnOnce(Arc<Daybook>) -> F + Send + 'static,
    ) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>>,
    {
        let Ok(place) = Arc::clone(&self.room).try_acquire_owned() else {
            return Err(Fault::busy("too many requests at once"));
        };
        let (daybook, runtime) = (Arc::clone(&self.daybook), Handle::current());
        let request = Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let done = runtime.block_on(work(daybook).instrument(request));
            drop(place);
            done
        });
        match done.await {
            Ok(done) => Ok(done?),
            Err(_) => Err(anyhow::anyhow!("the work broke off").into()),
        }
    }
}
