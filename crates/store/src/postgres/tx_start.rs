//! How transactions begin: what they may do, whose rows they see, and how long they may take.
//!
//! Not here: when the statements are sent (`connection`).

use daybook_domain::Tenant;

use super::PostgresOptions;
use super::values::without_nul;

/// The kind of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TxMode {
    /// Each statement sees what was committed before it; rows that decide are locked as they are read.
    Write,
    /// One snapshot, without changes.
    Read,
    /// Writing, without a time limit.
    Migrate,
}

impl TxMode {
    pub(super) fn begin(self) -> &'static str {
        match self {
            Self::Write | Self::Migrate => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Self::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        }
    }
}

/// How a transaction begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct TxStart<'a> {
    pub(super) mode: TxMode,
    pub(super) access: TenantAccess<'a>,
    /// They hold its time limits.
    pub(super) options: &'a PostgresOptions,
}

impl TxStart<'_> {
    /// The statements that begin it on any session.
    pub(super) fn statements(&self) -> String {
        let limits = self.options.limits(self.mode);
        let limits = limits.map(|(name, value)| format!("SET LOCAL {name} = {value}"));
        let (begin, access) = (self.mode.begin(), self.access.statement());
        format!("{begin}; {}; {access}", limits.join("; "))
    }
}

/// Which tenants' rows a transaction sees and changes.
#[derive(Debug, Clone, Copy)]
pub(super) enum TenantAccess<'a> {
    Only(&'a Tenant),
    All,
}

impl TenantAccess<'_> {
    /// The statement that sets the boundary.
    fn statement(self) -> String {
        match self {
            Self::Only(tenant) => format!("SET LOCAL daybook.tenant = {}", literal(tenant)),
            Self::All => "SET LOCAL daybook.tenants = 'all'".to_owned(),
        }
    }
}

/// The tenant's name as a literal. Free of injection: it is written as escaped bytes.
pub(super) fn literal(tenant: &Tenant) -> String {
    let bytes = without_nul(&tenant.0);
    let bytes = bytes.bytes().map(|byte| format!("\\x{byte:02x}"));
    format!("E'{}'", bytes.collect::<String>())
}
