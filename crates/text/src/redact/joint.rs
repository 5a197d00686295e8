//! Reads what joins a name to its value: `=`, `: `, `", "`, a blank after a flag, or the verb of a sentence.
//!
//! Not here: the name before it, and the value behind it. `assign` reads those.

use std::ops::Range;

use super::cursor::Cursor;

/// Blanks between name and value.
pub(super) const MAX_BLANKS: usize = 16;

/// Verbs of sentences that state a value, in English, German, French, Spanish and others.
const VERBS: [&str; 22] = [
    "is now ",
    "is set to ",
    "is: ",
    "is ",
    "was ",
    "set to ",
    "changed to ",
    "will be ",
    "should be ",
    "ist jetzt ",
    "ist nun ",
    "ist: ",
    "ist ",
    "lautet: ",
    "lautet ",
    "war ",
    "heißt ",
    "est : ",
    "est ",
    "es: ",
    "es ",
    "equals ",
];

/// Words after which a sentence says what the secret is for, before its verb: `the password for the server is …`.
const PURPOSES: [&str; 11] = [
    "for ", "of ", "to ", "on ", "für ", "zum ", "vom ", "von ", "pour ", "para ", "de ",
];

/// Verbs and operators after a purpose.
const VERBS_AFTER_PURPOSE: [&str; 7] =
    [" is ", " is: ", " ist ", " lautet ", ": ", " est ", " es "];

/// Bytes of a purpose.
const MAX_PURPOSE: usize = 48;

/// Signs between a name and a value in prose, where there is no assignment.
const PROSE_JOINTS: [&str; 3] = ["-> ", "→ ", "- "];

/// Commands that set the variable or setting whose name and value follow, apart from `//registry/:name value`.
const SETTERS: [&str; 12] = [
    "set -x ",
    "set -gx ",
    "set -Ux ",
    "set -xg ",
    "set -lx ",
    "set --export ",
    "ENV ",
    "setenv ",
    "setx ",
    "configure set ",
    "config set ",
    "/:",
];

/// How a name is joined to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// `name: value`, `name = value`, `name => value`, `<name>value`.
    Assigned,
    /// `NAME=value`.
    Env,
    /// `--name value`.
    Flag,
    /// `name("value")`.
    Call,
    /// `"name", "value"`.
    Listed,
    /// A sentence that states the value: `the token is value`.
    Stated,
    /// Prose, without an operator or a verb: `token value`.
    Prose,
}

/// Steps over what joins the name to a value, with the blanks and line breaks around it.
pub(super) fn eat_joint(cursor: &mut Cursor<'_>, text: &[u8], name: Range<usize>) -> Option<Joint> {
    let quoted = cursor.eat_quote().is_some();
    cursor.eat(b"]");
    cursor.eat(b"**");
    let blanks = cursor.eat_blanks(MAX_BLANKS);
    let joint = match cursor.peek()? {
        b':' | b'=' | b'!' => eat_operator(cursor, quoted || blanks > 0, text, &name)?,
        b'(' if blanks == 0 => step(cursor, Joint::Call),
        b'(' => step(cursor, Joint::Prose),
        b'>' if name.start > 0 && text[name.start - 1] == b'<' => step(cursor, Joint::Assigned),
        b'|' => step(cursor, Joint::Prose),
        0xef if cursor.eat("：".as_bytes()) || cursor.eat("＝".as_bytes()) => Joint::Assigned,
        b'%' if cursor.eat(b"%3d") => Joint::Assigned,
        b',' if quoted => step_over_comma(cursor),
        b'v' | b'V' if quoted && eat_value_key(cursor) => return Some(Joint::Assigned),
        b'\n' | b'\r' | b'\\' => return eat_value_key(cursor).then_some(Joint::Assigned),
        _ if blanks == 0 => return None,
        _ if eat_one_of(cursor, &VERBS) || eat_purpose(cursor) => Joint::Stated,
        _ if eat_one_of(cursor, &PROSE_JOINTS) => Joint::Prose,
        _ if text[name.start] == b'-' => Joint::Flag,
        _ if SETTERS
            .iter()
            .any(|setter| text[..name.start].ends_with(setter.as_bytes())) =>
        {
            Joint::Env
        }
        _ => Joint::Prose,
    };
    cursor.eat(b"**");
    let blanks = cursor.eat_blanks(MAX_BLANKS);
    if joint == Joint::Assigned && cursor.eat_line_breaks() {
        cursor.eat_blanks(MAX_BLANKS);
        return Some(Joint::Prose);
    }
    Some(if joint == Joint::Env && blanks > 0 {
        Joint::Assigned
    } else {
        joint
    })
}

fn eat_one_of(cursor: &mut Cursor<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| cursor.eat(word.as_bytes()))
}

/// Steps over what the secret is for, and the verb after it.
fn eat_purpose(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    if !eat_one_of(&mut ahead, &PURPOSES) {
        return false;
    }
    for _ in 0..MAX_PURPOSE {
        if eat_one_of(&mut ahead, &VERBS_AFTER_PURPOSE) {
            *cursor = ahead;
            return true;
        }
        if matches!(
            ahead.peek(),
            None | Some(b'\n' | b'.' | b',' | b';' | b'"' | b'=')
        ) {
            return false;
        }
        ahead.at += 1;
    }
    false
}

fn step(cursor: &mut Cursor<'_>, joint: Joint) -> Joint {
    cursor.at += 1;
    joint
}

fn step_over_comma(cursor: &mut Cursor<'_>) -> Joint {
    if eat_value_key(cursor) {
        return Joint::Assigned;
    }
    step(cursor, Joint::Listed)
}

/// `:`, `=`, `:=`, `==`, `!=`, `=>`, but not the `::` of a path.
fn eat_operator(
    cursor: &mut Cursor<'_>,
    is_loose: bool,
    text: &[u8],
    name: &Range<usize>,
) -> Option<Joint> {
    let operator = cursor.eat_while(3, |byte| matches!(byte, b':' | b'=' | b'!' | b'>'));
    if operator == b"::" || operator == b"!" {
        return None;
    }
    let is_constant = !text[name.clone()].iter().any(u8::is_ascii_lowercase);
    let is_env = operator == b"=" && is_constant && !is_loose;
    Some(if is_env { Joint::Env } else { Joint::Assigned })
}

/// The `value:` of lists of named values: `{"name": "API_KEY", "value": "…"}`.
fn eat_value_key(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.eat(b",");
    while ahead.eat_line_breaks() || ahead.eat_blanks(MAX_BLANKS) > 0 {}
    ahead.eat_quote();
    let found = ahead.eat(b"value") && {
        ahead.eat_quote();
        ahead.eat_blanks(MAX_BLANKS);
        ahead.eat(b":") || ahead.eat(b"=")
    };
    if found {
        ahead.eat_blanks(MAX_BLANKS);
        *cursor = ahead;
    }
    found
}
