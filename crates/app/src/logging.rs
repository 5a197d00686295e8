//! Logs: what stages tell, as lines on standard error for whoever asked for them.
//!
//! Off unless `--log` or `DAYBOOK_LOG` asks, also in `serve` and `worker`: what a person must see is
//! said anyway, `/metrics` counts the rest, and which sessions there are is not for a service's log
//! to tell unasked. Nobody but Daybook's own crates is listened to, for others log what passes
//! through them, words and all.
//!
//! One line for each span that ended, with its milliseconds, and one for each event. Fields are ids,
//! numbers, outcomes and classes; docs/operating.md lists them.

use std::fmt;
use std::io::Write;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Instant;

use clap::ValueEnum;
use daybook_domain::StoreError;
use daybook_domain::time::Clock;
use daybook_engine::jobs::WorkError;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry, SpanRef};

use crate::clock::SystemClock;
use crate::output::{dim, warn};

/// What the names of our crates begin with, and with them all targets that are listened to.
const OURS: &str = "daybook";

/// What is logged: a level, and levels of single modules.
#[derive(Debug, Clone)]
pub(crate) struct Wanted(Targets);

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut targets = Targets::new();
        for part in text.split(',').map(str::trim) {
            let (target, level) = part.split_once('=').unwrap_or((OURS, part));
            let known = LevelFilter::from_str(level).ok();
            // Numbers are levels to the library, and nobody knows which.
            let level =
                known.filter(|_| !level.is_empty() && level.chars().all(char::is_alphabetic));
            match level {
                Some(level) if target.starts_with(OURS) => {
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

/// What a line of the log looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people
    Text,
    /// One JSON object for each line
    Json,
}

/// The form of the log; unset while nothing is logged.
static FORM: OnceLock<Form> = OnceLock::new();

/// Begins to log what the command line asks for, else the environment. A setting of the environment
/// that makes no sense is said and passed over: no command, and no hook, fails for its log.
pub(crate) fn start(wanted: Option<&Wanted>, form: Option<Form>) {
    let wanted = wanted
        .cloned()
        .or_else(|| setting("DAYBOOK_LOG", Wanted::from_str));
    let Some(Wanted(targets)) = wanted else {
        return;
    };
    let named = |name: &str| Form::from_str(name, true);
    let form = form.or_else(|| setting("DAYBOOK_LOG_FORMAT", named));
    let lines = Lines(form.unwrap_or(Form::Text));
    let subscriber = Registry::default().with(targets).with(lines);
    if tracing::subscriber::set_global_default(subscriber).is_ok() {
        let _ = FORM.set(lines.0);
    }
}

/// Whether lines of a log may come at any time.
pub(crate) fn is_on() -> bool {
    FORM.get().is_some()
}

fn setting<T>(name: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    let read = read(&text);
    read.inspect_err(|why| complain(&format!("{name} is passed over: {why}")))
        .ok()
}

/// Says on standard error what went wrong: as a line of the log where that is JSON, so that whoever
/// reads it finds nothing else there.
pub(crate) fn complain(message: &str) {
    tell(Level::ERROR, message);
}

/// The same of what somebody wants to know, and nothing went wrong.
pub(crate) fn say(message: &str) {
    tell(Level::INFO, message);
}

fn tell(level: Level, message: &str) {
    if FORM.get() == Some(&Form::Json) {
        let fields = Map::from_iter([("message".to_owned(), json!(message))]);
        Lines(Form::Json).write(level, None, fields);
        return;
    }
    let name = match level {
        Level::ERROR => warn("daybook:"),
        _ => dim("daybook:"),
    };
    anstream::eprintln!("{name} {message}");
}

/// What the store said, if it was the store.
pub(crate) fn store_error(error: &anyhow::Error) -> Option<&StoreError> {
    error.chain().find_map(|cause| match cause.downcast_ref() {
        // It passes for what it holds, which then does not stand in the chain by itself.
        Some(WorkError::Store(error)) => Some(error),
        Some(WorkError::Files(_)) | None => cause.downcast_ref(),
    })
}

/// What sort of failure it was, as a word.
pub(crate) fn class(error: &anyhow::Error) -> &'static str {
    match store_error(error) {
        Some(StoreError::Busy(_)) => "busy",
        Some(StoreError::Unavailable { .. }) => "unavailable",
        Some(StoreError::TooNew { .. }) => "too_new",
        Some(StoreError::NotFound(_)) => "not_found",
        Some(StoreError::Refused(_)) => "refused",
        Some(StoreError::Corrupt(_)) => "corrupt",
        None => "other",
    }
}

/// Writes a line for each span that ends, and for each event.
#[derive(Clone, Copy)]
struct Lines(Form);

/// What a span has told so far.
struct Told {
    since: Instant,
    fields: Fields,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            let since = Instant::now();
            span.extensions_mut().insert(Told { since, fields });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(told) = span.extensions_mut().get_mut::<Told>()
        {
            values.record(&mut told.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
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
        if let Some(Told { since, fields }) = span.extensions_mut().remove::<Told>() {
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

/// Adds what the spans around have told: a commit's line says whose memory it is.
fn inherit<'a, S: LookupSpan<'a> + 'a>(
    fields: &mut Fields,
    around: impl Iterator<Item = SpanRef<'a, S>>,
) {
    for span in around {
        if let Some(told) = span.extensions().get::<Told>() {
            for (name, value) in &told.fields.0 {
                let known = fields.0.entry(name.clone());
                known.or_insert_with(|| value.clone());
            }
        }
    }
}

impl Lines {
    fn write(self, level: Level, stage: Option<&str>, fields: Map<String, Value>) {
        let now = SystemClock.now().0;
        let time = jiff::Timestamp::from_millisecond(now).unwrap_or_default();
        let time = time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
        let mut line = match self.0 {
            Form::Text => text(&time, level, stage, &fields),
            Form::Json => {
                let mut object = fields;
                object.insert("time".to_owned(), json!(time.to_string()));
                object.insert("level".to_owned(), json!(level.as_str().to_lowercase()));
                object.insert("stage".to_owned(), json!(stage));
                Value::Object(object).to_string()
            }
        };
        line.push('\n');
        // Written at once, so that threads do not write into each other's lines. Nobody can be told
        // that standard error is gone.
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
        // What would end the line, or look like a further field, is quoted.
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
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value.into());
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
            assert!(Wanted::from_str(fits).is_ok(), "{fits}");
        }
        for other in [
            "",
            "verbose",
            "3",
            "rmcp=trace",
            "info,hyper=debug",
            "daybook=loud",
        ] {
            assert!(Wanted::from_str(other).is_err(), "{other}");
        }
    }

    #[test]
    fn nothing_that_others_log_is_listened_to() {
        let Wanted(targets) = Wanted::from_str("trace").expect("a level");
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
