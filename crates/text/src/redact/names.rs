//! Judges how much a name suggests that its value is a secret: `GITHUB_TOKEN` much, `token_count` nothing.
//!
//! A name is split into words at `_`, `-`, `.`, a blank and where a small letter meets a capital.
//! Its last word decides, after endings such as `_PROD` or `_2` are removed; the word before
//! decides how strong the evidence is.
//!
//! Not here: where a name begins and ends in a text (`assign`), what the value must look like
//! (`value`).

use super::shape::is_one_of;
use super::value::Bar;

/// Words read from one name; the last ones decide, so the first ones of a longer name are dropped.
const MAX_WORDS: usize = 6;

/// Endings that distinguish several secrets of one kind, and do not change the kind.
const ENDINGS: &str = "value val raw str string text plain plaintext b64 base64 base encoded old \
    new prod production dev staging stage live main primary secondary backup ci current";

/// Words that name a password, alone or at the end of a word.
const PASSWORDS: &str = "password passwd passphrase pwd passwort passcode";

/// Words that name a password when they are a whole word.
const SHORT_PASSWORDS: &str = "pass pw";

/// Names that are written as one word and are as strong evidence as `api_key`.
const FUSED_KEYS: &str = "apikey secretkey accesskey privatekey authkey encryptionkey clientsecret";

/// Names that are written as one word and are as strong evidence as `auth_token`.
const FUSED_TOKENS: &str = "authtoken accesstoken refreshtoken apitoken";

/// Names that are weak evidence of a secret.
const HINTS: &str = "jwt auth credential credentials bearer";

/// Before `token`: a token of this kind gives no access.
const HARMLESS_TOKENS: &str = "page next prev cursor continuation cancellation cancel lease stop \
    start end pad eos bos unk mask special sync";

/// Before `pat`: who issues personal access tokens.
const ISSUERS: &str =
    "github gitlab gh azure ado devops personal git bitbucket jira databricks airtable figma";

/// Before `token` or `secret`: only secrets have such names.
const TOKEN_KINDS: &str = "access auth authentication api refresh bot client app bearer id \
    session service personal pat oauth oauth2 deploy webhook hook consumer user admin security \
    private signing shared jwt github gitlab slack npm registry vault x";

/// Before `key`: a key of this kind gives access.
const KEY_KINDS: &str = "api access secret private auth encryption encrypt decryption signing \
    sign master shared service role account storage admin session jwt app application webhook \
    deploy hmac aes crypto cipher subscription functions host client consumer sas fernet cookie";

/// Before `KEY` in an environment variable: it gives no access.
const HARMLESS_KEYS: &str = "public publishable primary foreign sort partition cache idempotency \
    anon unique index lookup group object";

/// Words for a password in other languages, as they are written in prose.
pub(super) const FOREIGN_PASSWORDS: [&str; 11] = [
    "kennwort",
    "contraseña",
    "mot de passe",
    "senha",
    "пароль",
    "Пароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
];

/// Words for a key in other languages.
pub(super) const FOREIGN_KEYS: [&str; 7] = [
    "schlüssel",
    "clé api",
    "clé d'api",
    "clé secrète",
    "clave api",
    "clave de api",
    "chave de api",
];

/// The bar for a value under `name`; `None` if the name does not suggest a secret.
pub(super) fn bar_for(name: &[u8]) -> Option<Bar> {
    if FOREIGN_PASSWORDS.iter().any(|word| ends_with(name, word)) {
        return Some(Bar::Password);
    }
    if FOREIGN_KEYS.iter().any(|word| ends_with(name, word)) {
        return Some(Bar::Hint);
    }
    let mut words = Words::of(name);
    let mut last = words.pop()?;
    while is_ending(last) {
        last = words.pop()?;
    }
    let kind = words.pop();
    let is_env = kind.is_some() && !name.iter().any(u8::is_ascii_lowercase);
    let last = singular(without_number(last), is_env);
    if ends_with_one_of(last, PASSWORDS) || is_one_of(last, SHORT_PASSWORDS) || is_fused_pass(last)
    {
        Some(Bar::Password)
    } else if ends_with_one_of(last, FUSED_KEYS) {
        Some(Bar::Key)
    } else if ends_with_one_of(last, FUSED_TOKENS) {
        Some(Bar::Token)
    } else if last.eq_ignore_ascii_case(b"key") {
        key_bar(kind?, is_env, name.contains(&b' '))
    } else if ends_with(last, "token") || ends_with(last, "secret") {
        token_bar(last, kind, is_env)
    } else if last.eq_ignore_ascii_case(b"pat") {
        access_token_bar(last, kind, is_env)
    } else {
        is_one_of(last, HINTS).then_some(Bar::Hint)
    }
}

/// `SSHPASS`, `DBPASS`: a capital word that ends in `PASS`.
fn is_fused_pass(word: &[u8]) -> bool {
    word.ends_with(b"PASS")
        && word.iter().all(u8::is_ascii_uppercase)
        && !is_one_of(word, "bypass compass trespass surpass overpass encompass")
}

/// The bar under `PAT`, a personal access token: a capital variable, or named for an issuer.
fn access_token_bar(last: &[u8], kind: Option<&[u8]>, is_env: bool) -> Option<Bar> {
    let is_issuer = kind.is_some_and(|kind| is_one_of(kind, ISSUERS));
    (is_env || is_issuer || (kind.is_none() && last == b"PAT")).then_some(Bar::Token)
}

fn key_bar(kind: &[u8], is_env: bool, is_prose: bool) -> Option<Bar> {
    if is_one_of(kind, KEY_KINDS) {
        Some(Bar::Key)
    } else if is_one_of(kind, HARMLESS_KEYS) {
        None
    } else if is_prose {
        Some(Bar::Prose)
    } else {
        is_env.then_some(Bar::Hint)
    }
}

fn token_bar(last: &[u8], kind: Option<&[u8]>, is_env: bool) -> Option<Bar> {
    let Some(kind) = kind else {
        return Some(Bar::Hint);
    };
    if is_one_of(kind, HARMLESS_TOKENS) {
        None
    } else if !is_env && !is_one_of(kind, TOKEN_KINDS) {
        Some(Bar::Hint)
    } else if ends_with(last, "secret") {
        Some(Bar::Key)
    } else {
        Some(Bar::Token)
    }
}

fn is_ending(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_digit) || is_one_of(word, ENDINGS)
}

/// `TOKEN` of `TOKEN2`.
fn without_number(word: &[u8]) -> &[u8] {
    let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit());
    &word[..word.len() - digits.count()]
}

/// `KEY` of `API_KEYS`. Only in variables: elsewhere `tokens` are counted and `keys` are sorted.
fn singular(word: &[u8], is_env: bool) -> &[u8] {
    match word.strip_suffix(b"S") {
        Some(single) if is_env && ends_with_one_of(single, "key token secret password") => single,
        Some(_) | None => word,
    }
}

fn ends_with_one_of(word: &[u8], endings: &str) -> bool {
    endings
        .split_ascii_whitespace()
        .any(|ending| ends_with(word, ending))
}

/// Whether a word ends in `ending`, whatever the case of its ASCII letters.
fn ends_with(word: &[u8], ending: &str) -> bool {
    let tail = word
        .len()
        .checked_sub(ending.len())
        .map(|start| &word[start..]);
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(ending.as_bytes()))
}

/// The last words of a name, without allocation.
struct Words<'n> {
    words: [&'n [u8]; MAX_WORDS],
    len: usize,
}

impl<'n> Words<'n> {
    fn of(name: &'n [u8]) -> Self {
        let mut words = Self {
            words: [&[]; MAX_WORDS],
            len: 0,
        };
        let runs = name.chunk_by(|a, b| {
            let joined = a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric();
            joined && !(a.is_ascii_lowercase() && b.is_ascii_uppercase())
        });
        for run in runs.filter(|run| run[0].is_ascii_alphanumeric()) {
            words.push(run);
        }
        words
    }

    fn push(&mut self, word: &'n [u8]) {
        if self.len == MAX_WORDS {
            self.words.rotate_left(1);
            self.len -= 1;
        }
        self.words[self.len] = word;
        self.len += 1;
    }

    fn pop(&mut self) -> Option<&'n [u8]> {
        self.len = self.len.checked_sub(1)?;
        Some(self.words[self.len])
    }
}
