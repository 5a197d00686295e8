//! A provider of language models that follows a test's script.
//!
//! It listens on this machine, speaks the three wires of `daybook-llm` at the paths where providers have
//! them, and answers from one [`Script`], whichever wire a request comes over. It keeps the requests in one
//! shape, [`RecordedRequest`]. It counts a token for each word, reports that as usage, and counts how many requests it
//! handled at once. It runs on a thread of its own, so tests of any kind can use it, those of whole programs
//! too.
//!
//! ```
//! use daybook_testkit::llm_server::{Behaviour, LlmServer, Script};
//!
//! // One after another:
//! let server = LlmServer::start([Behaviour::HangUp, Behaviour::answer("50")]);
//! // Or a model that obeys whatever it reads:
//! let gullible = Script::answering(|request| match request.text().contains("ignore all rules") {
//!     true => Behaviour::answer("I obey."),
//!     false => Behaviour::answer("50"),
//! });
//! let gullible = LlmServer::start(gullible);
//! assert_eq!((server.requests(), gullible.requests()), (0, 0));
//! ```

mod error_responses;
mod recorded_request;
mod response;
mod script;
mod scripted_response;

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

pub use recorded_request::{RecordedRequest, RequestWire, RequestedForm};
pub use script::{Behaviour, RetryAfter, Script};
use scripted_response::ScriptedResponse;

/// A provider that listens until it is dropped.
#[derive(Debug)]
pub struct LlmServer {
    address: SocketAddr,
    shared: Arc<ServerState>,
    /// Dropped with the server, which ends its thread.
    _running: oneshot::Sender<Infallible>,
}

#[derive(Debug)]
struct ServerState {
    script: Script,
    requests: Mutex<Vec<RecordedRequest>>,
    usage: Mutex<Usage>,
    /// The time that answering took in all.
    answering_time: Mutex<Duration>,
    /// The number of requests so far.
    count: watch::Sender<usize>,
    /// Has one permit for each held request that may be answered.
    released: Semaphore,
    present: AtomicUsize,
    most_present: AtomicUsize,
}

impl LlmServer {
    /// Starts a provider that follows `script`.
    ///
    /// # Panics
    /// When the process cannot listen on a port, or cannot start a thread.
    #[must_use]
    pub fn start(script: impl Into<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener
            .set_nonblocking(true)
            .expect("a socket that can be watched");
        let address = listener.local_addr().expect("the address of a listener");
        let shared = Arc::new(ServerState {
            script: script.into(),
            requests: Mutex::default(),
            usage: Mutex::default(),
            answering_time: Mutex::default(),
            count: watch::Sender::new(0),
            released: Semaphore::new(0),
            present: AtomicUsize::new(0),
            most_present: AtomicUsize::new(0),
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

    /// The base URL to which paths are appended, over http; OpenAI's wire needs `/v1` after it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that it received, in the order of their arrival.
    #[must_use]
    pub fn recorded_requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared.requests).clone()
    }

    /// The total time from each complete request to an answer that is ready to be sent. A benchmark of a client
    /// subtracts it.
    #[must_use]
    pub fn answering_time(&self) -> Duration {
        *lock(&self.shared.answering_time)
    }

    /// The number of requests so far.
    #[must_use]
    pub fn requests(&self) -> usize {
        lock(&self.shared.requests).len()
    }

    /// The sum of the usage that it has reported.
    #[must_use]
    pub fn reported_usage(&self) -> Usage {
        *lock(&self.shared.usage)
    }

    /// The largest number of requests that it handled at once.
    #[must_use]
    pub fn most_concurrent_requests(&self) -> usize {
        self.shared.most_present.load(Ordering::SeqCst)
    }

    /// Returns when `requests` requests have arrived in all.
    ///
    /// # Panics
    /// When the server has ended.
    pub async fn wait_for(&self, requests: usize) {
        let mut come = self.shared.count.subscribe();
        let come = come.wait_for(|count| *count >= requests).await;
        drop(come.expect("the server counts as long as it is there"));
    }

    /// Lets `requests` requests be answered that [`Behaviour::Slow`] holds, or will hold.
    pub fn release(&self, requests: usize) {
        self.shared.released.add_permits(requests);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, shared: Arc<ServerState>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("a listener can be watched");
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let answer = service_fn(|request| answer(request, &shared));
            let connection = hyper::server::conn::http1::Builder::new();
            // Some tests break the connection on purpose, so an error here is expected.
            let _ = connection
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

/// Counts one request as present, from its arrival until its answer begins.
struct PresentRequest<'a>(&'a ServerState);

impl<'a> PresentRequest<'a> {
    fn enter(shared: &'a ServerState) -> Self {
        let here = shared.present.fetch_add(1, Ordering::SeqCst) + 1;
        shared.most_present.fetch_max(here, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for PresentRequest<'_> {
    fn drop(&mut self) {
        self.0.present.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: &ServerState,
) -> io::Result<Response<ResponseBody>> {
    let _present = PresentRequest::enter(shared);
    let (head, body) = request.into_parts();
    let body = read(body).await?;
    let began = Instant::now();
    let Some(request) = RecordedRequest::read(head.uri.path(), &head.headers, &body) else {
        return response::not_found(head.uri.path()).into_http();
    };
    let mut behaviour = {
        let mut all = lock(&shared.requests);
        all.push(request.clone());
        shared.script.next_behaviour(&request, all.len())
    };
    shared.count.send_modify(|count| *count += 1);
    if let Behaviour::Slow(then) = behaviour {
        let released = shared.released.acquire().await;
        released.expect("the semaphore is never closed").forget();
        behaviour = *then;
    }
    let scripted = response::respond(&behaviour, &request);
    *lock(&shared.usage) += scripted.usage;
    let response = scripted.into_http();
    *lock(&shared.answering_time) += began.elapsed();
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

impl ScriptedResponse {
    fn into_http(self) -> io::Result<Response<ResponseBody>> {
        if self.hangs_up {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let mut response = Response::builder().status(self.status);
        for (name, value) in &self.headers {
            response = response.header(*name, value);
        }
        let length = self.body.len();
        let body = ResponseBody {
            rest: Some(self.body[..self.sent.unwrap_or(length)].to_vec().into()),
            breaks: self.sent.map(|_| BodyBreak::AfterSending),
        };
        let response = response.header("content-length", length);
        response.body(body).map_err(io::Error::other)
    }
}

/// A body that is sent in one piece, and may break off after it.
#[derive(Debug)]
struct ResponseBody {
    rest: Option<Bytes>,
    breaks: Option<BodyBreak>,
}

#[derive(Debug)]
enum BodyBreak {
    /// The bytes before the break must be sent first; the body makes the connection wait for that.
    AfterSending,
    Now,
}

impl Body for ResponseBody {
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
            Some(BodyBreak::AfterSending) => {
                self.breaks = Some(BodyBreak::Now);
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Some(BodyBreak::Now) => Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into()))),
            None => Poll::Ready(None),
        }
    }
}
