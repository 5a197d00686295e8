//! Servers that encrypt, and those that should.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use daybook_testkit::postgres::{Identity, Server};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::NamedTempFile;

use super::*;

const HOST: &str = "db.example";
const PASSWORD: &str = "correct-horse";

/// An authority, of which `TRUSTED` vouches for the server.
struct Authority(CertifiedIssuer<'static, KeyPair>);

static TRUSTED: LazyLock<Authority> = LazyLock::new(Authority::new);
/// A server that encrypts, and its port.
static ENCRYPTED: LazyLock<Option<(Server, u16)>> =
    LazyLock::new(|| Server::over_tcp(Some(&TRUSTED.identity_of(HOST)), PASSWORD));

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

/// The way to a port, on which somebody listens in.
struct Tapped {
    port: u16,
    heard: Arc<Mutex<Vec<u8>>>,
    dialled: Arc<AtomicUsize>,
}

impl Tapped {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let port = listener.local_addr().expect("it listens").port();
        let heard: Arc<Mutex<Vec<u8>>> = Arc::default();
        let shared = Arc::clone(&heard);
        let dialled: Arc<AtomicUsize> = Arc::default();
        let counted = Arc::clone(&dialled);
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
            heard,
            dialled,
        }
    }

    fn address(&self, host: &str, more: &str) -> String {
        format!(
            "host={host} hostaddr=127.0.0.1 port={} user=daybook dbname=daybook password={PASSWORD} {more}",
            self.port
        )
    }

    /// How many connections there were.
    fn dialled(&self) -> usize {
        self.dialled.load(Ordering::SeqCst)
    }

    /// What clients have sent.
    fn heard(&self) -> Vec<u8> {
        self.heard.lock().unwrap().clone()
    }

    fn has_heard(&self, text: &str) -> bool {
        let heard = self.heard();
        heard
            .windows(text.len())
            .any(|bytes| bytes == text.as_bytes())
    }
}

fn join(near: TcpStream, far: TcpStream, heard: &Arc<Mutex<Vec<u8>>>) {
    let (mut back, mut away) = (far.try_clone().unwrap(), near.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut away);
        let _ = away.shutdown(Shutdown::Both);
    });
    let heard = Arc::clone(heard);
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        loop {
            let read = (&near).read(&mut buffer).unwrap_or(0);
            heard.lock().unwrap().extend(&buffer[..read]);
            if read == 0 || (&far).write_all(&buffer[..read]).is_err() {
                let _ = far.shutdown(Shutdown::Both);
                return;
            }
        }
    });
}

fn opened(address: &str, trust: &Trust) -> Result<PostgresStore, StoreError> {
    run(PostgresStore::open(address, trust, OPTIONS))
}

/// An error with its causes.
fn told(error: &StoreError) -> String {
    let mut told = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        told = format!("{told}: {error}");
        cause = error.source();
    }
    told
}

/// Refused before anything secret was said.
#[track_caller]
fn assert_refused(server: u16, host: &str, more: &str, trust: &Trust, because: &str) {
    let tapped = Tapped::to(server);
    let opened = opened(&tapped.address(host, more), trust);
    let error = opened.expect_err("that is not to be trusted");
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
    assert!(told(&error).contains(because), "{}", told(&error));
    assert!(!told(&error).contains(PASSWORD), "{}", told(&error));
    assert!(tapped.dialled() == 1, "trying again changes nothing");
    for secret in [PASSWORD, "daybook"] {
        assert!(!tapped.has_heard(secret), "{secret} was said");
    }
    assert!(
        !tapped.heard().is_empty(),
        "it was asked whether it encrypts"
    );
}

const REQUIRED: &str = "sslmode=require";

#[test]
fn a_server_that_an_authority_vouches_for_is_used_and_nobody_listens_in() {
    let Some((server, port)) = &*ENCRYPTED else {
        return;
    };
    let (trust, _file) = TRUSTED.trust();
    let tapped = Tapped::to(*port);
    let store = opened(&tapped.address(HOST, REQUIRED), &trust).expect("it is trusted");
    let secret = append(&session("7f78aa01"), vec![event("the tide table is wrong")]);
    assert_eq!(run(store.append(&secret)).unwrap().added, 1);
    let plain = "SELECT count(*) FILTER (WHERE NOT ssl), count(*) > 0 FROM pg_stat_ssl
        JOIN pg_stat_activity USING (pid) WHERE usename = 'daybook'";
    assert_eq!(server.ask(plain), "0|t");
    for said in [PASSWORD, "daybook", "INSERT", "tide table"] {
        assert!(!tapped.has_heard(said), "{said} can be read on the way");
    }
    assert!(tapped.heard().len() > 1000, "it went this way");
}

#[test]
fn a_server_that_another_authority_vouches_for_is_refused() {
    let Some((_, port)) = &*ENCRYPTED else { return };
    // One of the same name, as somebody in between would make it.
    let (trust, _file) = Authority::new().trust();
    assert_refused(*port, HOST, REQUIRED, &trust, "set store_ca");
    // The machine's own authorities know nothing of it, and a server that offers TLS is checked.
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
        "subject's alternative name",
    );
}

#[test]
fn a_server_that_does_not_encrypt_is_refused_where_that_is_demanded() {
    let Some((_server, port)) = Server::over_tcp(None, PASSWORD) else {
        return;
    };
    let (trust, _file) = TRUSTED.trust();
    let because = "switch ssl on";
    assert_refused(port, HOST, REQUIRED, &Trust::System, because);
    // An authority that has to vouch for it is a demand, too.
    assert_refused(port, HOST, "", &trust, because);
    for (more, trust) in [("", &Trust::System), ("sslmode=disable", &trust)] {
        opened(&Tapped::to(port).address(HOST, more), trust).expect("nobody demands it");
    }
}

#[test]
fn what_other_programs_call_demanding_is_told_by_its_name_here() {
    for option in ["sslmode=verify-full", "sslrootcert=/etc/ca.pem"] {
        let address = format!("host={HOST} {option} password={PASSWORD}");
        let error = opened(&address, &Trust::System).expect_err("there is no such option");
        assert!(matches!(error, StoreError::Refused(_)), "{error:?}");
        for word in ["require", "store_ca"] {
            assert!(told(&error).contains(word), "{}", told(&error));
        }
        assert!(!told(&error).contains(PASSWORD));
    }
}

#[test]
fn a_file_that_holds_no_authority_is_refused() {
    let mut file = NamedTempFile::new().unwrap();
    for text in ["", "no certificate"] {
        file.write_all(text.as_bytes()).unwrap();
        let trust = Trust::File(file.path().to_owned());
        let error = opened(&format!("host={HOST}"), &trust).expect_err("nobody vouches");
        let name = file.path().display().to_string();
        assert!(
            matches!(&error, StoreError::Refused(why) if why.contains(&name)),
            "{error:?}"
        );
    }
}
