//! Tracks open connections, and decides which one is closed to make room for another.
//!
//! A connection is unproven until a request with the right token has come over it. The two classes have
//! room of their own, so that connections without a token take none from those with one. Where a class is
//! full, its connection that has been idle longest is closed; one that a request is worked on for never is.
//! A peer has a bounded share of the unproven room. On loopback all programs of the machine are one peer,
//! so there only the room as a whole is bounded.
//!
//! Not here: sockets. `listen` reads, writes and closes; this module decides.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How many connections are open at once, and how long they may be silent. Each takes a file descriptor and
/// some 20 KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ConnectionLimits {
    /// Connections that have shown no token yet.
    pub(super) unproven: usize,
    /// The share of those that one peer may have, unless it is this machine.
    pub(super) unproven_per_peer: usize,
    /// Connections that have shown the token.
    pub(super) proven: usize,
    /// Longest time from an unproven connection's opening to the end of its first request's headers, and from
    /// the first byte of any later request to the end of its headers.
    pub(super) headers: Duration,
    /// Longest time that a proven connection waits for its next request.
    pub(super) idle: Duration,
}

impl ConnectionLimits {
    pub(super) const DEFAULT: Self = Self {
        unproven: 1024,
        unproven_per_peer: 32,
        proven: 256,
        headers: Duration::from_secs(5),
        idle: Duration::from_secs(75),
    };

    /// As many as fit in `descriptors`, of which most are left to the store.
    pub(super) fn within(descriptors: usize) -> Self {
        let class = (descriptors / 8).max(1);
        let whole = Self::DEFAULT;
        Self {
            unproven: whole.unproven.min(class),
            unproven_per_peer: whole.unproven_per_peer.min(class),
            proven: whole.proven.min(class),
            ..whole
        }
    }
}

/// Every open connection.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    limits: ConnectionLimits,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    /// By number, so the first was opened first.
    unproven: BTreeMap<u64, Arc<Connection>>,
    proven: BTreeMap<u64, Arc<Connection>>,
}

/// One connection: its phase, and whether it must be closed.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    peer: IpAddr,
    limits: ConnectionLimits,
    state: Mutex<ConnectionState>,
    evicted: Notify,
}

#[derive(Debug)]
struct ConnectionState {
    phase: Phase,
    /// The start of the wait that the deadline is counted from.
    since: Instant,
    is_proven: bool,
    is_evicted: bool,
}

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// It waits for a request, or its client takes the last answer.
    Idle,
    /// A part of a request's headers has arrived.
    Headers,
    /// A request is worked on, which has bounds of its own.
    Working,
}

/// No room, and no idle connection to close for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

impl ConnectionTable {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self {
            limits,
            open: Mutex::default(),
        }
    }

    /// Most connections at once.
    pub(super) fn capacity(&self) -> usize {
        self.limits.unproven + self.limits.proven
    }

    /// Admits a new connection, as an unproven one.
    pub(super) fn admit(&self, peer: IpAddr, now: Instant) -> Result<Arc<Connection>, NoRoom> {
        let peer = peer.to_canonical();
        let mut open = locked(&self.open);
        let of_peer = |connection: &Connection| connection.peer == peer;
        if !peer.is_loopback() {
            let share = open.unproven.values().filter(|one| of_peer(one)).count();
            if share >= self.limits.unproven_per_peer {
                evict_oldest(&mut open.unproven, of_peer)?;
            }
        }
        if open.unproven.len() >= self.limits.unproven {
            evict_oldest(&mut open.unproven, |_| true)?;
        }
        let number = open.next;
        open.next += 1;
        let connection = Arc::new(Connection::new(number, peer, self.limits, now));
        open.unproven.insert(number, Arc::clone(&connection));
        Ok(connection)
    }

    /// Moves a connection into the room of those that have shown the token.
    pub(super) fn prove(&self, connection: &Connection) -> Result<(), NoRoom> {
        if connection.is_proven() {
            return Ok(());
        }
        let mut open = locked(&self.open);
        if !open.unproven.contains_key(&connection.number) {
            return Err(NoRoom);
        }
        if open.proven.len() >= self.limits.proven {
            evict_oldest(&mut open.proven, |_| true)?;
        }
        if let Some(moved) = open.unproven.remove(&connection.number) {
            locked(&moved.state).is_proven = true;
            open.proven.insert(moved.number, moved);
        }
        Ok(())
    }

    /// Closes the unproven connection that has been idle longest, if there is one.
    pub(super) fn shed(&self) -> Result<(), NoRoom> {
        evict_oldest(&mut locked(&self.open).unproven, |_| true)
    }

    /// Removes a closed connection.
    pub(super) fn remove(&self, connection: &Connection) {
        let mut open = locked(&self.open);
        open.unproven.remove(&connection.number);
        open.proven.remove(&connection.number);
    }

    /// Unproven and proven connections.
    #[cfg(test)]
    fn counts(&self) -> (usize, usize) {
        let open = locked(&self.open);
        (open.unproven.len(), open.proven.len())
    }
}

/// Evicts the connection that has been idle longest, of those that `may_go`.
fn evict_oldest(
    class: &mut BTreeMap<u64, Arc<Connection>>,
    may_go: impl Fn(&Connection) -> bool,
) -> Result<(), NoRoom> {
    let candidates = class.values().filter(|connection| may_go(connection));
    let idle = candidates.filter_map(|connection| Some((connection.idle_since()?, connection)));
    let oldest = idle.min_by_key(|(since, connection)| (*since, connection.number));
    let number = oldest.ok_or(NoRoom)?.1.number;
    if let Some(oldest) = class.get(&number) {
        oldest.evict()?;
    }
    class.remove(&number);
    Ok(())
}

impl Connection {
    fn new(number: u64, peer: IpAddr, limits: ConnectionLimits, now: Instant) -> Self {
        Self {
            number,
            peer,
            limits,
            state: Mutex::new(ConnectionState {
                phase: Phase::Idle,
                since: now,
                is_proven: false,
                is_evicted: false,
            }),
            evicted: Notify::new(),
        }
    }

    fn idle_since(&self) -> Option<Instant> {
        let state = locked(&self.state);
        (state.phase != Phase::Working).then_some(state.since)
    }

    /// Fails when a request has come since the connection was chosen.
    fn evict(&self) -> Result<(), NoRoom> {
        let mut state = locked(&self.state);
        if state.phase == Phase::Working {
            return Err(NoRoom);
        }
        state.is_evicted = true;
        self.evicted.notify_one();
        Ok(())
    }

    /// Waits until the connection has to make room.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    pub(super) fn is_proven(&self) -> bool {
        locked(&self.state).is_proven
    }

    pub(super) fn phase(&self) -> Phase {
        locked(&self.state).phase
    }

    /// Records that bytes have arrived.
    pub(super) fn record_bytes(&self, now: Instant) {
        let mut state = locked(&self.state);
        if state.phase == Phase::Idle {
            state.phase = Phase::Headers;
            // A connection that has shown no token gains no time by sending a byte.
            if state.is_proven {
                state.since = now;
            }
        }
    }

    /// Records that a request's headers are complete. Fails when the connection was chosen to make room before.
    pub(super) fn begin_request(&self) -> Result<(), NoRoom> {
        let mut state = locked(&self.state);
        if state.is_evicted {
            return Err(NoRoom);
        }
        state.phase = Phase::Working;
        Ok(())
    }

    /// Records that the request's answer is ready to be sent.
    pub(super) fn end_request(&self, now: Instant) {
        let mut state = locked(&self.state);
        state.phase = Phase::Idle;
        state.since = now;
    }

    /// When to close it unless something comes; `None` while a request is worked on.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let state = locked(&self.state);
        match (state.phase, state.is_proven) {
            (Phase::Working, _) => None,
            (Phase::Idle, true) => Some(state.since + self.limits.idle),
            (Phase::Idle, false) | (Phase::Headers, _) => Some(state.since + self.limits.headers),
        }
    }
}

/// Nothing that panics runs under these locks.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ConnectionLimits = ConnectionLimits {
        unproven: 3,
        unproven_per_peer: 2,
        proven: 2,
        ..ConnectionLimits::DEFAULT
    };
    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn there(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn is_evicted(connection: &Connection) -> bool {
        locked(&connection.state).is_evicted
    }

    #[test]
    fn the_oldest_idle_connection_without_a_token_makes_room() {
        let (table, now) = (ConnectionTable::new(LIMITS), Instant::now());
        let open = [0; 3].map(|_| table.admit(HERE, now).expect("room"));
        // The oldest is at work, so the second oldest goes.
        open[0].begin_request().expect("it is open");
        table.admit(HERE, now).expect("room");
        assert_eq!(
            open.each_ref().map(|one| is_evicted(one)),
            [false, true, false]
        );
        assert_eq!(table.counts(), (3, 0));
        assert_eq!(open[1].begin_request(), Err(NoRoom));
        assert_eq!(table.prove(&open[1]), Err(NoRoom));
    }

    #[test]
    fn connections_with_the_token_keep_their_room() {
        let (table, now) = (ConnectionTable::new(LIMITS), Instant::now());
        let first = table.admit(HERE, now).expect("room");
        table.prove(&first).expect("room");
        for _ in 0..100 {
            table.admit(HERE, now).expect("room");
        }
        assert!(!is_evicted(&first));
        assert_eq!(table.counts(), (3, 1));
        let next = || {
            let next = table.admit(HERE, now).expect("room");
            next.begin_request().expect("it is open");
            table.prove(&next).map(|()| next)
        };
        let _second = next().expect("room");
        // Full: the one that is idle goes, and then none is.
        let _third = next().expect("room");
        assert!(is_evicted(&first));
        assert_eq!(next().expect_err("none is idle"), NoRoom);
    }

    #[test]
    fn nothing_is_closed_while_requests_are_worked_on() {
        let (table, now) = (ConnectionTable::new(LIMITS), Instant::now());
        for _ in 0..3 {
            let connection = table.admit(HERE, now).expect("room");
            connection.begin_request().expect("it is open");
        }
        assert_eq!(table.admit(HERE, now).expect_err("no room"), NoRoom);
        assert_eq!(table.shed(), Err(NoRoom));
    }

    #[test]
    fn another_machine_has_a_share_of_the_room_and_this_one_has_all() {
        let (table, now) = (ConnectionTable::new(LIMITS), Instant::now());
        let honest = table.admit(there(1), now).expect("room");
        for _ in 0..50 {
            table.admit(there(2), now).expect("room");
        }
        assert!(!is_evicted(&honest), "another peer took its room");
        assert_eq!(table.counts(), (3, 0));
        for _ in 0..3 {
            table.admit(HERE, now).expect("room");
        }
        assert!(is_evicted(&honest));
    }

    #[test]
    fn a_slow_header_gains_no_time() {
        let (table, opened) = (ConnectionTable::new(LIMITS), Instant::now());
        let connection = table.admit(HERE, opened).expect("room");
        let later = |seconds| opened + Duration::from_secs(seconds);
        for seconds in 1..4 {
            connection.record_bytes(later(seconds));
            assert_eq!(connection.deadline(), Some(opened + LIMITS.headers));
        }
        connection.begin_request().expect("it is open");
        assert_eq!(connection.deadline(), None);
        table.prove(&connection).expect("room");
        connection.end_request(later(10));
        assert_eq!(connection.deadline(), Some(later(10) + LIMITS.idle));
        connection.record_bytes(later(20));
        connection.record_bytes(later(21));
        assert_eq!(connection.deadline(), Some(later(20) + LIMITS.headers));
    }

    #[test]
    fn few_descriptors_are_left_to_the_store() {
        let few = ConnectionLimits::within(64);
        assert_eq!((few.unproven, few.proven, few.unproven_per_peer), (8, 8, 8));
        assert_eq!(ConnectionLimits::within(8192), ConnectionLimits::DEFAULT);
    }
}
