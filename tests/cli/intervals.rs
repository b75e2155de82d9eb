//! `pairwave pairs --paf`: intervals of PAF records.

use insta::assert_snapshot;

use super::*;

/// A query whose part from 4 to 20 is similar to the target from 7 to 23, and a query whose part from
/// 5 to 20 is the reverse complement of the target from 2 to 17.
const QUERIES: &str = ">q1 a name\nTTTTGATTACAGATCGCCATAAAA\n>q2\nCCCCCATCTGTAATCGCCTTCCCC\n";
const TARGETS: &str = ">t1\nCCAAGGCGATTACAGATGGGCCTTCC\n>t2\nACGTACGTAC\n";
const RECORDS: &str = "\
q1\t24\t4\t20\t+\tt1\t26\t7\t23\t9\t16\t60\ttp:A:P
q2\t24\t5\t20\t-\tt1\t26\t2\t17\t15\t15\t60

q1\t24\t0\t4\t+\tt2\t10\t8\t10\t0\t0\t0
";

/// Writes the input files. Returns their paths.
fn files(folder: &TempDir) -> [String; 3] {
    [("q.fa", QUERIES), ("t.fa", TARGETS), ("in.paf", RECORDS)].map(|(name, text)| file(folder, name, text))
}

fn exact(arguments: &[&str]) -> String {
    equal_output("pairs", TWO_WAYS, arguments)
}

#[test]
fn intervals_of_paf_records_are_aligned_end_to_end() {
    let folder = folder();
    let [q, t, paf] = files(&folder);
    let plain = exact(&[&q, &t, "--paf", &paf, "--check"]);
    let wide = exact(&[&q, &t, "--paf", &paf, "--extend", "2"]);
    let free = exact(&[&q, &t, "--paf", &paf, "--extend", "100", "--end-gaps", "free"]);
    assert_snapshot!(format!("{plain}\n--extend 2\n{wide}\n--extend 100 --end-gaps free\n{free}"));
    let compressed = path(&folder, "in.paf.gz");
    std::fs::write(&compressed, gzipped(RECORDS)).unwrap();
    assert_eq!(exact(&[&q, &t, "--paf", &compressed]), plain);
    let mut piped = pairwave(&["pairs", &q, &t, "--paf", "-", "-q", "--device", "cpu"]);
    piped.write_stdin(RECORDS).assert().success().stdout(plain.clone());
    // The output is valid input, and its intervals have the same alignments.
    let again = file(&folder, "again.paf", &plain);
    assert_eq!(exact(&[&q, &t, "--paf", &again]), plain);
    // Without a second file, both sequences are in the first.
    let both = file(&folder, "both.fa", format!("{QUERIES}{TARGETS}"));
    assert_eq!(exact(&[&both, "--paf", &paf]), plain);
}

/// Every record has the score and the alignment of its parts as sequences, and `cs` spells them.
#[test]
fn random_intervals_equal_their_parts_as_sequences() {
    let folder = folder();
    let mut random = support::rng(0x9af);
    let letters = |fasta: &str| -> Vec<String> { fasta.lines().skip(1).step_by(2).map(str::to_owned).collect() };
    let fasta = random_fasta(0x9b0, Alphabet::Dna, &[90, 70, 120, 60]);
    let genes = letters(&fasta);
    let names: Vec<&str> = fasta.lines().step_by(2).map(|line| line[1..].split(' ').next().expect("a name")).collect();
    let (mut records, mut a, mut b, mut expected) = (String::new(), String::new(), String::new(), Vec::new());
    for number in 0..40 {
        let side = |random: &mut support::Rng| {
            let id = random.below(genes.len());
            let start = random.below(genes[id].len());
            (id, start, start + 1 + random.below(genes[id].len() - start))
        };
        let (query, target) = (side(&mut random), side(&mut random));
        let strand = if random.below(2u32) == 1 { '-' } else { '+' };
        let columns =
            |(id, start, end): (usize, usize, usize)| format!("{}\t{}\t{start}\t{end}", names[id], genes[id].len());
        let line = format!("{}\t{strand}\t{}", columns(query), columns(target));
        records.push_str(&format!("{line}\t0\t0\t255\n"));
        let part = |(id, start, end): (usize, usize, usize)| genes[id][start..end].to_owned();
        let query = match strand {
            '-' => String::from_utf8(pairwave::seq::reverse_complement_letters(part(query).as_bytes())).unwrap(),
            _ => part(query),
        };
        a.push_str(&format!(">{number}\n{query}\n"));
        b.push_str(&format!(">{number}\n{}\n", part(target)));
        expected.push((line, query, part(target)));
    }
    let genes = file(&folder, "genes.fa", &fasta);
    let [paf, a, b] = [("in.paf", records), ("a.fa", a), ("b.fa", b)].map(|(name, text)| file(&folder, name, text));
    let found = exact(&[&genes, "--paf", &paf, "--check"]);
    let parts = exact(&[&a, &b, "--format", "paf", "--end-gaps", "charged"]);
    assert_eq!(found.lines().count(), expected.len());
    for ((line, part), (columns, query, target)) in found.lines().zip(parts.lines()).zip(expected) {
        assert!(line.starts_with(&columns), "{line}");
        let rest = |line: &str| line.split('\t').skip(9).map(str::to_owned).collect::<Vec<_>>();
        let (mut rest, part) = (rest(line), rest(part));
        let differences = rest.pop().expect("cs");
        assert_eq!(rest, part);
        assert_eq!(spelled(differences.strip_prefix("cs:Z:").expect("cs"), &target), (query, target));
    }
}

/// Returns the query and the target that `cs` spells, given the target.
fn spelled(differences: &str, target: &str) -> (String, String) {
    let (mut query, mut spelled, mut rest) = (String::new(), String::new(), differences);
    while let Some(kind) = rest.chars().next() {
        let end = rest[1..].find([':', '*', '+', '-']).map_or(rest.len(), |end| end + 1);
        let value = rest[1..end].to_uppercase();
        rest = &rest[end..];
        match kind {
            ':' => {
                let equal = &target[spelled.len()..][..value.parse().expect("a number")];
                query.push_str(equal);
                spelled.push_str(equal);
            }
            '*' => {
                spelled.push_str(&value[..1]);
                query.push_str(&value[1..]);
            }
            '+' => query.push_str(&value),
            _ => spelled.push_str(&value),
        }
    }
    (query, spelled)
}

#[test]
fn records_that_do_not_fit_are_refused() {
    let folder = folder();
    let [q, t, _] = files(&folder);
    let mut shown = String::new();
    for wrong in [
        "q9\t24\t4\t20\t+\tt1\t26\t7\t23\t9\t16\t60",
        "q1\t25\t4\t20\t+\tt1\t26\t7\t23\t9\t16\t60",
        "q1\t24\t4\t20\t+\tt1\t26\t7\t27\t9\t16\t60",
        "q1\t24\t4\t20\t*\tt1\t26\t7\t23\t9\t16\t60",
        "q1\tt1",
    ] {
        let paf = file(&folder, "wrong.paf", format!("{RECORDS}{wrong}\n"));
        let run = pairwave(&["pairs", &q, &t, "--paf", &paf, "-q"]).assert().code(2).stdout("");
        let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert_eq!(text.lines().count(), 1);
        writeln!(shown, "{}", text.trim_end().rsplit_once("wrong.paf").expect("the file").1).unwrap();
    }
    let paf = file(&folder, "in.paf", RECORDS);
    let extended = pairwave(&["pairs", &q, &t, "--paf", &paf, "--extend", "-1"]).assert().code(2).stdout("");
    extended.stderr(predicates::str::contains("'-1' for '--extend <SYMBOLS>': must be at least 0"));
    assert_snapshot!(shown);
}
