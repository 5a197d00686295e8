//! Rules of the user's own, in the terms of gitleaks: a pattern, keywords, an entropy, and allow-lists.
//!
//! Patterns are searched for in the text as it stands, byte by byte, as gitleaks does. What the host of a rule says about
//! paths and commits has no meaning here.
//!
//! Not here: the format of their file. The binary reads it.

use std::ops::Range;

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use super::character_counts::entropy;
use super::finding::FindingReason;
use super::span::{RuleRank, Span};

/// Longest id, in bytes: markers show it.
const LONGEST_ID: usize = 40;

/// One rule, as its file has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OwnRule {
    /// Its name, which the marker shows: letters, digits, `-` and `_`.
    pub id: String,
    /// What is searched for, in the syntax of the `regex` crate, which is that of RE2 and Go.
    pub pattern: String,
    /// The group that holds the secret; `None` for the first that takes part, or the whole match without groups.
    pub secret_group: Option<usize>,
    /// Bits per character that a secret has more of.
    pub least_entropy: Option<f64>,
    /// The rule is applied only to texts that contain one of these, in any case of letters; to all without keywords.
    pub keywords: Vec<String>,
    /// What is no secret although the pattern matches.
    pub allowed: Vec<AllowList>,
}

/// Texts that are no secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList {
    /// Patterns, searched for in `target`.
    pub patterns: Vec<String>,
    /// What the patterns are searched for in.
    pub target: AllowTarget,
    /// Words, in any case of letters, one of which a secret contains.
    pub stopwords: Vec<String>,
    /// Whether a pattern and a stop word must both apply, where the list has both.
    pub needs_all: bool,
}

/// The text in which an allow-list's patterns are searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AllowTarget {
    /// The secret alone.
    #[default]
    Secret,
    /// All that the rule's pattern matches.
    Match,
    /// The line on which the secret begins.
    Line,
}

/// Rules that are ready to be applied. The default has none.
///
/// ```
/// use daybook_text::redact::{OwnRule, OwnRules, RedactionConfig, Redactor};
///
/// let ticket = OwnRule {
///     id: "door-code".into(),
///     pattern: r"\bDC-(\d{6})\b".into(),
///     ..OwnRule::default()
/// };
/// let own = OwnRules::compile(&[ticket], &[]).unwrap();
/// let redactor = Redactor::new(RedactionConfig { own, ..RedactionConfig::default() });
/// assert_eq!(redactor.redact("code DC-481516").text, "code DC-[REDACTED:door-code]");
/// ```
#[derive(Debug, Default)]
pub struct OwnRules {
    rules: Vec<CompiledRule>,
    /// For all rules, the standard ones too.
    allowed: Vec<CompiledAllowList>,
    keywords: Option<AhoCorasick>,
    /// For each keyword, the place of its rule in `rules`.
    keyword_rules: Vec<usize>,
    /// All rules and allow-lists as they were given; empty without any.
    source: String,
}

#[derive(Debug)]
struct CompiledRule {
    id: String,
    pattern: Regex,
    secret_group: Option<usize>,
    least_entropy: Option<f64>,
    has_keywords: bool,
    allowed: Vec<CompiledAllowList>,
}

#[derive(Debug)]
struct CompiledAllowList {
    patterns: Vec<Regex>,
    target: AllowTarget,
    /// In lower case.
    stopwords: Vec<String>,
    needs_all: bool,
}

impl OwnRules {
    /// Compiles `rules`, and the allow-lists that are for all rules.
    ///
    /// # Errors
    /// A sentence that names the rule that cannot be used, and says why.
    pub fn compile(rules: &[OwnRule], allowed: &[AllowList]) -> Result<Self, String> {
        let mut keywords = Vec::new();
        let mut keyword_rules = Vec::new();
        for (place, rule) in rules.iter().enumerate() {
            for keyword in rule.keywords.iter().filter(|keyword| !keyword.is_empty()) {
                keywords.push(keyword.as_str());
                keyword_rules.push(place);
            }
        }
        let compiled = rules.iter().map(CompiledRule::compile);
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(&keywords)
            .map_err(|error| format!("the keywords are too many: {error}"))?;
        Ok(Self {
            rules: compiled.collect::<Result<_, _>>()?,
            allowed: compile_all(allowed).map_err(|why| format!("allowlist: {why}"))?,
            keywords: (!keywords.is_empty()).then_some(search),
            keyword_rules,
            source: match rules.is_empty() && allowed.is_empty() {
                true => String::new(),
                false => format!("{rules:?}{allowed:?}"),
            },
        })
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there is neither a rule nor an allow-list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.allowed.is_empty()
    }

    /// Differs where rules differ.
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// The spans that these rules want hidden.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Span> {
        let mut is_announced = vec![false; self.rules.len()];
        if let Some(keywords) = &self.keywords {
            for hit in keywords.find_overlapping_iter(text) {
                is_announced[self.keyword_rules[hit.pattern().as_usize()]] = true;
            }
        }
        let rules = self.rules.iter().zip(is_announced);
        let applied = rules.filter(|(rule, is_announced)| *is_announced || !rule.has_keywords);
        applied.flat_map(|(rule, _)| rule.find(text)).collect()
    }

    /// Whether an allow-list for all rules says that this range of a text is no secret.
    pub(super) fn allow(&self, text: &[u8], range: &Range<usize>) -> bool {
        let lists = &self.allowed;
        lists.iter().any(|list| list.allows(text, range, range))
    }
}

impl CompiledRule {
    fn compile(rule: &OwnRule) -> Result<Self, String> {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if rule.id.is_empty() || rule.id.len() > LONGEST_ID || !rule.id.chars().all(is_letter) {
            return Err(format!(
                "rule \"{}\": an id has 1 to {LONGEST_ID} letters, digits, - and _",
                rule.id
            ));
        }
        let failed = |why: String| format!("rule {}: {why}", rule.id);
        let pattern = compile(&rule.pattern).map_err(failed)?;
        if rule
            .secret_group
            .is_some_and(|group| group >= pattern.captures_len())
        {
            return Err(failed(format!(
                "its pattern has {} groups, and secretGroup is greater",
                pattern.captures_len() - 1
            )));
        }
        Ok(Self {
            id: rule.id.clone(),
            pattern,
            secret_group: rule.secret_group.filter(|group| *group > 0),
            least_entropy: rule.least_entropy,
            has_keywords: rule.keywords.iter().any(|keyword| !keyword.is_empty()),
            allowed: compile_all(&rule.allowed).map_err(failed)?,
        })
    }

    fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Span> + 'a {
        self.pattern.captures_iter(text).filter_map(|captures| {
            let matched = captures.get(0)?.range();
            let secret = match self.secret_group {
                Some(group) => captures.get(group),
                None => captures.iter().skip(1).flatten().find(|it| !it.is_empty()),
            };
            let range = secret.map_or(matched.clone(), |secret| secret.range());
            let is_random = self
                .least_entropy
                .is_none_or(|least| f64::from(entropy(&text[range.clone()])) > least);
            let is_allowed = |list: &CompiledAllowList| list.allows(text, &range, &matched);
            let is_secret = !range.is_empty() && is_random && !self.allowed.iter().any(is_allowed);
            is_secret.then(|| {
                let reason = FindingReason::OwnRule;
                Span::new(range, self.id.clone(), RuleRank::Own, reason)
            })
        })
    }
}

impl CompiledAllowList {
    fn compile(list: &AllowList) -> Result<Self, String> {
        let patterns = list.patterns.iter().map(|pattern| compile(pattern));
        let stopwords = list.stopwords.iter().filter(|word| !word.is_empty());
        Ok(Self {
            patterns: patterns.collect::<Result<_, _>>()?,
            target: list.target,
            stopwords: stopwords.map(|word| word.to_lowercase()).collect(),
            needs_all: list.needs_all,
        })
    }

    fn allows(&self, text: &[u8], secret: &Range<usize>, matched: &Range<usize>) -> bool {
        let target = match self.target {
            AllowTarget::Secret => secret.clone(),
            AllowTarget::Match => matched.clone(),
            AllowTarget::Line => line_around(text, secret.start),
        };
        let has_pattern = || {
            self.patterns
                .iter()
                .any(|it| it.is_match(&text[target.clone()]))
        };
        let has_stopword = || {
            let secret = String::from_utf8_lossy(&text[secret.clone()]).to_lowercase();
            self.stopwords.iter().any(|word| secret.contains(word))
        };
        match self.needs_all && !self.patterns.is_empty() && !self.stopwords.is_empty() {
            true => has_pattern() && has_stopword(),
            false => has_pattern() || has_stopword(),
        }
    }
}

fn compile_all(lists: &[AllowList]) -> Result<Vec<CompiledAllowList>, String> {
    lists.iter().map(CompiledAllowList::compile).collect()
}

/// As Go reads it: classes are of ASCII. Where the pattern names other characters, classes are of Unicode.
fn compile(pattern: &str) -> Result<Regex, String> {
    let of_ascii = RegexBuilder::new(pattern).unicode(false).build();
    of_ascii
        .or_else(|_| Regex::new(pattern))
        .map_err(|error| format!("the pattern {pattern} cannot be used: {error}"))
}

fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |len| at + len);
    start..end
}
