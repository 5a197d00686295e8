//! Hides secrets in text before it is stored.
//!
//! One pass over the text searches for all keywords at once. A rule examines the text only where one of
//! its keywords occurs, and only a bounded range around that place; so text without secrets
//! costs little more than reading it, and no text costs more than its length times a bound. Each secret
//! is replaced by `[REDACTED:<rule>]`, and nothing that would reveal it is returned.
//! The result is scanned again until nothing more is found, so that redacting it once more
//! changes nothing.
//!
//! `rules` lists secrets with a known format, and passwords of command lines; `assign` finds those beside a telling
//! name, `url` those in addresses, `pem` private keys, `manifest` those of Kubernetes, `mnemonic` the words of
//! wallets, `entropy` random keys on lines that announce one. `split` undoes escapes and colors, `joined` puts
//! together what line breaks and strings separate, `encoded` decodes base 64 and hexadecimal digits; their results
//! are scanned as well, and `view` leads back to the text. `names`, `joint`, `value` and `proof` decide which
//! candidates are secrets, with the predicates of `shape`, `placeholder` and `reference`. `own_rules` are the user's,
//! `personal` finds personal data where that is asked for, and `fingerprint` tells hidden secrets apart.
//!
//! Not here: which text is redacted and when. Everything that stores text calls this first.

mod assign;
mod character_counts;
mod check_digits;
mod cursor;
mod encoded;
mod entropy;
mod finding;
mod fingerprint;
mod joined;
mod joint;
mod manifest;
mod mnemonic;
mod names;
mod own_rules;
mod pem;
mod personal;
mod placeholder;
mod plain;
mod proof;
mod reference;
mod rules;
mod scan;
mod shape;
mod span;
mod split;
mod url;
mod value;
mod view;

#[cfg(test)]
mod assign_tests;
#[cfg(test)]
mod families;
#[cfg(test)]
mod families_tests;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod own_rules_tests;
#[cfg(test)]
mod pem_tests;
#[cfg(test)]
mod personal_tests;
#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod redact_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod split_tests;
#[cfg(test)]
mod transcripts_tests;
#[cfg(test)]
mod url_tests;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use daybook_domain::{EventId, RulesRevision};

pub use entropy::HIGH_ENTROPY;
pub use finding::{FindingReason, FindingView, RedactionFinding};
pub use fingerprint::FingerprintKey;
pub use own_rules::{AllowList, AllowTarget, OwnRule, OwnRules};
pub use personal::PersonalData;
use scan::Scanner;
use span::Span;

/// Grows with every rule that is added or widened, and with every change of what a rule accepts.
/// Text redacted under a smaller number is due to be redacted again.
pub const RULES_REVISION: u32 = 4;

/// Most scans of one text. Only text with secrets is scanned twice: a marker is the edge of a word, which may
/// expose a neighbouring secret that the first scan took for part of that word.
const MAX_PASSES: usize = 6;

/// What a redactor looks for beside the standard rules, and how it marks what it hides. By default nothing more.
#[derive(Debug, Default)]
pub struct RedactionConfig {
    /// Rules of the user's own.
    pub own: OwnRules,
    /// The kinds of personal data that are hidden.
    pub personal: Vec<PersonalData>,
    /// Adds a fingerprint to each marker, `[REDACTED:password:k3x9]`; `None` for markers without one.
    pub key: Option<FingerprintKey>,
}

/// Finds secrets in text and hides them. Cloning shares the compiled rules.
///
/// ```
/// use daybook_text::redact::Redactor;
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
    config: Arc<RedactionConfig>,
}

/// The scanner of the standard rules, built when it is first needed.
static SCANNER: OnceLock<Scanner> = OnceLock::new();
/// The redactor of this process.
static CURRENT: OnceLock<Redactor> = OnceLock::new();

/// A text without its secrets.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// Borrowed if nothing was found.
    pub text: Cow<'a, str>,
    /// In the order of the text; none overlaps another. Markers that the text already had are not
    /// among them.
    pub findings: Vec<RedactionFinding>,
}

impl Redactor {
    /// A redactor with more than the standard rules.
    #[must_use]
    pub fn new(config: RedactionConfig) -> Self {
        Self {
            config: Arc::new(config),
        }
    }

    /// The rules that come with the engine. The keyword table is built at the first text of a process that is more
    /// than a plain name, which takes a few milliseconds; each rule is compiled when its keyword is first met.
    #[must_use]
    pub fn standard() -> Self {
        static STANDARD: OnceLock<Redactor> = OnceLock::new();
        STANDARD
            .get_or_init(|| Self::new(RedactionConfig::default()))
            .clone()
    }

    /// The redactor of this process: the installed one, else [`Redactor::standard`]. All of a process must hide the
    /// same, down to its log and its errors, so this is the one value that it does not hand on.
    #[must_use]
    pub fn current() -> Self {
        CURRENT.get().cloned().unwrap_or_else(Self::standard)
    }

    /// Makes this the redactor of this process. The first call counts; false for later ones.
    pub fn install(self) -> bool {
        CURRENT.set(self).is_ok()
    }

    /// Replaces every secret that a rule finds. Never fails, never panics, and takes time
    /// proportional to the text's length.
    ///
    /// In an assignment the name, the joint and the quotation marks are kept, so that the text
    /// still shows what was set. A secret cut in two by the end of the text may pass: redact
    /// before truncating.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        let mut redacted = Redacted {
            text: Cow::Borrowed(text),
            findings: Vec::new(),
        };
        for _ in 0..MAX_PASSES {
            let spans = self.find_spans(&redacted.text);
            if spans.is_empty() {
                break;
            }
            let (text, findings) = self.hide(&redacted.text, &spans, &redacted.findings);
            redacted = Redacted {
                text: Cow::Owned(text),
                findings,
            };
        }
        redacted
    }

    /// Identifies all rules of this redactor. The key of fingerprints is none of them: with another key the same texts
    /// are hidden.
    #[must_use]
    pub fn revision(&self) -> RulesRevision {
        let mut personal: Vec<&str> = self.config.personal.iter().map(Into::into).collect();
        personal.sort_unstable();
        personal.dedup();
        RulesRevision::of(&[
            &RULES_REVISION.to_le_bytes(),
            self.config.own.source().as_bytes(),
            personal.join(" ").as_bytes(),
        ])
    }

    /// 32 bits that stand for a name with a secret; they depend on the key, if there is one.
    #[must_use]
    pub fn name_fingerprint(&self, name: &str) -> u32 {
        match &self.config.key {
            Some(key) => key.bits(b"name", name.as_bytes()),
            None => EventId::of(&[b"name", name.as_bytes()]).0 as u32,
        }
    }

    /// The spans that one pass hides.
    fn find_spans(&self, text: &str) -> Vec<Span> {
        let is_plain = SCANNER.get().is_none() && plain::is_plain(text);
        let mut spans = match is_plain {
            true => Vec::new(),
            false => SCANNER.get_or_init(Scanner::new).scan(text),
        };
        let RedactionConfig { own, personal, .. } = &*self.config;
        if own.is_empty() && personal.is_empty() {
            return spans;
        }
        let bytes = text.as_bytes();
        let more = own.find(bytes).into_iter();
        let more = more.chain(personal.iter().flat_map(|kind| kind.find(bytes)));
        let more = more.filter_map(|span| {
            let range = &span.range;
            span.moved(text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end))
        });
        spans.extend(more.filter(|span| !scan::touches_marker(bytes, &span.range)));
        spans.retain(|span| !own.allow(bytes, &span.range));
        span::merge(spans)
    }

    /// Replaces `spans`, which are sorted and do not overlap, by markers, and moves earlier findings
    /// to the new positions of their markers. A marker inside a span is removed with it.
    fn hide(
        &self,
        text: &str,
        spans: &[Span],
        earlier: &[RedactionFinding],
    ) -> (String, Vec<RedactionFinding>) {
        let mut hidden = String::with_capacity(text.len());
        let mut findings = Vec::with_capacity(spans.len() + earlier.len());
        let mut earlier = earlier.iter().peekable();
        let mut kept_from = 0;
        for span in spans {
            let range =
                text.floor_char_boundary(span.range.start)..text.ceil_char_boundary(span.range.end);
            while let Some(finding) = earlier.next_if(|finding| finding.range.end <= range.start) {
                findings.push(shift_finding(finding, kept_from, hidden.len()));
            }
            while earlier
                .next_if(|finding| finding.range.start < range.end)
                .is_some()
            {}
            hidden.push_str(&text[kept_from..range.start]);
            let start = hidden.len();
            hidden.push_str(&self.marker(span, &text[range.clone()]));
            findings.push(RedactionFinding {
                rule: span.rule.clone(),
                range: start..hidden.len(),
                reason: span.reason,
                view: span.view,
            });
            kept_from = range.end;
        }
        findings.extend(earlier.map(|finding| shift_finding(finding, kept_from, hidden.len())));
        hidden.push_str(&text[kept_from..]);
        (hidden, findings)
    }

    fn marker(&self, span: &Span, secret: &str) -> String {
        match &self.config.key {
            Some(key) => {
                let fingerprint = key.fingerprint(secret.as_bytes());
                format!("[REDACTED:{}:{fingerprint}]", span.rule)
            }
            None => format!("[REDACTED:{}]", span.rule),
        }
    }
}

/// The finding's new position after the text from `old` on has moved to `new`.
fn shift_finding(finding: &RedactionFinding, old: usize, new: usize) -> RedactionFinding {
    let range = finding.range.start - old + new..finding.range.end - old + new;
    RedactionFinding {
        range,
        ..finding.clone()
    }
}
