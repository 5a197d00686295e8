//! Appends that commit together.
//!
//! A transaction costs the server much the same for any content: its statements are parsed and planned, and its
//! commit waits for the disk. So one task of the store takes the appends that wait at the same moment and
//! writes them in one transaction, a few statements for all. Each is answered after the COMMIT.
//!
//! A group never waits for a lock and never creates a session, a place or a job. An append that needs this
//! is left out of the group and written in a transaction of its own, as is each append of a group that was
//! refused, so that no caller gets the error of another.
//!
//! Not here: what an append writes (`append_group`, `sessions`).

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use daybook_domain::limits::{APPEND_BYTES, APPEND_EVENTS};
use daybook_domain::seams::{Append, AppendOutcome};
use daybook_domain::{SessionId, StoreError};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use super::append_group::add_group;
use super::connection::{TenantAccess, Tx};
use super::{PostgresStore, outcome, sessions};

/// Most appends in the task's queue; further callers wait for room in it.
const WAITING: usize = 1_024;
/// Most sessions that are remembered as existing; beyond it all are forgotten, and learned again from appends
/// in transactions of their own.
const KNOWN: usize = 16_384;

/// Longest wait of a caller beyond the limit of a call: a group that uses up its own limit answers its callers
/// itself.
const AFTER_GROUP: Duration = Duration::from_millis(500);

/// An append, and the channel to its caller.
struct AppendRequest {
    append: Append,
    reply: oneshot::Sender<Result<AppendOutcome, StoreError>>,
}

/// Hands appends to the task that commits them in groups.
#[derive(Debug)]
pub(super) struct AppendQueue {
    requests: mpsc::Sender<AppendRequest>,
    /// Sessions that this store has appended to: groups append to existing sessions only.
    known: Mutex<HashSet<SessionId>>,
}

impl AppendQueue {
    /// Starts the task, which ends when the last returned handle is dropped.
    pub(super) fn start(driver: &Handle, store: PostgresStore) -> Arc<Self> {
        let (requests, waiting) = mpsc::channel(WAITING);
        driver.spawn(serve(store, waiting));
        Arc::new(Self {
            requests,
            known: Mutex::default(),
        })
    }

    fn is_known(&self, session: &SessionId) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(session)
    }

    fn remember(&self, session: &SessionId) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(session.clone());
    }
}

impl PostgresStore {
    /// Appends, in a transaction with others where that is possible. The caller has checked the append.
    pub(super) async fn append_together(
        &self,
        append: &Append,
    ) -> Result<AppendOutcome, StoreError> {
        let groups = self.appends.as_ref();
        // Appends with files or with evidence of a folder's identity are rare and take statements of their own.
        let is_events_alone =
            append.source.is_none() && append.import.is_none() && append.remotes.is_empty();
        let groups = groups.filter(|_| is_events_alone);
        let Some(groups) = groups else {
            return self.append_alone(append).await;
        };
        if !groups.is_known(&append.session.id) {
            let appended = self.append_alone(append).await?;
            groups.remember(&append.session.id);
            return Ok(appended);
        }
        let (reply, appended) = oneshot::channel();
        let append = append.clone();
        let gone = || StoreError::Busy("the task that commits appends has ended".into());
        let answered = async {
            let sent = groups.requests.send(AppendRequest { append, reply }).await;
            sent.map_err(|_| gone())?;
            appended.await.unwrap_or_else(|_| Err(gone()))
        };
        let limit = self.options.call + AFTER_GROUP;
        let answered = timeout(limit, answered).await;
        answered.unwrap_or_else(|_| {
            let why = format!(
                "appends before it have not ended within {} s",
                limit.as_secs()
            );
            Err(outcome::unknown_outcome(&self.server, why.into()))
        })
    }

    async fn append_alone(&self, append: &Append) -> Result<AppendOutcome, StoreError> {
        let access = TenantAccess::Only(&append.session.id.tenant);
        let adding = |tx: Tx| async move { Ok(sessions::add(&tx, append, &[]).await?.outcome()) };
        self.write(access, adding).await
    }
}

/// Commits requests until the store is dropped.
async fn serve(store: PostgresStore, mut requests: mpsc::Receiver<AppendRequest>) {
    // Appends written alone may wait for locks; half of the connections stay free of them.
    let alone = Arc::new(Semaphore::new((store.options.connections / 2).max(1)));
    let store = Arc::new(store);
    let mut waiting = VecDeque::new();
    loop {
        if waiting.is_empty() {
            match requests.recv().await {
                Some(request) => waiting.push_back(request),
                None => return,
            }
        }
        while waiting.len() < WAITING
            && let Ok(request) = requests.try_recv()
        {
            waiting.push_back(request);
        }
        let group = next_group(&mut waiting);
        if !group.is_empty() {
            // In a task of its own: a panic affects that group alone, whose callers get an error.
            let committing = commit(Arc::clone(&store), Arc::clone(&alone), group);
            let _ = tokio::spawn(committing).await;
        }
    }
}

/// Takes the first request in the queue, and those of the same tenant that fit: no more events and bytes than
/// one append of the greatest size. Drops requests without a caller.
fn next_group(waiting: &mut VecDeque<AppendRequest>) -> Vec<AppendRequest> {
    waiting.retain(|request| !request.reply.is_closed());
    let (mut group, mut left): (Vec<AppendRequest>, _) = (Vec::new(), VecDeque::new());
    let (mut events, mut bytes) = (0, 0);
    for request in waiting.drain(..) {
        let size = size_of(&request.append);
        let fits = events + size.0 <= APPEND_EVENTS && bytes + size.1 <= APPEND_BYTES;
        let tenant = |request: &AppendRequest| request.append.session.id.tenant.clone();
        match group.first() {
            Some(first) if !fits || tenant(first) != tenant(&request) => left.push_back(request),
            Some(_) | None => {
                (events, bytes) = (events + size.0, bytes + size.1);
                group.push(request);
            }
        }
    }
    *waiting = left;
    group
}

fn size_of(append: &Append) -> (usize, usize) {
    let bytes = append.events.iter().map(|event| event.text.len()).sum();
    (append.events.len().max(1), bytes)
}

/// Commits a group, and answers each caller.
async fn commit(store: Arc<PostgresStore>, alone: Arc<Semaphore>, group: Vec<AppendRequest>) {
    let (appends, replies): (Vec<Append>, Vec<_>) = group
        .into_iter()
        .map(|request| (request.append, request.reply))
        .unzip();
    let tenant = appends[0].session.id.tenant.clone();
    let together = store.write(TenantAccess::Only(&tenant), |tx: Tx| {
        let appends = &appends;
        async move { add_group(&tx, appends).await }
    });
    let outcomes: Vec<Option<Result<AppendOutcome, StoreError>>> = match together.await {
        Ok(appended) => appended.into_iter().map(|done| done.map(Ok)).collect(),
        // Writing each append alone would fail as well: the tries are spent.
        Err(StoreError::Busy(cause)) => {
            let busy = |_: &Append| Some(Err(StoreError::Busy(cause.to_string().into())));
            appends.iter().map(busy).collect()
        }
        Err(StoreError::Unavailable { what, source }) => {
            let unavailable = |_: &Append| {
                let (what, source) = (what.clone(), source.to_string().into());
                Some(Err(StoreError::Unavailable { what, source }))
            };
            appends.iter().map(unavailable).collect()
        }
        Err(
            StoreError::TooNew { .. }
            | StoreError::NotFound(_)
            | StoreError::Refused(_)
            | StoreError::Corrupt(_),
        ) => appends.iter().map(|_| None).collect(),
    };
    for ((append, reply), outcome) in appends.into_iter().zip(replies).zip(outcomes) {
        match outcome {
            // A caller that has gone does not learn that its append was stored.
            Some(outcome) => drop(reply.send(outcome)),
            None => {
                // Beside the groups, so that they do not wait for the locks of this one.
                let (store, alone) = (Arc::clone(&store), Arc::clone(&alone));
                tokio::spawn(answer_alone(store, alone, append, reply));
            }
        }
    }
}

/// Writes an append in a transaction of its own, which ends with its caller.
async fn answer_alone(
    store: Arc<PostgresStore>,
    alone: Arc<Semaphore>,
    append: Append,
    mut reply: oneshot::Sender<Result<AppendOutcome, StoreError>>,
) {
    let writing = async {
        // The semaphore is never closed.
        let _permit = alone.acquire().await;
        store.append_alone(&append).await
    };
    let outcome = tokio::select! {
        outcome = writing => outcome,
        () = reply.closed() => return,
    };
    drop(reply.send(outcome));
}
