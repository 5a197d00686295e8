//! Processes that follow transcripts survive an outage of the server: events that are written meanwhile are
//! imported afterwards, once.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use daybook_testkit::postgres::{PostgresServer, Relay};

use crate::fixture::{TestPlace, TestSession, teaching_session};

/// Longest wait for something that another process is about to do.
const PATIENCE: Duration = Duration::from_secs(60);
/// Connections that are tried in vain before the server is back: more than one try makes.
const IN_VAIN: usize = 30;
/// The messages at the beginning and at the end of an outage.
const BEGINS: &str = "nothing is lost, and work continues after the outage";
const ENDS: &str = "the memory can be used again";

/// A process that follows transcripts, killed when dropped.
struct FollowerProcess(Child);

impl Drop for FollowerProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct FollowedPlace {
    server: PostgresServer,
    relay: Relay,
    place: TestPlace,
    /// Where agents write.
    folder: PathBuf,
}

impl FollowedPlace {
    fn new(server: PostgresServer, folder: impl FnOnce(&TestPlace) -> PathBuf) -> Self {
        let relay = Relay::to(&server);
        let place = TestPlace::sharing(&relay.address(&server));
        let folder = folder(&place);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self {
            server,
            relay,
            place,
            folder,
        }
    }

    fn write(&self, session: &TestSession) {
        let path = self.folder.join(format!("{}.jsonl", session.id()));
        std::fs::write(path, session.text()).expect("a file");
    }

    fn has_session(&self, session: &TestSession) -> bool {
        let events = format!(
            "SELECT events FROM sessions WHERE host_id = '{}'",
            session.id()
        );
        self.server.ask(&events) == session.text().lines().count().to_string()
    }

    fn messages(&self) -> String {
        std::fs::read_to_string(self.place.home().join("said")).expect("it may say something")
    }

    fn follow(&self, arguments: &[&str]) -> FollowerProcess {
        let said = File::create(self.place.home().join("said")).expect("a file");
        let mut follower = self.place.daybook(arguments);
        follower.stdout(Stdio::null()).stderr(said);
        FollowerProcess(follower.spawn().expect("daybook starts"))
    }

    #[track_caller]
    fn until(&self, what: &str, mut there: impl FnMut() -> bool) {
        let began = Instant::now();
        while !there() {
            let said = self.messages();
            assert!(began.elapsed() < PATIENCE, "{what} did not happen: {said}");
            std::thread::yield_now();
        }
    }

    /// `begun` is imported already; then the server is unreachable for a while.
    fn check_outage(&self, begun: TestSession, mut follower: FollowerProcess) {
        self.relay.lead_nowhere();
        let began = self.relay.refused();
        let (grown, new) = (begun.human("and what else?"), teaching_session(2));
        self.write(&grown);
        self.write(&new);
        // One call makes several tries before it fails with a message; their number depends on the load.
        self.until("saying so", || self.messages().contains(BEGINS));
        self.until("trying", || self.relay.refused() > began + IN_VAIN);
        assert_eq!(
            self.messages().matches(BEGINS).count(),
            1,
            "{}",
            self.messages()
        );
        assert!(follower.0.try_wait().expect("a process of ours").is_none());

        self.relay.lead_to(&self.server);
        self.until("taking in", || {
            self.has_session(&grown) && self.has_session(&new)
        });
        self.until("going on", || self.messages().contains(ENDS));
        let later = teaching_session(3);
        self.write(&later);
        self.until("following", || self.has_session(&later));
        for once in [BEGINS, ENDS] {
            assert_eq!(
                self.messages().matches(once).count(),
                1,
                "{}",
                self.messages()
            );
        }
    }
}

#[test]
fn an_import_that_watches_goes_on_after_an_outage() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let site = FollowedPlace::new(server, TestPlace::transcripts);
    let begun = teaching_session(1);
    site.write(&begun);
    let folder = site.folder.display().to_string();
    let watching = site.follow(&["import", &folder, "--watch"]);
    site.until("watching", || site.messages().contains("Watching"));
    assert!(site.has_session(&begun));
    site.check_outage(begun, watching);
}

#[test]
fn a_server_that_follows_goes_on_after_an_outage() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let site = FollowedPlace::new(server, |place| {
        place.home().join(".claude/projects/tidepool")
    });
    let (begun, never) = (teaching_session(1), teaching_session(9));
    site.write(&begun);
    let path = site.folder.join(format!("{}.jsonl", begun.id()));
    site.place
        .stdout(&["import", "--no-process", &path.display().to_string()]);
    site.write(&never);
    let serving = site.follow(&["serve", "--listen", "127.0.0.1:0"]);
    // It was imported before, so that it is followed; afterwards everything new is.
    let grown = begun.human("go on");
    site.write(&grown);
    site.until("following", || site.has_session(&grown));
    site.check_outage(grown, serving);
    assert!(!site.has_session(&never), "nobody was asked about it");
}
