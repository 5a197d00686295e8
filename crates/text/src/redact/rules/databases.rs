//! Databases and what moves data between them.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule("databricks-token", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    rule(
        "supabase-key",
        &["sbp_", "sb_secret_"],
        r"sb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{20,})",
    ),
    rule(
        "planetscale-key",
        &["pscale_"],
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}",
    ),
    rule("pinecone-key", &["pcsk_"], r"pcsk_[A-Za-z0-9_]{40,}"),
    rule("databento-key", &["db-"], r"db-[A-Za-z0-9]{29}\b")
        .proof(Proof::Mixed)
        .alone(),
    rule(
        "elastic-cloud-key",
        &["essu_"],
        r"essu_[A-Za-z0-9+/_-]{60,}={0,2}",
    ),
    rule(
        "mongodb-atlas-secret",
        &["mdb_sa_sk_"],
        r"mdb_sa_sk_[A-Za-z0-9_-]{40}",
    ),
    rule(
        "blockprotocol-key",
        &["b10ck5."],
        r"b10ck5\.[A-Za-z0-9]{32}\.[A-Za-z0-9]{36}",
    ),
    rule(
        "liveblocks-key",
        &["sk_prod_", "sk_dev_"],
        r"sk_(?:prod|dev)_[A-Za-z0-9_-]{64}",
    )
    .proof(Proof::Drawn),
    rule("clickhouse-key", &["4b1d"], r"4b1d[A-Za-z0-9]{38}\b")
        .proof(Proof::Mixed)
        .alone(),
    rule(
        "cockroach-key",
        &["CCDB1_"],
        r"CCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}\b",
    ),
    rule("confluent-secret", &["cflt"], r"cflt[A-Za-z0-9+/]{60}")
        .proof(Proof::Mixed)
        .alone(),
    rule(
        "datastax-token",
        &["AstraCS:"],
        r"AstraCS:[A-Za-z0-9:]{20,}",
    )
    .proof(Proof::Drawn),
    rule("neon-key", &["napi_"], r"napi_[A-Za-z0-9]{64}\b"),
    rule(
        "tableau-token",
        &["==:"],
        r"[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}\b",
    )
    .behind(22)
    .reach(35)
    .proof(Proof::Drawn),
];
