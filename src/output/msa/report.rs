//! An HTML page of an alignment: one file that needs no network, for any browser.
//!
//! The page contains its data as JSON (names, the tree, marks), and the letters deflated and in
//! base64. Its scripts draw the visible part.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::{MsaRows, Output, conservation};
use crate::alignment::confidence_sign;
use crate::error::{Error, Result};
use crate::output::markup::{Template, UNPACK, push_base64, push_html, push_script_json};
use crate::seq::{Alphabet, NameRules};
use crate::tree::GuideTree;

const PAGE: &str = include_str!("report/page.html");
/// Parts that replace markers of the page template, in this order.
const PARTS: [(&str, PagePart); 5] = [
    ("{{title}}", PagePart::Title),
    ("{{style}}", PagePart::Text(include_str!("report/style.css"))),
    ("{{facts}}", PagePart::Facts),
    ("{{letters}}", PagePart::Letters),
    ("{{program}}", PagePart::Programs),
];
const PROGRAMS: [&str; 9] = [
    UNPACK,
    include_str!("report/data.js"),
    include_str!("report/colours.js"),
    include_str!("report/tree.js"),
    include_str!("report/columns.js"),
    include_str!("report/names.js"),
    include_str!("report/draw.js"),
    include_str!("report/svg.js"),
    include_str!("report/control.js"),
];

#[derive(Clone, Copy)]
enum PagePart {
    Title,
    Text(&'static str),
    Facts,
    Letters,
    Programs,
}

/// All data of a page except the letters.
#[derive(serde::Serialize)]
struct PageFacts<'a> {
    title: &'a str,
    alphabet: Alphabet,
    columns: usize,
    /// Names in the order of the letters.
    names: Vec<String>,
    /// Index of each row in the input, from 0.
    order: &'a [u32],
    /// Clustal's mark of every column.
    marks: String,
    /// Sign of the confidence of every column. If it is known, the signs of all rows follow the
    /// letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<String>,
    tree: Option<PageTree<'a>>,
}

#[derive(serde::Serialize)]
struct PageTree<'a> {
    /// Number of leaves. Nodes with smaller numbers are sequences, and their numbers are indices in
    /// the input.
    leaves: usize,
    /// Children and lengths of the branches to them, for each join.
    joins: Vec<(&'a [u32; 2], &'a [f64; 2])>,
}

/// Writes a page of an alignment and, if there is one, of the tree of its sequences.
///
/// # Errors
/// Returns [`Error::Internal`] if names, letters, order or tree do not match the alignment, and
/// [`Error::Io`] if writing fails.
pub fn write_report(rows: &MsaRows<'_>, tree: Option<&GuideTree>, title: &str, mut output: Output) -> Result<()> {
    rows.check()?;
    if tree.is_some_and(|tree| !has_rows_as_leaves(tree, rows)) {
        return Err(Error::Internal("a tree of other sequences".into()));
    }
    // The tree of a single sequence has nothing to draw.
    let tree = tree.filter(|tree| !tree.joins.is_empty());
    let mut template = Template(PAGE);
    for (marker, part) in PARTS {
        template.up_to(marker, &mut output)?;
        match part {
            PagePart::Title => push_html(output.buffer(), title),
            PagePart::Text(text) => output.buffer().extend_from_slice(text.as_bytes()),
            PagePart::Facts => push_facts(rows, tree, title, &mut output)?,
            PagePart::Letters => push_letters(rows, &mut output)?,
            PagePart::Programs => {
                PROGRAMS.iter().for_each(|program| output.buffer().extend_from_slice(program.as_bytes()));
            }
        }
        output.pass_on()?;
    }
    template.end(&mut output);
    output.finish()
}

/// Returns whether the tree has these rows as its leaves, children before parents, and one parent
/// for each node.
fn has_rows_as_leaves(tree: &GuideTree, rows: &MsaRows<'_>) -> bool {
    let mut is_child = vec![false; tree.leaves + tree.joins.len()];
    let mut take = |child: u32, parent: usize| {
        let child = child as usize;
        child < parent && !std::mem::replace(&mut is_child[child], true)
    };
    let mut is_row = vec![false; tree.leaves];
    tree.leaves == rows.alignment.rows()
        && tree.joins.len() + 1 == tree.leaves
        && (tree.leaves..).zip(&tree.joins).all(|(node, join)| join.children.iter().all(|&child| take(child, node)))
        && rows.order.len() == tree.leaves
        && rows.order.iter().all(|&row| !std::mem::replace(&mut is_row[row as usize], true))
}

fn push_facts(rows: &MsaRows<'_>, tree: Option<&GuideTree>, title: &str, output: &mut Output) -> Result<()> {
    let (names, _) = NameRules::TSV.apply(rows.names, rows.order);
    let facts = PageFacts {
        title,
        alphabet: rows.alphabet,
        columns: rows.columns(),
        names: names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        order: rows.order,
        marks: conservation::marks(rows).into_iter().map(char::from).collect(),
        confidence: rows
            .confidence
            .map(|confidence| confidence.columns().iter().map(|&value| char::from(confidence_sign(value))).collect()),
        tree: tree.map(|tree| PageTree {
            leaves: tree.leaves,
            joins: tree.joins.iter().map(|join| (&join.children, &join.lengths)).collect(),
        }),
    };
    push_script_json(output.buffer(), &facts)
}

/// Writes all rows with their gaps, then the signs of their confidence if it is known, deflated, in
/// base64.
fn push_letters(rows: &MsaRows<'_>, output: &mut Output) -> Result<()> {
    let failed = |problem| Error::Internal(format!("the page's letters: {problem}"));
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let mut row = Vec::with_capacity(rows.columns());
    let count = rows.order.len();
    let signs = rows.confidence.into_iter().flat_map(|confidence| (0..count).map(move |at| (at, Some(confidence))));
    for (at, confidence) in (0..count).map(|at| (at, None)).chain(signs) {
        row.clear();
        match confidence {
            None => rows.push(&mut row, at, b'-'),
            Some(confidence) => rows.push_confidence(&mut row, at, confidence),
        }
        encoder.write_all(&row).map_err(failed)?;
        let ready = encoder.get_mut();
        let whole = ready.len() / 3 * 3;
        push_base64(output.buffer(), &ready[..whole]);
        ready.drain(..whole);
        output.pass_on()?;
    }
    push_base64(output.buffer(), &encoder.finish().map_err(failed)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;

    use super::super::tests::with_rows;
    use super::*;
    use crate::output::captured::CapturedBytes;
    use crate::output::markup::decode_base64;
    use crate::tree::Join;

    fn page(rows: &MsaRows<'_>, tree: Option<&GuideTree>, title: &str) -> String {
        let captured = CapturedBytes::default();
        write_report(rows, tree, title, Output::to_writer(captured.clone())).unwrap();
        captured.text()
    }

    /// Returns the content of an element of the page.
    fn element<'a>(page: &'a str, id: &str) -> &'a str {
        let start = page.split_once(&format!("id=\"{id}\">")).unwrap().1;
        start.split_once("</script>").unwrap().0
    }

    const ROWS: [(&str, &str); 3] =
        [("</script><script>alert(1)</script>", "MK-TW"), ("a & \"b\" <!--", "mKV-W"), ("third", "-KVTW")];

    #[test]
    fn pages_contain_the_escaped_alignment() {
        let joins =
            vec![Join { children: [2, 0], lengths: [0.25, 0.5] }, Join { children: [3, 1], lengths: [0.125, 1.0] }];
        let tree = GuideTree { leaves: 3, joins };
        let page_text = with_rows(Alphabet::Protein, &ROWS, |rows| {
            page(&MsaRows { order: &[2, 0, 1], ..*rows }, Some(&tree), "</title><b>&amp;")
        });
        assert!(page_text.starts_with("<!doctype html>") && !page_text.contains("{{"));
        assert!(page_text.contains("<title>&lt;/title&gt;&lt;b&gt;&amp;amp;"));
        assert!(!page_text.contains("alert(1)</script>") && !page_text.contains("<!--"));
        assert_eq!(page_text.matches("</script").count(), 3);
        for network in ["http:", "https:", "src=", "@import", "url("] {
            let without_namespace = page_text.replace("\"http://www.w3.org/2000/svg\"", "");
            assert!(!without_namespace.contains(network), "the page asks for something: {network}");
        }
        let facts: serde_json::Value = serde_json::from_str(element(&page_text, "facts")).unwrap();
        let expected = serde_json::json!({
            "title": "</title><b>&amp;", "alphabet": "protein", "columns": 5,
            "names": [ROWS[2].0, ROWS[0].0, ROWS[1].0], "order": [2, 0, 1], "marks": " *  *",
            "tree": { "leaves": 3, "joins": [[[2, 0], [0.25, 0.5]], [[3, 1], [0.125, 1.0]]] },
        });
        assert_eq!(facts, expected);
        let mut letters = String::new();
        DeflateDecoder::new(&*decode_base64(element(&page_text, "letters"))).read_to_string(&mut letters).unwrap();
        assert_eq!(letters, [ROWS[2].1, ROWS[0].1, ROWS[1].1].concat());
    }

    #[test]
    fn long_alignments_round_trip_through_pages() {
        let mut random = fastrand::Rng::with_seed(7);
        let rows: Vec<String> =
            (0..40).map(|_| (0..5000).map(|_| char::from(b"ACGT-"[random.usize(..5)])).collect()).collect();
        let rows: Vec<(&str, &str)> = rows.iter().map(|row| ("a", row.as_str())).collect();
        let page_text = with_rows(Alphabet::Dna, &rows, |rows| page(rows, None, "long"));
        let mut letters = String::new();
        DeflateDecoder::new(&*decode_base64(element(&page_text, "letters"))).read_to_string(&mut letters).unwrap();
        assert!(letters == rows.iter().map(|row| row.1).collect::<String>());
        let facts: serde_json::Value = serde_json::from_str(element(&page_text, "facts")).unwrap();
        assert_eq!((&facts["names"][1], &facts["tree"]), (&"a_2".into(), &serde_json::Value::Null));
    }

    #[test]
    fn trees_of_other_sequences_are_refused() {
        let join = |children| Join { children, lengths: [0.0; 2] };
        let tree = |leaves, joins: &[[u32; 2]]| GuideTree {
            leaves,
            joins: joins.iter().map(|&page_text| join(page_text)).collect(),
        };
        with_rows(Alphabet::Protein, &ROWS, |rows| {
            let is_written = |tree: &GuideTree, order: &[u32]| {
                write_report(&MsaRows { order, ..*rows }, Some(tree), "", Output::to_writer(CapturedBytes::default()))
                    .is_ok()
            };
            assert!(is_written(&tree(3, &[[0, 1], [2, 3]]), &[1, 0, 2]));
            assert!(!is_written(&tree(3, &[[0, 1], [2, 3]]), &[1, 0]));
            assert!(!is_written(&tree(3, &[[0, 1], [2, 3]]), &[1, 0, 1]));
            for wrong in
                [tree(3, &[[0, 1], [2, 2]]), tree(3, &[[0, 4], [2, 3]]), tree(3, &[[0, 1]]), tree(2, &[[0, 1]])]
            {
                assert!(!is_written(&wrong, &[0, 1, 2]), "{wrong:?}");
            }
        });
    }
}
