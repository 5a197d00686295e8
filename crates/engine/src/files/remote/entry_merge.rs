//! Merges a page that two machines changed, entry by entry and then line by line.
//!
//! Each machine has a memory of its own, so what the rules of one drop may still hold on the other. An entry goes only
//! where a person removed it, or where it came from elsewhere and was dropped there. Every other entry of either side is
//! in the result once: in our place where we have it, with a person's words where one side has them, and twice only
//! where two persons changed the same entry. What remains are lines of persons, merged by [`union`].
//!
//! Not here: whole files (`folder_merge`), who removed an entry (`removals`).

use std::collections::{BTreeMap, BTreeSet};

use crate::files::entry::{EntryId, Marker, PageBlock, is_own_heading, parse_blocks};
use crate::files::shared::{hunks, union};

/// The versions of one page.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageVersions<'a> {
    /// What both sides had at their last exchange; `None` where they had no such page in common.
    pub(super) base: Option<&'a str>,
    pub(super) ours: &'a str,
    pub(super) theirs: &'a str,
}

/// What is known of the entries of one page.
#[derive(Debug, Clone, Default)]
pub(super) struct EntryOrigins {
    /// Versions here that came from another machine.
    pub(super) received: BTreeSet<Marker>,
    /// Versions that a person refused here.
    pub(super) refused: BTreeSet<Marker>,
    /// Entries that a person removed elsewhere.
    pub(super) removed_there: BTreeSet<EntryId>,
}

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryOutcome {
    /// Our version.
    Ours,
    /// Their version; in our place, where we have one.
    Theirs,
    /// Both, as two persons changed it.
    Both,
    /// Neither.
    Removed,
}

/// A piece of a page: an entry with the lines under it, or one other line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    text: String,
    /// The entry's marker, if it is one.
    marker: Option<Marker>,
    /// Whether a person changed or pinned the entry, or wrote the line.
    is_persons: bool,
}

/// The entries of one side, each by its first piece.
type Entries<'a> = BTreeMap<EntryId, &'a Piece>;

/// Merges the versions of a page.
pub(super) fn merge_pages(page: PageVersions<'_>, origins: &EntryOrigins) -> String {
    let PageVersions { base, ours, theirs } = page;
    if ours == theirs || base == Some(theirs) {
        return ours.to_owned();
    }
    let sides = MergeSides::of(page, origins);
    if base == Some(ours) && sides.takes_theirs_whole {
        return theirs.to_owned();
    }
    let [base, ours, theirs] = [sides.base, sides.ours, sides.theirs].map(|side| side.concat());
    union(&base, &ours, &theirs)
}

/// What stays of a page of ours that the other machine removed; `None` if nothing does.
pub(super) fn left_of_removed(base: &str, ours: &str, origins: &EntryOrigins) -> Option<String> {
    let page = PageVersions {
        base: Some(base),
        ours,
        theirs: "",
    };
    let left = MergeSides::of(page, origins).ours.concat();
    let known: BTreeSet<String> = lines(base);
    let is_new = |line: &String| !known.contains(line);
    (!entry_ids(&left).is_empty() || lines(ours).iter().any(is_new)).then_some(left)
}

/// Whether a page that we removed was changed by a person elsewhere, or got entries there, so that it returns.
pub(super) fn has_news(base: &str, theirs: &str) -> bool {
    let (known, ids) = (lines(base), entry_ids(base));
    lines(theirs).iter().any(|line| !known.contains(line)) || !entry_ids(theirs).is_subset(&ids)
}

/// The entries of a page, changed or not.
pub(super) fn entry_ids(text: &str) -> BTreeSet<EntryId> {
    let pieces = parse(text).into_iter();
    pieces
        .filter_map(|piece| Some(piece.marker?.id()))
        .collect()
}

/// The lines of a page that are a person's.
fn lines(text: &str) -> BTreeSet<String> {
    let pieces = parse(text).into_iter();
    let persons = pieces.filter(|piece| piece.is_persons && !piece.text.trim().is_empty());
    persons.map(|piece| piece.text).collect()
}

/// The sides of a merge by lines: what is decided of an entry is done, and no entry is in the base.
struct MergeSides {
    base: Vec<String>,
    ours: Vec<String>,
    theirs: Vec<String>,
    /// Whether no entry stays here that the other side lacks, and none of theirs is refused.
    takes_theirs_whole: bool,
}

impl MergeSides {
    fn of(page: PageVersions<'_>, origins: &EntryOrigins) -> Self {
        let [base, ours, theirs] =
            [page.base.unwrap_or_default(), page.ours, page.theirs].map(parse);
        let [was, here, there] = [&base, &ours, &theirs].map(|side| entries(side));
        let ids: BTreeSet<&EntryId> = here.keys().chain(there.keys()).collect();
        let decide = |id: &EntryId| {
            let [was, here, there] = [&was, &here, &there].map(|side| side.get(id).copied());
            outcome(was, here, there, origins)
        };
        let outcomes: BTreeMap<&EntryId, EntryOutcome> =
            ids.into_iter().map(|id| (id, decide(id))).collect();
        let is_theirs = |(id, outcome): (&&EntryId, &EntryOutcome)| match outcome {
            EntryOutcome::Theirs | EntryOutcome::Both => true,
            EntryOutcome::Ours => there.contains_key(*id),
            EntryOutcome::Removed => !there.contains_key(*id),
        };
        let takes_theirs_whole = outcomes.iter().all(is_theirs);
        let our_pieces = our_side(&ours, &there, &outcomes);
        let is_added = |piece: &&Piece| match &piece.marker {
            None => true,
            Some(marker) => match outcomes.get(&marker.id()) {
                Some(EntryOutcome::Both) => true,
                Some(EntryOutcome::Theirs) => !here.contains_key(&marker.id()),
                Some(EntryOutcome::Ours | EntryOutcome::Removed) | None => false,
            },
        };
        let their_pieces = theirs
            .iter()
            .filter(is_added)
            .map(|piece| piece.text.clone());
        let their_pieces: Vec<String> = their_pieces.collect();
        let base = match page.base {
            Some(_) => {
                let lines = base.into_iter().filter(|piece| piece.marker.is_none());
                lines.map(|piece| piece.text).collect()
            }
            None => common_pieces(&our_pieces, &their_pieces),
        };
        Self {
            base,
            ours: our_pieces,
            theirs: their_pieces,
            takes_theirs_whole,
        }
    }
}

/// Our pieces, each entry in the version that it has from now on.
fn our_side(
    ours: &[Piece],
    there: &Entries<'_>,
    outcomes: &BTreeMap<&EntryId, EntryOutcome>,
) -> Vec<String> {
    let mut placed = BTreeSet::new();
    let stays = |piece: &Piece| {
        let Some(id) = piece.marker.as_ref().map(Marker::id) else {
            return Some(piece.text.clone());
        };
        let is_first = placed.insert(id.clone());
        match outcomes.get(&id)? {
            EntryOutcome::Removed => None,
            EntryOutcome::Ours | EntryOutcome::Both => {
                (is_first || piece.is_persons).then(|| piece.text.clone())
            }
            EntryOutcome::Theirs => there.get(&id).filter(|_| is_first).map(|p| p.text.clone()),
        }
    };
    ours.iter().filter_map(stays).collect()
}

/// What becomes of an entry, given its versions.
fn outcome(
    was: Option<&Piece>,
    here: Option<&Piece>,
    there: Option<&Piece>,
    origins: &EntryOrigins,
) -> EntryOutcome {
    let is_known = |piece: &Piece, set: &BTreeSet<Marker>| {
        let marker = piece.marker.as_ref();
        !piece.is_persons && marker.is_some_and(|marker| set.contains(marker))
    };
    match (here, there) {
        (Some(here), Some(there)) => match was {
            Some(was) if was == here => EntryOutcome::Theirs,
            Some(was) if was == there => EntryOutcome::Ours,
            Some(_) | None => match (here.is_persons, there.is_persons) {
                (true, true) if here != there => EntryOutcome::Both,
                (false, true) => EntryOutcome::Theirs,
                (true, _) | (false, false) => EntryOutcome::Ours,
            },
        },
        (Some(here), None) => {
            let Some(was) = was else {
                return EntryOutcome::Ours;
            };
            let is_removed = match &here.marker {
                // An edit counts more than a removal that did not know of it.
                _ if here.is_persons && here != was => false,
                Some(marker) => origins.removed_there.contains(&marker.id()),
                None => false,
            };
            match is_removed || is_known(here, &origins.received) {
                true => EntryOutcome::Removed,
                false => EntryOutcome::Ours,
            }
        }
        (None, Some(there)) => match was {
            _ if is_known(there, &origins.refused) => EntryOutcome::Removed,
            Some(was) if !(there.is_persons && there != was) => EntryOutcome::Removed,
            Some(_) | None => EntryOutcome::Theirs,
        },
        (None, None) => EntryOutcome::Removed,
    }
}

fn parse(text: &str) -> Vec<Piece> {
    let piece = |block: PageBlock<'_>| {
        let (marker, is_persons, text) = match block {
            PageBlock::Ours(marker, lines) => (Some(marker), false, lines.concat()),
            PageBlock::Pinned(marker, lines) | PageBlock::Altered(marker, lines) => {
                (Some(marker), true, lines.concat())
            }
            PageBlock::Heading(_, line) => (None, !is_own_heading(line), line.to_owned()),
            PageBlock::Other(line) => (None, true, line.to_owned()),
        };
        Piece {
            // The last line of a file may lack its end.
            text: ended(text),
            marker,
            is_persons,
        }
    };
    parse_blocks(text).into_iter().map(piece).collect()
}

fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn entries(pieces: &[Piece]) -> Entries<'_> {
    let mut entries = Entries::new();
    for piece in pieces {
        if let Some(marker) = &piece.marker {
            entries.entry(marker.id()).or_insert(piece);
        }
    }
    entries
}

/// What two texts without a common origin have in common.
fn common_pieces(ours: &[String], theirs: &[String]) -> Vec<String> {
    let mut common = ours.to_vec();
    for hunk in hunks(ours, theirs).into_iter().rev() {
        common.drain(hunk.base);
    }
    common
}
