//! Sends spans as traces to a collector of OpenTelemetry, over OTLP/HTTP with JSON.
//!
//! Off unless the environment names a collector, with the variables that all exporters read. A collector that is slow or away
//! delays nothing: spans wait in a bounded queue, and those that find no room are dropped.
//!
//! Not here: the spans, which the stages open; their names as the conventions have them (`conventions`).

mod conventions;
mod sender;

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use daybook_domain::time::Clock;
use serde_json::{Value, json};
use tracing::Subscriber;
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::{LogFields, print_error};
use crate::clock::SystemClock;
use crate::process::random_bytes;
use conventions::{EndedSpan, as_json};
use sender::{Collector, collector_of_environment};

/// Spans that wait to be sent.
const QUEUE: usize = 4096;
/// Most spans of one request, and the longest wait for more of them.
const BATCH: usize = 512;
const BATCH_TIME: Duration = Duration::from_secs(1);
/// Longest wait for the last spans when the process ends.
const FLUSH: Duration = Duration::from_secs(2);

/// What the sender gets.
enum Message {
    Span(Value),
    /// Everything before it is to be sent now.
    Flush(SyncSender<()>),
}

/// The queue of the sender; unset while no traces are sent.
static SENDING: OnceLock<SyncSender<Message>> = OnceLock::new();

/// The layer that sends spans; `None` where the environment names no collector.
pub(crate) fn layer_of_environment() -> Option<TraceLayer> {
    let collector = match collector_of_environment() {
        Ok(collector) => collector?,
        Err(why) => {
            print_error(&format!("no traces are sent: {why}"));
            return None;
        }
    };
    let (queue, waiting) = sync_channel(QUEUE);
    let thread = std::thread::Builder::new().name("traces".to_owned());
    thread.spawn(move || send_all(&waiting, &collector)).ok()?;
    SENDING.set(queue.clone()).ok()?;
    Some(TraceLayer { queue })
}

/// Waits a short while until the spans so far are sent.
pub(crate) fn flush() {
    let Some(queue) = SENDING.get() else {
        return;
    };
    let (done, is_done) = sync_channel(1);
    if queue.try_send(Message::Flush(done)).is_ok() {
        let _ = is_done.recv_timeout(FLUSH);
    }
}

/// Sends batches until the process ends.
fn send_all(waiting: &Receiver<Message>, collector: &Collector) {
    let (mut batch, mut since) = (Vec::new(), Instant::now());
    let mut has_failed = false;
    loop {
        let flushed = match waiting.recv_timeout(BATCH_TIME.saturating_sub(since.elapsed())) {
            Ok(Message::Span(span)) => {
                batch.push(span);
                None
            }
            Ok(Message::Flush(done)) => Some(done),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let is_due = batch.len() >= BATCH || since.elapsed() >= BATCH_TIME || flushed.is_some();
        if is_due {
            since = Instant::now();
            if !batch.is_empty() {
                let sent = collector.send(&request(std::mem::take(&mut batch)));
                report_change(&mut has_failed, sent.err());
            }
        }
        if let Some(done) = flushed {
            let _ = done.send(());
        }
    }
}

/// Reports the first failure, and no further one until a batch was taken.
fn report_change(has_failed: &mut bool, error: Option<std::io::Error>) {
    if let Some(error) = &error
        && !*has_failed
    {
        print_error(&format!(
            "traces are lost while their collector does not take them: {error}"
        ));
    }
    *has_failed = error.is_some();
}

fn request(spans: Vec<Value>) -> Value {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    json!({"resourceSpans": [{
        "resource": {"attributes": [
            attribute("service.name", "daybook"),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
        ]},
        "scopeSpans": [{"scope": {"name": "daybook"}, "spans": spans}],
    }]})
}

/// Sends each span when it ends.
pub(crate) struct TraceLayer {
    queue: SyncSender<Message>,
}

/// A span that has not ended.
struct OpenSpan {
    trace: [u8; 16],
    span: [u8; 8],
    parent: Option<[u8; 8]>,
    began_at: daybook_domain::Timestamp,
    began: Instant,
    fields: LogFields,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for TraceLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else {
            return;
        };
        let mut fields = LogFields::default();
        attributes.record(&mut fields);
        let around = span.parent().and_then(|parent| {
            let extensions = parent.extensions();
            let open = extensions.get::<OpenSpan>()?;
            Some((open.trace, open.span))
        });
        // Without randomness there are no ids, and so no trace.
        let (Ok(new), Ok(own)) = (random_bytes(), random_bytes()) else {
            return;
        };
        span.extensions_mut().insert(OpenSpan {
            trace: around.map_or(new, |(trace, _)| trace),
            span: own,
            parent: around.map(|(_, span)| span),
            began_at: SystemClock.now(),
            began: Instant::now(),
            fields,
        });
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<OpenSpan>()
        {
            values.record(&mut open.fields);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        let Some(open) = span.extensions_mut().remove::<OpenSpan>() else {
            return;
        };
        let ended = EndedSpan {
            trace: open.trace,
            span: open.span,
            parent: open.parent,
            stage: span.name(),
            began_at: open.began_at,
            took: open.began.elapsed(),
            fields: open.fields.0,
        };
        let _ = self.queue.try_send(Message::Span(as_json(&ended)));
    }
}
