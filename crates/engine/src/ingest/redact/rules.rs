//! Secrets that give themselves away by their format, one row for each.
//!
//! A row describes, in our own words, the format that an issuer gives its keys. It runs only where
//! one of its `starts` stands in the text, and sees no more than `behind` and `reach` bytes
//! around that place. Longer starts come first, since of two rows that find the same bytes the
//! earlier one gives the name.
//!
//! Not here: secrets told only by a name (`assign`), addresses (`url`), keys in armour (`pem`).

use super::proof::Proof;
use super::span::Rank;
use super::value::Bar;

/// How one format is recognised.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// Stands in the text in place of the secret.
    pub(super) name: &'static str,
    /// One of these stands in every text that the pattern matches, in this case of letters.
    pub(super) starts: &'static [&'static str],
    /// Matches at the start, or across it if `behind` is not 0. Its first group, or else all of
    /// it, is hidden. ASCII only; the `regex` crate's syntax.
    pub(super) pattern: &'static str,
    /// Whether letters of any case count.
    pub(super) any_case: bool,
    /// Bytes before the start that the pattern may take.
    pub(super) behind: usize,
    /// Bytes from the start on that the pattern may take.
    pub(super) reach: usize,
    /// What the matched bytes must be besides.
    pub(super) proof: Proof,
    pub(super) rank: Rank,
}

const DEFAULT_REACH: usize = 1024;

const fn rule(name: &'static str, starts: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule {
        name,
        starts,
        pattern,
        any_case: false,
        behind: 0,
        reach: DEFAULT_REACH,
        proof: Proof::Format,
        rank: Rank::Issuer,
    }
}

impl Rule {
    const fn proof(self, proof: Proof) -> Self {
        Self { proof, ..self }
    }

    const fn any_case(self) -> Self {
        Self {
            any_case: true,
            ..self
        }
    }

    const fn behind(self, behind: usize) -> Self {
        Self { behind, ..self }
    }

    const fn reach(self, reach: usize) -> Self {
        Self { reach, ..self }
    }

    const fn shared(self) -> Self {
        Self {
            rank: Rank::Shared,
            ..self
        }
    }
}

/// Everything that is known by its format.
pub(super) const RULES: &[Rule] = &[
    // Clouds.
    rule("aws-access-key-id", &["AKIA", "ASIA", "ABIA", "ACCA"], r"A[KSBC][IC]A[A-Z0-9]{16}\b"),
    rule(
        "aws-secret-key",
        &["secret access key", "secret_access_key", "secretaccesskey", "secret-access-key", "aws_secret", "aws secret"],
        r#"[a-z_ -]{1,32}\\*["'`*]*(?:[^a-z0-9+/]{1,8}|[^a-z0-9+/](?:[a-z]{1,8}[^a-z0-9+/]{1,6}){1,3})([a-z0-9+/]{40})(?:[^a-z0-9+/=]|\z)"#,
    )
    .any_case()
    .reach(160)
    .proof(Proof::Drawn),
    rule("aws-bedrock-key", &["ABSK"], r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    rule("google-api-key", &["AIza"], r"(AIza[A-Za-z0-9_-]{35})(?:[^A-Za-z0-9_-]|\z)"),
    rule("google-api-key", &["AQ.Ab8"], r"AQ\.Ab8[A-Za-z0-9_-]{40,}"),
    rule("google-oauth-secret", &["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{20,}"),
    rule("google-oauth-token", &["ya29."], r"ya29\.[A-Za-z0-9._-]{30,}").reach(4096),
    rule("google-oauth-token", &["1//0"], r"1//0[A-Za-z0-9_-]{40,}"),
    rule(
        "azure-storage-key",
        &["accountkey=", "sharedaccesskey=", "accesskey="],
        r"[a-z]{1,16}=([a-z0-9+/]{40,}={0,2})",
    )
    .any_case(),
    rule("azure-sas", &["sig="], r"sig=([A-Za-z0-9+/]{20,}(?:[A-Za-z0-9+/]|%[0-9A-Fa-f]{2}){16,}(?:%3[Dd]|=))"),
    rule("azure-client-secret", &["7Q~", "8Q~"], r"\b[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}").behind(3).reach(40),
    rule("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}"),
    rule("alibaba-key-id", &["LTAI"], r"LTAI[A-Za-z0-9]{17,24}\b"),
    rule("databricks-token", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    rule("heroku-key", &["HRKU-"], r"HRKU-[A-Za-z0-9_-]{36,}"),
    rule("fly-token", &["fm1_", "fm2_", "fo1_"], r"f(?:m[12]|o1)_[A-Za-z0-9+/_=-]{40,}").reach(8192),
    rule("netlify-token", &["nfp_"], r"nfp_[A-Za-z0-9]{36,}"),
    rule("supabase-key", &["sbp_", "sb_secret_"], r"sb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{20,})"),
    rule("planetscale-key", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}"),
    // Models.
    rule("anthropic-key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("openrouter-key", &["sk-or-"], r"sk-or-[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("openai-key", &["sk-"], r"sk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_-]{20,}").proof(Proof::Drawn),
    rule("huggingface-token", &["hf_", "api_org_"], r"(?:hf_|api_org_)[A-Za-z0-9]{30,}"),
    rule("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    rule("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{64,}"),
    rule("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}"),
    rule("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{32,}"),
    rule("nvidia-key", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{40,}"),
    rule("cerebras-key", &["csk-"], r"csk-[A-Za-z0-9]{40,}"),
    rule("fireworks-key", &["fw_"], r"fw_[A-Za-z0-9]{22,}").proof(Proof::Drawn),
    rule("langsmith-key", &["lsv2_"], r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    rule("tavily-key", &["tvly-"], r"tvly-[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("pinecone-key", &["pcsk_"], r"pcsk_[A-Za-z0-9_]{40,}"),
    // Repositories and registries.
    rule(
        "github-token",
        &["ghp_", "gho_", "ghs_", "ghu_", "ghr_"],
        r"gh[pousr]_[A-Za-z0-9_]{36,}(?:\.[A-Za-z0-9_-]{10,}){0,2}",
    )
    .reach(4096),
    rule("github-token", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{22,}").proof(Proof::Unspelled),
    rule(
        "gitlab-token",
        &["glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "glsoat-", "gloas-", "glffct-"],
        r"gl[a-z]{2,6}-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2,3}\.[a-z0-9]{7,12})?",
    )
    .proof(Proof::Unspelled),
    rule("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36,}"),
    rule("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{40,}").reach(4096),
    rule("rubygems-key", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    rule("crates-io-token", &["cio"], r"cio[A-Za-z0-9]{32}\b").proof(Proof::Drawn),
    rule("nuget-key", &["oy2"], r"oy2[a-z0-9]{43}\b"),
    rule("docker-token", &["dckr_pat_", "dckr_oat_"], r"dckr_[op]at_[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("atlassian-token", &["ATATT3", "ATCTT3", "ATBB"], r"AT(?:[AC]TT3[A-Za-z0-9_=-]{60,}|BB[A-Za-z0-9]{32}\b)"),
    // Chat.
    rule(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxc-", "xoxd-", "xoxe."],
        r"xox[a-eo-s](?:\.xox[bp])?-[A-Za-z0-9%./+=-]{10,}",
    )
    .proof(Proof::Unspelled),
    rule("slack-token", &["xapp-", "xwfp-"], r"x(?:app|wfp)-\d-[A-Za-z0-9-]{20,}"),
    rule(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_+-]{20,})",
    )
    .proof(Proof::Drawn),
    rule(
        "discord-webhook",
        &["discord.com/api/", "discordapp.com/api/"],
        r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,20}/([A-Za-z0-9_-]{40,})",
    ),
    rule("teams-webhook", &["webhook.office.com/"], r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})"),
    rule("telegram-bot-token", &[":AA"], r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,33}\b").behind(10).reach(40),
    // Money, mail, telephones.
    rule("stripe-key", &["sk_live_", "rk_live_", "sk_test_", "rk_test_"], r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    rule("webhook-secret", &["whsec_"], r"whsec_[A-Za-z0-9+/]{24,}={0,2}"),
    rule("twilio-key", &["SK"], r"SK[a-f0-9]{32}\b"),
    rule("sendgrid-key", &["SG."], r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}").proof(Proof::Unspelled),
    rule("mailgun-key", &["key-"], r"key-[a-f0-9]{32}\b"),
    rule("square-token", &["sq0csp-", "sq0atp-", "sq0idp-"], r"sq0(?:csp|atp|idp)-[A-Za-z0-9_-]{22,}"),
    rule("shopify-token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    // Tools.
    rule("linear-key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    rule("notion-key", &["ntn_"], r"ntn_[A-Za-z0-9]{40,}"),
    rule("notion-key", &["secret_"], r"secret_[A-Za-z0-9]{43}\b").proof(Proof::Drawn),
    rule("figma-token", &["figd_"], r"figd_[A-Za-z0-9_-]{36,}"),
    rule("postman-key", &["PMAK-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    rule("newrelic-key", &["NRAK-"], r"NRAK-[A-Z0-9]{27}"),
    rule("grafana-token", &["glsa_", "glc_"], r"gl(?:sa_[A-Za-z0-9]{32}_[a-fA-F0-9]{8}|c_[A-Za-z0-9+/]{32,}={0,2})"),
    rule("sentry-token", &["sntrys_", "sntryu_"], r"sntry[su]_[A-Za-z0-9+/_=-]{40,}"),
    rule("pulumi-token", &["pul-"], r"pul-[a-f0-9]{40}\b"),
    rule("terraform-token", &[".atlasv1."], r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}").behind(14).reach(256),
    rule("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[bsr]\.[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("doppler-token", &["dp.pt.", "dp.st.", "dp.sa.", "dp.ct."], r"dp\.(?:pt|st|sa|ct)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    rule("onepassword-token", &["ops_eyJ"], r"ops_eyJ[A-Za-z0-9+/_=-]{100,}").reach(4096),
    rule("tailscale-key", &["tskey-"], r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}"),
    rule("age-secret-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}"),
    // Formats of no single issuer.
    rule(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}(?:\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?|(?:\.[A-Za-z0-9_-]*){4}|\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]{16,})",
    )
    .reach(16 * 1024)
    .shared(),
    rule(
        "authorization",
        &["authorization", "proxy-authorization"],
        r#"(?:proxy-)?authorization\\*["'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[bf]?\\*["'`]?(?:bearer|token|bot|apikey|api-key|ssws|geniekey)(?:[ \t]{1,4}|%20)([^\s"'`\\,;<>]{8,})"#,
    )
    .any_case()
    .reach(4096)
    .proof(Proof::Named(Bar::Password))
    .shared(),
    rule(
        "authorization",
        &["authorization", "proxy-authorization"],
        r#"(?:proxy-)?authorization\\*["'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}[bf]?\\*["'`]?([^\s"'`\\,;<>]{16,})"#,
    )
    .any_case()
    .reach(4096)
    .proof(Proof::Named(Bar::Hint))
    .shared(),
    rule("bearer-token", &["bearer"], r"bearer(?:[ \t]{1,4}|%20|\+)([a-z0-9._~+/=-]{12,})")
        .any_case()
        .reach(4096)
        .proof(Proof::Drawn)
        .shared(),
    rule("basic-auth", &["basic "], r"basic[ \t]{1,4}([a-z0-9+/]{8,}={0,2})")
        .any_case()
        .proof(Proof::BasicPair)
        .shared(),
    rule(
        "basic-auth",
        &["curl "],
        r#"curl [^\n|;]{0,300}?(?:-u|--user|--proxy-user)[ =]?\\*["']?[^\s:"'\\$]{1,64}:([^\s"'\\]{4,})"#,
    )
    .proof(Proof::Named(Bar::Password))
    .shared(),
    rule(
        "cookie",
        &["cookie", "set-cookie"],
        r#"(?:set-)?cookie\\*["']?[ \t]{0,4}:[ \t]{0,4}\\*["']?([a-z0-9_.%-]{1,64}=[^"'\\\r\n]{8,})"#,
    )
    .any_case()
    .reach(8192)
    .proof(Proof::Drawn)
    .shared(),
    rule(
        "password",
        &["mysql ", "mysqldump ", "mysqladmin "],
        r#"mysql(?:dump|admin)? (?:[^\n|;]{0,200} )?-p\\*["']?([^\s"'\\]{6,})"#,
    )
    .proof(Proof::Named(Bar::Password))
    .shared(),
    rule("password", &["sshpass -p"], r#"sshpass -p ?\\*["']?([^\s"'\\]{4,})"#)
        .proof(Proof::Named(Bar::Password))
        .shared(),
];
