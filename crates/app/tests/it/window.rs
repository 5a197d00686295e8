//! The window on memory, as a browser without JavaScript sees it: who is let in, what pages hold, and what forms do.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::fixture::{TestPlace, teaching_session};
use crate::serve::DaybookServer;

/// Every page that needs no parameter.
const PAGES: [&str; 11] = [
    "",
    "/memory",
    "/ask",
    "/sessions",
    "/projects",
    "/agents",
    "/work",
    "/spend",
    "/secrets",
    "/threads",
    "/why",
];
const SCOPE: &str = "project/tidepool";
const FILE: &str = "projects/tidepool/memory/MEMORY.md";
/// What a page would run or load, if text of a transcript were markup.
const HOSTILE: &str = "<script>alert(1)</script> <img src=http://evil.example/x.png> [tides](javascript:alert(1)) \
    <form action=http://evil.example/> \u{202e}gpj.exe\u{200b} \u{1b}[31m ]]> --> {{7*7}} https://evil.example/login";

/// What came back: the status, the head in lower case, and the page.
struct Answer {
    status: u16,
    head: String,
    page: String,
}

/// A browser with the cookie of a login.
struct Browser<'a> {
    server: &'a DaybookServer,
    cookie: String,
}

fn exchange(server: &DaybookServer, what: &str, headers: &str, body: &str) -> Answer {
    let (host, length) = (&server.address, body.len());
    let request = format!(
        "{what} HTTP/1.1\r\nConnection: close\r\nHost: {host}\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    let (head, page) = server.exchange(&request);
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    Answer {
        status: status.expect("a status"),
        head,
        page,
    }
}

/// Sends the form of the login with `token`.
fn log_in(server: &DaybookServer, token: &str) -> Answer {
    let headers = "Content-Type: application/x-www-form-urlencoded\r\n";
    exchange(
        server,
        "POST /window/login",
        headers,
        &format!("token={token}"),
    )
}

fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    let mut lines = answer.head.lines().filter_map(|line| line.split_once(": "));
    lines
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

impl<'a> Browser<'a> {
    fn open(server: &'a DaybookServer, token: &str) -> Self {
        let entered = log_in(server, token);
        assert_eq!(entered.status, 303, "{}", entered.page);
        let cookie = header(&entered, "set-cookie").expect("a cookie");
        for part in ["HttpOnly", "SameSite=Strict", "Path=/window"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        Self { server, cookie }
    }

    fn get(&self, path: &str) -> Answer {
        let headers = format!("Cookie: {}\r\n", self.cookie);
        exchange(self.server, &format!("GET /window{path}"), &headers, "")
    }

    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.page);
        answer.page
    }

    /// Sends the form at `action` of the page at `path`, with other values for some of its fields.
    fn send(&self, path: &str, action: &str, values: &[(&str, &str)]) -> Answer {
        let form = form_at(&self.page(path), action);
        let body = encoded(&form, values);
        self.post(
            action,
            &format!("Origin: http://{}\r\n", self.server.address),
            &body,
        )
    }

    fn post(&self, action: &str, headers: &str, body: &str) -> Answer {
        let headers = format!(
            "Cookie: {}\r\nContent-Type: application/x-www-form-urlencoded\r\n{headers}",
            self.cookie
        );
        exchange(
            self.server,
            &format!("POST /window/{action}"),
            &headers,
            body,
        )
    }

    /// The page that an answer leads to.
    fn follow(&self, answer: &Answer) -> String {
        assert_eq!(answer.status, 303, "{}", answer.page);
        let to = header(answer, "location").expect("a location");
        self.page(to.strip_prefix("/window").expect("a page of the window"))
    }
}

/// The fields of the form that is sent to `action`.
fn form_at(page: &str, action: &str) -> Vec<(String, String)> {
    let begin = page.find(&format!("action=\"/window/{action}\""));
    let form = &page[begin.unwrap_or_else(|| panic!("no form {action}: {page}"))..];
    let form = &form[..form.find("</form>").expect("its end")];
    let inputs = form.split("<input").skip(1);
    let fields = inputs.filter_map(|input| {
        Some((
            attribute(input, "name")?,
            attribute(input, "value").unwrap_or_default(),
        ))
    });
    fields.collect()
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let begin = tag.find(&format!("{name}=\""))? + name.len() + 2;
    let value = &tag[begin..];
    let value = &value[..value.find('"')?];
    Some(
        value
            .replace("&quot;", "\"")
            .replace("&lt;", "<")
            .replace("&amp;", "&"),
    )
}

fn encoded(form: &[(String, String)], values: &[(&str, &str)]) -> String {
    let changed = |name: &str| {
        values
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    };
    let known = form
        .iter()
        .map(|(name, value)| (name.as_str(), changed(name).unwrap_or(value)));
    let added = values
        .iter()
        .filter(|(name, _)| form.iter().all(|(known, _)| known != name))
        .copied();
    let pairs = known
        .chain(added)
        .map(|(name, value)| format!("{name}={}", escaped(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn escaped(value: &str) -> String {
    value.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// A server whose memory was learned from a session, with hostile text in it.
fn with_a_session() -> DaybookServer {
    let place = TestPlace::new();
    let session =
        teaching_session(1).human(&format!("please always greet visitors with {HOSTILE}"));
    place.write("a.jsonl", &session.text());
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit())
}

fn file(server: &DaybookServer) -> String {
    fs::read_to_string(server.place.root().join(FILE)).unwrap_or_default()
}

/// The address of the page that explains the first line with `words`.
fn why_of(browser: &Browser<'_>, words: &str) -> String {
    let page = browser.page(&format!("/file?scope={SCOPE}"));
    let line = page.split("<li").find(|line| line.contains(words));
    let line = line.unwrap_or_else(|| panic!("no line with {words}: {page}"));
    let begin = line.find("/window/why?").expect("a way to its source");
    let address = &line[begin + "/window".len()..];
    address[..address.find('"').expect("its end")].replace("&amp;", "&")
}

#[test]
fn nobody_is_let_in_without_the_token_and_the_window_is_no_way_to_the_routes() {
    let server = DaybookServer::start();
    for page in PAGES {
        let answer = exchange(&server, &format!("GET /window{page}"), "", "");
        assert_eq!(
            (answer.status, header(&answer, "location")),
            (303, Some("/window/login")),
            "{page}"
        );
    }
    assert_eq!(log_in(&server, &"x".repeat(64)).status, 403);
    let bearer = format!("Authorization: Bearer {}\r\n", server.token);
    assert_eq!(
        exchange(&server, "GET /window/memory", &bearer, "").status,
        303
    );
    let forged = format!(
        "Cookie: daybook-window={}.{}.{}\r\n",
        i64::MAX,
        "0".repeat(64),
        "0".repeat(64)
    );
    assert_eq!(exchange(&server, "GET /window", &forged, "").status, 303);

    let browser = Browser::open(&server, &server.token);
    assert_eq!(browser.get("").status, 200);
    let cookie = format!("Cookie: {}\r\n", browser.cookie);
    assert_eq!(exchange(&server, "GET /v1/status", &cookie, "").status, 401);
    // A name that leads to this machine from a page elsewhere (DNS rebinding).
    let (head, _) = server.exchange(&format!(
        "GET /window HTTP/1.1\r\nConnection: close\r\nHost: evil.example\r\n{cookie}\r\n"
    ));
    assert!(head.contains("403"), "{head}");
}

#[test]
fn an_address_of_open_lets_in_once() {
    let server = DaybookServer::start();
    let printed = server
        .place
        .json(&["open", "--listen", &server.address, "--no-browser"]);
    let address = printed["address"].as_str().expect("an address");
    let path = address.strip_prefix(&format!("http://{}", server.address));
    let what = format!("GET {}", path.expect("an address of this server"));
    let entered = exchange(&server, &what, "", "");
    assert_eq!(
        (entered.status, header(&entered, "location")),
        (303, Some("/window"))
    );
    assert!(header(&entered, "set-cookie").is_some());
    assert_eq!(exchange(&server, &what, "", "").status, 403);
}

/// Checks that a page loads, runs and links nothing that a transcript holds.
#[track_caller]
fn is_harmless(path: &str, answer: &Answer) {
    let (page, policy) = (&answer.page, header(answer, "content-security-policy"));
    assert!(policy.is_some_and(
        |it| it.starts_with("default-src 'none'") && it.contains("frame-ancestors 'none'")
    ));
    assert_eq!(header(answer, "cache-control"), Some("no-store"), "{path}");
    for tag in [
        "<script>",
        "<img",
        "<iframe",
        "evil.example\"",
        "\u{202e}",
        "\u{200b}",
        "\u{1b}",
    ] {
        assert!(!page.contains(tag), "{path} holds {tag:?}: {page}");
    }
    for name in ["href", "src", "action"] {
        for value in page.split(&format!(" {name}=\"")).skip(1) {
            let is_own = ["/window", "#", "data:,\""]
                .iter()
                .any(|own| value.starts_with(own));
            assert!(is_own, "{path}: {name}={}", &value[..value.len().min(60)]);
        }
    }
    assert!(page.len() < 300_000, "{path} has {} bytes", page.len());
}

#[test]
fn text_of_transcripts_is_text_on_every_page() {
    let server = with_a_session();
    let browser = Browser::open(&server, &server.token);
    let session = browser.page("/sessions");
    let begin = session.find("/window/session?id=").expect("a session") + "/window".len();
    let session = session[begin..]
        .split('"')
        .next()
        .unwrap_or_default()
        .to_owned();
    let line = why_of(&browser, "greet visitors");
    let mut paths: Vec<String> = PAGES.iter().map(|&page| page.to_owned()).collect();
    paths.extend([
        format!("/file?scope={SCOPE}"),
        format!("/folder?scope={SCOPE}"),
        format!("/folder?scope={SCOPE}&file=sessions/"),
        format!("/folder?scope={SCOPE}&file=../../.."),
        "/secrets?by=family".to_owned(),
        format!("/history?scope={SCOPE}"),
        format!("/change?scope={SCOPE}&at=HEAD"),
        "/ask?question=how+to+greet+visitors".to_owned(),
        format!("/ask?question={}", escaped(HOSTILE)),
        format!(
            "/agents?folder=%2Fnowhere%2Fada%2Ftidepool&prompt={}",
            escaped(HOSTILE)
        ),
        format!("/file?scope={}&file={}", escaped(HOSTILE), escaped(HOSTILE)),
        "/words?citation=nothing".to_owned(),
        session,
        line,
    ]);
    let mut shown = 0;
    for path in &paths {
        let answer = browser.get(path);
        is_harmless(path, &answer);
        shown += usize::from(answer.page.contains("&lt;script&gt;alert(1)"));
    }
    assert!(shown >= 4, "the text was to be shown, escaped: {shown}");
    let edit = browser.page(&format!("/edit?scope={SCOPE}&file=MEMORY.md"));
    assert!(!edit.contains("<script>alert") && edit.contains("greet visitors"));
}

/// Most pages that are followed from the first one.
const FOLLOWED: usize = 300;

#[test]
fn every_link_leads_to_a_page() {
    let server = with_a_session();
    let browser = Browser::open(&server, &server.token);
    let (mut seen, mut ahead) = (
        BTreeSet::new(),
        VecDeque::from([(String::new(), String::new())]),
    );
    let mut folders = 0;
    while let Some((from, path)) = ahead.pop_front() {
        if seen.len() == FOLLOWED || !seen.insert(path.clone()) {
            continue;
        }
        let answer = browser.get(&path);
        assert_eq!(answer.status, 200, "{path} of {from}: {}", answer.page);
        folders += usize::from(path.starts_with("/folder?") && path.contains("file="));
        let links = answer.page.split("href=\"/window").skip(1);
        let links = links.filter_map(|rest| rest.split(['"', '#']).next());
        let next = |link: &str| (path.clone(), link.replace("&amp;", "&"));
        ahead.extend(links.map(next));
    }
    assert!(
        folders > 0,
        "a folder in a folder was to be followed: {seen:?}"
    );
}

#[test]
fn every_line_is_explained_by_all_that_it_rests_on() {
    let place = TestPlace::new();
    for n in 1..=3 {
        place.write(&format!("{n}.jsonl"), &teaching_session(n).text());
    }
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let server = DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit());
    let browser = Browser::open(&server, &server.token);
    let page = browser.page(&format!("/file?scope={SCOPE}"));
    let links = page
        .split("href=\"/window")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    let links = links
        .filter(|link| link.starts_with("/why?"))
        .map(|link| link.replace("&amp;", "&"));
    let mut with_several = 0;
    for link in links {
        let line = link
            .split("line=")
            .nth(1)
            .expect("a line")
            .replace("%3A", ":");
        let explained = server.place.json(&["why", "--scope", SCOPE, &line]);
        let known = explained["observations"].as_array().map_or(0, Vec::len);
        let shown = browser.page(&link).matches(" · trust ").count();
        assert_eq!(shown, known, "{link}: {explained}");
        let cited = explained["observations"][0]["citations"].as_array();
        with_several += usize::from(cited.is_some_and(|cited| cited.len() > 1));
    }
    assert!(with_several > 0, "a line rests on several sessions: {page}");
}

#[test]
fn a_line_is_explained_corrected_taken_back_and_forgotten() {
    let server = with_a_session();
    let browser = Browser::open(&server, &server.token);
    let address = why_of(&browser, "push without asking");
    let explained = browser.page(&address);
    assert!(
        explained.contains("no, don&#39;t push") || explained.contains("no, don't push"),
        "{explained}"
    );

    let words = ("words", "never push without my word");
    let corrected = browser.send(&address, "correct", &[words]);
    let page = browser.follow(&corrected);
    assert!(
        page.contains("Corrected") && page.contains(words.1),
        "{page}"
    );
    assert!(file(&server).contains(words.1), "{}", file(&server));

    let history = browser.page(&format!("/history?scope={SCOPE}"));
    let begin = history.find("/window/change?").expect("a change") + "/window".len();
    let change = history[begin..]
        .split('"')
        .next()
        .unwrap_or_default()
        .replace("&amp;", "&");
    let undone = browser.send(&change, "undo", &[]);
    assert!(browser.follow(&undone).contains("Taken back"));
    assert!(!file(&server).contains(words.1));

    let address = why_of(&browser, "push without asking");
    let forgotten = browser.send(&address, "forget", &[]);
    assert!(browser.follow(&forgotten).contains("Forgotten"));
    assert!(!file(&server).contains("push without asking"));
    let log = server.place.stdout(&["history", "--scope", SCOPE]);
    assert!(!log.contains("through an agent"), "{log}");
}

#[test]
fn a_file_is_edited_in_place_and_an_older_state_is_not_written_over() {
    let server = with_a_session();
    let browser = Browser::open(&server, &server.token);
    let path = format!("/edit?scope={SCOPE}&file=MEMORY.md");
    let first = browser.page(&path);
    let text = format!("{}\r\nAda wrote this by hand.\r\n", file(&server));
    let saved = browser.send(&path, "edit", &[("text", &text)]);
    assert!(browser.follow(&saved).contains("Ada wrote this by hand."));
    assert!(!file(&server).contains('\r'));

    let stale = encoded(&form_at(&first, "edit"), &[("text", "all gone")]);
    let origin = format!("Origin: http://{}\r\n", server.address);
    let refused = browser.post("edit", &origin, &stale);
    assert_eq!(refused.status, 409, "{}", refused.page);
    assert!(refused.page.contains("has changed since"));
    assert!(file(&server).contains("Ada wrote this by hand."));
}

#[test]
fn forms_of_other_pages_change_nothing() {
    let server = with_a_session();
    let browser = Browser::open(&server, &server.token);
    let address = why_of(&browser, "push without asking");
    let form = form_at(&browser.page(&address), "forget");
    let genuine = encoded(&form, &[]);
    let own = format!("Origin: http://{}\r\n", server.address);
    for (headers, body) in [
        ("Origin: http://evil.example\r\n", genuine.as_str()),
        ("Origin: null\r\n", &genuine),
        ("Sec-Fetch-Site: cross-site\r\n", &genuine),
        ("Sec-Fetch-Site: same-site\r\n", &genuine),
        (&own, &encoded(&form, &[("proof", "")])),
        (&own, &encoded(&form, &[("proof", &"0".repeat(64))])),
    ] {
        let refused = browser.post("forget", headers, body);
        assert_eq!(refused.status, 403, "{headers}: {}", refused.page);
    }
    let bare = exchange(&server, "POST /window/forget", &own, &genuine);
    assert_eq!(bare.status, 303, "to the login");
    assert_eq!(header(&bare, "location"), Some("/window/login"));
    assert!(file(&server).contains("push without asking"));
}

#[test]
fn a_session_is_left_out_and_removed_for_good_only_with_its_name() {
    let server = with_a_session();
    let browser = Browser::open(&server, &server.token);
    let sessions = browser.page("/sessions");
    let begin = sessions.find("/window/session?id=").expect("a session") + "/window".len();
    let address = sessions[begin..]
        .split('"')
        .next()
        .unwrap_or_default()
        .to_owned();
    let off = browser.send(&address, "session-memory", &[]);
    assert!(browser.follow(&off).contains("Learn from this again"));
    let refused = browser.send(&address, "purge-session", &[("sure", "yes")]);
    assert_eq!(refused.status, 400, "{}", refused.page);
    let listed = server.place.json(&["sessions"]);
    let label = listed["sessions"][0]["label"].as_str().expect("a label");
    let gone = browser.send(&address, "purge-session", &[("sure", label)]);
    assert!(browser.follow(&gone).contains("Removed for good"));
    assert!(!browser.page("/sessions").contains("/window/session?id="));
    assert!(!file(&server).contains("push without asking"));
}

#[test]
fn a_tenant_sees_their_own_memory_alone() {
    let place = TestPlace::new();
    place.stdout(&[
        "remember",
        "the zephyrine is our boat",
        "--tenant",
        "harbour",
    ]);
    place.stdout(&["remember", "deploys happen on Tuesdays"]);
    let token = write_token(&place.root(), "harbour");
    let server = DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit());
    for (token, own, other) in [
        (server.token.as_str(), "Tuesdays", "zephyrine"),
        (&token, "zephyrine", "Tuesdays"),
    ] {
        let browser = Browser::open(&server, token);
        let asked = browser.page(&format!("/ask?question={own}"));
        assert!(asked.matches(own).count() > 1, "{asked}");
        let asked = browser.page(&format!("/ask?question={other}"));
        assert_eq!(
            asked.matches(other).count(),
            1,
            "the question alone: {asked}"
        );
        assert!(!browser.page("").contains(other));
        assert!(!browser.page("/memory").contains(other));
    }
}

fn write_token(root: &Path, tenant: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let folder = root.join("tokens");
    fs::create_dir_all(&folder).expect("a folder");
    let token = format!("token-of-{tenant}-0123456789abcdef0123456789");
    let file = folder.join(tenant);
    fs::write(&file, &token).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    token
}

#[test]
fn charts_say_in_words_what_they_draw() {
    let place = TestPlace::new();
    place.write("a.jsonl", &teaching_session(1).text());
    let later = teaching_session(2)
        .text()
        .replace("2026-03-02T", "2026-03-23T");
    place.write("b.jsonl", &later);
    place.stdout(&["import", &place.transcripts().display().to_string()]);
    let server = DaybookServer::start_in(place, &["--no-follow"], Stdio::inherit());
    let browser = Browser::open(&server, &server.token);
    let today = browser.page("");
    assert!(
        today.contains("aria-label=\"Learned or confirmed, by week: "),
        "{today}"
    );
    assert!(today.contains("<summary>In numbers</summary>"), "{today}");
    let work = browser.page("/work");
    assert!(
        work.contains("aria-label=\"What was learned from, in sessions: 2 learned from\""),
        "{work}"
    );
    assert!(!work.contains("How long recall takes"), "{work}");
    browser.page("/ask?question=where+are+the+tides+kept");
    let work = browser.page("/work");
    assert!(work.contains("How long recall takes") && work.contains("half of the answers"));
    let agents = browser.page("/agents?folder=%2Fnowhere%2Fada%2Ftidepool");
    assert!(
        agents.contains(" tokens, in tokens: ") && agents.contains(" free"),
        "{agents}"
    );
}

#[test]
fn a_form_that_is_too_large_is_answered_with_a_page() {
    let server = DaybookServer::start();
    let browser = Browser::open(&server, &server.token);
    let (host, cookie) = (&server.address, &browser.cookie);
    // Its size is known only when it has arrived: the head names none.
    let chunk = format!("{:x}\r\n{}\r\n", 600 * 1024, "a".repeat(600 * 1024));
    let (head, page) = server.exchange(&format!(
        "POST /window/edit HTTP/1.1\r\nConnection: close\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}{chunk}0\r\n\r\n"
    ));
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
    assert!(
        head.to_lowercase().contains("content-type: text/html"),
        "{head}"
    );
    assert!(
        head.contains("default-src 'none'") && page.contains("Back to Today"),
        "{page}"
    );
}
