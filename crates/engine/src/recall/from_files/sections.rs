//! Answers a question for a section of memory by the lines of `MEMORY.md` below its heading: "what are my preferences?".
//!
//! Not here: which questions these are (`section_question`), what the sections hold (`consolidate`).

use std::path::Path;

use daybook_domain::Scope;
use daybook_text::redact::Redactor;

use super::answer;
use super::section_question::SectionQuestion;
use crate::consolidate::names_open_end;
use crate::files::layout::{CURATED, folder};
use crate::files::log_marks::page_text;
use crate::files::own_secrets::masked;
use crate::files::path::FilePath;
use crate::recall::page_entries::{PageEntry, entries};
use crate::recall::search::RankedAnswer;

/// The lines of the sections that are asked for, at most `limit`: of one memory after the other. Where everything is asked
/// for, a line of each section in turn. Where it is what is open, lines of work with nothing open come after all others.
pub(super) fn find(
    root: &Path,
    scopes: &[Scope],
    asked: SectionQuestion,
    limit: usize,
) -> Vec<RankedAnswer> {
    let redactor = Redactor::current();
    let mut answers = Vec::new();
    let are_sorted = asked == SectionQuestion::Open;
    for scope in scopes {
        if answers.len() >= limit && !are_sorted {
            break;
        }
        let file = FilePath::engine_file(CURATED);
        let Some(text) = page_text(&folder(root, scope), &file) else {
            continue;
        };
        let lines = entries(0, &masked(&redactor, &text));
        let lines = chosen(lines, asked, limit);
        answers.extend(lines.into_iter().map(|line| {
            let text = line.text.strip_prefix("- ").unwrap_or(&line.text);
            let heading = line.section.to_string();
            answer(scope, CURATED.to_owned(), text, Some(heading))
        }));
    }
    if are_sorted {
        answers.sort_by_key(|answer| tells_no_open_end(&answer.text));
    }
    answers.truncate(limit);
    answers
}

/// Whether a line tells where work was, and nothing that is open. A person's own line may be of any form.
fn tells_no_open_end(line: &str) -> bool {
    line.contains(" · ") && !names_open_end(line)
}

fn chosen(lines: Vec<PageEntry>, asked: SectionQuestion, limit: usize) -> Vec<PageEntry> {
    let headings = asked.headings();
    let section = |line: &PageEntry| {
        let heading = line.section.to_lowercase();
        headings.iter().position(|known| heading.contains(known))
    };
    let lines = lines.into_iter();
    let mut wanted: Vec<((usize, usize), PageEntry)> = lines
        .filter_map(|line| {
            let place = match asked {
                SectionQuestion::All => (line.nth, section(&line)?),
                _ => (section(&line)?, line.nth),
            };
            Some((place, line))
        })
        .collect();
    wanted.sort_by_key(|(place, _)| *place);
    wanted.truncate(limit);
    wanted.into_iter().map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use daybook_testkit::fixtures::{project_scope, user_scope};

    use super::*;

    const PAGE: &str = "# tidepool — what we know\n\n## Where we left off\n- main · open: which port? [7f78:L3]\n\n\
        ## What ada insisted on\n- \"never amend\" [7f78:L4]\n- \"tests first\" [7f78:L5]\n\n\
        ## Decisions\n- postgres for the ledger [7f78:L6]\n";

    fn found(asked: SectionQuestion, limit: usize) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let scopes = [user_scope("ada"), project_scope("tidepool")];
        for (scope, text) in scopes.iter().zip([
            "# ada\n\n## Where we left off\n- 9 Mar · last of 4 sessions · \"List the files.\" [ab12:L1]\n\n\
             ## What ada insisted on\n- \"US English\" [ab12:L1]\n",
            PAGE,
        ]) {
            let memory = folder(root.path(), scope);
            fs::create_dir_all(&memory).unwrap();
            fs::write(memory.join(CURATED), text).unwrap();
        }
        let answers = find(root.path(), &scopes, asked, limit).into_iter();
        answers.map(|one| one.text).collect()
    }

    #[test]
    fn a_section_is_answered_by_its_lines_in_order() {
        let rules = ["\"US English\"", "\"never amend\"", "\"tests first\""];
        assert_eq!(found(SectionQuestion::Rules, 10), rules);
        assert_eq!(found(SectionQuestion::Rules, 2), rules[..2]);
        assert_eq!(
            found(SectionQuestion::Decisions, 10),
            ["postgres for the ledger"]
        );
        assert_eq!(found(SectionQuestion::Traps, 10), [""; 0]);
    }

    #[test]
    fn what_is_open_is_answered_by_what_is() {
        let of_project = "main · open: which port?";
        let of_user = "9 Mar · last of 4 sessions · \"List the files.\"";
        assert_eq!(found(SectionQuestion::Open, 1), [of_project]);
        assert_eq!(found(SectionQuestion::Open, 10), [of_project, of_user]);
        assert_eq!(found(SectionQuestion::LeftOff, 10), [of_user, of_project]);
    }

    #[test]
    fn everything_is_a_line_of_each_section_in_turn() {
        let all = [
            "\"US English\"",
            "9 Mar · last of 4 sessions · \"List the files.\"",
            "\"never amend\"",
            "postgres for the ledger",
            "main · open: which port?",
            "\"tests first\"",
        ];
        assert_eq!(found(SectionQuestion::All, 10), all);
    }
}
