//! Connections: accepted, bounded in number and in patience, and drained at the end.

use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use daybook_engine::stop::Stop;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{CONNECTIONS, DRAIN, HEADERS};
use crate::logging::complain;

/// How often the end is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Rest after a connection could not be accepted: the machine is out of something.
const REST: Duration = Duration::from_millis(100);
/// Most bytes of a request's headers.
const HEADER_BYTES: usize = 64 * 1024;

/// Serves `app` until `stop` is asked for, then until open requests are answered.
pub(super) async fn serve(listener: StdListener, app: Router, stop: &Stop) -> Result<()> {
    let listener = TcpListener::from_std(listener).context("cannot listen")?;
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let open = GracefulShutdown::new();
    let service = TowerToHyperService::new(app);
    let asked = asked(stop);
    tokio::pin!(asked);
    loop {
        let (stream, seat) = tokio::select! {
            accepted = accept(&listener, &room) => accepted,
            () = &mut asked => break,
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service.clone());
        let connection = open.watch(connection);
        tokio::spawn(async move {
            // A connection that breaks off is its client's affair.
            let _ = connection.await;
            drop(seat);
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, open.shutdown()).await.is_err() {
        complain("requests were still open and were cut off; what was acknowledged is on disk");
    }
    Ok(())
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // Nobody closes the semaphore, so there is always a seat to wait for.
    let seat = Arc::clone(room).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, seat),
            Err(_) => tokio::time::sleep(REST).await,
        }
    }
}

async fn asked(stop: &Stop) {
    while !stop.asked() {
        tokio::time::sleep(LOOK).await;
    }
}
