//! Other tools and services.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule(
        "linear-key",
        &["lin_api_", "lin_oauth_"],
        r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}",
    ),
    rule("notion-key", &["ntn_"], r"ntn_[A-Za-z0-9]{40,}"),
    rule("notion-key", &["secret_"], r"secret_[A-Za-z0-9]{43}\b").proof(Proof::Drawn),
    rule("figma-token", &["figd_"], r"figd_[A-Za-z0-9_-]{36,}"),
    rule("postman-key", &["PMAK-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    rule("adobe-client-secret", &["p8e-"], r"p8e-[A-Za-z0-9-]{32}").proof(Proof::Unspelled),
    rule(
        "airtable-token",
        &["pat"],
        r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b",
    ),
    rule(
        "asana-token",
        &["0/1", "1/1", "2/1"],
        r"[012]/1[0-9]{15,}(?:/1[0-9]{15,})?:[A-Za-z0-9]{32,}",
    )
    .proof(Proof::Drawn),
    rule("contentful-token", &["CFPAT-"], r"CFPAT-[A-Za-z0-9_-]{43}"),
    rule("frameio-token", &["fio-u-"], r"fio-u-[A-Za-z0-9_=-]{64}"),
    rule(
        "hubspot-token",
        &["pat-na", "pat-eu", "pat-ap"],
        r"pat-[a-z]{2}\d-[A-Za-z0-9]{8}(?:-[A-Za-z0-9]{4}){3}-[A-Za-z0-9]{12}\b",
    ),
    rule(
        "mapbox-token",
        &["sk.eyJ", "tk.eyJ"],
        r"[st]k\.eyJ[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{20,}",
    ),
    rule("readme-key", &["rdme_"], r"rdme_[a-z0-9]{70}"),
    rule(
        "tines-webhook",
        &["tines.com/webhook/"],
        r"tines\.com/webhook/([a-z0-9]{32}/[a-z0-9]{32})",
    ),
    rule("typeform-token", &["tfp_"], r"tfp_[A-Za-z0-9_.=-]{40,}").proof(Proof::Drawn),
    rule(
        "zapier-webhook",
        &["hooks.zapier.com/hooks/catch/"],
        r"hooks\.zapier\.com/hooks/catch/(\d{5,10}/[a-z0-9]{5,10})",
    ),
    rule("calcom-key", &["cal_live_"], r"cal_live_[A-Za-z0-9]{32}\b"),
    rule(
        "apify-token",
        &["apify_api_"],
        r"apify_api_[A-Za-z0-9]{34,38}\b",
    ),
    rule(
        "canva-secret",
        &["cnvca"],
        r"(cnvca[A-Za-z0-9_-]{51})(?:[^A-Za-z0-9_-]|\z)",
    )
    .proof(Proof::Mixed)
    .alone(),
    rule("clickup-token", &["pk_"], r"pk_\d{7,9}_[A-Z0-9]{32}\b"),
    rule(
        "dropbox-token",
        &["sl."],
        r"sl\.(?:u\.)?[A-Za-z0-9_-]{130,}",
    )
    .proof(Proof::Drawn),
    rule("lichess-token", &["lip_"], r"lip_[A-Za-z0-9_]{16,60}\b")
        .proof(Proof::Mixed)
        .alone(),
    rule(
        "riot-key",
        &["RGAPI-"],
        r"RGAPI-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}\b",
    ),
    rule(
        "salesforce-token",
        &["00D"],
        r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._-]{80,}",
    )
    .proof(Proof::Drawn),
    rule(
        "zoho-token",
        &["1000."],
        r"1000\.[a-f0-9]{32}\.[a-f0-9]{32}\b",
    ),
];
