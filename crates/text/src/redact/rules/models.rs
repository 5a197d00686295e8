//! Language models, and services around them.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule(
        "langfuse-key",
        &["sk-lf-"],
        r"sk-lf-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
    rule(
        "helicone-key",
        &["sk-helicone-"],
        r"sk-helicone-(?:[a-z]{2}-)?[a-z0-9]{7}(?:-[a-z0-9]{7}){3}",
    ),
    rule("anthropic-key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("openrouter-key", &["sk-or-"], r"sk-or-[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule(
        "openai-key",
        &["sk-"],
        r"sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,}",
    )
    .proof(Proof::Drawn),
    rule(
        "huggingface-token",
        &["hf_", "api_org_"],
        r"(?:hf_|api_org_)[A-Za-z0-9]{30,}",
    ),
    rule("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    rule("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{64,}"),
    rule("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}"),
    rule("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{32,}"),
    rule("nvidia-key", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{40,}"),
    rule("cerebras-key", &["csk-"], r"csk-[A-Za-z0-9]{40,}"),
    rule("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,}").proof(Proof::Drawn),
    rule(
        "langsmith-key",
        &["lsv2_"],
        r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    ),
    rule("tavily-key", &["tvly-"], r"tvly-[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("scale-key", &["live_"], r"live_(?:auth_)?[a-f0-9]{32}\b"),
    rule(
        "voyage-key",
        &["pa-"],
        r"(pa-[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|\z)",
    )
    .proof(Proof::Mixed)
    .alone(),
    rule("wandb-key", &["wandb_v1_"], r"wandb_v1_[A-Za-z0-9_]{77}"),
    rule("together-key", &["tgp_v1_"], r"tgp_v1_[A-Za-z0-9_-]{43}"),
    rule("elevenlabs-key", &["sk_"], r"sk_[a-f0-9]{48}\b"),
    rule("llamacloud-key", &["llx-"], r"llx-[A-Za-z0-9]{40,}").proof(Proof::Drawn),
    rule("jina-key", &["jina_"], r"jina_[A-Za-z0-9]{60}\b"),
    rule("firecrawl-key", &["fc-"], r"fc-[a-f0-9]{32}\b"),
    rule("e2b-key", &["e2b_"], r"e2b_[a-f0-9]{40}\b"),
    rule("modal-token", &["ak-", "as-"], r"a[ks]-[A-Za-z0-9]{22}\b")
        .proof(Proof::Mixed)
        .alone(),
    rule("runpod-key", &["rpa_"], r"rpa_[A-Z0-9]{40}[A-Za-z0-9]{6}\b"),
    rule("anyscale-key", &["esecret_"], r"esecret_[A-Za-z0-9]{20,}").proof(Proof::Drawn),
    rule("mem0-key", &["m0-"], r"m0-[A-Za-z0-9]{24,44}\b")
        .proof(Proof::Mixed)
        .alone(),
    rule(
        "composio-key",
        &["ak_"],
        r"(ak_[A-Za-z0-9_-]{20})(?:[^A-Za-z0-9_-]|\z)",
    )
    .proof(Proof::Mixed)
    .alone(),
    rule(
        "browserbase-key",
        &["bb_live_", "bb_test_"],
        r"bb_(?:live|test)_[A-Za-z0-9_-]{27}",
    )
    .proof(Proof::Drawn),
    rule("cartesia-key", &["sk_car_"], r"sk_car_[A-Za-z0-9_]{20,}").proof(Proof::Drawn),
    rule("cursor-key", &["key_"], r"key_[a-z0-9]{64}\b")
        .proof(Proof::Drawn)
        .off_line_with("cache"),
    rule("retell-key", &["key_"], r"key_[a-f0-9]{28}\b").off_line_with("cache"),
    rule("runway-key", &["key_"], r"key_[A-Fa-f0-9]{128}\b").off_line_with("cache"),
    rule(
        "deepl-key",
        &[":fx"],
        r"\b[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}:fx\b",
    )
    .behind(36)
    .reach(4),
    rule("devin-key", &["cog_"], r"cog_[a-z2-7]{52}\b"),
];
