//! Those who follow transcripts live through an outage of the server: what is written meanwhile comes in
//! afterwards, once.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use daybook_testkit::postgres::{Relay, Server};

use crate::fixture::{Place, Session, telling};

/// Longest wait for something that another process is about to do.
const PATIENCE: Duration = Duration::from_secs(60);
/// Connections that are tried in vain before the server is back: more than one try makes.
const IN_VAIN: usize = 30;
/// Said when an outage begins, and when it is over.
const BEGINS: &str = "nothing is lost, and this goes on when it can";
const ENDS: &str = "the memory can be used again";

/// Somebody who follows, and does not outlive the test.
struct Follower(Child);

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Site {
    server: Server,
    relay: Relay,
    place: Place,
    /// Where agents write.
    folder: PathBuf,
}

impl Site {
    fn new(server: Server, folder: impl FnOnce(&Place) -> PathBuf) -> Self {
        let relay = Relay::to(&server);
        let place = Place::sharing(&relay.address(&server));
        let folder = folder(&place);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self {
            server,
            relay,
            place,
            folder,
        }
    }

    fn write(&self, session: &Session) {
        let path = self.folder.join(format!("{}.jsonl", session.id()));
        std::fs::write(path, session.text()).expect("a file");
    }

    fn is_there(&self, session: &Session) -> bool {
        let events = format!(
            "SELECT events FROM sessions WHERE host_id = '{}'",
            session.id()
        );
        self.server.ask(&events) == session.text().lines().count().to_string()
    }

    fn said(&self) -> String {
        std::fs::read_to_string(self.place.home().join("said")).expect("it may say something")
    }

    fn follow(&self, arguments: &[&str]) -> Follower {
        let said = File::create(self.place.home().join("said")).expect("a file");
        let mut follower = self.place.daybook(arguments);
        follower.stdout(Stdio::null()).stderr(said);
        Follower(follower.spawn().expect("daybook starts"))
    }

    #[track_caller]
    fn until(&self, what: &str, mut there: impl FnMut() -> bool) {
        let began = Instant::now();
        while !there() {
            let said = self.said();
            assert!(began.elapsed() < PATIENCE, "{what} did not happen: {said}");
            std::thread::yield_now();
        }
    }

    /// `begun` has come in already; of the server, nothing is heard for a while.
    fn lives_through_an_outage(&self, begun: Session, mut follower: Follower) {
        self.relay.lead_nowhere();
        let began = self.relay.refused();
        let (grown, new) = (begun.human("and what else?"), telling(2));
        self.write(&grown);
        self.write(&new);
        // One call makes several tries before it gives up and says so: how many, a busy machine decides.
        self.until("saying so", || self.said().contains(BEGINS));
        self.until("trying", || self.relay.refused() > began + IN_VAIN);
        assert_eq!(self.said().matches(BEGINS).count(), 1, "{}", self.said());
        assert!(follower.0.try_wait().expect("a process of ours").is_none());

        self.relay.lead_to(&self.server);
        self.until("taking in", || self.is_there(&grown) && self.is_there(&new));
        self.until("going on", || self.said().contains(ENDS));
        let later = telling(3);
        self.write(&later);
        self.until("following", || self.is_there(&later));
        for once in [BEGINS, ENDS] {
            assert_eq!(self.said().matches(once).count(), 1, "{}", self.said());
        }
    }
}

#[test]
fn an_import_that_watches_goes_on_after_an_outage() {
    let Some(server) = Server::start() else {
        return;
    };
    let site = Site::new(server, Place::transcripts);
    let begun = telling(1);
    site.write(&begun);
    let folder = site.folder.display().to_string();
    let watching = site.follow(&["import", &folder, "--watch"]);
    site.until("watching", || site.said().contains("Watching"));
    assert!(site.is_there(&begun));
    site.lives_through_an_outage(begun, watching);
}

#[test]
fn a_server_that_follows_goes_on_after_an_outage() {
    let Some(server) = Server::start() else {
        return;
    };
    let site = Site::new(server, |place| {
        place.home().join(".claude/projects/tidepool")
    });
    let (begun, never) = (telling(1), telling(9));
    site.write(&begun);
    let path = site.folder.join(format!("{}.jsonl", begun.id()));
    site.place
        .say(&["import", "--no-process", &path.display().to_string()]);
    site.write(&never);
    let serving = site.follow(&["serve", "--listen", "127.0.0.1:0"]);
    // It was imported before, so that it is followed; afterwards everything new is.
    let grown = begun.human("go on");
    site.write(&grown);
    site.until("following", || site.is_there(&grown));
    site.lives_through_an_outage(grown, serving);
    assert!(!site.is_there(&never), "nobody was asked about it");
}
