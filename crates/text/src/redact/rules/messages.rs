//! Chat, mail, telephones and social networks.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule(
        "slack-token",
        &[
            "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxc-", "xoxd-",
            "xoxe.",
        ],
        r"xox[a-eo-s](?:\.xox[bp])?-[A-Za-z0-9%./+=-]{10,}",
    )
    .proof(Proof::Unspelled),
    rule(
        "slack-token",
        &["xapp-", "xwfp-"],
        r"x(?:app|wfp)-\d-[A-Za-z0-9-]{20,}",
    ),
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
    rule(
        "teams-webhook",
        &["webhook.office.com/"],
        r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/-]{60,})",
    ),
    rule(
        "telegram-bot-token",
        &[":AA"],
        r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,33}\b",
    )
    .behind(10)
    .reach(40),
    rule("twilio-key", &["SK"], r"SK[a-f0-9]{32}\b"),
    rule(
        "sendgrid-key",
        &["SG."],
        r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}",
    )
    .proof(Proof::Unspelled),
    rule("mailgun-key", &["key-"], r"key-[a-f0-9]{32}\b"),
    rule("facebook-token", &["EAA"], r"EAA[B-Z][A-Za-z0-9]{100,}")
        .proof(Proof::Mixed)
        .alone(),
    rule("instagram-token", &["IGQVJ"], r"IGQVJ[A-Za-z0-9_-]{50,}"),
    rule(
        "twitch-stream-key",
        &["live_"],
        r"live_\d{8,12}_[A-Za-z0-9]{30,36}\b",
    ),
    rule(
        "mailchimp-key",
        &[
            "-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9",
        ],
        r"\b[a-f0-9]{32}-us\d{1,2}\b",
    )
    .behind(32)
    .reach(8),
    rule("mailersend-token", &["mlsn."], r"mlsn\.[A-Za-z0-9]{30,}"),
    rule(
        "resend-key",
        &["re_"],
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b",
    )
    .proof(Proof::Drawn),
    rule(
        "brevo-key",
        &["xkeysib-"],
        r"xkeysib-[a-fA-F0-9]{64}-[A-Za-z0-9]{16}",
    ),
    rule(
        "brevo-smtp-key",
        &["xsmtpsib-"],
        r"xsmtpsib-[a-fA-F0-9]{64}-[A-Za-z0-9]{16}",
    ),
    rule(
        "twitter-bearer-token",
        &["AAAAAAAAAAAAAAAAAAAAA"],
        r"A{21,22}[A-Za-z0-9]{1,80}%[23][BDFbdf][A-Za-z0-9%]{30,}",
    )
    .proof(Proof::Mixed)
    .alone(),
    rule(
        "klaviyo-key",
        &["pk_"],
        r"pk_(?:[A-Za-z0-9]{6}_)?[a-f0-9]{34}\b",
    ),
    rule(
        "onesignal-key",
        &["os_v2_app_", "os_v2_org_"],
        r"os_v2_(?:app|org)_[a-z2-7]{103}\b",
    ),
    rule("pinterest-token", &["pina_"], r"pina_[A-Za-z0-9_-]{20,}").proof(Proof::Drawn),
    rule(
        "outlook-webhook",
        &["outlook.office.com/webhook/"],
        r"outlook\.office\.com/webhook/([A-Za-z0-9@/-]{60,})",
    ),
];
