//! Reads keys of providers from where settings point, each time that one is needed. Keys are never printed or logged.
//!
//! Not here: how a key is sent.

#![expect(
    clippy::disallowed_types,
    reason = "settings may name a program that prints a key"
)]

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use daybook_domain::error::BoxError;
use daybook_engine::bounded;
use daybook_llm::{Key, KeySource};

use crate::settings::providers::KeyLocation;

/// How long a key that a command printed is used before the command runs again: some keys expire within minutes, and a
/// command may require a person to touch a device.
const KEY_LASTS: Duration = Duration::from_secs(300);
/// Longest that a command may take to print a key.
const KEY_COMMAND: Duration = Duration::from_secs(30);
/// Longest file of a key, in bytes.
const KEY_BYTES: u64 = 64 * 1024;
/// How often the command is checked. The standard library has no wait for a child with a timeout.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The source of the key of `provider`.
pub(super) fn key_source(provider: &str, at: &KeyLocation) -> KeySource {
    let owner = format!("the key of {provider}");
    match at.clone() {
        KeyLocation::Nowhere => KeySource::None,
        KeyLocation::Environment(name) => read_each_time(owner, move || {
            std::env::var(&name)
                .with_context(|| format!("the variable {name} is not set, or no text"))
        }),
        KeyLocation::File(path) => read_each_time(owner, move || {
            bounded::read_text(&path, KEY_BYTES)
                .with_context(|| format!("cannot read {}", path.display()))
        }),
        KeyLocation::Command(words) => {
            let printed: Mutex<Option<(Instant, String)>> = Mutex::default();
            read_each_time(owner, move || {
                let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((when, key)) = printed.as_ref()
                    && when.elapsed() < KEY_LASTS
                {
                    return Ok(key.clone());
                }
                let key = run_key_command(&words)?;
                *printed = Some((Instant::now(), key.clone()));
                Ok(key)
            })
        }
    }
}

fn read_each_time(
    owner: String,
    read: impl Fn() -> Result<String> + Send + Sync + 'static,
) -> KeySource {
    KeySource::Asked(Arc::new(move || {
        let key = read().and_then(|text| match text.trim() {
            "" => Err(anyhow!("it is empty")),
            key => Ok(Key::new(key)),
        });
        key.map_err(|error| BoxError::from(format!("{owner}: {error:#}")))
    }))
}

/// Runs a command and returns the first line that it prints. It is the only program that Daybook starts by itself, and only
/// because settings name it. It is killed after [`KEY_COMMAND`].
fn run_key_command(words: &[String]) -> Result<String> {
    let (program, arguments) = words.split_first().context("no command is named")?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {program}"))?;
    let until = Instant::now() + KEY_COMMAND;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            bail!("{program} printed none within {} s", KEY_COMMAND.as_secs());
        }
        std::thread::sleep(CHECK_INTERVAL);
    };
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    let mut printed = String::new();
    let out = child.stdout.take().context("its output is gone")?;
    std::io::Read::read_to_string(&mut { out }, &mut printed)
        .with_context(|| format!("{program} printed no text"))?;
    // The first line is the key; password managers print notes below it.
    Ok(printed.lines().next().unwrap_or_default().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(at: &KeyLocation, expected: Result<&str, &str>) {
        let KeySource::Asked(ask) = key_source("home", at) else {
            panic!("{at:?} is asked for");
        };
        match (ask(), expected) {
            (Ok(key), Ok(expected)) => assert_eq!(key, Key::new(expected)),
            (Err(error), Err(expected)) => {
                let message = error.to_string();
                assert!(
                    message.starts_with("the key of home: ") && message.contains(expected),
                    "{message}"
                );
            }
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }

    fn shell(script: &str) -> KeyLocation {
        KeyLocation::Command(["sh", "-c", script].map(str::to_owned).into())
    }

    #[test]
    fn a_key_is_read_where_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        std::fs::write(&path, "sk-ada\n").expect("a file");
        check(&KeyLocation::File(path), Ok("sk-ada"));
        check(&shell("printf 'sk-ada\\nnote: of 2026\\n'"), Ok("sk-ada"));
    }

    #[test]
    fn where_there_is_none_it_is_said() {
        check(
            &KeyLocation::File("/nowhere/key".into()),
            Err("cannot read /nowhere/key"),
        );
        check(
            &KeyLocation::Environment("DAYBOOK_NO_SUCH_KEY".to_owned()),
            Err("DAYBOOK_NO_SUCH_KEY is not set"),
        );
        check(&shell("exit 3"), Err("ended with exit status: 3"));
        check(&shell("true"), Err("it is empty"));
        check(
            &KeyLocation::Command(vec!["no-such-program-here".to_owned()]),
            Err("cannot start"),
        );
    }

    #[test]
    fn a_command_is_not_started_for_each_request() {
        let folder = tempfile::tempdir().expect("a folder");
        let count = folder.path().join("count");
        let source = key_source(
            "home",
            &shell(&format!("echo x >> '{}'; echo sk-ada", count.display())),
        );
        let KeySource::Asked(ask) = source else {
            panic!("it is asked for");
        };
        for _ in 0..3 {
            assert!(ask().is_ok());
        }
        assert_eq!(std::fs::read_to_string(count).expect("it ran"), "x\n");
    }
}
