//! A provider of language models that does what a test tells it to.
//!
//! It listens on this machine, speaks the three wires of `daybook-llm` at the paths where providers have
//! them, and answers from one [`Script`], whichever wire it is asked over. What it was asked is kept in one
//! shape, [`Asked`]. It counts a token for each word, reports that as usage, and says how many requests
//! were there at once. It lives on a thread of its own, so tests of any kind may use it, those of whole
//! programs too.
//!
//! ```
//! use daybook_testkit::llm_server::{Behaviour, LlmServer, Script};
//!
//! // One after another:
//! let server = LlmServer::start([Behaviour::HangUp, Behaviour::answer("50")]);
//! // Or a model that obeys whatever it reads:
//! let gullible = Script::answering(|asked| match asked.text().contains("ignore all rules") {
//!     true => Behaviour::answer("I obey."),
//!     false => Behaviour::answer("50"),
//! });
//! let gullible = LlmServer::start(gullible);
//! assert_eq!((server.requests(), gullible.requests()), (0, 0));
//! ```

mod asked;
mod faults;
mod script;
mod told;

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use daybook_domain::model::Usage;
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::sync::{Semaphore, oneshot, watch};

pub use asked::{Asked, AskedForm, Spoken};
pub use script::{Behaviour, RetryAfter, Script};
use told::Told;

/// A provider that listens until it is dropped.
#[derive(Debug)]
pub struct LlmServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    /// Dropped with the server, which ends its thread.
    _running: oneshot::Sender<Infallible>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    asked: Mutex<Vec<Asked>>,
    usage: Mutex<Usage>,
    /// How long answering has taken.
    took: Mutex<Duration>,
    /// How many have come.
    come: watch::Sender<usize>,
    /// What lets those go on that are held.
    released: Semaphore,
    here: AtomicUsize,
    most: AtomicUsize,
}

impl LlmServer {
    /// A provider that behaves as `script` says.
    ///
    /// # Panics
    /// When this machine lets nobody listen, or start a thread.
    #[must_use]
    pub fn start(script: impl Into<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener
            .set_nonblocking(true)
            .expect("a socket that can be watched");
        let address = listener.local_addr().expect("the address of a listener");
        let shared = Arc::new(Shared {
            script: script.into(),
            asked: Mutex::default(),
            usage: Mutex::default(),
            took: Mutex::default(),
            come: watch::Sender::new(0),
            released: Semaphore::new(0),
            here: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        });
        let (running, ended) = oneshot::channel();
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            crate::run(async move {
                tokio::select! {
                    () = serve(listener, serving) => {}
                    _ = ended => {}
                }
            });
        });
        Self {
            address,
            shared,
            _running: running,
        }
    }

    /// What paths are appended to, over http; OpenAI's wire wants `/v1` after it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked, in the order in which it came.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.shared.asked).clone()
    }

    /// How long answering has taken in all, each time from a whole request to an answer that is ready to be
    /// sent: whoever measures those who ask takes it off.
    #[must_use]
    pub fn took(&self) -> Duration {
        *lock(&self.shared.took)
    }

    /// How many requests have come.
    #[must_use]
    pub fn requests(&self) -> usize {
        lock(&self.shared.asked).len()
    }

    /// All usage that it has reported.
    #[must_use]
    pub fn reported(&self) -> Usage {
        *lock(&self.shared.usage)
    }

    /// The most requests that were there at once.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.shared.most.load(Ordering::SeqCst)
    }

    /// Returns when `requests` have come in all.
    ///
    /// # Panics
    /// When the server has ended.
    pub async fn wait_for(&self, requests: usize) {
        let mut come = self.shared.come.subscribe();
        let come = come.wait_for(|come| *come >= requests).await;
        drop(come.expect("the server counts as long as it is there"));
    }

    /// Lets `requests` go on that [`Behaviour::Slow`] holds, or will hold.
    pub fn release(&self, requests: usize) {
        self.shared.released.add_permits(requests);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener can be watched");
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(request, &shared));
            let connection = hyper::server::conn::http1::Builder::new();
            // A connection that ends badly is what some tests are about.
            let _ = connection
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

/// One request, from its arrival to its answer's beginning.
struct Present<'a>(&'a Shared);

impl<'a> Present<'a> {
    fn come(shared: &'a Shared) -> Self {
        let here = shared.here.fetch_add(1, Ordering::SeqCst) + 1;
        shared.most.fetch_max(here, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        self.0.here.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn answer(request: Request<Incoming>, shared: &Shared) -> io::Result<Response<Text>> {
    let _present = Present::come(shared);
    let (head, body) = request.into_parts();
    let body = read(body).await?;
    let began = Instant::now();
    let Some(asked) = Asked::read(head.uri.path(), &head.headers, &body) else {
        return told::unknown(head.uri.path()).response();
    };
    let mut behaviour = {
        let mut all = lock(&shared.asked);
        all.push(asked.clone());
        shared.script.next(&asked, all.len())
    };
    shared.come.send_modify(|come| *come += 1);
    if let Behaviour::Slow(then) = behaviour {
        let released = shared.released.acquire().await;
        released.expect("the semaphore is never closed").forget();
        behaviour = *then;
    }
    let told = told::told(&behaviour, &asked);
    *lock(&shared.usage) += told.usage;
    let response = told.response();
    *lock(&shared.took) += began.elapsed();
    response
}

async fn read(body: Incoming) -> io::Result<Vec<u8>> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await
    {
        let frame = frame.map_err(io::Error::other)?;
        bytes.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new()));
    }
    Ok(bytes)
}

impl Told {
    fn response(self) -> io::Result<Response<Text>> {
        if self.hangs_up {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(*name, value);
        }
        let length = self.body.len();
        let body = Text {
            rest: Some(self.body[..self.sent.unwrap_or(length)].to_vec().into()),
            breaks: self.sent.map(|_| Break::AfterSending),
        };
        let response = response.header("content-length", length);
        response.body(body).map_err(io::Error::other)
    }
}

/// A body that is sent in one piece, and may break off after it.
#[derive(Debug)]
struct Text {
    rest: Option<Bytes>,
    breaks: Option<Break>,
}

#[derive(Debug)]
enum Break {
    /// What there is has to go out first, which it does while the body makes the connection wait.
    AfterSending,
    Now,
}

impl Body for Text {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.rest.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        match self.breaks {
            Some(Break::AfterSending) => {
                self.breaks = Some(Break::Now);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Break::Now) => Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into()))),
            None => Poll::Ready(None),
        }
    }
}
