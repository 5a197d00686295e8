//! Passwords that command lines, SQL and settings take without a telling name beside them: `mysql -pX`.
//!
//! People choose these passwords, so weak ones are hidden as well; placeholders and variables are not.

use super::{Rule, rule};
use crate::redact::proof::Proof;
use crate::redact::value::Bar;

/// One argument of a shell, quoted or not. Bound to three groups, of which one takes part.
macro_rules! argument {
    () => {
        r#"(?:\\*"([^"\\\n]{3,200}?)\\*"|\\*'([^'\\\n]{3,200}?)\\*'|\\*["']?([^\s"'`\\|;&<>()]{3,200}))"#
    };
}

/// A quoted string of a program or of SQL.
macro_rules! string {
    () => {
        r#"(?:\\*"([^"\\\n]{3,200}?)\\*"|\\*'([^'\\\n]{3,200}?)\\*')"#
    };
}

const fn typed(starts: &'static [&'static str], pattern: &'static str) -> Rule {
    rule("password", starts, pattern)
        .reach(600)
        .proof(Proof::Named(Bar::Typed))
        .shared()
}

const fn chosen(starts: &'static [&'static str], pattern: &'static str) -> Rule {
    rule("password", starts, pattern)
        .reach(600)
        .proof(Proof::Named(Bar::Password))
        .shared()
}

pub(super) const RULES: &[Rule] = &[
    // Clients of databases.
    typed(
        &["mysql", "mariadb"],
        concat!(r"(?:mysql|mariadb)[a-z_-]{0,12}(?:\.exe)? (?:[^\n|;&]{0,200}? )?(?:-p|--password=)", argument!()),
    ),
    typed(&["mysqlsh ", "mycli "], concat!(r"my(?:sqlsh|cli) [^\n|;&]{0,200}?(?:-p |--password |--pass )", argument!())),
    typed(
        &["mongo"],
        concat!(
            r"mongo(?:sh|dump|restore|export|import|stat|top|files)? (?:[^\n|;&]{0,200}? )?(?:-p|--password)[ =]?",
            argument!()
        ),
    ),
    typed(
        &["redis-cli ", "valkey-cli ", "keydb-cli "],
        concat!(r"[a-z]+-cli (?:[^\n|;&]{0,200}? )?(?:-a|--pass)[ =]", argument!()),
    ),
    typed(&["cqlsh "], concat!(r"cqlsh (?:[^\n|;&]{0,200}? )?(?:-p|--password)[ =]?", argument!())),
    typed(&["sqlcmd ", "bcp "], concat!(r"(?:sqlcmd|bcp) (?:[^\n|;&]{0,200}? )?-P ?", argument!())),
    typed(
        &["sqlplus "],
        r#"sqlplus (?:-[A-Za-z]+ ){0,3}\\*["']?[A-Za-z0-9_$#]{1,40}/([^\s"'@\\]{3,100})@"#,
    ),
    typed(
        &["requirepass", "masterauth"],
        concat!(
            r#"(?:requirepass|masterauth)\\*["']?[ \t]{1,8}"#,
            r#"(?:\\*"([^"\\\n]{3,200}?)\\*"|\\*'([^'\\\n]{3,200}?)\\*'|([^\s"'`\\|;&<>()]{3,200})(?:[ \t]*(?:[\n"'`\\]|\z)| --))"#
        ),
    ),
    // Files of passwords.
    typed(
        &[":5432:", ":5433:", ":6432:", ":*:"],
        r#"(?:\A|[\s"'`>]|\\n)[A-Za-z0-9.*_-]{1,60}:(?:\d{2,5}|\*):[A-Za-z0-9*_.-]{1,60}:[A-Za-z0-9*_.@-]{1,60}:([^\s"'`]{3,100})"#,
    )
    .behind(64)
    .reach(300),
    typed(
        &["pgpass"],
        r#"pgpass[^:]{0,200}?[\s"'`>][A-Za-z0-9.*_-]{1,60}:(?:\d{2,5}|\*):[A-Za-z0-9*_.-]{1,60}:[A-Za-z0-9*_.@-]{1,60}:([^\s"'`]{3,100})"#,
    ),
    typed(
        &["machine ", "default login "],
        concat!(
            r"(?:machine[ \t]+[^\s\\]{1,100}|default)(?:\s|\\n){1,8}login[ \t]+[^\s\\]{1,100}(?:\s|\\n){1,8}password[ \t]+",
            argument!(),
            r#"[ \t]*(?:[\r\n\\"'`]|\z|machine|account)"#
        ),
    ),
    // Logins.
    typed(
        &[
            "docker login", "podman login", "nerdctl login", "buildah login", "skopeo login", "oras login",
            "helm registry login", "crane auth login", "az login", "az acr login", "oc login", "cf login",
            "argocd login",
        ],
        concat!(r"[a-z]+(?: [a-z]+){1,2} (?:[^\n|;&]{0,200}? )?(?:-p|--password)[ =]?", argument!()),
    ),
    typed(
        &["ldap"],
        concat!(r"ldap[a-z]{3,10} (?:[^\n|;&]{0,300}? )?-w ?", argument!()),
    ),
    typed(
        &["htpasswd -"],
        concat!(
            r"htpasswd (?:-[A-Za-z]{1,6} (?:\d+ )?){0,4}?(?:-[A-Za-z]{0,4}n[A-Za-z]{0,3}b[A-Za-z]{0,4}|-[A-Za-z]{0,4}b[A-Za-z]{0,3}n[A-Za-z]{0,4}|-n -b|-b -n) (?:-[A-Za-z] (?:\d+ )?){0,3}[^\s-]\S{0,60} ",
            argument!()
        ),
    ),
    typed(
        &["htpasswd -"],
        concat!(
            r"htpasswd (?:-[A-Za-z]{1,6} (?:\d+ )?){0,4}?-[A-Zac-mo-z]{0,4}b[A-Zac-mo-z]{0,4} (?:-[A-Zac-mo-z] (?:\d+ )?){0,3}[^\s-]\S{0,100} [^\s-]\S{0,60} ",
            argument!()
        ),
    ),
    typed(
        &["--password-stdin", "--with-token", "--stdin", "| sudo", "|sudo", "kinit", "gh auth login"],
        concat!(
            r#"(?:echo|printf)(?: -[A-Za-z]{1,3})?(?: \\*["']%s(?:\\+n)?\\*["'])? {1,4}"#,
            argument!(),
            r"[ ]?\|[ ]?(?:[^\n|]{0,120}?(?:--password-stdin|--with-token|--stdin)|sudo (?:-[A-Za-z-]+ ){0,3}?-[A-Za-z]{0,4}S\b|sudo --stdin|kinit)"
        ),
    )
    .behind(300)
    .reach(200),
    typed(
        &["--password-stdin", "--with-token", "--stdin", "sudo -S", "sudo -kS"],
        concat!(r"(?:--password-stdin|--with-token|--stdin|sudo -k?S)[^\n|<]{0,100}?<<< ?", argument!()),
    ),
    typed(
        &["chpasswd"],
        r#"(?:echo|printf)(?: -[A-Za-z]{1,3})? {1,4}\\*["']?[A-Za-z0-9_.-]{1,40}:([^\s"'|\\]{3,100})(?:\\+n)?\\*["']? ?\| ?(?:sudo )?chpasswd"#,
    )
    .behind(200)
    .reach(16),
    typed(&["sshpass -p"], concat!(r"sshpass -p ?", argument!())),
    typed(&["smbclient "], r#"smbclient [^\n|;&]{0,200}?-U ?\\*["']?[^\s%"']{1,60}%([^\s"'\\]{3,100})"#),
    typed(
        &["rabbitmqctl "],
        concat!(r"rabbitmqctl (?:add_user|change_password|authenticate_user) [^\s-]\S{0,60} ", argument!()),
    ),
    typed(&["net use "], concat!(r"net use [^\n|&]{0,100}?/user:\S{1,60} ", argument!())),
    typed(&["unzip -P", "zip -P"], concat!(r"(?:un)?zip -P ?", argument!())),
    typed(&["7z a ", "7z x ", "7za a ", "7za x "], concat!(r"7za? [ax] [^\n|;&]{0,200}?-p", argument!())),
    typed(&["lftp -u", "lftp -e"], r#"lftp [^\n|;&]{0,100}?-u ?\\*["']?[^\s,"']{1,60},([^\s"'\\]{3,100})"#),
    rule(
        "basic-auth",
        &["curl "],
        r#"curl [^\n|;]{0,300}?(?:-u|--user|--proxy-user|-U)[ =]?\\*["']?[^\s:"'\\$/]{1,64}:([^\s"'\\]{3,200})"#,
    )
    .proof(Proof::Named(Bar::Typed))
    .shared(),
    // SQL.
    typed(&["IDENTIFIED "], concat!(r"IDENTIFIED (?:WITH \S{1,40} )?(?:BY|AS) (?:PASSWORD )?", argument!())),
    typed(&["identified "], concat!(r"identified (?:with \S{1,40} )?(?:by|as) (?:password )?", string!()))
        .on_line_with("user "),
    typed(
        &["alter role", "alter user", "create role", "create user", "create login", "alter login"],
        concat!(r"(?:alter|create) (?:role|user|login) [^\n;]{1,160}?\bpassword {0,2}=? {0,2}\(?N?", string!()),
    )
    .any_case(),
    typed(
        &["set password"],
        concat!(r"set password(?: for [^\n;=]{1,80}?)? {0,2}= {0,2}(?:password\()?", string!()),
    )
    .any_case(),
    // Code and settings.
    typed(
        &["ConvertTo-SecureString"],
        concat!(r"ConvertTo-SecureString (?:-String |-AsPlainText |-Force ){0,3}", string!()),
    ),
    typed(&["net user "], concat!(r"net user [^\s/]{1,40} ", argument!(), " /add")),
    typed(
        &["NetworkCredential("],
        concat!(r#"NetworkCredential\(\s{0,20}\\*"[^"\n]{0,100}",\s{0,20}"#, string!()),
    ),
    chosen(
        &[
            "HTTPBasicAuth(", "BasicAuth(", "UsernamePasswordCredentials(", "UsernamePasswordCredential(",
            "PasswordAuthentication(", "BasicAWSCredentials(", ".login(", "auth=(", "PlainAuth(",
        ],
        concat!(r#"[A-Za-z.]{2,32}=?\((?:\\*"",\s{0,4})?\s{0,20}\\*["'][^"'\n]{1,100}?\\*["'],\s{0,20}"#, string!()),
    ),
    typed(
        &["--from-literal"],
        concat!(r#"--from-literal[= ]\\*["']?[A-Za-z0-9._-]{1,80}="#, argument!()),
    )
    .on_line_with("secret"),
    rule(
        "secret-key",
        &["client-key-data", "tls.key"],
        r#"(?:client-key-data|tls\.key)\\*["']?: ?\\*["']?([A-Za-z0-9+/]{40,}={0,2})"#,
    )
    .reach(16 * 1024),
    rule(
        "private-key",
        &["Private-Lines:"],
        concat!(
            r"Private-Lines: \d{1,3}(?:\s|\\+[rn])+(?:",
            r"([A-Za-z0-9+/=]{4,64}(?:(?:\s|\\+[rn])+[A-Za-z0-9+/=]{1,64}){0,60}?(?:\s|\\+[rn])+Private-(?:MAC|Hash): [a-f0-9]{40,64})",
            r"|([A-Za-z0-9+/]{60,64}(?:(?:\s|\\+[rn])+[A-Za-z0-9+/=]{60,64}){0,60})|([A-Za-z0-9+/=]{30,64}))"
        ),
    )
    .reach(8192),
    // Sentences with user and password, or with the password before its name.
    rule(
        "password",
        &[
            "zugangsdaten", "zugang:", "anmeldedaten", "logindaten", "login-daten", "login:", "credentials", "creds",
            "identifiants", "credenciales", "user/pass", "username/password", "user and pass", "log in with",
            "login with", "sign in with", "sign in as", "log in as",
        ],
        r#"[a-z/-]+(?: (?:and|in|with|as) [a-z]+)?(?: (?:for|are|is|sind|lauten|für|pour|para)(?: [^\n:]{0,40}?)?)?(?:\s?[:=] ?|\s)\\*["'`]?[A-Za-z0-9._@+-]{2,60}\\*["'`]?(?: ?[/|] ?|:| ,? ?(?:and|und|et|y|with) (?:password |passwort )?|, ?)\\*["'`]?([^\s"'`\\<>|,;]{5,100})"#,
    )
    .any_case()
    .reach(300)
    .proof(Proof::Named(Bar::StatedPassword))
    .shared(),
    rule(
        "password",
        &[
            "as the pass", "as pass", "as my pass", "as your pass", "as a pass", "as its pass", "is the pass",
            "is my pass", "is your pass", "as the pw", "as pw", "is the pw", "as admin pass", "as root pass",
            "als passwort", "als kennwort", "als pw", "ist das passwort", "ist mein passwort", "ist das kennwort",
            "ist dein passwort", "als neues passwort", "comme mot de passe", "como contrase",
            "es la contrase", "est le mot de passe",
        ],
        r#"(?:\A|[\s"'`(:=])([^\s"'`()\\<>=]{5,100})["'`]?,? (?:as|is|als|ist|comme|como|es|est) (?:(?:the|my|your|a|its|admin|root|das|dein|mein|neues|le|la) ){0,2}(?:password|passwort|passphrase|passcode|pw|kennwort|mot de passe|contrase..?a)(?:\\*[.,;:!?)"'`\n]|\\|\s*\z| (?:for|to|in|and|when|if|on|of|at|there|here|please|now|again|instead|von|für|und|bitte|im|am|beim)\b)"#,
    )
    .any_case()
    .behind(110)
    .reach(60)
    .proof(Proof::Named(Bar::StatedPassword))
    .shared(),
];
