//! Servers that encrypt, and those that should.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use daybook_testkit::postgres::{Identity, PostgresServer};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::NamedTempFile;

use super::*;

const HOST: &str = "db.example";
const PASSWORD: &str = "correct-horse";

/// An authority; `TRUSTED` has issued the server's certificate.
struct Authority(CertifiedIssuer<'static, KeyPair>);

static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
/// A server that encrypts, and its port.
static ENCRYPTED: LazyLock<Option<(PostgresServer, u16)>> =
    LazyLock::new(|| PostgresServer::over_tcp(Some(&TRUSTED.identity_of(HOST)), PASSWORD));

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new([]).expect("no name is a wrong one");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        Self(CertifiedIssuer::self_signed(params, key).expect("it may sign"))
    }

    fn identity_of(&self, host: &str) -> Identity {
        let params = CertificateParams::new([host.to_owned()]).expect("a host's name");
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = params.signed_by(&key, &self.0).expect("it may sign");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    /// Its own certificate in a file.
    fn file(&self) -> NamedTempFile {
        let mut file = NamedTempFile::new().expect("a temporary file can be made");
        file.write_all(self.0.pem().as_bytes())
            .expect("there is room");
        file
    }

    fn trust(&self) -> (Trust, NamedTempFile) {
        let file = self.file();
        (Trust::File(file.path().to_owned()), file)
    }
}

/// A proxy to a port, which records what passes.
struct RecordingProxy {
    port: u16,
    traffic: Arc<Mutex<Vec<u8>>>,
    connection_count: Arc<AtomicUsize>,
}

impl RecordingProxy {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let traffic: Arc<Mutex<Vec<u8>>> = Arc::default();
        let shared = Arc::clone(&traffic);
        let connection_count: Arc<AtomicUsize> = Arc::default();
        let counted = Arc::clone(&connection_count);
        // It ends with the process; a listener costs nothing.
        std::thread::spawn(move || {
            for near in listener.incoming() {
                let near = near.expect("a connection");
                counted.fetch_add(1, Ordering::SeqCst);
                let far = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).expect("it is there");
                join(near, far, &shared);
            }
        });
        Self {
            port,
            traffic,
            connection_count,
        }
    }

    fn address(&self, host: &str, more: &str) -> String {
        format!(
            "host={host} hostaddr=127.0.0.1 port={} user=daybook dbname=daybook password={PASSWORD} {more}",
            self.port
        )
    }

    /// The number of connections so far.
    fn connection_count(&self) -> usize {
        self.connection_count.load(Ordering::SeqCst)
    }

    /// The bytes that clients have sent.
    fn traffic(&self) -> Vec<u8> {
        self.traffic.lock().unwrap().clone()
    }

    fn has_seen(&self, text: &str) -> bool {
        let traffic = self.traffic();
        traffic
            .windows(text.len())
            .any(|bytes| bytes == text.as_bytes())
    }
}

fn join(near: TcpStream, far: TcpStream, traffic: &Arc<Mutex<Vec<u8>>>) {
    let (mut back, mut away) = (far.try_clone().unwrap(), near.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut away);
        let _ = away.shutdown(Shutdown::Both);
    });
    let traffic = Arc::clone(traffic);
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = (&near).read(&mut buffer).unwrap_or(0);
            traffic.lock().unwrap().extend(&buffer[..read]);
            if read == 0 || (&far).write_all(&buffer[..read]).is_err() {
                let _ = far.shutdown(Shutdown::Both);
                return;
            }
        }
    });
}

fn open_store(address: &str, trust: &Trust) -> Result<PostgresStore, StoreError> {
    run(PostgresStore::open(address, trust, OPTIONS))
}

/// An error with its causes.
fn with_causes(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Checks that the client refused the server before it sent anything secret.
#[track_caller]
fn assert_refused(server: u16, host: &str, more: &str, trust: &Trust, because: &str) {
    let tapped = RecordingProxy::to(server);
    let opened = open_store(&tapped.address(host, more), trust);
    let error = opened.expect_err("that is not to be trusted");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    assert!(
        with_causes(&error).contains(because),
        "{}",
        with_causes(&error)
    );
    assert!(
        !with_causes(&error).contains(PASSWORD),
        "{}",
        with_causes(&error)
    );
    assert!(
        tapped.connection_count() == 1,
        "trying again changes nothing"
    );
    for secret in [PASSWORD, "daybook"] {
        assert!(!tapped.has_seen(secret), "{secret} was said");
    }
    assert!(
        !tapped.traffic().is_empty(),
        "it was asked whether it encrypts"
    );
}

const REQUIRED: &str = "sslmode=require";

#[test]
fn a_server_with_a_trusted_certificate_is_used_and_its_traffic_is_encrypted() {
    let Some((server, port)) = &*ENCRYPTED else {
        return;
    };
    let (trust, _file) = TRUSTED.trust();
    let tapped = RecordingProxy::to(*port);
    let store = open_store(&tapped.address(HOST, REQUIRED), &trust).expect("it is trusted");
    let secret = append(&session("7f78aa01"), vec![event("the tide table is wrong")]);
    assert_eq!(run(store.append(&secret)).unwrap().added, 1);
    let plain = "SELECT count(*) FILTER (WHERE NOT ssl), count(*) > 0 FROM pg_stat_ssl
        JOIN pg_stat_activity USING (pid) WHERE usename = 'daybook'";
    assert_eq!(server.ask(plain), "0|t");
    for said in [PASSWORD, "daybook", "INSERT", "tide table"] {
        assert!(!tapped.has_seen(said), "{said} can be read on the way");
    }
    assert!(tapped.traffic().len() > 1000, "it went this way");
}

#[test]
fn a_server_with_another_authoritys_certificate_is_refused() {
    let Some((_, port)) = &*ENCRYPTED else { return };
    // A certificate of the same name, as an attacker in between would make it.
    let (trust, _file) = Authority::new().trust();
    assert_refused(*port, HOST, REQUIRED, &trust, "set store_ca");
    // The machine's own authorities have not issued it, and a server that offers TLS is checked.
    assert_refused(*port, HOST, REQUIRED, &Trust::System, "set store_ca");
    assert_refused(
        *port,
        HOST,
        "sslmode=prefer",
        &Trust::System,
        "set store_ca",
    );
}

#[test]
fn a_certificate_of_another_host_is_refused() {
    let Some((_, port)) = &*ENCRYPTED else { return };
    let (trust, _file) = TRUSTED.trust();
    assert_refused(
        *port,
        "other.example",
        REQUIRED,
        &trust,
        "subject alternative name",
    );
}

#[test]
fn a_server_that_does_not_encrypt_is_refused_where_that_is_demanded() {
    let Some((_server, port)) = PostgresServer::over_tcp(None, PASSWORD) else {
        return;
    };
    let (trust, _file) = TRUSTED.trust();
    let because = "switch ssl on";
    assert_refused(port, HOST, REQUIRED, &Trust::System, because);
    // Naming an authority makes encryption mandatory, too.
    assert_refused(port, HOST, "", &trust, because);
    for (more, trust) in [("", &Trust::System), ("sslmode=disable", &trust)] {
        open_store(&RecordingProxy::to(port).address(HOST, more), trust)
            .expect("nobody demands it");
    }
}

#[test]
fn an_sslmode_of_other_programs_is_refused_with_the_names_used_here() {
    for option in ["sslmode=verify-full", "sslrootcert=/etc/ca.pem"] {
        let address = format!("host={HOST} {option} password={PASSWORD}");
        let error = open_store(&address, &Trust::System).expect_err("there is no such option");
        assert!(matches!(error, StoreError::Refused(_)), "{error:?}");
        for word in ["require", "store_ca"] {
            assert!(
                with_causes(&error).contains(word),
                "{}",
                with_causes(&error)
            );
        }
        assert!(!with_causes(&error).contains(PASSWORD));
    }
}

#[test]
fn a_file_that_holds_no_authority_is_refused() {
    let mut file = NamedTempFile::new().unwrap();
    for text in ["", "no certificate"] {
        file.write_all(text.as_bytes()).unwrap();
        let trust = Trust::File(file.path().to_owned());
        let error = open_store(&format!("host={HOST}"), &trust).expect_err("nobody vouches");
        let name = file.path().display().to_string();
        assert!(
            matches!(&error, StoreError::Refused(why) if why.contains(&name)),
            "{error:?}"
        );
    }
}
