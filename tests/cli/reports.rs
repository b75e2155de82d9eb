//! HTML reports in headless Chromium, on desktops and phones, in light and in dark mode.

use std::fmt::Write;

use super::support::browser::{Browser, Screen};
use super::{GENES, file, folder, pairwave, path};

const PROTEINS: [&str; 2] = ["assets/proteins/queries.fasta", "assets/proteins/subjects.fasta"];
/// Starts of names that could end an element or a string of a page.
const HOSTILE: [&str; 4] = ["</script><script>alert(1)</script>", "\"'`${x}", "<!--\u{e4}\u{df}", "&lt;\\u003c"];

/// Texts that are larger than their elements. Elements of one pixel are for screen readers.
const CUT: &str = "[...document.querySelectorAll('h1, h2, p, label, button, th, dt, dd')] \
                   .filter(({ clientWidth, clientHeight, scrollWidth, scrollHeight }) => clientWidth > 1 \
                   && (scrollWidth > clientWidth || scrollHeight > clientHeight + 2)).map(element => element.textContent)";

/// Returns the path of a report, for a command without its option `--report`.
fn report(folder: &tempfile::TempDir, name: &str, arguments: &[&str]) -> String {
    let page = path(folder, name);
    let output = path(folder, "output");
    pairwave(arguments)
        .args(["-o", &output, "--report", &page, "--quiet", "--device", "cpu"])
        .assert()
        .success()
        .stderr("");
    page
}

/// Returns records whose sequences are mutated copies of one sequence.
fn family(letters: &[u8], count: usize, length: usize, name: impl Fn(usize) -> String) -> String {
    let mut random = fastrand::Rng::with_seed(5);
    let first: Vec<u8> = (0..length).map(|_| letters[random.usize(..letters.len())]).collect();
    let mut text = String::new();
    for number in 0..count {
        let copy = first.iter().filter_map(|&letter| match random.u8(..20) {
            0 => None,
            1 | 2 => Some(letters[random.usize(..letters.len())]),
            _ => Some(letter),
        });
        let copy: String = copy.map(char::from).collect();
        writeln!(text, ">{}\n{copy}", name(number)).expect("a string takes all");
    }
    text
}

fn hostile(number: usize) -> String {
    format!("{}_{number} a <b>title</b> \"{number}\"", HOSTILE[number % HOSTILE.len()])
}

/// Opens a page on every screen. `content` is an expression that is true as soon as the page is
/// complete.
fn check(browser: &mut Browser, page: &str, content: &str) {
    for screen in Screen::ALL {
        browser.open(page, screen);
        browser.wait_for(content);
        let is_dark = "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/)[0] < 128";
        assert_eq!(browser.value(is_dark), screen.is_dark, "{page}, {screen:?}: the background");
        let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.value(overflow), 0, "{page}, {screen:?}: horizontal overflow");
        assert_eq!(browser.value(CUT), serde_json::json!([]), "{page}, {screen:?}: texts that are cut");
        browser.assert_no_problems(&format!("{page}, {screen:?}"));
    }
}

#[test]
fn search_reports_show_all_hits_on_every_screen() {
    let folder = folder();
    let small = report(&folder, "small.html", &[&["search"], &PROTEINS[..]].concat());
    let queries = file(&folder, "queries.fa", family(b"ACGT", 30, 70, hostile));
    let db = file(&folder, "db.fa", family(b"ACGT", 150, 80, hostile));
    let arguments = ["search", &queries, &db, "-k", "150", "--evalue", "1e9"];
    let large = report(&folder, "large.html", &arguments);
    assert!(std::fs::metadata(&large).expect("it was written").len() < 2_000_000);
    let nothing = file(&folder, "nothing.fa", ">none\nWWWWWWWWWW\n");
    let empty = report(&folder, "empty.html", &["search", &nothing, PROTEINS[1], "--evalue", "1e-9"]);

    let mut browser = Browser::start();
    let is_drawn = "document.querySelector('#q1 .overview svg a') && !document.getElementById('controls').hidden";
    check(&mut browser, &small, is_drawn);
    check(&mut browser, &large, is_drawn);
    assert_eq!(browser.value("queries.reduce((sum, query) => sum + readData(query).hits.length, 0)"), 4500);
    assert_eq!(browser.value("document.querySelectorAll('#q1 tbody tr').length"), 10);
    browser.value("document.querySelector('#q1 .more button:last-child').click()");
    assert_eq!(browser.value("document.querySelectorAll('#q1 tbody tr').length"), 150);
    browser.value("document.querySelectorAll('#q1 td button')[149].click()");
    browser.wait_for("document.querySelector('#q1 tr.alignment pre').textContent.includes('Sbjct')");
    browser.value("element('open').click()");
    browser.wait_for("[...document.querySelectorAll('#q1 pre')].every(text => text.textContent.includes('Sbjct'))");
    let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.value(overflow), 0, "open alignments are wider than the screen");
    let filter = "(() => { const input = document.querySelector('[data-filter=identity]'); input.value = '80'; \
                  input.dispatchEvent(new Event('input', { bubbles: true })); \
                  return queries.every(query => chosen(query).every(hit => hit.order.identity >= 80)); })()";
    assert_eq!(browser.value(filter), true);
    for key in ["name", "bits", "evalue", "score", "identity", "cover", "query", "subject", "length", "strand"] {
        let sort = format!(
            "(() => {{ sortBy('{key}', false); const sign = COLUMNS.{key} ? -1 : 1; \
             return chosen(queries[0]).every((hit, i, all) => i === 0 || \
             (hit.order.{key} === all[i - 1].order.{key} ? hit.rank > all[i - 1].rank \
             : sign * (hit.order.{key} > all[i - 1].order.{key} ? 1 : -1) > 0)); }})()"
        );
        assert_eq!(browser.value(&sort), true, "{key}");
    }
    browser.assert_no_problems("filters and sorting");
    check(&mut browser, &empty, "document.querySelector('#q1').textContent.includes('no hits')");
}

/// Returns the rows of all alignments in BLAST's format 0: query, marks and subject.
fn blast_rows(text: &str) -> Vec<[String; 3]> {
    let mut all = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with(" Score = ") {
            all.push(<[String; 3]>::default());
        }
        if !line.starts_with("Query  ") {
            continue;
        }
        let (marks, subject) = (lines.next().expect("marks"), lines.next().expect("a subject"));
        let rows = all.last_mut().expect("a score");
        let start = line.find(|letter: char| letter.is_ascii_uppercase() && letter != 'Q').into_iter();
        let start = start.chain(line[5..].find(['-', 'Q']).map(|at| at + 5)).min().expect("letters");
        let letters = line[start..].split(' ').next().expect("letters");
        let end = start + letters.len();
        rows[0] += letters;
        rows[1] += &format!("{marks:end$}")[start..end];
        rows[2] += &subject[start..end];
    }
    all
}

#[test]
fn alignments_in_search_reports_equal_blast_format_0() {
    let folder = folder();
    let genes = family(b"ACGT", 12, 130, |number| format!("g{number}"));
    let turned: String = genes
        .lines()
        .map(|line| match line.strip_prefix('>') {
            Some(name) => format!(">r{name}\n"),
            None => {
                line.chars()
                    .rev()
                    .map(|letter| "TGCA".as_bytes()["ACGT".find(letter).expect("a base")] as char)
                    .collect::<String>()
                    + "\n"
            }
        })
        .collect();
    let queries = file(&folder, "queries.fa", genes.clone() + &turned);
    let db = file(&folder, "db.fa", &genes);
    let mut browser = Browser::start();
    for inputs in [[queries.as_str(), &db], PROTEINS] {
        let page = report(&folder, "page.html", &[&["search"], &inputs[..], &["--outfmt", "0"]].concat());
        let text = path(&folder, "output");
        let expected = blast_rows(&std::fs::read_to_string(&text).expect("it was written"));
        browser.open(&page, Screen::ALL[0]);
        let rows = "Promise.all(queries.flatMap(query => readData(query).hits).map(rowsOf))\
                    .then(all => all.map(rows => [rows.query, rows.between, rows.subject]))";
        let found: Vec<[String; 3]> = serde_json::from_value(browser.value(rows)).expect("rows");
        assert!(found.len() > 50 && found == expected, "{found:#?}\n{expected:#?}");
    }
}

#[test]
fn alignment_reports_are_complete_on_every_screen() {
    let folder = folder();
    let few = file(&folder, "few.fa", ">a\nMKVW\n>b\nMKW\n");
    let small = report(&folder, "small.html", &["msa", &few]);
    // A block of gaps precedes the sequences that most rows have.
    let name =
        |number: usize| format!("sp|P{number:05}|{}{number}_HUMAN", ["KINASE_", "</script>", "\u{e4}\"'"][number % 3]);
    let many = family(b"ACDEFGHIKLMNPQRSTVWY", 80, 60, name);
    let many = many.replacen('\n', &format!("\n{}", "GPNS".repeat(60)), 1);
    let many = file(&folder, "many.fa", many);
    let large = report(&folder, "large.html", &["msa", &many, "--mode", "clustalw"]);
    let mut browser = Browser::start();
    let is_drawn = "!document.getElementById('wait') && tiles.size > 0";
    check(&mut browser, &small, is_drawn);
    assert_eq!(browser.value("scroller.scrollLeft"), 0);
    check(&mut browser, &large, is_drawn);
    // The screen is a phone's here.
    assert_eq!(browser.value("gapShare(view.columns[part().firstColumn + 3]) < .3"), true, "opens on gaps");
    let shown = "namesWithin(Math.floor((nameWidth - 12) / 7.8))";
    assert_eq!(browser.value(&format!("new Set({shown}).size")), 80);
    browser.value("element('gaps').value = .5; element('gaps').dispatchEvent(new Event('change'))");
    let is_hidden = "view.columns.length < columnCount && [...view.columns].every(column => gapShare(column) <= .5)";
    assert_eq!(browser.value(is_hidden), true);
    browser.value("moveTo(5, 20), fillPaper()");
    assert_eq!(browser.value("element('paper').textContent.includes('HUMAN')"), true);
    let picture = "(() => { const picture = new DOMParser().parseFromString(svgOf(), 'image/svg+xml'); \
                   return picture.querySelector('parsererror')?.textContent ?? picture.querySelectorAll('path').length; })()";
    assert!(browser.value(picture).as_u64().is_some_and(|paths| paths > 2), "{}", browser.value(picture));
    browser.assert_no_problems("columns and pictures");
    check_cells(&mut browser);
}

/// Checks the contrast of letters on the cells of all colour schemes, in light and in dark mode.
fn check_cells(browser: &mut Browser) {
    for theme in ["light", "dark"] {
        browser.value(&format!("element('theme').value = '{theme}'; readStyle()"));
        let weakest = "(() => {
            const linear = part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
            const luminance = ([red, green, blue]) =>
                .2126 * linear(red / 255) + .7152 * linear(green / 255) + .0722 * linear(blue / 255);
            const text = luminance([1, 3, 5].map(at => parseInt(style.text.slice(at, at + 2), 16)));
            const colours = [...SCHEMES.flatMap(scheme => scheme[2]), ...IDENTITY_STEPS.map(step => step[1]), ...CONFIDENCE, PINK];
            return Math.min(...colours.filter(Boolean).map(colour => {
                const cell = pixel(colour, style.isDark);
                const ground = luminance([0, 8, 16].map(shift => cell >> shift & 255));
                return (Math.max(text, ground) + .05) / (Math.min(text, ground) + .05);
            }));
        })()";
        let contrast = browser.value(weakest).as_f64().expect("a contrast");
        assert!(contrast >= 4.5, "letters on cells, {theme}: {contrast}");
    }
}

#[test]
fn short_names_stay_different() {
    let folder = folder();
    let few = file(&folder, "few.fa", ">a\nMKVW\n>b\nMKW\n");
    let page = report(&folder, "page.html", &["msa", &few]);
    let mut random = fastrand::Rng::with_seed(11);
    let mut browser = Browser::start();
    browser.open(&page, Screen::ALL[0]);
    browser.wait_for("!document.getElementById('wait')");
    for _ in 0..40 {
        let [count, length] = [random.usize(1..40), random.usize(6..40)];
        let prefix = ["", "sp|", "aaaaaaaaaaaaaaaaaaaa"][random.usize(..3)];
        let mut names: Vec<String> = (0..count)
            .map(|_| prefix.to_owned() + &(0..length).map(|_| ['a', 'b', '|'][random.usize(..3)]).collect::<String>())
            .collect();
        names.sort();
        names.dedup();
        let most = random.usize(6..24);
        let list = serde_json::to_string(&names).expect("names are text");
        let short: Vec<String> =
            serde_json::from_value(browser.value(&format!("shorten({list}, {most})"))).expect("names");
        let mut different = short.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), names.len(), "{names:?} {short:?}");
        assert!(short.iter().all(|name| name.chars().count() <= most), "{most} {short:?}");
    }
}

#[test]
fn cluster_reports_fit_every_screen() {
    let folder = folder();
    let small = report(&folder, "small.html", &["cluster", GENES, "--min-identity", "0.9"]);
    let many = file(&folder, "many.fa", family(b"ACGT", 300, 60, hostile));
    let large = report(&folder, "large.html", &["cluster", &many, "--min-identity", "0.95"]);
    let mut browser = Browser::start();
    for (page, title) in [(small, "Clusters of gold12.fasta"), (large, "Clusters of many.fa")] {
        check(
            &mut browser,
            &page,
            "document.querySelectorAll('tbody tr').length > 1 && document.querySelectorAll('svg').length > 1",
        );
        assert_eq!(browser.value("document.querySelector('h1').textContent"), title);
    }
}

#[test]
fn long_reports_fit_every_screen() {
    let folder = folder();
    let genome = family(b"ACGT", 2, 3000, |number| format!("chromosome{number}"));
    let genome = file(&folder, "genome.fa", genome);
    let contigs = file(&folder, "contigs.fa", family(b"ACGT", 9, 3000, hostile));
    let proteins = file(&folder, "proteins.fa", family(b"ACDEFGHIKLMNPQRSTVWY", 2, 400, hostile));
    let evalue = ["--scheme", "blastn", "--evalue", "1e-9"];
    let many = report(&folder, "many.html", &[&["long", &contigs, &genome, "--top", "9"], &evalue[..]].concat());
    let one = ["long", &contigs, &genome, "--target-id", "chromosome1", "--circular"];
    let one = report(&folder, "one.html", &[&one[..], &evalue].concat());
    let global = report(&folder, "global.html", &["long", &proteins, &proteins, "--mode", "global"]);
    let mut browser = Browser::start();
    for (page, title, columns) in [
        (many, "contigs.fa and genome.fa", 10),
        (one, "contigs.fa and genome.fa", 10),
        (global, "proteins.fa and proteins.fa", 8),
    ] {
        check(&mut browser, &page, "document.querySelectorAll('tbody tr').length > 14");
        assert_eq!(browser.value("document.querySelector('h1').textContent"), title);
        assert_eq!(browser.value("document.querySelectorAll('section:last-child th').length"), columns);
        // The dot plot and both charts have content.
        for content in [".map svg", ".chart .curve[d*=H]", ".chart .bar[d*=H]", ".chart .tip"] {
            let count = format!("document.querySelectorAll('{content}').length");
            assert!(browser.value(&count).as_u64().is_some_and(|count| count > 0), "{page}: {content}");
        }
    }
}
