//! Money and goods.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule(
        "gocardless-token",
        &["live_"],
        r"(live_[A-Za-z0-9_=-]{40})(?:[^A-Za-z0-9_=-]|\z)",
    )
    .proof(Proof::Mixed)
    .alone(),
    rule(
        "lob-key",
        &["live_", "test_"],
        r"(?:live|test)_[a-f0-9]{35}\b",
    ),
    rule(
        "workos-key",
        &["sk_live_a2V5Xz", "sk_test_a2V5Xz"],
        r"sk_(?:live|test)_a2V5Xz[A-Za-z0-9+/]{40,}={0,2}",
    ),
    rule(
        "stripe-key",
        &["sk_live_", "rk_live_", "sk_test_", "rk_test_"],
        r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}",
    ),
    rule(
        "webhook-secret",
        &["whsec_"],
        r"whsec_[A-Za-z0-9+/]{24,}={0,2}",
    ),
    rule(
        "square-token",
        &["sq0csp-", "sq0atp-", "sq0idp-"],
        r"sq0(?:csp|atp|idp)-[A-Za-z0-9_-]{22,}",
    ),
    rule(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    ),
    rule(
        "braintree-token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}\b",
    ),
    rule(
        "duffel-token",
        &["duffel_live_", "duffel_test_"],
        r"duffel_(?:live|test)_[A-Za-z0-9_=-]{43}",
    ),
    rule(
        "easypost-key",
        &["EZAK", "EZTK"],
        r"EZ[AT]K[A-Za-z0-9]{54}\b",
    ),
    rule("flutterwave-key", &["FLWSECK-"], r"FLWSECK-[a-z0-9]{32}-X"),
    rule(
        "flutterwave-test-key",
        &["FLWSECK_TEST-"],
        r"FLWSECK_TEST-[A-Za-z0-9]{12,32}(?:-X)?",
    ),
    rule(
        "paddle-key",
        &["pdl_live_apikey_", "pdl_sdbx_apikey_"],
        r"pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}",
    ),
    rule(
        "plaid-token",
        &[
            "access-production-",
            "access-sandbox-",
            "access-development-",
        ],
        r"access-(?:production|sandbox|development)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}\b",
    ),
    rule(
        "polar-token",
        &["polar_at_", "polar_oat_", "polar_pat_"],
        r"polar_(?:at|oat|pat)_[A-Za-z0-9_-]{20,}",
    )
    .proof(Proof::Unspelled),
    rule(
        "settlemint-token",
        &["sm_aat_", "sm_pat_", "sm_sat_"],
        r"sm_[aps]at_[A-Za-z0-9]{16}\b",
    )
    .proof(Proof::Unspelled),
    rule(
        "shippo-token",
        &["shippo_live_", "shippo_test_"],
        r"shippo_(?:live|test)_[a-fA-F0-9]{40}\b",
    ),
    rule(
        "crossmint-key",
        &[
            "sk_production_",
            "sk_staging_",
            "ck_production_",
            "ck_staging_",
        ],
        r"[sc]k_(?:staging|production)_[A-Za-z0-9]{24,}",
    )
    .proof(Proof::Drawn),
    rule(
        "asaas-key",
        &["$aact_prod_", "$aact_hmlg_"],
        r"\$aact_(?:prod|hmlg)_[A-Za-z0-9_-]{20,}",
    ),
    rule("ramp-secret", &["ramp_sec_"], r"ramp_sec_[A-Za-z0-9]{48}\b"),
    rule(
        "razorpay-key",
        &["rzp_live_", "rzp_test_"],
        r"rzp_(?:live|test)_[A-Za-z0-9]{14}\b",
    ),
];
