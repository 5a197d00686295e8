//! One provider: a connection pool, a bound on requests at once, and one request at a time through them.
//!
//! Models are made from a provider and share all of it, so that for any number of them and of callers in this
//! process, the provider sees no more requests at once than configured.
//!
//! Not here: the content of requests, whether to send one again.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use daybook_domain::BoxError;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};
use rustls::RootCertStore;
use tokio::sync::Semaphore;

use crate::config::{ConfigError, ProviderConfig};
use crate::faults::ProviderFault;
use crate::key::Key;
use crate::quota::Quota;
use crate::waiting::{TokioWaiter, Waiter, retry_after};
use crate::wire::{Adapter, WireReply, WireRequest};

/// Most bytes of an error's body that are read.
const FAULT_BYTES: usize = 64 * 1024;

/// How long an unused connection is kept. Many servers hang up after a minute.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

/// A provider of models. Clones are the same provider.
#[derive(Clone)]
pub struct Provider(Arc<ProviderState>);

struct ProviderState {
    config: ProviderConfig,
    base: Url,
    client: Client,
    permits: Semaphore,
    waiter: Box<dyn Waiter>,
    /// The rate limits that it last reported.
    quota: Mutex<Option<Quota>>,
}

impl Provider {
    /// A provider that waits by tokio's clock. Sends nothing.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn new(config: ProviderConfig) -> Result<Self, ConfigError> {
        Self::with_waiter(config, Box::new(TokioWaiter))
    }

    /// A provider whose waits between tries are `waiter`'s.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn with_waiter(
        config: ProviderConfig,
        waiter: Box<dyn Waiter>,
    ) -> Result<Self, ConfigError> {
        let base = config.base()?;
        let permits = usize::try_from(config.concurrency.get()).unwrap_or(usize::MAX);
        Ok(Self(Arc::new(ProviderState {
            client: client(&config.name, &base, config.connect_timeout)?,
            base,
            permits: Semaphore::new(permits.min(Semaphore::MAX_PERMITS)),
            waiter,
            quota: Mutex::default(),
            config,
        })))
    }

    pub(crate) fn config(&self) -> &ProviderConfig {
        &self.0.config
    }

    pub(crate) async fn wait(&self, wait: Duration) {
        self.0.waiter.wait(wait).await;
    }

    /// Sends one request and reads its answer, if there is room for one more at once; else waits for it.
    pub(crate) async fn post(
        &self,
        adapter: &dyn Adapter,
        question: &WireRequest<'_>,
    ) -> Result<WireReply, ExchangeError> {
        let permit = self.0.permits.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        if let Some(wait) = self.rate_limited_for() {
            return Err(ExchangeError::RateLimited(wait));
        }
        let key = self.0.config.key.key().map_err(ExchangeError::NoKey)?;
        let exchange = self.exchange(adapter, question, key.as_ref());
        let limit = self.0.config.answer_timeout;
        let answer = tokio::time::timeout(limit, exchange).await;
        answer.unwrap_or(Err(ExchangeError::TimedOut(limit)))
    }

    /// How long to send nothing because too little of its rate limits is left.
    #[expect(
        clippy::disallowed_methods,
        reason = "measures the time since a provider stated its limits"
    )]
    fn rate_limited_for(&self) -> Option<Duration> {
        let quota = self.0.quota.lock().unwrap_or_else(PoisonError::into_inner);
        let least = self.0.config.least_remaining_percent;
        quota.as_ref()?.rate_limited_for(least, Instant::now())
    }

    /// Where an adapter's requests go. A base holds no query, so its path is all that comes behind the host.
    fn url(&self, adapter: &dyn Adapter) -> Url {
        let mut url = self.0.base.clone();
        let path = format!("{}{}", url.path().trim_end_matches('/'), adapter.path());
        url.set_path(&path);
        url
    }

    fn headers(adapter: &dyn Adapter, key: Option<&Key>) -> Result<HeaderMap, ExchangeError> {
        let of_wire = adapter.headers(key);
        let of_wire = of_wire.ok_or_else(|| {
            ExchangeError::NoKey("the key has characters that a header cannot carry".into())
        })?;
        let mut headers: HeaderMap = of_wire.into_iter().collect();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(headers)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "measures the time since a provider stated its limits"
    )]
    async fn exchange(
        &self,
        adapter: &dyn Adapter,
        question: &WireRequest<'_>,
        key: Option<&Key>,
    ) -> Result<WireReply, ExchangeError> {
        let headers = Self::headers(adapter, key)?;
        let request = self.0.client.post(self.url(adapter)).headers(headers);
        let body = adapter.body(question).to_string();
        let sent = request.body(body).send().await;
        let mut response =
            sent.map_err(|error| match error.is_connect() || error.is_builder() {
                true => ExchangeError::Unreachable(reason(error)),
                false => ExchangeError::ConnectionLost(reason(error)),
            })?;
        let status = response.status();
        if let Some(quota) = Quota::of(response.headers(), Instant::now()) {
            *self.0.quota.lock().unwrap_or_else(PoisonError::into_inner) = Some(quota);
        }
        if !status.is_success() {
            let wait = retry_after(response.headers());
            let bytes = read_bounded(&mut response, FAULT_BYTES).await.into_bytes();
            return Err(ExchangeError::Fault(
                ProviderFault::read(status, &bytes, key),
                wait,
            ));
        }
        let most = self.0.config.answer_bytes;
        match read_bounded(&mut response, most).await {
            ReadBody::Whole(bytes) => adapter.read(&bytes, question).map_err(|why| {
                // Some routers send errors as if they were answers.
                match ProviderFault::within(&bytes, key) {
                    Some(fault) => ExchangeError::Fault(fault, None),
                    None => ExchangeError::Unreadable(why),
                }
            }),
            ReadBody::Cut(_) => Err(ExchangeError::Unreadable(
                "the connection ended before the answer was whole".to_owned(),
            )),
            ReadBody::Longer(_) => Err(ExchangeError::Unreadable(format!(
                "it is longer than {most} bytes"
            ))),
        }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Provider").field(&self.0.config).finish()
    }
}

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) enum ExchangeError {
    /// Nothing was sent: there is no key to send.
    NoKey(BoxError),
    /// Nothing was sent: too little of its rate limits is left, for so long.
    RateLimited(Duration),
    /// Nothing was sent: there is no connection.
    Unreachable(String),
    /// It was sent, and the connection ended before an answer began.
    ConnectionLost(String),
    /// It was sent, and the answer took too long.
    TimedOut(Duration),
    /// It was answered, and the answer cannot be read.
    Unreadable(String),
    /// The provider answered with an error, and perhaps with a time to wait.
    Fault(ProviderFault, Option<Duration>),
}

/// A body, as far as it was read.
pub(crate) enum ReadBody {
    Whole(Vec<u8>),
    Cut(Vec<u8>),
    Longer(Vec<u8>),
}

impl ReadBody {
    fn into_bytes(self) -> Vec<u8> {
        let (Self::Whole(bytes) | Self::Cut(bytes) | Self::Longer(bytes)) = self;
        bytes
    }
}

pub(crate) async fn read_bounded(response: &mut Response, most: usize) -> ReadBody {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > most => {
                bytes.extend_from_slice(&chunk[..most - bytes.len()]);
                return ReadBody::Longer(bytes);
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return ReadBody::Whole(bytes),
            Err(_) => return ReadBody::Cut(bytes),
        }
    }
}

/// The innermost cause, which is what a person can do something about. Without the URL.
pub(crate) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

/// A client of the server called `name`.
pub(crate) fn client(
    name: &str,
    base: &Url,
    connect_timeout: Duration,
) -> Result<Client, ConfigError> {
    let wrong = |why: String| ConfigError::Client {
        provider: name.to_owned(),
        why,
    };
    let mut roots = RootCertStore::empty();
    if base.scheme() == "https" {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(ConfigError::NoAuthorities {
                provider: name.to_owned(),
            });
        }
    }
    let ring = rustls::crypto::ring::default_provider();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(ring))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // A redirect would carry the question elsewhere, and a proxy from the environment would be no setting of
    // Daybook's.
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .connect_timeout(connect_timeout)
        .pool_idle_timeout(IDLE_CONNECTION)
        .user_agent(concat!("daybook/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| wrong(reason(error)))
}
