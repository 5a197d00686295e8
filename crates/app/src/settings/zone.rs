//! The time zone of dates in memory files.

use std::fs;

use jiff::tz::TimeZone;

/// Where most systems keep the rules of their time zone: a link into the folder of all zones.
const LOCAL_ZONE: &str = "/etc/localtime";
/// The last folder before a zone's name.
const ZONES: &str = "zoneinfo/";

/// The zone of this name; `None` if there is none.
pub(super) fn zone(name: &str) -> Option<TimeZone> {
    match name {
        "local" => Some(local_zone()),
        name => TimeZone::get(name).ok(),
    }
}

/// This machine's time zone; UTC where it cannot be found out.
///
/// The zone's own file is read where it can be: a search by name lists the files of all zones first, and an agent waits for
/// its hooks.
pub(crate) fn local_zone() -> TimeZone {
    let is_named = std::env::var_os("TZ").is_some();
    let linked = linked_zone().filter(|_| !is_named);
    linked.unwrap_or_else(|| TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

fn linked_zone() -> Option<TimeZone> {
    let path = fs::read_link(LOCAL_ZONE).ok()?;
    let (_, name) = path.to_str()?.rsplit_once(ZONES)?;
    TimeZone::tzif(name, &fs::read(LOCAL_ZONE).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_is_the_one_that_a_search_by_name_finds() {
        let (zone, found) = (local_zone(), TimeZone::try_system());
        let now = jiff::Timestamp::from_second(1_780_000_000).expect("a time");
        let found = found.unwrap_or(TimeZone::UTC);
        assert_eq!(zone.to_offset(now), found.to_offset(now));
        assert_eq!(zone.iana_name(), found.iana_name());
    }
}
