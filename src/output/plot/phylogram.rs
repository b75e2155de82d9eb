//! Trees with branch lengths to scale.

use super::colours::{BLACK, GREY};
use super::drawing::{Caption, CaptionAnchor, Drawing, DrawnShape, LINE, MARGIN, TEXT_SIZE, TITLE_SIZE, rounded};
use super::names::{drawn_names, printable, shortened};
use crate::error::Result;
use crate::output::Output;
use crate::output::picture::Picture;
use crate::output::point::{Point, Size};
use crate::tree::newick::NewickNode;

/// Greatest number of leaves with names.
const MAX_NAMED: usize = 1000;
/// Height of a leaf with a name in units.
const ROW: f64 = 14.0;
/// Greatest height of a tree without names in units.
const MAX_HEIGHT: f64 = 2000.0;
/// Subtrees without names that are lower than this are drawn as one line, in units.
const MIN_HEIGHT: f64 = 0.5;
/// Distance from the root to the farthest leaf in units.
const WIDTH: f64 = 600.0;
/// Size of letters in names and support values.
const NAME_SIZE: f64 = 11.0;
const SUPPORT_SIZE: f64 = 9.0;
/// Maximum number of characters of a name and of the title.
const NAME_CHARS: usize = 40;
const TITLE_CHARS: usize = 80;
/// Position of the root, and of the upper end of the first leaf.
const LEFT: f64 = 48.0;
const TOP: f64 = MARGIN + TITLE_SIZE + 12.0;

/// A tree, drawn from left to right as it is written: leaves in the order of the text, and the root
/// at the left.
#[derive(Debug, Clone, Copy)]
pub struct Phylogram<'a> {
    /// Nodes of the tree: the root first, and parents before their children. Labels of inner nodes
    /// except the root are support values.
    pub nodes: &'a [NewickNode],
    /// Title of the picture.
    pub title: &'a str,
}

/// Position of a node, in the lengths of branches and in leaves.
#[derive(Debug, Clone, Copy, Default)]
struct NodePlace {
    /// Distance from the root.
    depth: f64,
    /// Distance from the root to the farthest leaf below.
    reach: f64,
    /// Number of leaves below.
    leaves: usize,
    /// Vertical position: 0.5 for the first leaf, 1.5 for the second.
    row: f64,
}

/// Texts that are drawn already, by the rows of leaves that they touch.
struct OccupiedRows {
    rows: Vec<Vec<[f64; 4]>>,
}

impl OccupiedRows {
    fn touched_rows(&self, [_, top, _, bottom]: [f64; 4]) -> std::ops::Range<usize> {
        let row = |y: f64| ((y - TOP) / ROW).floor().max(0.0) as usize;
        row(top).min(self.rows.len())..(row(bottom) + 1).min(self.rows.len())
    }

    /// Adds the bounds of a text if it overlaps no earlier one. Returns whether it was added.
    fn add(&mut self, bounds: [f64; 4]) -> bool {
        let [left, top, right, bottom] = bounds;
        let overlaps = |other: &[f64; 4]| left < other[2] && other[0] < right && top < other[3] && other[1] < bottom;
        let touched = self.touched_rows(bounds);
        let is_free = !self.rows[touched.clone()].iter().flatten().any(overlaps);
        if is_free {
            self.rows[touched].iter_mut().for_each(|row| row.push(bounds));
        }
        is_free
    }
}

/// Positions of all nodes, and the scales of the picture.
struct TreeLayout {
    places: Vec<NodePlace>,
    /// Units per branch length.
    scale: f64,
    /// Units per leaf.
    row: f64,
    has_names: bool,
}

impl TreeLayout {
    fn new(nodes: &[NewickNode]) -> Self {
        let places = node_places(nodes);
        let (leaves, reach) = places.first().map_or((0, 0.0), |root| (root.leaves, root.reach));
        let has_names = leaves <= MAX_NAMED;
        let row = if has_names { ROW } else { MAX_HEIGHT / leaves as f64 };
        let scale = if reach > 0.0 { WIDTH / reach } else { 0.0 };
        TreeLayout { places, scale, row, has_names }
    }

    fn x(&self, depth: f64) -> f64 {
        LEFT + depth * self.scale
    }

    fn y(&self, node: usize) -> f64 {
        TOP + self.places[node].row * self.row
    }

    /// Returns the lower end of the tree.
    fn bottom(&self) -> f64 {
        TOP + self.places.first().map_or(0.0, |root| root.leaves as f64) * self.row
    }

    /// Returns whether a node is drawn as one line, with everything below.
    fn is_folded(&self, node: usize) -> bool {
        !self.has_names && self.places[node].leaves as f64 * self.row < MIN_HEIGHT
    }
}

/// Returns the positions of all nodes.
fn node_places(nodes: &[NewickNode]) -> Vec<NodePlace> {
    let mut places = vec![NodePlace::default(); nodes.len()];
    for (node, children) in nodes.iter().map(|node| &node.children).enumerate() {
        for &child in children {
            places[child].depth = places[node].depth + nodes[child].length.unwrap_or(0.0).max(0.0);
        }
    }
    // Numbers the leaves from the top.
    let mut next = 0.5;
    let mut stack: Vec<usize> = (0..nodes.len().min(1)).collect();
    while let Some(node) = stack.pop() {
        if nodes[node].children.is_empty() {
            places[node].row = next;
            next += 1.0;
        }
        stack.extend(nodes[node].children.iter().rev());
    }
    for node in (0..nodes.len()).rev() {
        let children = &nodes[node].children;
        places[node].leaves = children.iter().map(|&child| places[child].leaves).sum::<usize>().max(1);
        places[node].reach = children.iter().map(|&child| places[child].reach).fold(places[node].depth, f64::max);
        if let (Some(&first), Some(&last)) = (children.first(), children.last()) {
            places[node].row = (places[first].row + places[last].row) / 2.0;
        }
    }
    places
}

impl Phylogram<'_> {
    /// Writes the picture.
    ///
    /// Up to 1,000 leaves have names. Larger trees have a fixed height and no names.
    ///
    /// # Errors
    /// Returns [`crate::Error::Io`] if writing fails.
    pub fn write(&self, picture: Picture, output: Output) -> Result<()> {
        self.drawing().write(picture, output)
    }

    fn drawing(&self) -> Drawing {
        let layout = TreeLayout::new(self.nodes);
        let size = Size { width: LEFT + WIDTH + MARGIN, height: layout.bottom() + MARGIN };
        let mut drawing = Drawing { size, ..Drawing::default() };
        let title = shortened(self.title, TITLE_CHARS);
        drawing.text(Caption::new(title, Point::new(MARGIN, MARGIN + TITLE_SIZE / 2.0), TITLE_SIZE));
        self.push_branches(&mut drawing, &layout);
        let hidden = if layout.has_names { self.push_labels(&mut drawing, &layout) } else { 0 };
        let below = layout.bottom() + LINE;
        let has_bar = push_scale_bar(&mut drawing, &layout, below);
        let notes = self.notes(&layout, hidden);
        let notes_y = below + if has_bar { 2.0 * LINE + 4.0 } else { 0.0 };
        drawing.draw_notes(&notes, Point::new(MARGIN, notes_y));
        drawing
    }

    /// Draws the lines of the tree.
    fn push_branches(&self, drawing: &mut Drawing, layout: &TreeLayout) {
        let mut ends = Vec::new();
        // Each node, and the position of its parent.
        let mut stack: Vec<(usize, f64)> = Vec::new();
        if let Some(root) = layout.places.first().filter(|root| root.leaves > 1) {
            stack.push((0, layout.x(root.depth) - 8.0));
        } else if !self.nodes.is_empty() {
            stack.push((0, LEFT));
        }
        while let Some((node, from)) = stack.pop() {
            let (place, y) = (layout.places[node], layout.y(node));
            let is_folded = layout.is_folded(node);
            let x = layout.x(if is_folded { place.reach } else { place.depth });
            if x > from {
                ends.push([from, y, x, y]);
            }
            let children = &self.nodes[node].children;
            if is_folded || children.is_empty() {
                continue;
            }
            if let [first, .., last] = children[..] {
                ends.push([x, layout.y(first), x, layout.y(last)]);
            }
            stack.extend(children.iter().rev().map(|&child| (child, x)));
        }
        drawing.shapes.push(DrawnShape::Lines { colour: BLACK, width: 1.0, ends });
    }

    /// Draws the names of leaves and the support values. Returns the number of support values
    /// without a label, because it would overlap another.
    fn push_labels(&self, drawing: &mut Drawing, layout: &TreeLayout) -> usize {
        let is_leaf = |node: &usize| self.nodes[*node].children.is_empty();
        let leaves: Vec<usize> = (0..self.nodes.len()).filter(is_leaf).collect();
        let label = |node: usize| self.nodes[node].label.as_ref().map_or(&b""[..], |label| label.as_slice());
        let names = drawn_names(&leaves.iter().map(|&leaf| label(leaf)).collect::<Vec<_>>(), NAME_CHARS);
        let mut occupied = OccupiedRows { rows: vec![Vec::new(); leaves.len()] };
        for (&leaf, name) in leaves.iter().zip(names) {
            let at = Point::new(layout.x(layout.places[leaf].depth) + 6.0, layout.y(leaf));
            let tip = if name.short == name.whole { String::new() } else { name.whole };
            let caption = Caption { tip, ..Caption::new(name.short, at, NAME_SIZE) };
            occupied.add(caption.bounds());
            drawing.text(caption);
        }
        let mut hidden = 0;
        for node in (1..self.nodes.len()).filter(|node| !is_leaf(node) && !label(*node).is_empty()) {
            let (x, y) = (layout.x(layout.places[node].depth), layout.y(node));
            let text = printable(label(node));
            let (at, size) = (Point::new(x - 1.5, y - 1.5), Size::square(3.0));
            drawing.shapes.push(DrawnShape::Rectangle { at, size, colour: GREY, tip: text.clone() });
            let before = Point::new(x - 3.0, y - 2.0 - SUPPORT_SIZE / 2.0);
            let caption = Caption {
                anchor: CaptionAnchor::End,
                colour: GREY,
                ..Caption::new(shortened(&text, 8), before, SUPPORT_SIZE)
            };
            let bounds = caption.bounds();
            if bounds[0] >= 0.0 && occupied.add(bounds) {
                drawing.text(caption);
            } else {
                hidden += 1;
            }
        }
        hidden
    }

    /// Returns the remarks below the tree. `hidden` support values have no label.
    fn notes(&self, layout: &TreeLayout, hidden: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if !layout.has_names {
            let leaves = layout.places[0].leaves;
            notes.push(format!("{leaves} leaves; pictures of up to {MAX_NAMED} leaves have names"));
        }
        let negative = self.nodes.iter().skip(1).filter(|node| node.length.is_some_and(|length| length < 0.0)).count();
        if negative > 0 {
            notes.push(format!("Branches with a length below 0, drawn as 0: {negative}"));
        }
        if hidden > 0 {
            notes.push(format!("Support values without room, shown at the pointer: {hidden}"));
        }
        notes
    }
}

/// Draws the scale bar, at most a quarter of the tree's width. Returns whether the tree has lengths.
fn push_scale_bar(drawing: &mut Drawing, layout: &TreeLayout, y: f64) -> bool {
    let Some(reach) = layout.places.first().map(|root| root.reach).filter(|reach| *reach > 0.0) else { return false };
    let power = 10f64.powf((reach / 4.0).log10().floor());
    let length = [5.0, 2.0, 1.0].map(|digit| digit * power).into_iter().find(|length| *length <= reach / 4.0);
    let length = length.unwrap_or(power);
    let (left, right) = (LEFT, LEFT + length * layout.scale);
    let ends = vec![[left, y, right, y], [left, y - 3.0, left, y + 3.0], [right, y - 3.0, right, y + 3.0]];
    drawing.shapes.push(DrawnShape::Lines { colour: BLACK, width: 1.0, ends });
    drawing.text(Caption {
        anchor: CaptionAnchor::Middle,
        ..Caption::new(rounded(length, length), Point::new((left + right) / 2.0, y + 14.0), TEXT_SIZE)
    });
    true
}

#[cfg(test)]
mod tests {
    use super::super::bitmap::tests::decoded;
    use super::super::svg;
    use super::super::svg::tests::{assert_texts_are_apart, elements};
    use super::*;
    use crate::output::captured::CapturedBytes;
    use crate::tree::newick;

    fn drawing(tree: &str) -> Drawing {
        let nodes = newick::nodes(tree.as_bytes()).unwrap();
        Phylogram { nodes: &nodes, title: "genes <1>.fa" }.drawing()
    }

    fn text(drawing: &Drawing) -> String {
        String::from_utf8(svg::bytes(drawing).unwrap()).unwrap()
    }

    /// Returns the texts of a drawing with their positions.
    fn captions(drawing: &Drawing) -> Vec<(&str, Point)> {
        let mut captions = Vec::new();
        for shape in &drawing.shapes {
            if let DrawnShape::Text(caption) = shape {
                captions.push((caption.text.as_str(), caption.at));
            }
        }
        captions
    }

    fn position(drawing: &Drawing, name: &str) -> Point {
        captions(drawing).into_iter().find(|(text, _)| *text == name).unwrap_or_else(|| panic!("{name}")).1
    }

    /// Returns a tree that joins one leaf after the other, with a support value at each join.
    fn comb(leaves: usize) -> String {
        let mut tree = "(leaf_0:0.01,leaf_1:0.02)7".to_owned();
        for leaf in 2..leaves {
            tree = format!("({tree}:0.001,leaf_{leaf}:0.02){leaf}");
        }
        tree + ";"
    }

    #[test]
    fn branches_are_to_scale() {
        let drawing = drawing("((a:1,'b & c':3)95:1,d:2,e:0.5)TRICHOTOMY;");
        let x = |name: &str| position(&drawing, name).x - 6.0 - LEFT;
        // The farthest leaf is 4 from the root.
        assert_eq!(["a", "b & c", "d", "e"].map(x), [300.0, 600.0, 300.0, 75.0]);
        let y = |name: &str| position(&drawing, name).y - TOP;
        assert_eq!(["a", "b & c", "d", "e"].map(y), [7.0, 21.0, 35.0, 49.0]);
        // The bar is the greatest round length within a quarter of the width.
        assert_eq!(position(&drawing, "1").x, LEFT + 75.0);
        let svg = text(&drawing);
        assert!(svg.contains(">b &amp; c<") && svg.contains(">genes &lt;1&gt;.fa<") && !svg.contains("TRICHOTOMY"));
        assert!(svg.contains("M48 57H198M198 50V64"), "the branch to the inner node, and its children: {svg}");
        // The title, four leaves, the support value and the scale bar.
        assert_eq!(elements(&svg, ["text", "path", "title", "image"]), [7, 2, 1, 0]);
    }

    #[test]
    fn texts_never_overlap() {
        let many: String = (0..300).map(|leaf| format!(",(l{leaf}:0.1,m{leaf}:0.00001)100:0.{leaf}")).collect();
        for tree in [comb(2), comb(30), comb(200), format!("(first:0.2{many});"), "(one:0);".into(), "(a,b,c);".into()]
        {
            let drawing = drawing(&tree);
            assert_texts_are_apart(&drawing);
            let leaves = newick::nodes(tree.as_bytes()).unwrap().iter().filter(|node| node.children.is_empty()).count();
            let sizes = drawing.shapes.iter().filter_map(|shape| match shape {
                DrawnShape::Text(caption) if caption.size == NAME_SIZE => Some(caption.at.y),
                _ => None,
            });
            let rows: Vec<f64> = sizes.collect();
            assert_eq!(rows.len(), leaves);
            assert!(rows.windows(2).all(|pair| pair[1] - pair[0] >= NAME_SIZE));
            elements(&text(&drawing), []);
        }
    }

    #[test]
    fn every_support_value_is_shown_or_counted() {
        let shown_and_hidden = |tree: &str| {
            let drawing = drawing(tree);
            let svg = text(&drawing);
            let shown = captions(&drawing).iter().filter(|(text, _)| text.parse::<u32>().is_ok()).count();
            let note = svg.split("shown at the pointer: ").nth(1).and_then(|rest| rest.split('<').next());
            let hidden = note.map_or(0, |count| count.parse::<usize>().unwrap());
            // Every node has its value at the pointer.
            assert_eq!(elements(&svg, ["title"]), [shown + hidden]);
            (shown, hidden)
        };
        // The root has no support.
        let (shown, hidden) = shown_and_hidden(&comb(200));
        assert_eq!(shown + hidden, 198);
        assert_eq!(shown_and_hidden("((((a:0.1,b:0.1)91:0)92:0)93:0.3,c:0.1);"), (1, 2));
    }

    #[test]
    fn lengths_below_0_and_missing_ones_are_drawn_as_0() {
        let drawing = drawing("((a:-1,b:1)x:1,c);");
        assert_eq!(["a", "b", "c"].map(|name| position(&drawing, name).x - 6.0 - LEFT), [300.0, 600.0, 0.0]);
        assert!(text(&drawing).contains("Branches with a length below 0, drawn as 0: 1"));
        // Without any length there is no scale.
        let flat = super::tests::drawing("(a:0,b:0);");
        assert_eq!(["a", "b"].map(|name| position(&flat, name).x), [LEFT + 6.0; 2]);
        assert_eq!(captions(&flat).len(), 3);
    }

    #[test]
    fn large_trees_have_no_names_and_a_fixed_height() {
        let svg = |leaves: usize| {
            let tree: Vec<String> = (0..leaves).map(|leaf| format!("(l{leaf}:0.1,m{leaf}:0.2)9:0.3")).collect();
            let drawing = drawing(&format!("({});", tree.join(",")));
            assert!(drawing.size.height < MAX_HEIGHT + 200.0);
            text(&drawing)
        };
        let few = svg(501);
        assert!(few.contains("1002 leaves; pictures of up to 1000 leaves have names") && !few.contains(">l7<"));
        let many = svg(20_000);
        assert!(many.len() < 800_000, "{}", many.len());
    }

    #[test]
    fn deep_trees_need_no_deep_stack() {
        let leaves = 100_000;
        let inner = |node: usize| NewickNode { children: vec![node + 1, node + 2], ..NewickNode::default() };
        let node = |node: usize| if node.is_multiple_of(2) { inner(node) } else { NewickNode::default() };
        let mut nodes: Vec<NewickNode> = (0..2 * leaves - 2).map(node).collect();
        nodes.push(NewickNode::default());
        nodes.iter_mut().skip(1).for_each(|node| node.length = Some(0.5));
        let drawing = Phylogram { nodes: &nodes, title: "" }.drawing();
        assert!(text(&drawing).contains("100000 leaves"));
    }

    #[test]
    fn svg_and_png_are_deterministic() {
        let nodes = newick::nodes(comb(20).as_bytes()).unwrap();
        let written = |picture| {
            let captured = CapturedBytes::default();
            Phylogram { nodes: &nodes, title: "genes.fa" }.write(picture, Output::to_writer(captured.clone())).unwrap();
            captured.bytes()
        };
        assert_eq!(written(Picture::Svg), written(Picture::Svg));
        let png = written(Picture::Png);
        assert_eq!(png, written(Picture::Png));
        let (width, height, pixels) = decoded(&png);
        assert!(width > 1300 && height > 2 * 20 * 14);
        assert!(pixels.chunks_exact(3).filter(|pixel| **pixel == [0; 3]).count() > 5000);
    }
}
