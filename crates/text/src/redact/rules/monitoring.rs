//! Logs, metrics, errors and product analytics.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule("newrelic-key", &["NRAK-"], r"NRAK-[A-Z0-9]{27}"),
    rule(
        "grafana-token",
        &["glsa_", "glc_"],
        r"gl(?:sa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|c_[A-Za-z0-9+/]{32,}={0,2})",
    ),
    rule(
        "sentry-token",
        &["sntrys_", "sntryu_"],
        r"sntry[su]_[A-Za-z0-9+/_=-]{40,}",
    ),
    rule(
        "dynatrace-token",
        &["dt0"],
        r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    ),
    rule(
        "grafana-legacy-key",
        &["eyJrIjoi"],
        r"eyJrIjoi[A-Za-z0-9+/]{60,}={0,2}",
    ),
    rule(
        "newrelic-license-key",
        &["FFFFNRAL"],
        r"\b(?:[a-f0-9]{32}|eu01xx[a-f0-9]{26})FFFFNRAL\b",
    )
    .behind(32)
    .reach(9),
    rule(
        "newrelic-insert-key",
        &["NRII-"],
        r"NRII-[A-Za-z0-9_-]{25,}",
    ),
    rule("newrelic-query-key", &["NRIQ-"], r"NRIQ-[A-Za-z0-9_-]{25,}"),
    rule(
        "newrelic-browser-key",
        &["NRJS-", "NRBR-"],
        r"NR(?:JS|BR)-[a-f0-9]{19}\b",
    ),
    rule("newrelic-rest-key", &["NRRA-"], r"NRRA-[a-f0-9]{42}\b"),
    rule("newrelic-admin-key", &["NRAA-"], r"NRAA-[a-f0-9]{27}\b"),
    rule(
        "newrelic-mobile-token",
        &["-NRMA"],
        r"\b(?:AA[a-f0-9]{40}|eu01xx[a-f0-9]{36})-NRMA\b",
    )
    .behind(42)
    .reach(6),
    rule(
        "pixie-key",
        &["px-api-", "px-dep-"],
        r"px-(?:api|dep)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}\b",
    ),
    rule(
        "pagerduty-key",
        &["u+"],
        r"(u\+[A-Za-z0-9_+-]{18})(?:[^A-Za-z0-9_+-]|\z)",
    )
    .proof(Proof::Mixed)
    .alone(),
    rule(
        "posthog-key",
        &["phx_", "phs_"],
        r"ph[xs]_[A-Za-z0-9_]{41,}",
    )
    .proof(Proof::Drawn),
    rule(
        "posthog-oauth-token",
        &["pha_", "phr_"],
        r"ph[ar]_[A-Za-z0-9]{40,}\b",
    )
    .proof(Proof::Drawn),
    rule("segment-token", &["sgp_"], r"sgp_[A-Za-z0-9]{64}\b"),
    rule("rootly-key", &["rootly_"], r"rootly_[a-f0-9]{64}\b"),
];
