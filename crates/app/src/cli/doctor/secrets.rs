//! Checks memory folders for secrets in a person's own text, which Daybook masks and never changes.

use crate::process::block_on;
use crate::service::persons_secrets::persons_secrets;
use crate::wiring::Daybook;

use super::finding::CheckFinding;

const WHAT: &str = "secrets in your text";

/// No secret stands in a person's own text.
pub(super) fn check(daybook: &Daybook) -> Vec<CheckFinding> {
    let secrets = match block_on(persons_secrets(daybook)) {
        Ok(secrets) => secrets,
        Err(error) => return vec![CheckFinding::wrong(WHAT, format!("{error:#}"))],
    };
    if secrets.is_empty() {
        return vec![CheckFinding::fine(WHAT, "there are none")];
    }
    let findings = secrets.into_iter().map(|secret| {
        let says = format!("line {} holds a secret ({})", secret.line, secret.rule);
        let advice = "take it out, and revoke it; agents are shown a marker in its place";
        CheckFinding::wrong(WHAT, says)
            .at(secret.file)
            .with_advice(advice)
    });
    findings.collect()
}
