//! The picture of the first run in the README, drawn from what the program prints.
//!
//! `.ci/picture` draws it anew after a change of the output.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The columns of the picture's terminal.
const COLUMNS: usize = 92;

/// What a person types.
const COMMANDS: [&str; 2] = [
    "daybook import --sample",
    "daybook --root ~/.cache/daybook/sample show 019c:L7",
];

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/first-run.svg")
}

/// What the commands print on a terminal with colours, in a new home.
fn session() -> String {
    let home = tempfile::tempdir().expect("a folder");
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_daybook"), bin.join("daybook")).expect("a link");
    let mut text = String::new();
    for line in COMMANDS {
        let output = Command::new("/bin/sh")
            .args(["-c", line])
            .env_clear()
            .env("HOME", home.path())
            .env("USER", "ada")
            .env("PATH", &bin)
            .env("COLUMNS", COLUMNS.to_string())
            .env("CLICOLOR_FORCE", "1")
            .env("DAYBOOK_TIMEZONE", "UTC")
            .current_dir(home.path())
            .stdin(std::process::Stdio::null())
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{line}");
        let printed = String::from_utf8(output.stdout).expect("text");
        let _ = write!(text, "\x1b[1m$ {line}\x1b[0m\n{printed}\n");
    }
    text
}

/// The output with the one thing that differs from run to run made the same.
fn settled(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| match line.split_once(" events in ") {
            Some((before, after)) => {
                let rest = after.split_once(" s").map_or("", |(_, rest)| rest);
                format!("{before} events in 0.1 s{rest}")
            }
            None => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

/// Draws text with the escape sequences of bold, dim and yellow.
fn draw(text: &str) -> String {
    const LINE: usize = 19;
    let lines: Vec<String> = text.trim_end().lines().flat_map(rows).collect();
    let (width, height) = (COLUMNS * 8 + 40, lines.len() * LINE + 40);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"The first run of Daybook in a terminal\">\n\
         <style>text {{ font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre }} \
         .b {{ font-weight: bold; fill: #ffffff }} .d {{ fill: #8a93a3 }} .w {{ fill: #ebcb8b }}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1f2430\"/>\n"
    );
    for (at, line) in lines.iter().enumerate() {
        let (y, line) = (32 + at * LINE, line.as_str());
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"{y}\" xml:space=\"preserve\">{}</text>",
            spans(line)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// The rows in which a terminal shows a line: it breaks a long one that has no style.
fn rows(line: &str) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    if chars.len() <= COLUMNS || line.contains('\x1b') {
        return vec![line.to_owned()];
    }
    chars
        .chunks(COLUMNS)
        .map(|row| row.iter().collect())
        .collect()
}

fn spans(line: &str) -> String {
    let mut out = String::new();
    let mut class = "";
    for (at, part) in line.split("\x1b[").enumerate() {
        let text = match at {
            0 => part,
            _ => {
                let (code, text) = part.split_once('m').unwrap_or_default();
                class = match code {
                    "1" => "b",
                    "2" => "d",
                    "33" => "w",
                    _ => "",
                };
                text
            }
        };
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        match (text.is_empty(), class) {
            (true, _) => {}
            (false, "") => out.push_str(&text),
            (false, class) => {
                let _ = write!(out, "<tspan class=\"{class}\">{text}</tspan>");
            }
        }
    }
    out
}

#[test]
fn the_picture_of_the_readme_shows_what_is_printed() {
    let drawn = draw(&settled(&session()));
    if std::env::var_os("UPDATE_PICTURE").is_some() {
        std::fs::write(path(), &drawn).expect("a file");
    }
    let kept = std::fs::read_to_string(path()).expect("the picture");
    assert_eq!(kept, drawn, "run .ci/picture after a change of the output");
}
