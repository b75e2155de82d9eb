//! An HTML page of clusters: one file that needs no network, for any browser. It has no script.

mod figures;

use std::cmp::Reverse;

use super::ClusterContext;
use crate::cluster::{ClusterMethod, ClusterSet, SequenceCluster};
use crate::error::Result;
use crate::output::Output;
use crate::output::markup::chart::put;
use crate::output::markup::{BASE_STYLE, PAGE_STYLE, Template, push_html};

const PAGE: &str = concat!(include_str!("../markup/head.html"), include_str!("report/page.html"));
/// Maximum number of clusters in the table.
const MAX_ROWS: usize = 200;

/// Content of a page besides the clusters.
#[derive(Debug, Clone, Default)]
pub struct ClusterReport {
    /// Title of the page.
    pub title: String,
    /// The rule that assigned sequences to clusters.
    pub method: ClusterMethod,
    /// Picture of the identities of centroids as an SVG element. It is written unchanged.
    pub heat_map: Option<String>,
}

/// Writes a page with the numbers of records and clusters, a histogram of the sizes of clusters,
/// the curve of rank and abundance, the picture of the identities of centroids if there is one, and
/// a table of the 200 largest clusters.
///
/// # Errors
/// Returns [`crate::Error::Io`] if writing fails.
pub fn write_report(
    context: &ClusterContext<'_>,
    clusters: &ClusterSet,
    report: &ClusterReport,
    mut output: Output,
) -> Result<()> {
    let mut order: Vec<usize> = (0..clusters.clusters.len()).collect();
    order.sort_by_key(|&number| Reverse(clusters.clusters[number].size));
    let sizes: Vec<u64> = order.iter().map(|&number| clusters.clusters[number].size).collect();
    let mut template = Template(PAGE);
    let facts = facts(clusters.threshold, report.method);
    template.head(&report.title, &[BASE_STYLE, PAGE_STYLE], &facts, &mut output)?;
    template.up_to("{{summary}}", &mut output)?;
    push_summary(context, &sizes, output.buffer());
    template.up_to("{{histogram}}", &mut output)?;
    figures::push_histogram(&sizes, output.buffer());
    template.up_to("{{ranks}}", &mut output)?;
    figures::push_ranks(&sizes, output.buffer());
    template.up_to("{{heat_map}}", &mut output)?;
    if let Some(picture) = &report.heat_map {
        let out = output.buffer();
        out.extend_from_slice(b"<section>\n<h2>Identities of centroids</h2>\n<div class=\"map\">\n");
        out.extend_from_slice(picture.as_bytes());
        out.extend_from_slice(b"</div>\n</section>\n");
    }
    template.up_to("{{table}}", &mut output)?;
    push_table(context, clusters, &order, &mut output)?;
    template.end(&mut output);
    output.finish()
}

/// Returns the line below the title: method, threshold and program.
fn facts(threshold: f64, method: ClusterMethod) -> String {
    let name = match method {
        ClusterMethod::Greedy => "Greedy clustering around centroids",
        ClusterMethod::Single => "Single linkage",
        ClusterMethod::Complete => "Complete linkage",
        ClusterMethod::Average => "Average linkage",
    };
    let version = env!("CARGO_PKG_VERSION");
    format!("{name}, minimum identity {threshold}; pairwave {version}")
}

/// Appends the numbers of records, sequences and clusters.
fn push_summary(context: &ClusterContext<'_>, sizes: &[u64], out: &mut Vec<u8>) {
    let abundance = sizes.iter().copied().fold(0, u64::saturating_add);
    let singletons = sizes.iter().filter(|&&size| size == 1).count() as u64;
    let (records, different) = (context.records.len() as u64, context.unique.len() as u64);
    out.extend_from_slice(b"<dl>\n");
    for (term, value) in [
        ("Records", records),
        ("Abundance", abundance),
        ("Different sequences", different),
        ("Clusters", sizes.len() as u64),
        ("Clusters of size 1", singletons),
        ("Largest cluster", sizes.first().copied().unwrap_or(0)),
    ] {
        put(out, format_args!("<div><dt>{term}</dt><dd>{value}</dd></div>\n"));
    }
    out.extend_from_slice(b"</dl>\n");
}

/// Writes the table of the largest clusters. `order` has the numbers of the clusters, the largest
/// first.
fn push_table(context: &ClusterContext<'_>, clusters: &ClusterSet, order: &[usize], output: &mut Output) -> Result<()> {
    let shown = &order[..order.len().min(MAX_ROWS)];
    let out = output.buffer();
    if shown.len() < order.len() {
        put(out, format_args!("<p>The largest {} of {} clusters. ", shown.len(), order.len()));
    } else {
        out.extend_from_slice(b"<p>");
    }
    out.extend_from_slice(
        b"Identities are those of all records except the centroid.</p>\n<div class=\"table\"><table>\n",
    );
    out.extend_from_slice(b"<thead><tr><th scope=\"col\">Cluster</th><th class=\"left\" scope=\"col\">Centroid</th>");
    for column in ["Size", "Records", "Least identity %", "Mean identity %"] {
        put(out, format_args!("<th scope=\"col\">{column}</th>"));
    }
    out.extend_from_slice(b"</tr></thead>\n<tbody>\n");
    for &number in shown {
        let cluster = &clusters.clusters[number];
        let identities = MemberIdentities::new(context, cluster);
        let out = output.buffer();
        put(out, format_args!("<tr><td>{number}</td><td class=\"left\">"));
        push_html(out, context.records.name(context.centroid(cluster)));
        put(out, format_args!("</td><td>{}</td><td>{}</td>", cluster.size, identities.records + 1));
        match identities.percentages() {
            Some((least, mean)) => put(out, format_args!("<td>{least:.2}</td><td>{mean:.2}</td></tr>\n")),
            None => out.extend_from_slice("<td>–</td><td>–</td></tr>\n".as_bytes()),
        }
        output.pass_on()?;
    }
    output.buffer().extend_from_slice(b"</tbody>\n</table></div>\n");
    Ok(())
}

/// Identities of the records of a cluster with the centroid, which does not count.
struct MemberIdentities {
    records: u64,
    least: f64,
    sum: f64,
}

impl MemberIdentities {
    fn new(context: &ClusterContext<'_>, cluster: &SequenceCluster) -> Self {
        let identities = context.expand(cluster).skip(1).map(|one| one.identity);
        let start = MemberIdentities { records: 0, least: 1.0, sum: 0.0 };
        identities.fold(start, |all, identity| MemberIdentities {
            records: all.records + 1,
            least: all.least.min(identity),
            sum: all.sum + identity,
        })
    }

    /// Returns the least and the mean identity in percent.
    fn percentages(&self) -> Option<(f64, f64)> {
        (self.records > 0).then(|| (100.0 * self.least, 100.0 * self.sum / self.records as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ClusterExample, written};
    use super::*;

    fn page(example: &ClusterExample, set: &ClusterSet, report: &ClusterReport) -> String {
        written(|output| write_report(&example.context(), set, report, output)).unwrap()
    }

    #[test]
    fn the_largest_clusters_are_listed() {
        let example = ClusterExample::new();
        let text = page(&example, &example.sets[0], &ClusterReport::default());
        assert!(text.contains("Greedy clustering around centroids, minimum identity 0.8; pairwave "));
        for (term, value) in [
            ("Records", 6),
            ("Abundance", 9),
            ("Different sequences", 4),
            ("Clusters", 2),
            ("Clusters of size 1", 1),
            ("Largest cluster", 8),
        ] {
            assert!(text.contains(&format!("<dt>{term}</dt><dd>{value}</dd>")), "{term}");
        }
        let rows = text.split_once("<tbody>\n").unwrap().1.split_once("</tbody>").unwrap().0;
        let expected = "\
<tr><td>0</td><td class=\"left\">c1;size=3;sample=X</td><td>8</td><td>5</td><td>83.33</td><td>90.83</td></tr>
<tr><td>1</td><td class=\"left\">lone;tax=d:B,p:F;sample=Z</td><td>1</td><td>1</td><td>–</td><td>–</td></tr>
";
        assert_eq!(rows, expected);
    }

    #[test]
    fn pages_are_complete_and_need_no_network() {
        let example = ClusterExample::new();
        let heat_map = Some("<svg viewBox=\"0 0 1 1\"></svg>\n".to_owned());
        let report = ClusterReport { title: "</title><b>&amp;".into(), method: ClusterMethod::Single, heat_map };
        for clusters in [example.sets[0].clusters.clone(), vec![]] {
            let text = page(&example, &ClusterSet { threshold: 0.8, clusters }, &report);
            assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n") && !text.contains("{{"));
            assert!(text.contains("<title>&lt;/title&gt;&lt;b&gt;&amp;amp;"));
            assert!(text.contains("<h2>Identities of centroids</h2>"));
            for network in ["http:", "https:", "src=", "@import", "url("] {
                assert!(!text.contains(network), "the page asks for something: {network}");
            }
            for element in ["section", "table", "svg", "tr", "td", "th", "text", "title", "p", "div", "dl", "dt", "dd"]
            {
                let (open, close) = (format!("<{element}"), format!("</{element}>"));
                let opened =
                    text.match_indices(&open).filter(|(at, _)| text[at + open.len()..].starts_with([' ', '>']));
                assert_eq!(opened.count(), text.matches(&close).count(), "{element}");
            }
        }
    }

    #[test]
    fn names_are_escaped_in_pages() {
        let records = super::super::tests::RECORDS.replace(">c1;", "><script>alert(1)</script>;");
        let example = ClusterExample::from_records(&records);
        let text = page(&example, &example.sets[0], &ClusterReport::default());
        assert!(!text.contains("<script") && text.contains("&lt;script&gt;alert(1)"));
    }

    #[test]
    fn tables_have_at_most_200_clusters() {
        let example = ClusterExample::new();
        let mut set = example.sets[1].clone();
        set.clusters = (0..300).map(|index| set.clusters[index % 4].clone()).collect();
        let text = page(&example, &set, &ClusterReport::default());
        assert!(text.contains("<p>The largest 200 of 300 clusters. "));
        assert_eq!(text.matches("<tr><td>").count(), 200);
        // The sizes of the four clusters are 4, 3, 1 and 1.
        assert!(text.contains("<tbody>\n<tr><td>0</td>") && text.contains("</tr>\n<tr><td>4</td>"));
    }
}
