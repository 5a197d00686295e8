//! Writes logs to standard error: one line for each span that ended, with its milliseconds, and one for each event.
//!
//! Logging is off unless `--log` or `DAYBOOK_LOG` turns it on, also in `serve` and `worker`: messages for people are
//! printed anyway, `/metrics` counts the rest, and ids of sessions must not reach the log of a service by default. Only
//! Daybook's own crates are logged, because others log the texts that pass through them.
//!
//! Fields are ids, numbers, outcomes and classes; docs/operating.md lists them.

#[cfg(feature = "otlp")]
mod traces;

use std::fmt;
use std::io::Write;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Instant;

use clap::ValueEnum;
use daybook_domain::time::Clock;
use daybook_text::fence::for_terminal;
use daybook_text::redact::Redactor;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry, SpanRef};

use super::output::{dim, warn};
use crate::clock::SystemClock;

#[cfg(feature = "otlp")]
pub(crate) use traces::flush as flush_traces;

/// Prefix of the names of our crates, and so of all logged targets.
const OUR_PREFIX: &str = "daybook";

/// The level that is logged, and levels of single modules.
#[derive(Debug, Clone)]
pub(crate) struct LogFilter(Targets);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut targets = Targets::new();
        for part in text.split(',').map(str::trim) {
            let (target, level) = part.split_once('=').unwrap_or((OUR_PREFIX, part));
            let known = LevelFilter::from_str(level).ok();
            // The library accepts numbers as levels, too, whose order is not obvious.
            let level =
                known.filter(|_| !level.is_empty() && level.chars().all(char::is_alphabetic));
            match level {
                Some(level) if target.starts_with(OUR_PREFIX) => {
                    targets = targets.with_target(target, level);
                }
                Some(_) | None => {
                    return Err(format!(
                        "\"{part}\" is no level; write off, error, warn, info, debug or trace, or \
                         for single modules daybook_engine::recall=debug,info"
                    ));
                }
            }
        }
        Ok(Self(targets))
    }
}

/// The format of lines of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object for each line
    Json,
}

/// The format of the log; unset while logging is off.
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

/// Starts logging with the filter of the command line, else of the environment. An invalid value in the environment is
/// reported and ignored: no command, and no hook, fails because of its log.
pub(crate) fn start(filter: Option<&LogFilter>, format: Option<LogFormat>) {
    let filter = filter
        .cloned()
        .or_else(|| read_variable("DAYBOOK_LOG", LogFilter::from_str));
    let parse = |name: &str| LogFormat::from_str(name, true);
    let format = format.or_else(|| read_variable("DAYBOOK_LOG_FORMAT", parse));
    let lines = LineLayer(format.unwrap_or(LogFormat::Text));
    let is_logged = filter.is_some();
    if start_subscriber(filter.map(|LogFilter(targets)| (lines, targets))) && is_logged {
        let _ = FORMAT.set(lines.0);
    }
}

/// Starts what receives spans and events, if anything does. False where nothing does.
#[cfg(not(feature = "otlp"))]
fn start_subscriber(lines: Option<(LineLayer, Targets)>) -> bool {
    let Some((lines, targets)) = lines else {
        return false;
    };
    let subscriber = Registry::default().with(targets).with(lines);
    tracing::subscriber::set_global_default(subscriber).is_ok()
}

/// Starts what receives spans and events, if anything does. Traces have all stages, whatever the log shows of them.
#[cfg(feature = "otlp")]
fn start_subscriber(lines: Option<(LineLayer, Targets)>) -> bool {
    let traces = traces::layer_of_environment();
    if lines.is_none() && traces.is_none() {
        return false;
    }
    let ours = Targets::new().with_target(OUR_PREFIX, LevelFilter::DEBUG);
    let lines = lines.map(|(lines, targets)| lines.with_filter(targets));
    let traces = traces.map(|traces| traces.with_filter(ours));
    let subscriber = Registry::default().with(lines).with(traces);
    tracing::subscriber::set_global_default(subscriber).is_ok()
}

/// Whether logging is on, so that lines may appear at any time.
pub(crate) fn is_on() -> bool {
    FORMAT.get().is_some()
}

fn read_variable<T>(name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    parse(&text)
        .inspect_err(|why| print_error(&format!("{name} is ignored: {why}")))
        .ok()
}

/// Prints an error to standard error; as a line of the log where that is JSON, so that its readers find JSON only.
pub(crate) fn print_error(message: &str) {
    print_message(Level::ERROR, message);
}

/// [`print_error`] for a message that is no error.
pub(crate) fn print_notice(message: &str) {
    print_message(Level::INFO, message);
}

/// A message may quote its cause's input, so it is redacted like the fields of the log.
fn print_message(level: Level, message: &str) {
    let message = &*Redactor::current().redact(message).text;
    if FORMAT.get() == Some(&LogFormat::Json) {
        let fields = Map::from_iter([("message".to_owned(), json!(message))]);
        LineLayer(LogFormat::Json).write(level, None, fields);
        return;
    }
    let name = match level {
        Level::ERROR => warn("daybook:"),
        _ => dim("daybook:"),
    };
    anstream::eprintln!("{name} {}", for_terminal(message));
}

/// Writes a line for each span that ends, and for each event.
#[derive(Clone, Copy)]
struct LineLayer(LogFormat);

/// The fields of a span so far, and its start.
struct SpanRecord {
    since: Instant,
    fields: LogFields,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LineLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = LogFields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            let since = Instant::now();
            span.extensions_mut().insert(SpanRecord { since, fields });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(record) = span.extensions_mut().get_mut::<SpanRecord>()
        {
            values.record(&mut record.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = LogFields::default();
        event.record(&mut fields);
        let around = context.event_scope(event).into_iter().flatten();
        let stage = context.event_span(event).map(|span| span.name());
        inherit(&mut fields, around);
        self.write(*event.metadata().level(), stage, fields.0);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else {
            return;
        };
        if let Some(SpanRecord { since, fields }) = span.extensions_mut().remove::<SpanRecord>() {
            let mut fields = fields;
            inherit(&mut fields, span.scope().skip(1));
            let micros = u32::try_from(since.elapsed().as_micros()).unwrap_or(u32::MAX);
            fields
                .0
                .insert("ms".to_owned(), json!(f64::from(micros) / 1e3));
            let metadata: &Metadata<'_> = span.metadata();
            self.write(*metadata.level(), Some(metadata.name()), fields.0);
        }
    }
}

/// Adds the fields of the surrounding spans, so that the line of a commit names its scope, too.
fn inherit<'a, S: LookupSpan<'a> + 'a>(
    fields: &mut LogFields,
    around: impl Iterator<Item = SpanRef<'a, S>>,
) {
    for span in around {
        if let Some(record) = span.extensions().get::<SpanRecord>() {
            for (name, value) in &record.fields.0 {
                let known = fields.0.entry(name.clone());
                known.or_insert_with(|| value.clone());
            }
        }
    }
}

impl LineLayer {
    fn write(self, level: Level, stage: Option<&str>, fields: Map<String, Value>) {
        let now = SystemClock.now().0;
        let time = jiff::Timestamp::from_millisecond(now).unwrap_or_default();
        let time = time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let mut line = match self.0 {
            LogFormat::Text => text(&time, level, stage, &fields),
            LogFormat::Json => {
                let mut object = fields;
                object.insert("time".to_owned(), json!(time.to_string()));
                object.insert("level".to_owned(), json!(level.as_str().to_lowercase()));
                object.insert("stage".to_owned(), json!(stage));
                Value::Object(object).to_string()
            }
        };
        line.push('\n');
        // One write for each line, so that threads do not mix their lines. A closed standard error cannot be reported.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }
}

fn text(
    time: &impl fmt::Display,
    level: Level,
    stage: Option<&str>,
    fields: &Map<String, Value>,
) -> String {
    let mut line = format!("{time} {level:5} {}", stage.unwrap_or("-"));
    for (name, value) in fields {
        // Values that would end the line, or look like another field, are quoted.
        let plain = |c: char| c.is_ascii_graphic() && !"\"=\\".contains(c);
        match value {
            Value::String(value) if !value.is_empty() && value.chars().all(plain) => {
                line.push_str(&format!(" {name}={value}"));
            }
            value => line.push_str(&format!(" {name}={value}")),
        }
    }
    line
}

/// Fields by name.
#[derive(Default)]
struct LogFields(Map<String, Value>);

impl LogFields {
    fn put(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }

    /// Fields hold no text of transcripts, but ids, paths and errors that may repeat a secret of one.
    fn put_text(&mut self, field: &Field, text: &str) {
        self.put(field, Redactor::current().redact(text).text.into());
    }
}

impl Visit for LogFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put_text(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put_text(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_our_own_modules_can_be_asked_for() {
        for fits in ["off", "INFO", "trace", "daybook_engine::recall=debug,info"] {
            assert!(LogFilter::from_str(fits).is_ok(), "{fits}");
        }
        for other in [
            "",
            "verbose",
            "3",
            "rmcp=trace",
            "info,hyper=debug",
            "daybook=loud",
        ] {
            assert!(LogFilter::from_str(other).is_err(), "{other}");
        }
    }

    #[test]
    fn nothing_that_others_log_is_listened_to() {
        let LogFilter(targets) = LogFilter::from_str("trace").expect("a level");
        assert!(targets.would_enable("daybook_engine::recall", &Level::TRACE));
        assert!(!targets.would_enable("rmcp::service", &Level::ERROR));
    }

    #[test]
    fn a_value_can_neither_end_its_line_nor_look_like_a_field() {
        let fields = Map::from_iter([
            ("events".to_owned(), json!(3)),
            ("session".to_owned(), json!("a\nb c=d")),
        ]);
        let line = text(&"now", Level::INFO, Some("extract"), &fields);
        assert_eq!(line, r#"now INFO  extract events=3 session="a\nb c=d""#);
    }
}
