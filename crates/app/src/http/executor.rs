//! Runs the work of requests on blocking threads, a bounded number at once.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use daybook_domain::Tenant;
use daybook_engine::recall::interface_use::InterfaceUse;
use daybook_engine::stop::Stop;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::{Instrument, Span};

use super::fault::HttpFault;
use super::idempotency::KeyedRequests;
use super::traffic::RequestCounts;
use crate::mcp::{McpEndpoint, SERVED_CALLS};
use crate::service::shown_uses::{Interface, ShownUse, UseQueue};
use crate::wiring::Daybook;

/// Pause between two records of shown memories. Longer loses more of them at a crash.
const RECORD_PAUSE: Duration = Duration::from_secs(1);
/// Most streams that are open at once.
const MAX_STREAMS: usize = 32;

/// The executors of all tenants.
#[derive(Clone)]
pub(super) struct TenantExecutors {
    own: RequestExecutor,
    /// Of other tenants, each made at its first request: a token of a new tenant needs no restart.
    tenants: Arc<Mutex<BTreeMap<Tenant, TenantMemory>>>,
    /// Calls over MCP that are worked on at once, over all tenants.
    calls: Arc<Semaphore>,
}

/// The memory of one tenant, with its MCP server.
#[derive(Clone)]
struct TenantMemory {
    daybook: Arc<Daybook>,
    mcp: Arc<McpEndpoint>,
    /// Memories that answers showed, to be recorded.
    uses: Arc<UseQueue>,
}

impl TenantMemory {
    fn new(daybook: Arc<Daybook>, calls: &Arc<Semaphore>, stop: &Stop) -> Self {
        Self {
            mcp: Arc::new(McpEndpoint::new(&daybook, calls, stop)),
            daybook,
            uses: Arc::default(),
        }
    }

    /// Records what waits, until nothing does. The first record is written at once.
    async fn record_uses(self) {
        while let Some(uses) = self.uses.take() {
            let (daybook, runtime) = (Arc::clone(&self.daybook), Handle::current());
            let written = tokio::task::spawn_blocking(move || {
                for used in uses {
                    let record = ShownUse::new(&daybook, Interface::Http, used);
                    runtime.block_on(record.record());
                }
            });
            // One that broke off costs no later one.
            let _ = written.await;
            tokio::time::sleep(RECORD_PAUSE).await;
        }
    }
}

/// Executes the requests of one tenant. All tenants share one limit on concurrent requests.
#[derive(Clone)]
pub(super) struct RequestExecutor {
    memory: TenantMemory,
    /// Whether the tenant is the server's own, which may see what concerns the whole server.
    is_own: bool,
    request_permits: Arc<Semaphore>,
    /// Permits for streams, which hold them for as long as their clients listen.
    stream_permits: Arc<Semaphore>,
    /// Requests the end of the server.
    stop: Stop,
    traffic: Arc<RequestCounts>,
}

impl TenantExecutors {
    /// Executors for the server's own tenant and all others, which share `most` concurrent requests.
    pub(super) fn new(own: &Arc<Daybook>, most: usize, stop: &Stop) -> Self {
        let calls = Arc::new(Semaphore::new(SERVED_CALLS));
        Self {
            own: RequestExecutor {
                memory: TenantMemory::new(Arc::clone(own), &calls, stop),
                is_own: true,
                request_permits: Arc::new(Semaphore::new(most)),
                stream_permits: Arc::new(Semaphore::new(MAX_STREAMS)),
                stop: stop.clone(),
                traffic: Arc::default(),
            },
            tenants: Arc::default(),
            calls,
        }
    }

    /// The executor of a tenant that has a token.
    fn of(&self, tenant: &Tenant) -> RequestExecutor {
        let own = &self.own.memory.daybook;
        if *tenant == own.tenant {
            return self.own.clone();
        }
        let mut tenants = self.tenants.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = tenants.entry(tenant.clone()).or_insert_with(|| {
            let daybook = Arc::new(own.for_tenant(tenant));
            TenantMemory::new(daybook, &self.calls, &self.own.stop)
        });
        RequestExecutor {
            memory: memory.clone(),
            is_own: false,
            ..self.own.clone()
        }
    }

    /// Counts of the requests so far.
    pub(super) fn traffic(&self) -> Arc<RequestCounts> {
        self.own.traffic()
    }

    /// The requests with a key, of which none is worked on yet.
    pub(super) fn keyed_requests(&self) -> KeyedRequests {
        KeyedRequests::new(&self.own.memory.daybook)
    }
}

/// Finds the executor of the tenant whose token the request carries. The gate has identified the tenant; a route without a
/// token gets no executor, and so no memory.
impl FromRequestParts<TenantExecutors> for RequestExecutor {
    type Rejection = HttpFault;

    async fn from_request_parts(
        parts: &mut Parts,
        executors: &TenantExecutors,
    ) -> Result<Self, HttpFault> {
        let tenant = parts.extensions.get::<Tenant>();
        let tenant = tenant.ok_or_else(|| HttpFault::unauthorized("a token is needed"))?;
        Ok(executors.of(tenant))
    }
}

impl RequestExecutor {
    /// Counts of the requests so far.
    pub(super) fn traffic(&self) -> Arc<RequestCounts> {
        Arc::clone(&self.traffic)
    }

    /// Whether the request may see what concerns all tenants of the server.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    /// The MCP server of the tenant.
    pub(super) fn mcp(&self) -> &McpEndpoint {
        &self.memory.mcp
    }

    /// The request to end the server.
    pub(super) fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// The right to one more stream.
    pub(super) fn stream_permit(&self) -> Result<OwnedSemaphorePermit, HttpFault> {
        let permit = Arc::clone(&self.stream_permits).try_acquire_owned();
        permit.map_err(|_| HttpFault::busy("too many streams at once"))
    }

    /// Records what an answer showed, after it; what many answers in a row showed is recorded together.
    pub(super) fn record_use(&self, used: InterfaceUse) {
        if self.memory.uses.add(used) {
            tokio::spawn(self.memory.clone().record_uses());
        }
    }

    /// Runs `work` on a blocking thread. Its permit is held until the work has ended, even when the request was cancelled
    /// meanwhile.
    pub(super) async fn run<T, F>(
        &self,
        work: impl FnOnce(Arc<Daybook>) -> F + Send + 'static,
    ) -> Result<T, HttpFault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>>,
    {
        let Ok(permit) = Arc::clone(&self.request_permits).try_acquire_owned() else {
            return Err(HttpFault::busy("too many requests at once"));
        };
        let (daybook, runtime) = (Arc::clone(&self.memory.daybook), Handle::current());
        let request = Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let done = runtime.block_on(work(daybook).instrument(request));
            drop(permit);
            done
        });
        match done.await {
            Ok(done) => Ok(done?),
            Err(_) => Err(anyhow::anyhow!("the work broke off").into()),
        }
    }
}
