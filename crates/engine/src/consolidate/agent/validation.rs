//! Whether what the agent wrote may be merged: all of it, or nothing.
//!
//! A line cites statements that hold, names nothing that they do not name, shares most of its words with them, denies
//! what they deny, and gives no order that only a tool or a page gave. A skill worked in more than one session. The lines of others
//! are where they were, and the agent's own text does not shrink by more than half: what rested on removed statements was
//! taken out before it began.

use std::collections::BTreeSet;

use daybook_domain::{AgentLine, AgentPage, StatementRef, Trust};
use daybook_text::fence::{one_line, visible, without_citations};
use daybook_text::instruction::is_instruction;
use daybook_text::redact::Redactor;

use crate::consolidate::content::{Content, ContentWords};
use crate::extract::model::{MAX_TEXT, names_all};

use super::lines::{own_lines, parse_item};
use super::statements::{AgentStatement, AgentStatements};
use super::workspace::{Workspace, skill_name};
use super::{CURATED, HANDBOOK_LINES, SKILL_SESSIONS, STEPS, SUMMARY, SUMMARY_LINES};

/// Most faults that one rejection names.
const FAULTS: usize = 8;
/// Fewest bytes of an own text that may not shrink.
const SETTLED_BYTES: usize = 200;
/// Signs that would end our lines, enclose them or pass for a marker.
const SIGNS: [&str; 5] = ["<", ">", " ^", "#pinned", "\u{60}\u{60}\u{60}"];

/// The lines that the agent wrote, in order, or what is wrong with them. `before` are the bytes of its lines when it began.
pub(super) fn validate(
    workspace: &Workspace,
    statements: &AgentStatements,
    before: usize,
) -> Result<Vec<AgentLine>, String> {
    let mut found = Validation {
        statements,
        lines: Vec::new(),
        faults: Vec::new(),
    };
    for (page, of, most) in [
        (CURATED, AgentPage::Handbook, HANDBOOK_LINES),
        (SUMMARY, AgentPage::Summary, SUMMARY_LINES),
    ] {
        let text = workspace.text(page)?;
        workspace.keeps_foreign_lines(page, text)?;
        found.add_section(page, of, own_lines(text), most);
    }
    for (path, text) in workspace.skills() {
        found.add_skill(path, text);
    }
    let after: usize = found.lines.iter().map(|line| line.text.len()).sum();
    if found.faults.is_empty() && before >= SETTLED_BYTES && after * 2 < before {
        found.faults.push(format!(
            "your text shrinks from {before} to {after} bytes, though what it rests on still holds: keep at least half of it"
        ));
    }
    match found.faults.is_empty() {
        true => Ok(found.lines),
        false => {
            found.faults.truncate(FAULTS);
            Err(found.faults.join("; "))
        }
    }
}

struct Validation<'a> {
    statements: &'a AgentStatements,
    lines: Vec<AgentLine>,
    faults: Vec<String>,
}

impl<'a> Validation<'a> {
    fn add_section(&mut self, path: &str, page: AgentPage, lines: Vec<&str>, most: usize) {
        if lines.len() > most {
            self.faults
                .push(format!("{path} has more than {most} lines of yours"));
            return;
        }
        for line in lines {
            self.add_line(path, &page, line);
        }
    }

    fn add_skill(&mut self, path: &str, text: &str) {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let title = lines.next().and_then(|line| line.strip_prefix("# "));
        let (Some(name), Some(title)) = (skill_name(path), title.map(str::trim)) else {
            let fault = format!("{path} does not begin with `# ` and a title");
            self.faults.push(fault);
            return;
        };
        let steps: Vec<&str> = lines.collect();
        let (least, most) = STEPS;
        if !(least..=most).contains(&steps.len()) {
            self.faults.push(format!(
                "{path} has {} steps; a skill has {least} to {most}",
                steps.len()
            ));
            return;
        }
        let page = AgentPage::Skill {
            name: name.to_owned(),
            title: title.to_owned(),
        };
        let first = self.lines.len();
        for step in steps {
            self.add_line(path, &page, step);
        }
        let refs: Vec<StatementRef> = self.lines[first..]
            .iter()
            .flat_map(|line| line.statements.clone())
            .collect();
        let cited = self.statements.of_refs(&refs);
        let words: Vec<String> = cited.iter().map(|one| one.words()).collect();
        if let Err(why) = is_plain(title).and_then(|()| is_named(title, &words.join("\n"))) {
            self.faults.push(format!("the title of {path} {why}"));
        }
        let sessions = self.statements.successes(cited.into_iter()).len();
        if sessions < SKILL_SESSIONS {
            self.faults.push(format!(
                "{path} cites {sessions} sessions that ended well; a skill worked in at least {SKILL_SESSIONS}"
            ));
        }
    }

    fn add_line(&mut self, path: &str, page: &AgentPage, line: &str) {
        match self.parse_line(page, line) {
            Ok(line) => self.lines.push(line),
            Err(why) => {
                let line: String = line.chars().take(80).collect();
                self.faults.push(format!("{path}: the line `{line}` {why}"));
            }
        }
    }

    fn parse_line(&self, page: &AgentPage, line: &str) -> Result<AgentLine, String> {
        let (text, cited) = parse_item(line)
            .ok_or("is no item `- words [label:Lnumber]` that ends with a citation")?;
        is_plain(&text)?;
        let mut sources: Vec<&AgentStatement> = Vec::new();
        for citation in &cited {
            let named = self.statements.cited_by(citation);
            if named.is_empty() {
                return Err(format!(
                    "cites [{citation}], which no current statement has"
                ));
            }
            sources.extend(supporting(&text, named));
        }
        is_grounded(&text, &sources)?;
        let refs: BTreeSet<StatementRef> = sources.iter().map(|one| one.statement).collect();
        Ok(AgentLine {
            page: page.clone(),
            text,
            statements: refs.into_iter().collect(),
        })
    }
}

/// Of the statements of one citation, those that share words with the line; all where none does.
fn supporting<'s>(text: &str, named: Vec<&'s AgentStatement>) -> Vec<&'s AgentStatement> {
    let words = Content::of(text).words;
    let shares = |one: &&&AgentStatement| words.common(&Content::of(&one.words()).words) > 0;
    let sharing: Vec<&AgentStatement> = named.iter().filter(shares).copied().collect();
    if sharing.is_empty() { named } else { sharing }
}

/// Whether a text is one plain line without secrets, citations and signs of ours.
fn is_plain(text: &str) -> Result<(), String> {
    if text.chars().count() > MAX_TEXT {
        return Err(format!("is longer than {MAX_TEXT} characters"));
    }
    if Redactor::current().redact(text).text != text {
        return Err("holds a secret".to_owned());
    }
    let is_one_line = one_line(text) == text && visible(text) == text;
    let has_signs = SIGNS.iter().any(|sign| text.contains(sign));
    match is_one_line && !has_signs && without_citations(text) == text {
        true => Ok(()),
        false => Err("is no plain line of words".to_owned()),
    }
}

fn is_grounded(text: &str, sources: &[&AgentStatement]) -> Result<(), String> {
    let words: Vec<String> = sources.iter().map(|one| one.words()).collect();
    is_named(text, &words.join("\n"))?;
    let content = Content::of(text);
    let of_sources: Vec<Content> = words.iter().map(|words| Content::of(words)).collect();
    let all = of_sources.iter().flat_map(|it| it.words.iter());
    let all: ContentWords = all.collect();
    if content.words.is_empty() || content.words.common(&all) * 2 < content.words.len() {
        return Err("shares too few words with what it cites".to_owned());
    }
    if !denies_alike(&content, &of_sources) {
        return Err("denies what it cites, or states what that denies".to_owned());
    }
    // What a tool, a page or a mail orders is no order; what an agent did or a person wants may be one.
    let is_trusted = |one: &&AgentStatement| one.merged.origin.trust() >= Trust::Medium;
    match is_instruction(text) && !sources.iter().any(is_trusted) {
        true => Err("gives an order that neither a person nor an agent's own work gave".to_owned()),
        false => Ok(()),
    }
}

/// Whether a line denies only what a source denies, and states nothing that every source which has it denies.
fn denies_alike(line: &Content, sources: &[Content]) -> bool {
    let is_denied = |word| sources.iter().any(|source| source.denied.contains(word));
    let is_stated = |word| {
        let mut sources = sources.iter();
        sources.any(|source| source.words.contains(word) && !source.denied.contains(word))
    };
    let mut stated = line
        .words
        .iter()
        .filter(|word| !line.denied.contains(*word));
    line.denied.iter().all(is_denied) && stated.all(|word| !is_denied(word) || is_stated(word))
}

fn is_named(text: &str, sources: &str) -> Result<(), String> {
    match names_all(sources, text) {
        true => Ok(()),
        false => Err("names what the cited statements do not name".to_owned()),
    }
}
