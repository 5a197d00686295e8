//! Hides secrets in names from outside: folders, branches, paths, tools, ids.
//!
//! A name is stored as it is unless the redactor finds a secret in it. A name that identifies something keeps its
//! identity then: a fingerprint stands beside the marker, so that the same folder, file or session is found again and
//! two of them stay apart. The same name always gives the same result, and a result gives itself.
//!
//! The fingerprint has 32 bits on purpose: it tells the few names with secrets apart, and confirms few guesses.
//!
//! Not here: texts of events (`prepare`).

use std::borrow::Cow;

use daybook_domain::{Place, SessionId, SessionMeta, Venue};

use super::redact::{HIGH_ENTROPY, Redactor};

/// The name without secrets. Two names that differ only in a secret become one, so it must identify nothing.
#[must_use]
pub fn redact_name<'a>(redactor: &Redactor, name: &'a str) -> Cow<'a, str> {
    redactor.redact(name).text
}

/// The name of something that is shown and found by it, such as a path: `/srv/[REDACTED:…]/app~5e7a01c2`.
#[must_use]
pub fn redact_key<'a>(redactor: &Redactor, key: &'a str) -> Cow<'a, str> {
    match redactor.redact(key).text {
        Cow::Owned(hidden) => {
            Cow::Owned(format!("{hidden}~{:08x}", redactor.name_fingerprint(key)))
        }
        plain @ Cow::Borrowed(_) => plain,
    }
}

/// A host's id of a session or a call. One with a secret is replaced as a whole, because citations begin with it. An id
/// is no secret only because it was drawn at random.
#[must_use]
pub fn redact_id<'a>(redactor: &Redactor, id: &'a str) -> Cow<'a, str> {
    let findings = redactor.redact(id).findings;
    match findings.iter().any(|found| found.rule != HIGH_ENTROPY) {
        true => Cow::Owned(format!("redacted-{:08x}", redactor.name_fingerprint(id))),
        false => Cow::Borrowed(id),
    }
}

/// The place without secrets. The folder keeps its identity: sessions of one folder stay in one project.
#[must_use]
pub fn redact_place(redactor: &Redactor, place: Place) -> Place {
    Place {
        root: redact_key(redactor, &place.root).into_owned(),
        branch: place
            .branch
            .map(|it| redact_name(redactor, &it).into_owned()),
    }
}

/// The id of a session without secrets.
#[must_use]
pub fn redact_session_id(redactor: &Redactor, id: SessionId) -> SessionId {
    SessionId {
        tenant: id.tenant,
        agent: redact_name(redactor, &id.agent).into_owned(),
        host_id: redact_id(redactor, &id.host_id).into_owned(),
    }
}

/// The metadata of a session without secrets: its ids, user and surface.
#[must_use]
pub fn redact_session(redactor: &Redactor, meta: SessionMeta) -> SessionMeta {
    let id = |id: String| redact_id(redactor, &id).into_owned();
    SessionMeta {
        id: redact_session_id(redactor, meta.id),
        forked_from: meta.forked_from.map(id),
        user: meta.user.map(|it| redact_key(redactor, &it).into_owned()),
        surface: meta
            .surface
            .map(|it| redact_name(redactor, &it).into_owned()),
        venue: redact_venue(redactor, meta.venue),
        ..meta
    }
}

/// The room, the thread and the team of a conversation without secrets.
#[must_use]
pub fn redact_venue(redactor: &Redactor, venue: Venue) -> Venue {
    let id = |id: String| redact_id(redactor, &id).into_owned();
    let key = |key: String| redact_key(redactor, &key).into_owned();
    Venue {
        room_id: venue.room_id.map(id),
        thread_id: venue.thread_id.map(id),
        team: venue.team.map(key),
        filed_in: venue.filed_in.map(key),
    }
}

#[cfg(test)]
mod tests {
    use daybook_domain::{SessionKind, Tenant};

    use super::*;

    /// A secret that no scanner takes for a real one in this file.
    fn secret(nth: u8) -> String {
        format!("gh{}_{}", 'p', format!("{nth}aB3dE5gH7jK9").repeat(3))
    }

    fn folder(nth: u8) -> String {
        format!("/srv/{}/tidepool", secret(nth))
    }

    #[test]
    fn a_plain_name_stays_as_it_is() {
        let redactor = Redactor::standard();
        for name in ["/home/ada/tidepool", "feature/cache", "Bash", "toolu_01"] {
            assert_eq!(redact_name(&redactor, name), name);
            assert_eq!(redact_key(&redactor, name), name);
            assert_eq!(redact_id(&redactor, name), name);
        }
    }

    #[test]
    fn an_id_that_was_drawn_at_random_stays_as_it_is() {
        let redactor = Redactor::standard();
        for id in [
            "3c9d52aa-0000-4000-8000-00000000feed",
            "ses_4f2Kq8ZrLw9Xc4Vb6NmT1yHs7",
            "call_Qx7mT2vB9kLpZ4sWnR8cY1dF",
            "Zk3vQ9xT7mB2wL8pR4sN6cY1dF5hJ0gA",
        ] {
            assert_eq!(redact_id(&redactor, id), id);
        }
    }

    #[test]
    fn a_hidden_name_is_the_same_each_time_and_stays_apart_from_others() {
        let redactor = Redactor::standard();
        let hide = |name: &str| {
            let key = redact_key(&redactor, name).into_owned();
            let id = redact_id(&redactor, name).into_owned();
            [key, id]
        };
        for nth in 0..20 {
            let hidden = hide(&folder(nth));
            assert_eq!(hidden, hide(&folder(nth)));
            let again = hidden.each_ref().map(|name| {
                let [key, id] = hide(name);
                assert_eq!(key, id, "nothing is left to hide in {name}");
                key
            });
            assert_eq!(hidden, again);
            assert!(hidden.iter().all(|name| !name.contains(&secret(nth))));
            assert!(
                hidden
                    .iter()
                    .zip(hide(&folder(nth + 1)))
                    .all(|(a, b)| *a != b)
            );
        }
    }

    #[test]
    fn a_session_and_its_place_hold_no_secret() {
        let redactor = Redactor::standard();
        let place = Place {
            root: folder(1),
            branch: Some(format!("try/{}", secret(2))),
        };
        let place = redact_place(&redactor, place);
        assert!(place.root.starts_with("/srv/[REDACTED:") && place.root.contains("/tidepool~"));
        let meta = SessionMeta {
            id: SessionId {
                tenant: Tenant::local(),
                agent: "chat".to_owned(),
                host_id: secret(3),
            },
            kind: SessionKind::Root,
            memory_off: false,
            forked_from: Some(secret(4)),
            user: Some(secret(5)),
            surface: Some(secret(6)),
            venue: Venue {
                room_id: Some(secret(7)),
                ..Venue::default()
            },
        };
        let meta = redact_session(&redactor, meta);
        assert!(meta.id.host_id.starts_with("redacted-"));
        let shown = format!("{place:?} {meta:?}");
        for nth in 1..7 {
            assert!(!shown.contains(&secret(nth)), "{shown}");
        }
        assert_eq!(redact_place(&redactor, place.clone()), place);
        assert_eq!(redact_session(&redactor, meta.clone()), meta);
    }
}
