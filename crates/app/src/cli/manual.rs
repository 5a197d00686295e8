//! `daybook man`: the manual page of the program, or of one command.
//!
//! A page names other pages only as the commands that print them, because none is installed.

use std::io::{self, Write};

use anyhow::{Result, bail};
use clap::{Args, Command};
use clap_mangen::Man;

use crate::terminal::suggest;

/// Print the manual page
///
/// To read it: daybook man recall | man -l -
#[derive(Args)]
pub(crate) struct ManCommand {
    /// Of this command, such as recall or config set; without one, of the program
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

impl ManCommand {
    pub(crate) fn run(&self, mut program: Command) -> Result<()> {
        program.build();
        let mut command = &program;
        for word in &self.words {
            let Some(inner) = command.find_subcommand(word) else {
                let all = suggest::command("--help");
                bail!(
                    "there is no command {}; `{all}` lists them",
                    self.words.join(" ")
                );
            };
            command = inner;
        }
        let mut page = Vec::new();
        render(command, &mut page)?;
        Ok(io::stdout().write_all(&page)?)
    }
}

fn render(command: &Command, out: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or("daybook").to_owned();
    // The title of a page is one word.
    let page = Man::new(command.clone()).title(name.replace(' ', "-"));
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    if command
        .get_arguments()
        .any(|argument| !argument.is_hide_set())
    {
        page.render_options_section(out)?;
    }
    let commands: Vec<&Command> = command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set() && inner.get_name() != "help")
        .collect();
    if commands.is_empty() {
        return Ok(());
    }
    writeln!(out, ".SH COMMANDS")?;
    for inner in commands {
        let about = inner.get_about().map(ToString::to_string);
        writeln!(
            out,
            ".TP\n\\fB{}\\fR",
            escaped(&format!("{name} {}", inner.get_name()))
        )?;
        writeln!(out, "{}", escaped(&about.unwrap_or_default()))?;
    }
    let words = name.strip_prefix("daybook").unwrap_or_default();
    let of_one = format!("`daybook man{words} COMMAND` prints the page of a command.");
    writeln!(out, ".PP\n{}", escaped(&of_one))
}

/// Text that the formatter reads as text.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('-', "\\-");
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_looks_like_a_request_is_text() {
        assert_eq!(escaped("'off' ends it-"), "\\&'off' ends it\\-");
    }
}
