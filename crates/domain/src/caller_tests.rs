use super::*;

/// Scopes of a caller that is written as `agent=general room=!pier`, where three teams are known.
fn scopes(caller: &str, reads_members: bool) -> Vec<String> {
    let teams = Teams::parse(["general+calculator", "general+tides", "alpha+beta"]);
    let part = |name: &str| {
        let mut parts = caller.split(' ').filter_map(|part| part.split_once('='));
        parts
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.to_owned())
    };
    let caller = Caller {
        agent: part("agent"),
        user: part("user"),
        team: part("team"),
        room: part("room"),
        project: part("project"),
    };
    let policy = ScopePolicy {
        tenant: &Tenant::local(),
        person: "ada",
        teams: &teams.expect("these are teams"),
        team_reads_member_memory: reads_members,
    };
    caller
        .scopes(policy)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[track_caller]
fn check(caller: &str, expected: &[&str]) {
    assert_eq!(scopes(caller, false), expected, "{caller}");
}

#[test]
fn an_agent_has_its_own_memory_and_that_of_its_teams_in_a_fixed_order() {
    check(
        "agent=general",
        &[
            "agent/general",
            "team/calculator+general",
            "team/general+tides",
            "user/ada",
        ],
    );
    check(
        "agent=alpha",
        &["agent/alpha", "team/alpha+beta", "user/ada"],
    );
    check("agent=nobody", &["agent/nobody", "user/ada"]);
}

#[test]
fn a_team_has_its_own_memory_and_its_members_where_a_setting_says_so() {
    let team = "team=calculator+general";
    check(team, &["team/calculator+general"]);
    check(
        &format!("agent=general {team}"),
        &["team/calculator+general"],
    );
    assert_eq!(
        scopes(team, true),
        [
            "team/calculator+general",
            "agent/calculator",
            "agent/general"
        ]
    );
}

#[test]
fn each_caller_has_what_applies_to_it_and_nothing_else() {
    check("user=ben", &["user/ben"]);
    check("agent=nobody user=ben", &["agent/nobody", "user/ben"]);
    check(
        "agent=nobody project=tidepool",
        &["agent/nobody", "project/tidepool", "user/ada"],
    );
    check("room=!pier", &["room/!pier"]);
    check(
        "agent=alpha room=!pier user=ben project=tidepool",
        &[
            "room/!pier",
            "agent/alpha",
            "team/alpha+beta",
            "project/tidepool",
        ],
    );
    check(
        "agent=alpha team=alpha+beta room=!pier",
        &["room/!pier", "team/alpha+beta"],
    );
}

#[test]
fn a_caller_that_names_nothing_reaches_no_agent_no_team_no_room_and_no_other_person() {
    let scope = |kind, name: &str| Scope {
        tenant: Tenant::local(),
        kind,
        name: name.to_owned(),
    };
    let reach = Reach::Unnamed {
        person: "ada".to_owned(),
        except: Vec::new(),
    };
    let admits = |kind, name| reach.admits(Some(&scope(kind, name)));
    assert!(reach.admits(None));
    assert!(admits(ScopeKind::Project, "tidepool") && admits(ScopeKind::User, "ada"));
    assert!(!admits(ScopeKind::User, "ben") && !admits(ScopeKind::Agent, "alpha"));
    assert!(!admits(ScopeKind::Team, "alpha+beta") && !admits(ScopeKind::Room, "!pier"));
    let one = Reach::Scopes(vec![scope(ScopeKind::Room, "!pier")]);
    assert!(one.admits(Some(&scope(ScopeKind::Room, "!pier"))));
    assert!(!one.admits(None) && !one.admits(Some(&scope(ScopeKind::Room, "!quay"))));
}

#[test]
fn only_a_member_speaks_for_a_team() {
    let teams = Teams::parse(["alpha+beta"]).expect("it is a team");
    let caller = |agent: Option<&str>| Caller {
        agent: agent.map(str::to_owned),
        team: Some("alpha+beta".to_owned()),
        ..Caller::default()
    };
    assert_eq!(caller(Some("alpha")).check_team(&teams), Ok(()));
    assert_eq!(caller(None).check_team(&teams), Ok(()));
    assert!(caller(Some("gamma")).check_team(&teams).is_err());
}
