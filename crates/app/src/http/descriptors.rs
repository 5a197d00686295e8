//! Raises the limit of open file descriptors: each connection takes one.

/// Descriptors that a server requests: at most a quarter is for connections, the rest for the store.
const WANTED: u64 = 8192;

/// Raises the soft limit as far as needed and allowed, and returns the resulting limit.
#[cfg(unix)]
pub(super) fn raise_limit() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limits = getrlimit(Resource::Nofile);
    let allowed = limits.maximum.unwrap_or(u64::MAX);
    let current = limits.current.unwrap_or(u64::MAX);
    let wanted = WANTED.min(allowed).max(current);
    let raised = Rlimit {
        current: Some(wanted),
        maximum: limits.maximum,
    };
    let is_raised = wanted > current && setrlimit(Resource::Nofile, raised).is_ok();
    let limit = if is_raised { wanted } else { current };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

#[cfg(not(unix))]
pub(super) fn raise_limit() -> usize {
    usize::try_from(WANTED).unwrap_or(usize::MAX)
}
