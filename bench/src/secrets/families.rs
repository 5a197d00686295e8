//! Families of secrets, as their issuers and everyday files write them.
//!
//! This describes secrets independently of the redactor's rules, so that a rule that is missing or too narrow shows. In
//! a pattern `{w36}` is 36 random characters of a class, and `«` and `»` enclose the secret within its usual
//! surroundings; without them, all of it is the secret. `{c20}` is a user with a password of 20 characters, in Base64.
//!
//! Not here: where a secret is planted.

use super::encode::base64_within;
use crate::transcripts::SeededNumbers;

/// One family: its name, and how its secrets look.
pub(super) type Family = (&'static str, &'static str);

/// A random secret.
#[derive(Debug, Clone)]
pub(super) struct Secret {
    pub(super) family: &'static str,
    /// What must not be stored.
    pub(super) secret: String,
    /// The secret within its surroundings.
    pub(super) text: String,
}

/// The commonest families.
#[rustfmt::skip]
pub(super) const FAMILIES: &[Family] = &[
    ("github-classic", "ghp_{w36}"),
    ("github-app", "ghs_{w36}"),
    ("github-fine-grained", "github_pat_{w22}_{w59}"),
    ("gitlab", "glpat-{b20}"),
    ("aws-access-key", "AKIA{k16}"),
    ("aws-secret", "aws_secret_access_key = «{B40}»"),
    ("google-api", "AIza{b35}"),
    ("google-client", "GOCSPX-{b28}"),
    ("google-access", "ya29.{b120}"),
    ("slack-bot", "xoxb-{d12}-{d13}-{w24}"),
    ("slack-user", "xoxp-{d12}-{d12}-{d13}-{h32}"),
    ("slack-webhook", "https://hooks.slack.com/services/«T{u10}/B{u10}/{w24}»"),
    ("stripe", "sk_live_{w24}"),
    ("stripe-restricted", "rk_live_{w99}"),
    ("openai-project", "sk-proj-{b74}T3BlbkFJ{b74}"),
    ("openai-classic", "sk-{w20}T3BlbkFJ{w20}"),
    ("anthropic", "sk-ant-api03-{b93}AA"),
    ("openrouter", "sk-or-v1-{h64}"),
    ("npm", "npm_{w36}"),
    ("pypi", "pypi-AgEIcHlwaS5vcmc{b90}"),
    ("hugging-face", "hf_{a34}"),
    ("sendgrid", "SG.{b22}.{b43}"),
    ("twilio-key", "SK{h32}"),
    ("mailgun", "key-{h32}"),
    ("digitalocean", "dop_v1_{h64}"),
    ("heroku", "HRKU-AA{b58}"),
    ("telegram", "{d10}:AA{b33}"),
    ("discord-bot", "{s18}.{b6}.{b38}"),
    ("discord-webhook", "https://discord.com/api/webhooks/{d18}/«{b68}»"),
    ("shopify", "shpat_{h32}"),
    ("square", "sq0atp-{b22}"),
    ("databricks", "dapi{h32}"),
    ("terraform-cloud", "{w14}.atlasv1.{b67}"),
    ("vault", "hvs.{b95}"),
    ("new-relic", "NRAK-{u27}"),
    ("linear", "lin_api_{w40}"),
    ("notion", "ntn_{w46}"),
    ("doppler", "dp.pt.{w43}"),
    ("atlassian", "ATATT3xFfGF0{b171}={H8}"),
    ("postman", "PMAK-{h24}-{h34}"),
    ("airtable", "pat{w14}.{h64}"),
    ("azure-storage", "DefaultEndpointsProtocol=https;AccountName=tides;AccountKey=«{B86}==»;EndpointSuffix=core.windows.net"),
    ("azure-client", "AZURE_CLIENT_SECRET=«{w3}8Q~{b34}»"),
    ("groq", "gsk_{w52}"),
    ("replicate", "r8_{w37}"),
    ("docker", "dckr_pat_{b27}"),
    ("grafana", "glsa_{w32}_{h8}"),
    ("planetscale", "pscale_tkn_{b43}"),
    ("age-key", "AGE-SECRET-KEY-1{q58}"),
    ("json-web-token", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI{w24}.«{b43}»"),
    ("pem-rsa", "-----BEGIN RSA PRIVATE KEY-----\n«{B64}\n{B64}\n{B64}»\n-----END RSA PRIVATE KEY-----"),
    ("pem-openssh", "-----BEGIN OPENSSH PRIVATE KEY-----\n«{B70}\n{B70}»\n-----END OPENSSH PRIVATE KEY-----"),
    ("env-password", "export DB_PASSWORD='«{p14}»'"),
    ("env-token", "CLOUDFLARE_API_TOKEN=«{b40}»"),
    ("json-client-secret", "{\"client_secret\": \"«{w32}»\"}"),
    ("yaml-api-key", "api_key: «{w32}»"),
    ("toml-password", "password = \"«{p16}»\""),
    ("connection-string", "Server=tcp:db.tides.example,1433;User ID=ada;Password=«{w18}»;Encrypt=true"),
    ("database-url", "postgres://ada:«{w16}»@db.tides.example:5432/tides"),
    ("url-user", "https://ada:«{w20}»@git.tides.example/ada/tidepool.git"),
    ("url-query", "https://api.tides.example/v1/list?api_key=«{w32}»&page=2"),
    ("header-bearer", "Authorization: Bearer «{b43}»"),
    ("header-basic", "Authorization: Basic «{c20}»"),
    ("header-key", "X-Api-Key: «{w32}»"),
    ("header-cookie", "Cookie: theme=dark; session=«{h40}»"),
    ("flag-password", "harbour deploy --password «{p14}» --verbose"),
    ("curl-user", "curl -u ada:«{w16}» https://tides.example/status"),
    ("prose-password", "the password for the staging box is «{p12}»"),
    ("prose-token", "use the token «{w40}» for the deployment"),
];

/// The family of that name.
pub(super) fn named(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|(known, _)| *known == name)
}

/// A random secret of the family.
pub(super) fn generate(numbers: &mut SeededNumbers, (family, pattern): &Family) -> Secret {
    let text = fill(numbers, pattern);
    let secret = match (text.find('«'), text.find('»')) {
        (Some(from), Some(upto)) => text[from + '«'.len_utf8()..upto].to_owned(),
        _ => text.clone(),
    };
    Secret {
        family,
        secret,
        text: text.replace(['«', '»'], ""),
    }
}

/// Whether the family's secrets fit into one folder's, branch's or tool's name.
pub(super) fn fits_a_name((_, pattern): &Family) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._=-{}«»".contains(c);
    pattern.chars().all(plain) && !pattern.contains("{B") && !pattern.contains("{p")
}

fn fill(numbers: &mut SeededNumbers, pattern: &str) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let class = after.chars().next().unwrap_or_default();
        let count = after.get(1..).and_then(|after| after.split_once('}'));
        match (
            alphabet(class),
            count.map(|(n, after)| (n.parse::<usize>(), after)),
        ) {
            (Some(alphabet), Some((Ok(count), after))) => {
                let random = random(numbers, alphabet, count);
                match class {
                    // Cut to whole groups of three, so that nothing is padded.
                    'c' => text.push_str(&base64_within(&format!("ada:{random}"), 0)),
                    // The number of a bot, which its tokens begin with in base 64.
                    's' => text.push_str(&base64_within(&random, 0)),
                    _ => text.push_str(&random),
                }
                rest = after;
            }
            _ => {
                text.push('{');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

/// The characters of a class.
fn alphabet(class: char) -> Option<&'static str> {
    Some(match class {
        'w' | 'c' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        'a' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        'b' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        'B' => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        'u' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        'k' => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        'q' => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        'h' => "0123456789abcdef",
        'H' => "0123456789ABCDEF",
        'd' | 's' => "0123456789",
        'p' => "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789!#%+*",
        _ => return None,
    })
}

/// Random characters. The first and last are letters or digits: an issuer's secrets do not end like a sentence.
fn random(numbers: &mut SeededNumbers, alphabet: &str, count: usize) -> String {
    let all = alphabet.as_bytes();
    let plain: Vec<u8> = all
        .iter()
        .copied()
        .filter(u8::is_ascii_alphanumeric)
        .collect();
    let mut pick = |from: &[u8]| char::from(from[numbers.below(from.len() as u64) as usize]);
    (0..count)
        .map(|n| match n == 0 || n + 1 == count {
            true => pick(&plain),
            false => pick(all),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use daybook_domain::{Place, SessionId, Tenant};
    use daybook_text::names::{redact_place, redact_session_id};
    use daybook_text::redact::Redactor;

    use super::*;

    #[test]
    fn names_of_every_family_are_redacted_alike_each_time_and_only_once() {
        let redactor = Redactor::standard();
        for seed in 0..40 {
            for family in FAMILIES {
                let text = generate(&mut SeededNumbers(seed), family).text;
                let place = Place {
                    root: format!("/srv/{text}/app"),
                    branch: Some(format!("fix/{text}")),
                };
                let session = SessionId {
                    tenant: Tenant::local(),
                    agent: "chat".to_owned(),
                    host_id: text,
                };
                let hidden = redact_place(&redactor, place.clone());
                assert_eq!(hidden, redact_place(&redactor, place));
                assert_eq!(
                    hidden,
                    redact_place(&redactor, hidden.clone()),
                    "{}",
                    family.0
                );
                let id = redact_session_id(&redactor, session.clone());
                assert_eq!(id, redact_session_id(&redactor, session));
                assert_eq!(id, redact_session_id(&redactor, id.clone()), "{}", family.0);
            }
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_secret_within_its_surroundings() {
        for family in FAMILIES {
            let one = generate(&mut SeededNumbers(7), family);
            let other = generate(&mut SeededNumbers(8), family);
            assert_eq!(one.text, generate(&mut SeededNumbers(7), family).text);
            assert_ne!(one.secret, other.secret, "{}", family.0);
            assert!(one.text.contains(&one.secret) && !one.text.contains(['«', '»']));
            assert!(one.secret.len() >= 12, "{}", one.text);
        }
        assert!(FAMILIES.iter().filter(|family| fits_a_name(family)).count() > 30);
    }
}
