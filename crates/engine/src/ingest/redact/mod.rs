//! Hiding secrets before anything is kept.
//!
//! One pass over the text looks for all keywords at once. Only where one of them stands does a
//! rule look closer, and it sees a bounded stretch around that place; so text without secrets
//! costs little more than reading it, and no text costs more than its length times a bound. What
//! a rule finds is replaced by `[REDACTED:<rule>]`, and nothing that would reveal it is returned.
//! The result is looked through again until nothing more is found, so that redacting it once more
//! changes nothing.
//!
//! `rules` lists secrets known by their format, `assign` finds those told by a name, `url` those
//! in addresses, `pem` private keys. What deserves belief say `names`, `value` and `proof`, which
//! ask `shape`, `stand_in` and `reference` what a string looks like.
//!
//! Not here: which text is redacted and when. Everything that stores text calls this first.

mod assign;
mod cursor;
mod makeup;
mod names;
mod pem;
mod proof;
mod reference;
mod rules;
mod scan;
mod shape;
mod span;
mod stand_in;
mod url;
mod value;

#[cfg(test)]
mod assign_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod pem_tests;
#[cfg(test)]
mod redact_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod transcripts_tests;
#[cfg(test)]
mod url_tests;

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use scan::Scanner;
use span::Span;

/// Grows with every rule that is added or widened, and with every change of what a rule believes.
/// Text redacted under a smaller number is due to be redacted again.
pub const RULES_REVISION: u32 = 1;

/// Times that a text is looked through. Only text with secrets is looked at twice: a marker is
/// the edge of a word, which may bring out a neighbour that the first look took for part of one.
const MAX_PASSES: usize = 6;

/// Finds secrets in text and hides them. Cloning shares the compiled rules.
///
/// ```
/// use daybook_engine::ingest::redact::Redactor;
///
/// let redactor = Redactor::standard();
/// let redacted = redactor.redact("export DB_PASSWORD='Tr0ub4dor&3'");
///
/// assert_eq!(redacted.text, "export DB_PASSWORD='[REDACTED:password]'");
/// assert_eq!(redacted.findings[0].rule, "password");
/// assert_eq!(&redacted.text[redacted.findings[0].range.clone()], "[REDACTED:password]");
/// ```
#[derive(Debug, Clone)]
pub struct Redactor {
    scanner: Arc<Scanner>,
}

/// A text without its secrets.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// Borrowed if nothing was found.
    pub text: Cow<'a, str>,
    /// In the order of the text; none overlaps another. Markers that the text already had are not
    /// among them.
    pub findings: Vec<Finding>,
}

/// One secret that was hidden. Tells where it was and what kind, never what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What stands in the marker: lower case, digits and dashes.
    pub rule: &'static str,
    /// Bytes of the marker within [`Redacted::text`].
    pub range: Range<usize>,
}

impl Redactor {
    /// The rules that come with the engine. The keyword table is built at the first call in a
    /// process, which takes one or two milliseconds; each rule is compiled when its keyword is
    /// first met.
    pub fn standard() -> Self {
        static STANDARD: OnceLock<Redactor> = OnceLock::new();
        STANDARD
            .get_or_init(|| Self {
                scanner: Arc::new(Scanner::new()),
            })
            .clone()
    }

    /// Replaces every secret that a rule finds. Never fails, never panics, and takes time
    /// proportional to the text's length.
    ///
    /// In an assignment the name, the joint and the quotation marks are kept, so that the text
    /// still tells what was set. A secret cut in two by the end of the text may pass: redact
    /// before truncating.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        let mut redacted = Redacted {
            text: Cow::Borrowed(text),
            findings: Vec::new(),
        };
        for _ in 0..MAX_PASSES {
            let spans = self.scanner.scan(&redacted.text);
            if spans.is_empty() {
                break;
            }
            let (text, findings) = hide(&redacted.text, &spans, &redacted.findings);
            redacted = Redacted {
                text: Cow::Owned(text),
                findings,
            };
        }
        redacted
    }
}

/// Puts markers in the place of `spans`, which are sorted and apart, and moves earlier findings
/// to where their markers are now. A marker inside a span goes with it.
fn hide(text: &str, spans: &[Span], earlier: &[Finding]) -> (String, Vec<Finding>) {
    let mut hidden = String::with_capacity(text.len());
    let mut findings = Vec::with_capacity(spans.len() + earlier.len());
    let mut earlier = earlier.iter().peekable();
    let mut kept_from = 0;
    for span in spans {
        let range =
            text.floor_char_boundary(span.range.start)..text.ceil_char_boundary(span.range.end);
        while let Some(finding) = earlier.next_if(|finding| finding.range.end <= range.start) {
            findings.push(moved(finding, kept_from, hidden.len()));
        }
        while earlier
            .next_if(|finding| finding.range.start < range.end)
            .is_some()
        {}
        hidden.push_str(&text[kept_from..range.start]);
        let start = hidden.len();
        // Writing to a string cannot fail.
        let _ = write!(hidden, "[REDACTED:{}]", span.rule);
        findings.push(Finding {
            rule: span.rule,
            range: start..hidden.len(),
        });
        kept_from = range.end;
    }
    findings.extend(earlier.map(|finding| moved(finding, kept_from, hidden.len())));
    hidden.push_str(&text[kept_from..]);
    (hidden, findings)
}

/// A finding after the text from `old` on has moved to `new`.
fn moved(finding: &Finding, old: usize, new: usize) -> Finding {
    let range = finding.range.start - old + new..finding.range.end - old + new;
    Finding {
        rule: finding.rule,
        range,
    }
}
