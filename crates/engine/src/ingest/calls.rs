//! What is kept of a tool call: what it would do, in few words.
//!
//! A command is shown as it would be typed, an edit as its file with old and new text, a search as
//! what it looks for. Any other call keeps its arguments as they are, bounded.
//!
//! Not here: what the call answered.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::kept::shortened;
use super::lenient::{Content, Object, Part, Text};

/// Most bytes that are kept of one call.
const CALL: usize = 16 * 1024;
/// Most bytes that are kept of either side of an edit.
const SIDE: usize = 4 * 1024;
/// Most edits of one call that are shown.
const EDITS: usize = 16;

/// Calls without an answer yet that one conversation may have.
const OPEN: usize = 256;

/// Calls that wait for their answers, oldest first, with what is remembered of each.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OpenCalls<T>(VecDeque<(String, T)>);

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> OpenCalls<T> {
    /// A call was made. Of too many, the oldest is forgotten.
    pub(crate) fn open(&mut self, id: &str, call: T) {
        if id.is_empty() {
            return;
        }
        if self.0.len() >= OPEN {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), call));
    }

    /// A call was answered; says what is remembered of it.
    pub(crate) fn answered(&mut self, id: &str) -> Option<T> {
        let at = self.0.iter().position(|(open, _)| open == id)?;
        self.0.remove(at).map(|(_, call)| call)
    }
}

/// Arguments that well-known tools share.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Arguments<'j> {
    #[serde(borrow)]
    command: Content<'j, NoObject>,
    cmd: Content<'j, NoObject>,
    description: Text<'j>,
    file_path: Text<'j>,
    notebook_path: Text<'j>,
    path: Text<'j>,
    pattern: Text<'j>,
    glob: Text<'j>,
    query: Text<'j>,
    url: Text<'j>,
    prompt: Text<'j>,
    content: Text<'j>,
    new_source: Text<'j>,
    old_string: Text<'j>,
    new_string: Text<'j>,
    edits: Content<'j, Edit<'j>>,
}

/// One replacement of text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Edit<'j> {
    #[serde(borrow)]
    old_string: Text<'j>,
    new_string: Text<'j>,
}

/// The members of a list in which no object is expected.
#[derive(Debug, Deserialize)]
struct NoObject {}

/// A call's text. `arguments` is JSON, or whatever the tool takes.
pub(crate) fn rendered(tool: &str, arguments: &str) -> String {
    let well_known = serde_json::from_str::<Object<Arguments<'_>>>(arguments)
        .ok()
        .and_then(|arguments| arguments.0)
        .and_then(|arguments| by_tool(tool, &arguments));
    let text = match well_known {
        Some(text) => text,
        None if arguments.contains(PATCH) => patch(arguments),
        None => arguments.trim().to_owned(),
    };
    shortened(&text, CALL).into_owned()
}

/// How the arguments of a well-known tool read; `None` for any other.
fn by_tool(tool: &str, of: &Arguments<'_>) -> Option<String> {
    if let Some(command) = command(&of.command).or_else(|| command(&of.cmd)) {
        return Some(match of.description.get() {
            Some(description) => format!("{command}\n# {description}"),
            None => command,
        });
    }
    let file = [&of.file_path, &of.notebook_path, &of.path]
        .into_iter()
        .find_map(|path| path.get());
    match tool.to_ascii_lowercase().as_str() {
        "edit" | "multiedit" | "str_replace" => Some(edits(file?, of)),
        "write" | "notebookedit" => {
            let content = of.content.get().or_else(|| of.new_source.get());
            let content = shortened(content.unwrap_or_default(), 2 * SIDE);
            Some(format!("{}\n+++\n{content}", file?))
        }
        "read" | "ls" | "notebookread" | "view" => file.map(str::to_owned),
        "grep" | "glob" => {
            let wanted = of.pattern.get()?;
            let places: Vec<&str> = file.into_iter().chain(of.glob.get()).collect();
            Some(match places.as_slice() {
                [] => wanted.to_owned(),
                places => format!("{wanted} in {}", places.join(" ")),
            })
        }
        "websearch" => of.query.get().map(str::to_owned),
        "webfetch" => Some(joined(of.url.get()?, of.prompt.get())),
        "task" | "agent" => Some(joined(of.description.get()?, of.prompt.get())),
        _ => None,
    }
}

fn joined(first: &str, second: Option<&str>) -> String {
    match second {
        Some(second) => format!("{first}\n{second}"),
        None => first.to_owned(),
    }
}

/// An edit's file, and what it replaces by what.
fn edits(file: &str, of: &Arguments<'_>) -> String {
    let mut text = file.to_owned();
    let mut add = |old: &str, new: &str| {
        for (sign, side) in [("---", old), ("+++", new)] {
            text.push_str(&format!("\n{sign}\n{}", shortened(side, SIDE)));
        }
    };
    match &of.edits {
        Content::Parts(parts) => {
            for part in parts.iter().take(EDITS) {
                if let Part::Object(edit) = part {
                    add(&edit.old_string, &edit.new_string);
                }
            }
        }
        Content::Nothing | Content::Text(_) => add(&of.old_string, &of.new_string),
    }
    text
}

/// A command as it would be typed.
fn command(of: &Content<'_, NoObject>) -> Option<String> {
    let words: Vec<&str> = match of {
        Content::Nothing => return None,
        Content::Text(line) => vec![line],
        Content::Parts(parts) => parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(word) => Some(&**word),
                Part::Object(_) | Part::Other => None,
            })
            .collect(),
    };
    let line = command_line(&words);
    match line.contains(PATCH) {
        true => Some(patch(&line)),
        false => (!line.is_empty()).then_some(line),
    }
}

/// Words as one line. A shell that is only asked to run a script is left out.
pub(crate) fn command_line(words: &[&str]) -> String {
    match words {
        [line] => (*line).to_owned(),
        [shell, flag, script] if is_shell(shell) && flag.ends_with('c') => (*script).to_owned(),
        words => words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(
        name.trim_end_matches(".exe"),
        "bash" | "sh" | "zsh" | "fish" | "dash" | "powershell" | "pwsh" | "cmd"
    )
}

fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%^~".contains(c);
    if !word.is_empty() && word.chars().all(plain) || word.contains(PATCH) {
        Cow::Borrowed(word)
    } else {
        Cow::Owned(format!("'{}'", word.replace('\'', "'\\''")))
    }
}

/// How a patch begins.
const PATCH: &str = "*** Begin Patch";

/// A patch: the files that it touches, then itself.
fn patch(text: &str) -> String {
    let from = text.find(PATCH).unwrap_or(0);
    let body = &text[from..];
    let files: Vec<&str> = body
        .lines()
        .filter_map(|line| {
            [
                "*** Update File: ",
                "*** Add File: ",
                "*** Delete File: ",
                "*** Move to: ",
            ]
            .iter()
            .find_map(|sign| line.strip_prefix(sign))
        })
        .map(str::trim)
        .collect();
    format!("{}\n{}", files.join(", "), shortened(body, 2 * SIDE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: &str, arguments: &str, expected: &str) {
        assert_eq!(rendered(tool, arguments), expected);
    }

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        check(
            "Bash",
            r#"{"command":"cargo test","description":"Run the tests"}"#,
            "cargo test\n# Run the tests",
        );
        check(
            "shell",
            r#"{"command":["bash","-lc","cargo test"]}"#,
            "cargo test",
        );
        check(
            "shell",
            r#"{"command":["git","commit","-m","it's done"]}"#,
            r"git commit -m 'it'\''s done'",
        );
        check("exec_command", r#"{"cmd":"ls"}"#, "ls");
    }

    #[test]
    fn an_edit_is_shown_as_its_file_with_both_sides() {
        check(
            "Edit",
            r#"{"file_path":"/e/a.rs","old_string":"one","new_string":"two"}"#,
            "/e/a.rs\n---\none\n+++\ntwo",
        );
        check(
            "MultiEdit",
            r#"{"file_path":"a","edits":[{"old_string":"b","new_string":"c"},{"old_string":"d","new_string":""}]}"#,
            "a\n---\nb\n+++\nc\n---\nd\n+++\n",
        );
        check(
            "Write",
            r#"{"file_path":"a","content":"all of it"}"#,
            "a\n+++\nall of it",
        );
    }

    #[test]
    fn a_search_is_shown_as_what_it_looks_for() {
        check("Read", r#"{"file_path":"/e/a.rs","offset":5}"#, "/e/a.rs");
        check(
            "Grep",
            r#"{"pattern":"fn main","path":"src","glob":"*.rs"}"#,
            "fn main in src *.rs",
        );
        check("Glob", r#"{"pattern":"**/*.rs"}"#, "**/*.rs");
    }

    #[test]
    fn a_patch_names_its_files_first() {
        let body = "*** Begin Patch\n*** Update File: src/a.rs\n+x\n*** End Patch";
        check("apply_patch", body, &format!("src/a.rs\n{body}"));
        let shell = serde_json::json!({"command": ["apply_patch", body]}).to_string();
        check("shell", &shell, &format!("src/a.rs\n{body}"));
    }

    #[test]
    fn any_other_call_keeps_its_arguments() {
        check(
            "mcp__tracker__create",
            r#"{"title":"x"}"#,
            r#"{"title":"x"}"#,
        );
        check("note", "free text", "free text");
        assert!(rendered("note", &"x".repeat(99_999)).len() <= CALL);
    }
}
