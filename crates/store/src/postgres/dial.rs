//! Opens connections: encrypted, and driven by a runtime of the store's own, so that they outlive the runtime
//! of the caller that first needed one.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use daybook_domain::StoreError;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

/// When to probe an idle connection: after this time, at this interval, and so often.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;
/// How long sent data may stay without an acknowledgement.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// The authorities that may issue an encrypting server's certificate. The certificate has to be signed by one
/// of them, to be valid now, and to name the address's host as a subject's alternative name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Trust {
    /// The authorities that the machine trusts.
    #[default]
    System,
    /// Those in a PEM file, and no other. A server that does not encrypt is then refused unless the address has
    /// `sslmode=disable`, because an attacker in between could answer in its place.
    File(PathBuf),
}

impl Trust {
    fn roots(&self) -> Result<RootCertStore, StoreError> {
        let mut roots = RootCertStore::empty();
        match self {
            // A machine may have none, and need none: a socket is not encrypted.
            Self::System => {
                let found = rustls_native_certs::load_native_certs();
                roots.add_parsable_certificates(found.certs);
            }
            Self::File(path) => {
                let unreadable = |why: &dyn std::fmt::Display| {
                    StoreError::Refused(format!("{} holds no certificate: {why}", path.display()))
                };
                let found = CertificateDer::pem_file_iter(path).map_err(|e| unreadable(&e))?;
                for certificate in found {
                    let certificate = certificate.map_err(|e| unreadable(&e))?;
                    roots.add(certificate).map_err(|e| unreadable(&e))?;
                }
                if roots.is_empty() {
                    return Err(unreadable(&"it is empty"));
                }
            }
        }
        Ok(roots)
    }
}

/// Parses an address and adds the store's defaults.
pub(super) fn config(
    address: &str,
    trust: &Trust,
    connect: Duration,
) -> Result<Config, StoreError> {
    let mut config: Config = address.parse().map_err(|error| address_error(&error))?;
    config.application_name("daybook").connect_timeout(connect);
    set_keepalives(&mut config);
    let is_local = |host: &Host| matches!(host, Host::Unix(_));
    if config.get_ssl_mode() == SslMode::Prefer {
        if config.get_hosts().iter().all(is_local) {
            // Nothing leaves the machine, and asking would be a round trip.
            config.ssl_mode(SslMode::Disable);
        } else if matches!(trust, Trust::File(_)) {
            config.ssl_mode(SslMode::Require);
        }
    }
    Ok(config)
}

/// Sets keepalives that detect a lost peer, unless the address sets them.
fn set_keepalives(config: &mut Config) {
    let unset = Config::new();
    if config.get_keepalives_idle() == unset.get_keepalives_idle() {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(KEEPALIVE_RETRIES);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(UNACKNOWLEDGED);
    }
}

fn address_error(error: &Error) -> StoreError {
    let reason = std::error::Error::source(error).map_or(error.to_string(), ToString::to_string);
    let hint = match reason.contains("`ssl") {
        true => {
            "; sslmode is disable, prefer or require, which checks the certificate and the name in \
             it, and the setting store_ca names the file of the authority"
        }
        false => "",
    };
    StoreError::Refused(format!(
        "the address of the database cannot be read: {reason}{hint}"
    ))
}

/// How a person can make an untrusted server trusted; `None` for other errors. Trying again does not help.
pub(super) fn trust_advice(error: &Error) -> Option<&'static str> {
    let cause = std::error::Error::source(error)?;
    if cause.to_string() == "server does not support TLS" {
        return Some(
            "switch ssl on in its postgresql.conf; on a trusted network, the address may also set \
             sslmode=disable",
        );
    }
    let cause = cause.downcast_ref::<std::io::Error>()?.get_ref()?;
    let rustls::Error::InvalidCertificate(why) = cause.downcast_ref::<rustls::Error>()? else {
        return None;
    };
    Some(match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is not from an authority that is trusted here; set store_ca to the PEM file \
             of the authority that issued it, if it is the right server"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is another host's; use an address with a host name that the certificate \
             lists as a subject alternative name"
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid now; renew it, or set this machine's date"
        }
        _ => "its certificate is not one for a server; issue another",
    })
}

/// The runtime that drives connections.
#[derive(Debug)]
pub(super) struct DialerRuntime(Option<Runtime>);

impl DialerRuntime {
    pub(super) fn start() -> Result<Self, StoreError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| StoreError::Unavailable {
            what: "a thread for connections".to_owned(),
            source: error.into(),
        })?;
        Ok(Self(Some(runtime)))
    }

    pub(super) fn handle(&self) -> &Handle {
        let runtime = self.0.as_ref();
        runtime.expect("it runs until it is dropped").handle()
    }
}

impl Drop for DialerRuntime {
    fn drop(&mut self) {
        // The dropping thread may be a runtime's own, which must not block.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Opens connections.
#[derive(Clone)]
pub(super) struct Dialer {
    /// The runtime on which connections are driven.
    pub(super) driver: Handle,
    tls: MakeRustlsConnect,
}

impl Dialer {
    pub(super) fn new(driver: &DialerRuntime, trust: &Trust) -> Result<Self, StoreError> {
        let provider = Arc::new(ring::default_provider());
        let versions = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| StoreError::Unavailable {
                what: "encryption".to_owned(),
                source: error.into(),
            })?;
        let config = versions
            .with_root_certificates(trust.roots()?)
            .with_no_client_auth();
        Ok(Self {
            driver: driver.handle().clone(),
            tls: MakeRustlsConnect::new(config),
        })
    }
}

/// The connection future, which has to be polled for a client's answers to arrive.
pub(super) type DialedConnection =
    Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

impl Dialer {
    /// Opens a connection that is not polled yet. Call it only on the driver.
    pub(super) async fn dial(&self, config: &Config) -> Result<(Client, DialedConnection), Error> {
        config.connect(self.tls.clone()).await
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dialer")
    }
}

impl Dialer {
    /// Opens a connection, and drives it in a task.
    pub(super) async fn connect(&self, config: &Config) -> Result<(Client, JoinHandle<()>), Error> {
        let (config, dialer) = (config.clone(), self.clone());
        let dialing = self.driver.spawn(async move {
            let (client, wire) = dialer.dial(&config).await?;
            // A caller that waits for an answer gets the connection's error itself.
            let driven = dialer.driver.spawn(async move { drop(wire.await) });
            Ok((client, driven))
        });
        match dialing.await {
            Ok(dialed) => dialed,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            // The store was dropped; a caller that still waits gives up at its time limit.
            Err(_) => std::future::pending().await,
        }
    }
}
