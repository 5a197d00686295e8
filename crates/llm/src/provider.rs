//! One provider: a connection pool, a bound on requests at once, and one request at a time through them.
//!
//! Models are made from a provider and share all of it, so that however many of them, and whoever in this
//! process asks them, the provider sees no more requests at once than it was configured for.
//!
//! Not here: what is asked, whether to ask again.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use daybook_domain::BoxError;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};
use rustls::RootCertStore;
use tokio::sync::Semaphore;

use crate::config::{ConfigError, ModelConfig, ProviderConfig};
use crate::faults::Fault;
use crate::key::Key;
use crate::model::ChatModel;
use crate::quota::Quota;
use crate::waiting::{TokioWaiter, Waiter, retry_after};
use crate::wire::{Adapter, Heard, Question};

/// Most bytes of an error's body that are read.
const FAULT_BYTES: usize = 64 * 1024;

/// How long an unused connection is kept. Many servers hang up after a minute.
const IDLE_CONNECTION: Duration = Duration::from_secs(30);

/// A provider of models. Clones are the same provider.
#[derive(Clone)]
pub struct Provider(Arc<Shared>);

struct Shared {
    config: ProviderConfig,
    adapter: &'static dyn Adapter,
    url: Url,
    client: Client,
    permits: Semaphore,
    waiter: Box<dyn Waiter>,
    /// What it said last of its limits.
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
        let adapter = config.wire.adapter();
        let base = config.base()?;
        let url = format!("{}{}", base.as_str().trim_end_matches('/'), adapter.path());
        let wrong = |why: String| ConfigError::Client {
            provider: config.name.clone(),
            why,
        };
        let permits = usize::try_from(config.concurrency.get()).unwrap_or(usize::MAX);
        Ok(Self(Arc::new(Shared {
            adapter,
            url: url.parse().map_err(|error| wrong(format!("{error}")))?,
            client: client(&config, &base)?,
            permits: Semaphore::new(permits.min(Semaphore::MAX_PERMITS)),
            waiter,
            quota: Mutex::default(),
            config,
        })))
    }

    /// One of its models.
    #[must_use]
    pub fn model(&self, model: ModelConfig) -> ChatModel {
        ChatModel::new(self.clone(), model)
    }

    pub(crate) fn config(&self) -> &ProviderConfig {
        &self.0.config
    }

    pub(crate) fn adapter(&self) -> &'static dyn Adapter {
        self.0.adapter
    }

    pub(crate) async fn wait(&self, wait: Duration) {
        self.0.waiter.wait(wait).await;
    }

    /// Sends one request and reads its answer, if there is room for one more at once; else waits for it.
    pub(crate) async fn post(&self, question: &Question<'_>) -> Result<Heard, Trouble> {
        let permit = self.0.permits.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        if let Some(wait) = self.is_short() {
            return Err(Trouble::Short(wait));
        }
        let key = self.0.config.key.key().map_err(Trouble::NoKey)?;
        let headers = self.headers(key.as_ref())?;
        let exchange = self.exchange(headers, question, key.as_ref());
        let limit = self.0.config.answer_timeout;
        let answer = tokio::time::timeout(limit, exchange).await;
        answer.unwrap_or(Err(Trouble::TimedOut(limit)))
    }

    /// How long to leave it alone because too little of its limits is left.
    fn is_short(&self) -> Option<Duration> {
        let quota = self.0.quota.lock().unwrap_or_else(PoisonError::into_inner);
        let least = self.0.config.least_remaining_percent;
        quota.as_ref()?.wait(least, Instant::now())
    }

    fn headers(&self, key: Option<&Key>) -> Result<HeaderMap, Trouble> {
        let of_wire = self.0.adapter.headers(key);
        let of_wire = of_wire.ok_or_else(|| {
            Trouble::NoKey("the key has characters that a header cannot carry".into())
        })?;
        let mut headers: HeaderMap = of_wire.into_iter().collect();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(headers)
    }

    async fn exchange(
        &self,
        headers: HeaderMap,
        question: &Question<'_>,
        key: Option<&Key>,
    ) -> Result<Heard, Trouble> {
        let request = self.0.client.post(self.0.url.clone()).headers(headers);
        let body = self.0.adapter.body(question).to_string();
        let sent = request.body(body).send().await;
        let mut response =
            sent.map_err(|error| match error.is_connect() || error.is_builder() {
                true => Trouble::Unreachable(reason(error)),
                false => Trouble::Lost(reason(error)),
            })?;
        let status = response.status();
        if let Some(said) = Quota::of(response.headers(), Instant::now()) {
            *self.0.quota.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
        }
        if !status.is_success() {
            let wait = retry_after(response.headers());
            let said = bounded(&mut response, FAULT_BYTES).await.said();
            return Err(Trouble::Fault(Fault::read(status, &said, key), wait));
        }
        let most = self.0.config.answer_bytes;
        match bounded(&mut response, most).await {
            Body::Whole(bytes) => self.0.adapter.read(&bytes, question).map_err(|why| {
                // Some routers send errors as if they were answers.
                match Fault::within(&bytes, key) {
                    Some(fault) => Trouble::Fault(fault, None),
                    None => Trouble::Broken(why),
                }
            }),
            Body::Cut(_) => Err(Trouble::Broken(
                "the connection ended before the answer was whole".to_owned(),
            )),
            Body::Longer(_) => Err(Trouble::Broken(format!("it is longer than {most} bytes"))),
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
pub(crate) enum Trouble {
    /// Nothing was sent: there is no key to send.
    NoKey(BoxError),
    /// Nothing was sent: too little of its limits is left, for so long.
    Short(Duration),
    /// Nothing was sent: there is no connection.
    Unreachable(String),
    /// It was sent, and the connection ended before an answer began.
    Lost(String),
    /// It was sent, and the answer took too long.
    TimedOut(Duration),
    /// It was answered, and the answer cannot be read.
    Broken(String),
    /// The provider answered that it will not, and when to come back.
    Fault(Fault, Option<Duration>),
}

/// A body, as far as it was read.
enum Body {
    Whole(Vec<u8>),
    Cut(Vec<u8>),
    Longer(Vec<u8>),
}

impl Body {
    fn said(self) -> Vec<u8> {
        let (Self::Whole(bytes) | Self::Cut(bytes) | Self::Longer(bytes)) = self;
        bytes
    }
}

async fn bounded(response: &mut Response, most: usize) -> Body {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > most => {
                bytes.extend_from_slice(&chunk[..most - bytes.len()]);
                return Body::Longer(bytes);
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Body::Whole(bytes),
            Err(_) => return Body::Cut(bytes),
        }
    }
}

/// The innermost cause, which is what a person can do something about. Without the URL.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(cause) = innermost.source() {
        innermost = cause;
    }
    innermost.to_string()
}

fn client(config: &ProviderConfig, base: &Url) -> Result<Client, ConfigError> {
    let wrong = |why: String| ConfigError::Client {
        provider: config.name.clone(),
        why,
    };
    let mut roots = RootCertStore::empty();
    if base.scheme() == "https" {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(ConfigError::NoAuthorities {
                provider: config.name.clone(),
            });
        }
    }
    let ring = rustls::crypto::ring::default_provider();
    let tls = rustls::ClientConfig::builder_with_provider(Arc::new(ring))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // A redirect would carry the question elsewhere, and a proxy from the environment would be nobody's
    // setting.
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .connect_timeout(config.connect_timeout)
        .pool_idle_timeout(IDLE_CONNECTION)
        .user_agent(concat!("daybook/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| wrong(reason(error)))
}
