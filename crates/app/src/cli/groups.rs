//! The commands by what a person wants to do, as `daybook --help` lists them.

use crate::terminal::wrap::{columns, wrapped_to};

/// Columns before what a command does.
const INDENT: usize = 15;

/// The groups, before they are wrapped.
const GROUPS: &str = "\
Everyday
  import       import the transcripts of your agents, and learn from them
  recall       find what is remembered, with its source     (also: search)
  context      print the memory that an agent gets in this folder (also: brief)
  remember     keep something in your own words
  setup        add Daybook to your agents' settings; --undo removes it

Inspect
  open         show the memory in a browser: what was learned, why, at what cost
  status       what is covered, pending, in gaps, and why
  top          work, spending and what was learned last, as they move
  sessions     list the imported sessions; turn memory of one off or on
  projects     which checkouts belong together; merge and rename
  entities     what is kept about people, projects, places and things
  quarantine   what waits for your decision; accept and reject
  show         the original text behind a citation
  history      the changes of memory files; --at prints a file as it was
  diff         what changed in memory files between two states
  list         what is remembered, with ids and sources
  why          where a line of memory comes from, since when, what it was
  jobs         background work, what it waits for; retry and cancel
  spend        calls of models, their cost, and what is left under caps
  redact       print text without its secrets; --explain says why
  doctor       check the data folder; --repair repairs it
  support-bundle  a file for those who help: no words, names or paths
  eval         measure recall, on benchmarks and on questions of your own

Change
  forget       forget something, everywhere; undo brings it back
  edit         give a line of memory other words, in every file that shows it
  pin          keep a memory in MEMORY.md, whatever ranks higher
  unpin        let it take its place by rank again
  purge        remove something for good, from history and backups, too
  undo         take back a change of memory files
  config       settings, and where each value comes from; set one
  consolidate  write memory files now, however short ago they were written
  checkout     bring memory folders up to date, where machines share one
  checkin      store your edits of memory folders, for all machines
  sync         exchange memory files with other machines, by a git repository
  rebuild      rebuild the index and memory files from the database

Agents
  mcp          answer agents over MCP, on standard input and output
  threads      working memory: events in, contexts for a model out

Operate
  update       process due work, then exit
  worker       process due work until stopped
  trigger      report what happened to a session
  hook         called by an agent's host when something happens in a session
  serve        answer agents over HTTP, on this machine
  token        make, list and revoke tokens for programs over HTTP
  export       write the whole memory for other programs or systems
  backup       write the whole memory to one file, while agents keep working
  restore      create a data folder from a backup; --at: files as they were
  move-store   move memory into a PostgreSQL database, or back
  completions  completions for your shell
  man          the manual page of a command";

/// The groups, fitted into the terminal.
pub(super) fn listed() -> String {
    let columns = columns();
    let lines = GROUPS
        .lines()
        .map(|line| match line.split_at_checked(INDENT) {
            Some((name, about)) if line.starts_with("  ") => {
                name.to_owned() + &wrapped_to(columns, about, INDENT)
            }
            Some(_) | None => line.to_owned(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_is_in_one_group() {
        let mut listed: Vec<&str> = GROUPS
            .lines()
            .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
            .collect();
        listed.sort_unstable();
        let program = Cli::command();
        let mut known: Vec<&str> = program
            .get_subcommands()
            .map(|command| command.get_name())
            .collect();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
