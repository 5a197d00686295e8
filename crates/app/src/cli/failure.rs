//! What a command line that failed prints, and its exit code.
//!
//! With `--json`, standard output holds `{"error": …}`, so that a program that reads it learns why; the same words go to
//! standard error for people.

use std::process::ExitCode;

use anyhow::Error;
use daybook_domain::StoreError;
use daybook_text::redact::Redactor;
use serde_json::json;

use crate::terminal::messages;
use crate::terminal::output;

/// The exit code of a command that Ctrl-C ended, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;

/// Prints why a command failed.
pub(super) fn report(error: &Error, json: bool) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let message = format!("{error:#}{}", advice(error));
    if json {
        print_json(&message);
    }
    messages::print_error(&message);
    ExitCode::FAILURE
}

/// Prints what is wrong with a command line, or the help that it asks for.
pub(super) fn report_usage(error: &clap::Error) -> ExitCode {
    let fails = error.use_stderr() && !is_hook();
    if fails && std::env::args_os().any(|argument| argument == "--json") {
        let text = error.render().to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        print_json(first.trim_start_matches("error:").trim());
    }
    let _ = error.print();
    ExitCode::from(u8::from(fails) * 2)
}

/// A message may quote its cause's input, so it is redacted as in the log.
fn print_json(message: &str) {
    let message = &*Redactor::current().redact(message).text;
    // A reader that is gone needs no error.
    let _ = output::json(&json!({ "error": { "message": message } }));
}

fn advice(error: &Error) -> &'static str {
    let is_damage = |cause: &StoreError| matches!(cause, StoreError::Corrupt(_));
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    match causes.any(is_damage) {
        true => {
            "; `daybook doctor` lists what is damaged, and `daybook doctor --repair` repairs it"
        }
        false => "",
    }
}

/// Whether the command is `hook`, which must not fail: hosts treat a failing hook as a refusal, even where the hook's
/// command line is wrong.
fn is_hook() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|command| command == "hook")
}

/// Whether the reader of our output has closed the pipe, as in `daybook recall x | head -1`.
fn is_broken_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
