//! Output: for people on a terminal, and JSON alone with `--json`.

#[cfg(feature = "interfaces")]
use std::io::Write as _;

#[cfg(feature = "interfaces")]
use anstyle::{AnsiColor, Style};
use daybook_domain::Timestamp;

/// Prints a line for people to standard output. Everything that they read goes this way, since most of it holds names
/// or texts of others.
#[cfg(feature = "interfaces")]
macro_rules! print_line {
    () => { anstream::println!() };
    ($($arg:tt)*) => {
        anstream::println!("{}", daybook_text::fence::for_terminal(&format!($($arg)*)))
    };
}

/// `print_line` to standard error.
#[cfg(feature = "interfaces")]
macro_rules! eprint_line {
    ($($arg:tt)*) => {
        anstream::eprintln!("{}", daybook_text::fence::for_terminal(&format!($($arg)*)))
    };
}

#[cfg(feature = "interfaces")]
pub(crate) use {eprint_line, print_line};

/// Prints one JSON document to standard output: in one write, since a program that goes on, as `open` does, is read by
/// others as its output comes.
#[cfg(feature = "interfaces")]
pub(crate) fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// A time as RFC 3339; `None` when it is unknown.
pub(crate) fn rfc3339(at: Timestamp) -> Option<String> {
    let known = (at != Timestamp::ZERO).then_some(at.0)?;
    jiff::Timestamp::from_millisecond(known)
        .ok()
        .map(|at| at.to_string())
}

/// Emphasized text.
#[cfg(feature = "interfaces")]
pub(crate) fn bold(text: &str) -> String {
    styled(Style::new().bold(), text)
}

/// Text of less importance.
#[cfg(feature = "interfaces")]
pub(crate) fn dim(text: &str) -> String {
    styled(Style::new().dimmed(), text)
}

/// Text of a warning.
#[cfg(feature = "interfaces")]
pub(crate) fn warn(text: &str) -> String {
    styled(Style::new().fg_color(Some(AnsiColor::Yellow.into())), text)
}

#[cfg(feature = "interfaces")]
fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// `25.3 MB`
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// `1 file`, `36 files`, `2 memories`
pub(crate) fn count(n: u64, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{} {stem}ies", grouped(n)),
        (_, None) => format!("{} {noun}s", grouped(n)),
    }
}

/// `12,345`
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
