//! Whether the modules of a crate use each other in one direction, so that each has a floor.
//!
//! The rule is strict between siblings. A file's use of an item is an arrow to the module that defines the item; a
//! re-export is followed to its source. The arrow counts where the two module paths part: `a::b::c` that uses `a::d`
//! is an arrow from `b` to `d`, among the children of `a`. Arrows among the children of one module must form no
//! circle. A child's floor is one above the highest sibling that it uses, and 0 when it uses none. Calls of methods
//! name no module, and are no arrows.
//!
//! A module's own file (`mod.rs`, `lib.rs`) and what is below it may use each other: children share the types of their
//! parent, and the parent calls its children.
//!
//! Where [`DECIDED_FLOORS`] lists a module, its children stand as listed instead, and an arrow must lead to a lower floor.
//!
//! Not here: which stage of the engine may use which other, see [`stages`](super::stages).

use std::collections::{BTreeMap, BTreeSet};

use super::rules::{DECIDED_FLOORS, DecidedFloors};
use super::source::Source;
use super::tokens::NamedPath;

/// A path within the crate, of a module or of an item.
type Path = Vec<String>;

/// For each child of a module, the siblings that it uses, with the first place that does.
type Siblings = BTreeMap<String, BTreeMap<String, String>>;

/// The most re-exports that are followed, one behind another.
const REEXPORTS_MOST: usize = 8;

/// The modules of one crate and the arrows between them.
#[derive(Debug)]
pub(super) struct Modules {
    name: String,
    levels: BTreeMap<Path, Siblings>,
}

impl Modules {
    /// Reads the arrows of the crate called `name`.
    pub(super) fn new(name: &str, sources: &[Source]) -> Self {
        let names = Names::new(sources);
        let mut modules = Self {
            name: name.to_owned(),
            levels: BTreeMap::new(),
        };
        for source in sources {
            for (depth, child) in source.module.iter().enumerate() {
                let parent = source.module[..depth].to_vec();
                let siblings = modules.levels.entry(parent).or_default();
                siblings.entry(child.clone()).or_default();
            }
            for named in &source.paths {
                if let Some(path) = names.path_from_root(&named.module, named) {
                    let target = names.home(&path, REEXPORTS_MOST);
                    modules.add(&named.module, &target, &source.place, named.line);
                }
            }
        }
        modules
    }

    fn add(&mut self, from: &[String], to: &[String], place: &str, line: usize) {
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let (Some(user), Some(used)) = (from.get(shared), to.get(shared)) else {
            return;
        };
        let siblings = self.levels.entry(from[..shared].to_vec()).or_default();
        siblings.entry(used.clone()).or_default();
        let arrows = siblings.entry(user.clone()).or_default();
        arrows
            .entry(used.clone())
            .or_insert_with(|| format!("{place}:{line}"));
    }

    /// The number of modules, the crate's root apart.
    pub(super) fn count(&self) -> usize {
        self.levels.values().map(BTreeMap::len).sum()
    }

    /// Circles, and arrows that lead up decided floors.
    pub(super) fn findings(&self) -> Vec<String> {
        let levels = self.levels.iter().flat_map(|(parent, siblings)| {
            let parent = self.full_name(parent);
            match DECIDED_FLOORS.iter().find(|it| it.parent == parent) {
                Some(decided) => upward_arrows(decided, siblings),
                None => circles(&parent, siblings),
            }
        });
        levels.collect()
    }

    /// A line for each floor below each module, the highest first. A module in a circle has none.
    pub(super) fn floors(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (parent, siblings) in &self.levels {
            let mut floors: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
            for (name, floor) in floors_of(siblings) {
                floors.entry(floor).or_default().push(name);
            }
            let parent = self.full_name(parent);
            let line = |(floor, names): (&usize, &Vec<&str>)| {
                format!("{parent} {floor}: {}", names.join(" "))
            };
            lines.extend(floors.iter().rev().map(line));
        }
        lines
    }

    fn full_name(&self, module: &[String]) -> String {
        let krate = std::slice::from_ref(&self.name);
        [krate, module].concat().join("::")
    }
}

/// What the names in the modules of a crate lead to.
struct Names<'s> {
    modules: BTreeSet<&'s [String]>,
    imports: BTreeMap<(&'s [String], &'s str), &'s NamedPath>,
}

impl<'s> Names<'s> {
    fn new(sources: &'s [Source]) -> Self {
        let named = || sources.iter().flat_map(|source| &source.paths);
        let files = sources.iter().map(|source| source.module.as_slice());
        let inline = named().map(|named| named.module.as_slice());
        let with_parents = |module: &'s [String]| (0..=module.len()).map(move |end| &module[..end]);
        let imports = named().filter_map(|named| {
            let alias = named.alias.as_deref()?;
            Some(((named.module.as_slice(), alias), named))
        });
        Self {
            modules: files.chain(inline).flat_map(with_parents).collect(),
            imports: imports.collect(),
        }
    }

    /// A path that `module` names, from the crate's root on; `None` when it leads out of the crate.
    fn path_from_root(&self, module: &[String], named: &NamedPath) -> Option<Path> {
        if let Some(path) = named.path_from_root() {
            return Some(path);
        }
        let (first, rest) = named.segments.split_first()?;
        let child = [module, std::slice::from_ref(first)].concat();
        if self.modules.contains(child.as_slice()) {
            return Some([child.as_slice(), rest].concat());
        }
        let import = self.imports.get(&(module, first.as_str()))?;
        Some([import.path_from_root()?.as_slice(), rest].concat())
    }

    /// The module that defines what is at `path`.
    fn home(&self, path: &[String], reexports_left: usize) -> Path {
        let known = |end: &usize| self.modules.contains(&path[..*end]);
        let end = (0..=path.len()).rev().find(known).unwrap_or_default();
        let (here, beyond) = path.split_at(end);
        let source = beyond.first().and_then(|name| {
            let import = self.imports.get(&(here, name.as_str()))?;
            self.path_from_root(here, import)
                .filter(|source| source != path)
        });
        match source {
            Some(source) if reexports_left > 0 => {
                self.home(&[&source, &beyond[1..]].concat(), reexports_left - 1)
            }
            _ => here.to_vec(),
        }
    }
}

fn upward_arrows(decided: &DecidedFloors, siblings: &Siblings) -> Vec<String> {
    let floor_of = |name: &str| {
        decided
            .floors
            .iter()
            .position(|floor| floor.contains(&name))
    };
    let mut broken = Vec::new();
    for (from, arrows) in siblings {
        let Some(floor) = floor_of(from) else {
            let parent = decided.parent;
            broken.push(format!(
                "{parent}::{from} has no floor; add it to xtask/src/arrows/rules.rs and ARCHITECTURE.md"
            ));
            continue;
        };
        let upward = arrows.iter();
        let upward = upward.filter(|(to, _)| floor_of(to).is_some_and(|used| used >= floor));
        broken.extend(upward.map(|(to, place)| {
            format!("{place}: {from} may not use {to}: it is on no lower floor")
        }));
    }
    broken
}

/// The shortest circle of each knot of modules: its modules, and the place of each arrow.
fn circles(parent: &str, siblings: &Siblings) -> Vec<String> {
    let mut broken = Vec::new();
    let mut rest: BTreeSet<&str> = siblings.keys().map(String::as_str).collect();
    let ways = siblings
        .keys()
        .filter_map(|it| path_between(it, it, siblings));
    let mut ways: Vec<Vec<&str>> = ways.collect();
    ways.sort_by_key(Vec::len);
    for way in ways {
        if !way.iter().all(|name| rest.contains(name)) {
            continue;
        }
        let arrows = way.iter().zip(way.iter().cycle().skip(1));
        let arrows = arrows.map(|(from, to)| {
            let place = &siblings[*from][*to];
            format!("\n    {from} uses {to} at {place}")
        });
        let arrows: String = arrows.collect();
        broken.push(format!(
            "modules of {parent} use each other in a circle:{arrows}"
        ));
        rest.retain(|name| !way.contains(name));
    }
    broken
}

/// The shortest way along at least one arrow: `from`, and what lies between it and `to`.
fn path_between<'s>(from: &'s str, to: &str, siblings: &'s Siblings) -> Option<Vec<&'s str>> {
    let mut ways = vec![vec![from]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let arrows = way.last().and_then(|last| siblings.get(*last));
            for next in arrows.into_iter().flat_map(BTreeMap::keys) {
                if next == to {
                    return Some(way);
                }
                if seen.insert(next) {
                    longer.push([way.as_slice(), &[next.as_str()]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

/// The floor of each module that no circle holds up.
fn floors_of(siblings: &Siblings) -> BTreeMap<&str, usize> {
    let mut floors: BTreeMap<&str, usize> = BTreeMap::new();
    loop {
        let before = floors.len();
        for (name, arrows) in siblings {
            let below: Option<Vec<usize>> = arrows
                .keys()
                .map(|to| floors.get(to.as_str()).map(|floor| floor + 1))
                .collect();
            if let Some(below) = below {
                floors.insert(name, below.into_iter().max().unwrap_or(0));
            }
        }
        if floors.len() == before {
            return floors;
        }
    }
}
