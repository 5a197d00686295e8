//! Draws random keys of every family, and examines them in the places where keys occur.

use super::Redactor;
use super::families::FAMILIES;
use super::fixtures::{BASE62, DIGITS, HEX, LOWER, Random, UPPER, check_untouched};
use super::plain::is_plain;
use super::rules::RULES;

/// Random examples of each family in one run of the tests.
const EXAMPLES: u64 = 40;

#[test]
fn a_random_key_of_every_family_is_wholly_hidden_wherever_it_stands() {
    let mut missed = Vec::new();
    for (name, template) in FAMILIES {
        for seed in 0..EXAMPLES {
            let example = Example::draw(template, seed);
            let open = example
                .places()
                .into_iter()
                .find(|text| !hides(text, name, &example.secret));
            missed.extend(open.map(|text| format!("{name}: {text}")));
        }
    }
    assert!(
        missed.is_empty(),
        "{} missed:\n{}",
        missed.len(),
        missed.join("\n")
    );
}

#[test]
fn no_key_of_any_family_passes_for_a_plain_name() {
    for (name, template) in FAMILIES {
        for seed in 0..EXAMPLES {
            for text in Example::draw(template, seed).places() {
                assert!(!is_plain(&text), "{name}: {text}");
            }
        }
    }
}

#[test]
fn a_masked_key_of_any_family_stays() {
    for (name, template) in FAMILIES {
        let masked = Example::masked(template);
        let redacted = Redactor::standard().redact(&masked);
        let found = redacted
            .findings
            .iter()
            .any(|finding| finding.rule == *name);
        assert!(!found, "{name}: {masked}");
    }
}

#[test]
fn what_stands_for_a_key_in_documentation_stays() {
    for rule in &RULES {
        for start in rule
            .starts
            .iter()
            .filter(|start| !rule.any_case && !start.ends_with("a2V5Xz"))
        {
            for key in [
                "",
                "...",
                "…",
                "<token>",
                "YOUR_TOKEN_HERE",
                "YOURTOKENHERE",
                "yourtokengoeshere",
                "your-token-here",
                "xxxxxxxxxxxxxxxx",
                "*****",
                "${KEY}",
            ] {
                check_untouched(&format!("it starts with {start}{key} as documented"));
            }
        }
        check_untouched(&format!("the pattern is {} as documented", rule.pattern));
    }
}

fn hides(text: &str, name: &str, secret: &str) -> bool {
    let redacted = Redactor::standard().redact(text);
    let names: Vec<_> = redacted
        .findings
        .iter()
        .map(|finding| &*finding.rule)
        .collect();
    let tail = &secret[secret.len() - 6..];
    !names.is_empty() && names.iter().all(|found| *found == name) && !redacted.text.contains(tail)
}

/// A key, with the text that its template has around it.
struct Example {
    before: String,
    secret: String,
    after: String,
}

impl Example {
    fn draw(template: &str, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self::fill(template, |alphabet, len| random.chars(alphabet, len))
    }

    /// The example with `x` in place of everything random.
    fn masked(template: &str) -> String {
        let example = Self::fill(template, |_, len| "x".repeat(len));
        format!("{}{}{}", example.before, example.secret, example.after)
    }

    fn fill(template: &str, mut chars: impl FnMut(&str, usize) -> String) -> Self {
        let mut filled = String::new();
        let mut rest = template;
        while let Some((literal, hole)) = rest.split_once('{') {
            let (kind, tail) = hole.split_once('}').expect("a hole ends");
            filled += literal;
            filled += &fill_hole(kind, &mut chars);
            rest = tail;
        }
        filled += rest;
        let (before, secret) = filled.split_once("[[").unwrap_or(("", &filled));
        let (secret, after) = secret.split_once("]]").unwrap_or((secret, ""));
        Self {
            before: before.to_owned(),
            secret: secret.to_owned(),
            after: after.to_owned(),
        }
    }

    /// The key in text, JSON, JSON within JSON, an address, and at the end of a sentence.
    fn places(&self) -> Vec<String> {
        let text = format!("{}{}{}", self.before, self.secret, self.after);
        vec![
            format!("this is it: {text} and more"),
            format!("{{\"note\": \"{text}\", \"id\": 1}}"),
            format!("{{\\\"note\\\":\\\"{text}\\\",\\\"id\\\":1}}"),
            format!("https://example.com/v1?q={text}&page=2"),
            format!("First we had {text}."),
            format!("{text}\nnext line"),
            format!("export API_KEY={text}\nexport NEXT=1"),
            format!("api_key: {text}\n"),
            format!("\\n{text}\\nnext"),
            format!("| name | {text} | yes |"),
            format!("see `{text}`, ({text}), [{text}], <v>{text}</v>"),
            format!("'{text}', '{text}';"),
            format!("\t{text}\t"),
            format!("„{text}“ and … {text}… “{text}”"),
            text,
        ]
    }
}

fn fill_hole(kind: &str, chars: &mut impl FnMut(&str, usize) -> String) -> String {
    if kind.starts_with("uuid") {
        let mut hex = |len| chars(HEX, len);
        let (a, b, c, d, e) = (hex(8), hex(4), hex(3), hex(3), hex(12));
        return format!("{a}-{b}-4{c}-a{d}-{e}");
    }
    let (alphabet, len) = kind.split_once(':').expect("an alphabet and a length");
    let len = len.parse().expect("a length");
    match alphabet {
        "b62" => chars(BASE62, len),
        "hex" => chars(HEX, len),
        "upper" => chars(UPPER, len),
        "lower" => chars(LOWER, len),
        "digit" => chars(DIGITS, len),
        "url" => chars(&format!("{BASE62}-_"), len),
        "b32" => chars("abcdefghijklmnopqrstuvwxyz234567", len),
        _ => unreachable!("{alphabet} is no alphabet"),
    }
}
