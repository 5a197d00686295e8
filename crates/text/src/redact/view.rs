//! A copy of a text with what splits secrets taken out, and the way back to the text's own bytes.
//!
//! A view has only those stretches of the text that contain an edit, so that it costs little where nothing is
//! split. Between two stretches stands a line break that no secret may cross.
//!
//! Not here: what is taken out. `split` and `joined` decide that.

use std::ops::Range;

/// Parts of a text, edited.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) text: Vec<u8>,
    anchors: Vec<Anchor>,
}

/// A place in the view at which the text's bytes do not simply go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Anchor {
    /// Place in the view.
    view: usize,
    /// Where the text's bytes before that place end.
    before: usize,
    /// Where the text's bytes from that place on start.
    after: usize,
    /// Whether a stretch starts here, and not merely an edit.
    opens_stretch: bool,
}

impl View {
    /// Starts a stretch with the text's bytes from `at` on.
    pub(super) fn open_stretch(&mut self, at: usize) {
        self.text.push(b'\n');
        self.anchors.push(Anchor {
            view: self.text.len(),
            before: at,
            after: at,
            opens_stretch: true,
        });
    }

    /// Continues with `bytes`, which stand unchanged in the text at the place that was reached.
    pub(super) fn copy(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }

    /// Leaves out the text's bytes in `range`, with `decoded` in their place.
    pub(super) fn replace(&mut self, range: Range<usize>, decoded: Option<u8>) {
        if let Some(byte) = decoded {
            self.anchor(range.start, range.start);
            self.text.push(byte);
            self.anchor(range.end, range.end);
        } else {
            self.anchor(range.start, range.end);
        }
    }

    fn anchor(&mut self, before: usize, after: usize) {
        self.anchors.push(Anchor {
            view: self.text.len(),
            before,
            after,
            opens_stretch: false,
        });
    }

    /// Where the pieces within `range` of the view end that edits separate.
    pub(super) fn piece_ends(&self, range: &Range<usize>) -> Vec<usize> {
        let first = self
            .anchors
            .partition_point(|anchor| anchor.view <= range.start);
        let inside = self.anchors[first..].iter().map(|anchor| anchor.view);
        let inside = inside.take_while(|at| *at < range.end);
        inside.chain([range.end]).collect()
    }

    /// The range of the text that `range` of the view stands for; nothing if it crosses the end of a stretch.
    pub(super) fn source(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let first = self
            .anchors
            .partition_point(|anchor| anchor.view <= range.start);
        let end = self
            .anchors
            .partition_point(|anchor| anchor.view < range.end);
        let inside = self.anchors.get(first..end)?;
        if inside.iter().any(|anchor| anchor.opens_stretch) {
            return None;
        }
        let opening = self.anchors[..first].last()?;
        let start = opening.after + range.start - opening.view;
        let closing = match self
            .anchors
            .get(end)
            .filter(|anchor| anchor.view == range.end)
        {
            Some(anchor) if !anchor.opens_stretch => anchor.before,
            Some(_) | None => {
                let last = inside.last().unwrap_or(opening);
                last.after + range.end - last.view
            }
        };
        Some(start..closing)
    }
}
