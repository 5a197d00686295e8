//! `daybook completions`: scripts that complete command lines, with the labels of sessions.
//!
//! The labels change with every import, so a script asks this program for them: `daybook completions labels`. Where
//! there is no memory, the list is empty and no error is printed: a shell shows both beside what is typed.

use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, Command, ValueEnum};
use clap_complete::{Shell, generate};
use daybook_domain::page::read_first;

use super::CommonArgs;
use crate::process::block_on;
use crate::wiring::Daybook;

/// Most labels that are offered: the newest ones.
const LABELS: usize = 500;

/// The commands and flags after which a session is named.
const BEFORE_LABEL: &str = "show|--off|--on|--session|move";

/// Print completions for your shell
#[derive(Args)]
pub(crate) struct CompletionsCommand {
    /// Which shell
    #[arg(value_enum)]
    what: Completions,
}

#[derive(Clone, Copy, ValueEnum)]
enum Completions {
    Bash,
    Elvish,
    Fish,
    #[value(name = "powershell")]
    PowerShell,
    Zsh,
    /// The labels of sessions, one on a line
    #[value(hide = true)]
    Labels,
}

impl CompletionsCommand {
    pub(crate) fn run(&self, common: &CommonArgs, mut program: Command) -> Result<()> {
        let shell = match self.what {
            Completions::Bash => Shell::Bash,
            Completions::Elvish => Shell::Elvish,
            Completions::Fish => Shell::Fish,
            Completions::PowerShell => Shell::PowerShell,
            Completions::Zsh => Shell::Zsh,
            Completions::Labels => return print_labels(common),
        };
        let mut script = Vec::new();
        generate(shell, &mut program, "daybook", &mut script);
        let script = with_labels(shell, &String::from_utf8_lossy(&script));
        Ok(io::stdout().write_all(script.as_bytes())?)
    }
}

fn print_labels(common: &CommonArgs) -> Result<()> {
    let Ok(daybook) = Daybook::open_existing(common) else {
        return Ok(());
    };
    let (store, tenant) = (&daybook.store, &daybook.tenant);
    let sessions =
        block_on(async { Ok(read_first(LABELS, |page| store.sessions(tenant, page)).await?) })?;
    let mut lines = String::new();
    for session in sessions {
        lines.push_str(&session.label);
        lines.push('\n');
    }
    Ok(io::stdout().write_all(lines.as_bytes())?)
}

/// A script that also completes labels where a session is named; as it is for shells whose scripts cannot be extended so.
fn with_labels(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}\n{}", BASH.replace("BEFORE", BEFORE_LABEL)),
        Shell::Zsh => {
            // The last lines call the function; ours takes its name, because that is the one the shell loads.
            let words = script.split("\nif [ \"$funcstack").next().unwrap_or(script);
            let words = words.replace("\n_daybook() {", "\n_daybook_words() {");
            format!("{words}\n{}", ZSH.replace("BEFORE", BEFORE_LABEL))
        }
        Shell::Fish => format!("{script}\n{FISH}"),
        _ => script.to_owned(),
    }
}

const BASH: &str = r#"_daybook_or_label() {
    case "${COMP_WORDS[COMP_CWORD-1]}" in
        BEFORE)
            COMPREPLY=( $(compgen -W "$(daybook completions labels 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}") )
            return 0
            ;;
    esac
    _daybook "$@"
}
complete -F _daybook_or_label -o bashdefault -o default daybook
"#;

const ZSH: &str = r#"_daybook() {
    case "$words[CURRENT-1]" in
        BEFORE)
            compadd -- ${(f)"$(daybook completions labels 2>/dev/null)"}
            return 0
            ;;
    esac
    _daybook_words "$@"
}
if [ "$funcstack[1]" = "_daybook" ]; then
    _daybook "$@"
else
    compdef _daybook daybook
fi
"#;

const FISH: &str = r#"complete -c daybook -n "__fish_seen_subcommand_from show" -f -a "(daybook completions labels 2>/dev/null)"
complete -c daybook -n "__fish_prev_arg_in --off --on --session move" -f -a "(daybook completions labels 2>/dev/null)"
"#;
