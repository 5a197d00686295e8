//! Vaults, logins, hashes of passwords and encoded keys.

use super::{Rule, rule};
use crate::redact::proof::Proof;

pub(super) const RULES: &[Rule] = &[
    rule("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[bsr]\.[A-Za-z0-9_-]{20,}").proof(Proof::Unspelled),
    rule("doppler-token", &["dp.pt.", "dp.st.", "dp.sa.", "dp.ct."], r"dp\.(?:pt|st|sa|ct)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    rule("onepassword-token", &["ops_eyJ"], r"ops_eyJ[A-Za-z0-9+/_=-]{100,}").reach(4096),
    rule("tailscale-key", &["tskey-"], r"tskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}"),
    rule("age-secret-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{40,}"),
    rule("onepassword-secret-key", &["A3-"], r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b"),
    rule("authress-key", &["sc_", "ext_", "scauth_", "authress_"], r"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}"),
    rule("doppler-scim-token", &["dp.scim."], r"dp\.scim\.[A-Za-z0-9]{40,44}"),
    rule("doppler-audit-token", &["dp.audit."], r"dp\.audit\.[A-Za-z0-9]{40,44}"),
    rule("intra42-secret", &["s-s4t2ud-", "s-s4t2af-"], r"s-s4t2(?:ud|af)-[a-f0-9]{64}"),
    rule("maxmind-key", &["_mmk"], r"\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b").behind(36).reach(5),
    rule("okta-token", &["SSWS 00"], r"SSWS (00[A-Za-z0-9_-]{40})"),
    rule("wireguard-preshared-key", &["PresharedKey"], r"PresharedKey\s{0,4}=\s{0,4}([A-Za-z0-9+/]{43}=)"),
    rule("bcrypt-hash", &["$2a$", "$2b$", "$2x$", "$2y$"], r"\$2[abxy]\$\d{2}\$[./A-Za-z0-9]{53}"),
    rule("sha-crypt-hash", &["$5$", "$6$"], r"\$(?:5\$(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}|6\$(?:rounds=\d+\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86})"),
    rule("private-key-base64", &["LS0tLS1CRUdJTi"], r"LS0tLS1CRUdJTi(?:BSU0Eg|BFQyBQ|BEU0Eg|BQUklW|BPUEVOU1NI|BFTkNSWVBURUQ)[A-Za-z0-9+/]{50,}={0,2}").reach(16384),
];
