//! Every format with columns is read back to the columns that were written.

use super::RandomCase;
use pairwave::alignment::Op;
use pairwave::output::{LongFormat, LongPaths};
use pairwave::score::Mode;
use support::rng;

/// An alignment that was read: columns with their first symbols on the aligned strand of the query
/// and in the target.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decoded {
    query: u32,
    target: u32,
    /// One letter for each column: M for two symbols, I or D for a gap.
    columns: String,
}

/// Returns the alignment of a case.
fn expected(case: &RandomCase) -> Decoded {
    let letter = |op| match op {
        Op::Match | Op::Mismatch => "M",
        Op::Insertion => "I",
        Op::Deletion => "D",
    };
    let columns = case.cigar.iter().map(|(length, op)| letter(op).repeat(length as usize)).collect();
    Decoded { query: case.start.0, target: case.start.1, columns }
}

/// Returns an alignment without the gaps at its ends.
fn without_end_gaps(mut decoded: Decoded) -> Decoded {
    let start = decoded.columns.find('M').expect("two symbols");
    for gap in decoded.columns.drain(..start) {
        if gap == 'I' { decoded.query += 1 } else { decoded.target += 1 }
    }
    decoded.columns.truncate(decoded.columns.trim_end_matches(['I', 'D']).len());
    decoded
}

/// Moves the target symbols of each gap before its query symbols.
fn with_sorted_gaps(columns: &str) -> String {
    let mut sorted = String::new();
    for run in columns.as_bytes().chunk_by(|a, b| (*a == b'M') == (*b == b'M')) {
        let count = |letter: u8| run.iter().filter(|&&one| one == letter).count();
        for letter in *b"MDI" {
            sorted.push_str(&char::from(letter).to_string().repeat(count(letter)));
        }
    }
    sorted
}

/// Reads a CIGAR string.
fn columns_of(cigar: &str) -> String {
    let (mut columns, mut number) = (String::new(), 0);
    for letter in cigar.chars() {
        match letter.to_digit(10) {
            Some(digit) => number = 10 * number + digit as usize,
            None => {
                let letter = if matches!(letter, '=' | 'X') { 'M' } else { letter };
                columns.push_str(&letter.to_string().repeat(number));
                number = 0;
            }
        }
    }
    columns
}

fn numbers<const N: usize>(words: &[&str]) -> [u32; N] {
    let all: Vec<u32> = words.iter().map(|word| word.parse().expect("a number")).collect();
    all.try_into().expect("so many numbers")
}

fn paf(case: &RandomCase) -> Decoded {
    let text = case.written(&LongFormat::Paf { cs: None });
    let columns: Vec<&str> = text.trim_end().split('\t').collect();
    let [length, start, end] = numbers(&columns[1..4]);
    let query = if columns[4] == "-" { length - end } else { start };
    let [target] = numbers(&columns[7..8]);
    let cigar = columns.last().and_then(|tag| tag.strip_prefix("cg:Z:")).expect("a CIGAR");
    Decoded { query, target, columns: columns_of(cigar) }
}

fn sam(case: &RandomCase) -> Decoded {
    let text = case.written(&LongFormat::Sam { command: "test".into() });
    let columns: Vec<&str> = text.lines().last().expect("a line").split('\t').collect();
    let [target] = numbers(&columns[3..4]);
    let all = columns_of(columns[5]);
    let query = all.find(|letter| letter != 'S').expect("an alignment") as u32;
    Decoded { query, target: target - 1, columns: all.trim_matches('S').to_owned() }
}

fn maf(case: &RandomCase) -> Decoded {
    let text = case.written(&LongFormat::Maf);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["##maf version=1 scoring=pairwave", "", "a score=-7"]);
    let words = |line: usize| lines[line].split(' ').collect::<Vec<_>>();
    let (target, query) = (words(3), words(4));
    for (line, name, letters, strand) in
        [(&target, "target", case.target.clone(), "+"), (&query, "query", case.strand(), sign(case))]
    {
        assert_eq!((line[0], line[1], line[4]), ("s", name, strand));
        let [start, size] = numbers(&line[2..4]);
        let [length] = numbers(&line[5..6]);
        assert_eq!(length as usize, letters.len());
        assert_eq!(line[6].replace('-', ""), letters[start as usize..(start + size) as usize]);
    }
    let column = |(t, q): (u8, u8)| match (t, q) {
        (b'-', _) => 'I',
        (_, b'-') => 'D',
        _ => 'M',
    };
    let [from] = numbers(&query[2..3]);
    let [start] = numbers(&target[2..3]);
    Decoded { query: from, target: start, columns: target[6].bytes().zip(query[6].bytes()).map(column).collect() }
}

/// Returns the strand of the query.
fn sign(case: &RandomCase) -> &'static str {
    if case.is_reverse { "-" } else { "+" }
}

fn chain(case: &RandomCase) -> Decoded {
    let text = case.written(&LongFormat::Chain);
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(' ').collect();
    assert_eq!((header[0], header[1], header[2], header[4]), ("chain", "-7", "target", "+"));
    assert_eq!((header[7], header[9], header[12]), ("query", sign(case), "1"));
    assert_eq!(numbers(&[header[3], header[8]]), [case.target.len() as u32, case.query.len() as u32]);
    let [target, target_end] = numbers(&header[5..7]);
    let [query, query_end] = numbers(&header[10..12]);
    let mut columns = String::new();
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        for (word, letter) in line.split('\t').zip(["M", "D", "I"]) {
            columns.push_str(&letter.repeat(word.parse().expect("a number")));
        }
    }
    assert_eq!(lines.next(), None);
    let count = |letter: char| columns.chars().filter(|&one| one == 'M' || one == letter).count() as u32;
    assert_eq!((target + count('D'), query + count('I')), (target_end, query_end));
    Decoded { query, target, columns }
}

fn delta(case: &RandomCase) -> Decoded {
    let text = case.written(&LongFormat::Delta(LongPaths { query: "q.fa".into(), target: "t.fa".into() }));
    let mut lines = text.lines();
    assert_eq!([lines.next(), lines.next()], [Some("t.fa q.fa"), Some("NUCMER")]);
    let lengths = format!(">target query {} {}", case.target.len(), case.query.len());
    assert_eq!(lines.next(), Some(&*lengths));
    let words: Vec<&str> = lines.next().expect("the positions").split(' ').collect();
    let [start, end, first, last, errors, other_errors, 0] = numbers(&words) else { panic!("{words:?}") };
    let length = case.query.len() as u32;
    let [query, query_end] = if case.is_reverse { [length - first, length - last + 1] } else { [first - 1, last] };
    let mut columns = String::new();
    for distance in lines.by_ref().map(|line| line.parse::<i64>().expect("a distance")).take_while(|&one| one != 0) {
        columns.push_str(&"M".repeat(distance.unsigned_abs() as usize - 1));
        columns.push(if distance > 0 { 'D' } else { 'I' });
    }
    assert_eq!(lines.next(), None);
    let consumed = columns.chars().filter(|&one| one != 'I').count() as u32;
    columns.push_str(&"M".repeat((end - (start - 1) - consumed) as usize));
    let consumed = columns.chars().filter(|&one| one != 'D').count() as u32;
    assert_eq!(query + consumed, query_end);
    let gaps = columns.chars().filter(|&one| one != 'M').count() as u32;
    let mismatches: u32 = case.cigar.iter().filter(|run| run.1 == Op::Mismatch).map(|run| run.0).sum();
    assert_eq!((errors, other_errors), (gaps + mismatches, errors));
    Decoded { query, target: start - 1, columns }
}

#[test]
fn every_format_is_read_back_to_its_columns() {
    let mut random = rng(0x7d2);
    for round in 0..3000 {
        let mode = random.pick(&[Mode::Local, Mode::Global]);
        let letters = random.pick(&[&b"ACGT"[..], b"ACGTRYN"]);
        let case = RandomCase::new(&mut random, letters, mode);
        let context = format!("round {round}: {} {} {}", case.target, case.query, case.cigar);
        let all = expected(&case);
        for (name, decoded) in [("paf", paf(&case)), ("maf", maf(&case))] {
            assert_eq!(decoded, all, "{name}, {context}");
        }
        let core = without_end_gaps(all);
        for (name, decoded) in [("sam", sam(&case)), ("delta", delta(&case))] {
            assert_eq!(decoded, core, "{name}, {context}");
        }
        let sorted = with_sorted_gaps(&core.columns);
        assert_eq!(chain(&case), Decoded { columns: sorted, ..core }, "{context}");
    }
}
