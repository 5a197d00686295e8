//! Runs the work of requests on blocking threads, a bounded number at once.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

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
use crate::service::shown_uses::{Interface, ShownUse};
use crate::wiring::Daybook;

/// Most records of shown memories that are written at once.
const MAX_RECORDS: usize = 4;
/// Most streams that are open at once.
const MAX_STREAMS: usize = 32;

/// The executors of all tenants.
#[derive(Clone)]
pub(super) struct TenantExecutors {
    own: RequestExecutor,
    tenants: Arc<BTreeMap<Tenant, TenantMemory>>,
}

/// The memory of one tenant, with its MCP server.
#[derive(Clone)]
struct TenantMemory {
    daybook: Arc<Daybook>,
    mcp: Arc<McpEndpoint>,
}

/// Executes the requests of one tenant. All tenants share one limit on concurrent requests.
#[derive(Clone)]
pub(super) struct RequestExecutor {
    memory: TenantMemory,
    /// Whether the tenant is the server's own, which may see what concerns the whole server.
    is_own: bool,
    request_permits: Arc<Semaphore>,
    /// Permits for records of shown memories, so that these take none from requests.
    record_permits: Arc<Semaphore>,
    /// Permits for streams, which hold them for as long as their clients listen.
    stream_permits: Arc<Semaphore>,
    /// Requests the end of the server.
    stop: Stop,
    traffic: Arc<RequestCounts>,
}

impl TenantExecutors {
    /// Executors for the server's own tenant and for `tenants`, which share `most` concurrent requests.
    pub(super) fn new<'a>(
        own: &Arc<Daybook>,
        tenants: impl Iterator<Item = &'a Tenant>,
        most: usize,
        stop: &Stop,
    ) -> Self {
        let calls = Arc::new(Semaphore::new(SERVED_CALLS));
        let memory = |daybook: Arc<Daybook>| TenantMemory {
            mcp: Arc::new(McpEndpoint::new(&daybook, &calls, stop)),
            daybook,
        };
        let others = tenants.filter(|tenant| **tenant != own.tenant);
        let tenants =
            others.map(|tenant| (tenant.clone(), memory(Arc::new(own.for_tenant(tenant)))));
        Self {
            own: RequestExecutor {
                memory: memory(Arc::clone(own)),
                is_own: true,
                request_permits: Arc::new(Semaphore::new(most)),
                record_permits: Arc::new(Semaphore::new(MAX_RECORDS)),
                stream_permits: Arc::new(Semaphore::new(MAX_STREAMS)),
                stop: stop.clone(),
                traffic: Arc::default(),
            },
            tenants: Arc::new(tenants.collect()),
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
        if *tenant == executors.own.memory.daybook.tenant {
            return Ok(executors.own.clone());
        }
        let memory = executors.tenants.get(tenant);
        let memory =
            memory.ok_or_else(|| HttpFault::unauthorized("the token is not this server's"))?;
        Ok(Self {
            memory: memory.clone(),
            is_own: false,
            ..executors.own.clone()
        })
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

    /// Records what an answer showed, on a blocking thread. The record is dropped when [`MAX_RECORDS`] are being written
    /// already.
    pub(super) fn record_use(&self, used: InterfaceUse) {
        let Ok(permit) = Arc::clone(&self.record_permits).try_acquire_owned() else {
            return;
        };
        let (record, runtime) = (
            ShownUse::new(&self.memory.daybook, Interface::Http, used),
            Handle::current(),
        );
        tokio::task::spawn_blocking(move || {
            runtime.block_on(record.record());
            drop(permit);
        });
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
