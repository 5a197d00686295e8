//! Builds the commands that hosts run, and recognizes ours in their settings.
//!
//! Not here: which event runs which command (`host`).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use strum::VariantArray;

use crate::folders::hosts::AgentHost;
use crate::terminal::shell::quoted;

/// How long one background update works. Our commands are recognized by it, so that a person's own `daybook update` is
/// left alone.
const UPDATE_FOR: &str = "20s";

/// This program, and the data folder that its commands name.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    path: String,
    root: Option<String>,
}

impl Program {
    /// The running program, with the data folder if one was named.
    pub(crate) fn current(root: Option<&Path>) -> Result<Self> {
        let path = std::env::current_exe().context("it is not known where this program is")?;
        let root = root.map(std::path::absolute).transpose()?;
        Ok(Self {
            path: text(path)?,
            root: root.map(text).transpose()?,
        })
    }

    /// Fails unless the path of the program is an executable file.
    pub(crate) fn check(&self) -> Result<()> {
        let metadata = std::fs::metadata(&self.path);
        let metadata = metadata.with_context(|| format!("{} is not there", self.path))?;
        #[cfg(unix)]
        let runs = {
            use std::os::unix::fs::PermissionsExt;
            metadata.permissions().mode() & 0o111 != 0
        };
        #[cfg(not(unix))]
        let runs = true;
        if !metadata.is_file() || !runs {
            bail!("{} is not a program that can be run", self.path);
        }
        Ok(())
    }

    /// The shell command that answers the hooks of `host`.
    pub(crate) fn hook(&self, host: &str) -> String {
        self.line(&["hook", host])
    }

    /// The shell command of a background update.
    pub(crate) fn update(&self) -> String {
        self.line(&["update", "--for", UPDATE_FOR])
    }

    /// Program and arguments of the MCP server.
    pub(crate) fn server(&self) -> (String, Vec<String>) {
        let mut arguments = self.root_arguments();
        arguments.push("mcp".to_owned());
        (self.path.clone(), arguments)
    }

    fn root_arguments(&self) -> Vec<String> {
        let root = self.root.iter();
        root.flat_map(|root| ["--root".to_owned(), root.clone()])
            .collect()
    }

    fn line(&self, words: &[&str]) -> String {
        let mut line = vec![quoted(&self.path)];
        line.extend(self.root_arguments().iter().map(|word| quoted(word)));
        line.extend(words.iter().map(|word| (*word).to_owned()));
        line.join(" ")
    }
}

/// Whether a shell command is one of ours, whatever path the program had when it was written.
pub(super) fn is_ours(command: &str) -> bool {
    let words = split_words(command);
    let Some((program, rest)) = words.split_first() else {
        return false;
    };
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let rest = match rest.as_slice() {
        ["--root", _, rest @ ..] => rest,
        rest => rest,
    };
    let is_host = |name: &str| AgentHost::VARIANTS.iter().any(|host| host.agent() == name);
    is_daybook(program)
        && match rest {
            ["hook", host, ..] => is_host(host),
            ["update", "--for", limit, ..] => *limit == UPDATE_FOR,
            _ => false,
        }
}

/// Whether an MCP server is ours.
pub(super) fn is_our_server(program: &str, arguments: &[String]) -> bool {
    is_daybook(program) && arguments.last().is_some_and(|last| last == "mcp")
}

fn is_daybook(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.starts_with("daybook")
}

fn text(path: PathBuf) -> Result<String> {
    match path.into_os_string().into_string() {
        Ok(text) => Ok(text),
        Err(path) => bail!(
            "{} is not UTF-8, and settings can hold nothing else",
            path.display()
        ),
    }
}

/// Splits a shell command into words, with respect to quotes only.
fn split_words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = command.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '\\') if matches!(rest.peek(), Some('"' | '\\')) => {
                word.get_or_insert_default().extend(rest.next());
            }
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') if !cfg!(windows) => word.get_or_insert_default().extend(rest.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str, root: Option<&str>) -> Program {
        Program {
            path: path.to_owned(),
            root: root.map(str::to_owned),
        }
    }

    #[test]
    fn what_is_written_is_known_again() {
        for path in [
            "/home/ada/.cargo/bin/daybook",
            "/home/ada/it's mine/daybook",
        ] {
            for root in [None, Some("/home/ada/my memory")] {
                let program = program(path, root);
                for host in ["codex", "gemini-cli", "cursor"] {
                    assert!(is_ours(&program.hook(host)), "{}", program.hook(host));
                }
                assert!(is_ours(&program.update()), "{}", program.update());
                let background = format!(
                    "{} </dev/null >/dev/null 2>&1 & cat >/dev/null",
                    program.update()
                );
                assert!(is_ours(&background), "{background}");
                let (path, arguments) = program.server();
                assert!(is_our_server(&path, &arguments));
            }
        }
    }

    #[test]
    fn a_persons_own_commands_are_not_ours() {
        for command in [
            "",
            "echo daybook hook codex",
            "daybook hook",
            "daybook hook harbour-bot",
            "/usr/bin/daybook update --for 5m",
            "daybook recall tides",
            "notify-send 'daybook hook claude-code'",
        ] {
            assert!(!is_ours(command), "{command}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_path_with_spaces_and_quotes_is_one_word() {
        let line = program("/home/ada/it's mine/daybook", Some("/srv/a b")).hook("claude-code");
        assert_eq!(
            line,
            r"'/home/ada/it'\''s mine/daybook' --root '/srv/a b' hook claude-code"
        );
    }
}
