//! Where work is done that a request asks for.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use anyhow::Result;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use daybook_domain::Tenant;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::{Instrument, Span};

use super::fault::Fault;
use super::traffic::Traffic;
use crate::wiring::Daybook;

/// Where the requests of every tenant are served.
#[derive(Clone)]
pub(super) struct Counters {
    own: Counter,
    tenants: Arc<BTreeMap<Tenant, Arc<Daybook>>>,
}

/// Where the requests of one tenant are served, a bounded number of all tenants' at once.
#[derive(Clone)]
pub(super) struct Counter {
    daybook: Arc<Daybook>,
    /// The tenant is the server's own, which is shown what concerns the whole server.
    is_own: bool,
    room: Arc<Semaphore>,
    traffic: Arc<Traffic>,
}

impl Counters {
    /// Those of the server's own tenant and of `tenants`, which share `most` places.
    pub(super) fn new<'a>(
        own: &Arc<Daybook>,
        tenants: impl Iterator<Item = &'a Tenant>,
        most: usize,
    ) -> Self {
        let others = tenants.filter(|tenant| **tenant != own.tenant);
        let tenants = others.map(|tenant| (tenant.clone(), Arc::new(own.of_tenant(tenant))));
        Self {
            own: Counter {
                daybook: Arc::clone(own),
                is_own: true,
                room: Arc::new(Semaphore::new(most)),
                traffic: Arc::default(),
            },
            tenants: Arc::new(tenants.collect()),
        }
    }

    /// What was asked so far.
    pub(super) fn traffic(&self) -> Arc<Traffic> {
        self.own.traffic()
    }
}

/// The counter of the tenant whose token the request carries. The gate has named the tenant; a route that
/// needs no token reaches no memory.
impl FromRequestParts<Counters> for Counter {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, counters: &Counters) -> Result<Self, Fault> {
        let tenant = parts.extensions.get::<Tenant>();
        let tenant = tenant.ok_or_else(|| Fault::unauthorized("a token is needed"))?;
        if *tenant == counters.own.daybook.tenant {
            return Ok(counters.own.clone());
        }
        let daybook = counters.tenants.get(tenant);
        let daybook =
            daybook.ok_or_else(|| Fault::unauthorized("the token is not this server's"))?;
        Ok(Self {
            daybook: Arc::clone(daybook),
            is_own: false,
            ..counters.own.clone()
        })
    }
}

impl Counter {
    /// What was asked so far.
    pub(super) fn traffic(&self) -> Arc<Traffic> {
        Arc::clone(&self.traffic)
    }

    /// Whether the request may see what concerns all tenants of the server.
    pub(super) fn is_own(&self) -> bool {
        self.is_own
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
