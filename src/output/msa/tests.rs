//! Every format compared with text written by hand or by ClustalW, and read back.

use proptest::prelude::*;

use super::*;
use crate::output::DistanceMatrixShape;
use crate::output::captured::CapturedBytes;
use crate::seq::AlignedRows;
use crate::tree::Distances;

mod names;

/// Calls a function with rows that are given with their gaps.
pub(super) fn with_rows<T>(alphabet: Alphabet, rows: &[(&str, &str)], run: impl FnOnce(&MsaRows<'_>) -> T) -> T {
    let columns = rows.first().map_or(0, |row| row.1.len());
    let places = rows.iter().map(|(_, text)| {
        let of_row = (0..).zip(text.bytes()).filter(|&(_, letter)| letter != b'-');
        of_row.map(|(column, _)| column).collect()
    });
    let alignment = MultipleAlignment::new(columns, places.collect()).expect("an alignment");
    let letters: Vec<String> = rows.iter().map(|(_, text)| text.replace('-', "")).collect();
    let letters: Vec<&[u8]> = letters.iter().map(|letters| letters.as_bytes()).collect();
    let names: Vec<&[u8]> = rows.iter().map(|(name, _)| name.as_bytes()).collect();
    let order: Vec<u32> = (0..rows.len() as u32).collect();
    run(&MsaRows { alignment: &alignment, names: &names, letters: &letters, order: &order, alphabet, confidence: None })
}

fn written(format: MsaFormat, rows: &MsaRows<'_>) -> (String, Vec<Renamed>) {
    let captured = CapturedBytes::default();
    let renamed = write(format, rows, Output::to_writer(captured.clone())).unwrap();
    (captured.text(), renamed)
}

fn text(format: MsaFormat, alphabet: Alphabet, rows: &[(&str, &str)]) -> String {
    with_rows(alphabet, rows, |rows| written(format, rows).0)
}

const fn phylip(is_interleaved: bool, is_strict: bool) -> MsaFormat {
    MsaFormat::Phylip { is_interleaved, is_strict }
}

/// Output of ClustalW 2.1 without its first line.
const PROTEINS: &str = "

name_of_twenty_one_chr      MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSG
x                           MKSAFIAKQRNISWVKSHFTRQLEDRLGMIEVQ-PILSKVGDGTQENLSG
y                           MKTVYLAKQRQVSHIKNHFSKELEERIGLIEVQAPLFSRVGDWTQDNLSG
                            **:.::****::* :*.**:::**:*:*:**** *::*:*** **:****

name_of_twenty_one_chr      AEKAVQVKVKALPDAQFEVVHSLAKWKR
x                           CEK-VQVKVK-LPDAQYEVVHSLAKWKR
y                           AEHAVQVRVK--PDAXFEVIHTLAKWKR
                            .*: ***:**  *** :**:*:******
";
const DNA: &str = "

a_very_long_name_of_more_than_      ACGTACGTTTGACANNNRYACGATCGATCGATCGATTTAGCGACGAGCAT
c_c                                 ACUUACGTTTGACANNNRYACGATCGATCT-TCGATTTAGCGACGAGCAT
b                                   ----ACGTACGTTGACAACACGATCGATCGAACGATTTAGCGACGAGCAT
                                        ****  *        **********   ******************

a_very_long_name_of_more_than_      ATATCGACGAGCGATCTAGCTAG------
c_c                                 ATATCGACGAGCGATCTAGCTAG------
b                                   ATATCGACGAGC-ATCTAGCTAGGGATAC
                                    ************ **********      
";

/// Returns the rows of a Clustal file.
fn rows_of(clustal: &str) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in clustal.lines().filter(|line| !line.is_empty() && !line.starts_with(' ')) {
        let (name, letters) = line.split_once(' ').unwrap();
        match rows.iter_mut().find(|row| row.0 == name) {
            Some(row) => row.1 += letters.trim(),
            None => rows.push((name.to_owned(), letters.trim().to_owned())),
        }
    }
    rows
}

#[test]
fn clustal_equals_clustalw_output() {
    for (alphabet, theirs) in [(Alphabet::Protein, PROTEINS), (Alphabet::Dna, DNA)] {
        let rows = rows_of(theirs);
        let rows: Vec<(&str, &str)> = rows.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let actual = text(MsaFormat::Clustal, alphabet, &rows);
        let (head, actual) = actual.split_once('\n').unwrap();
        assert!(head.starts_with("CLUSTAL ") && head.contains("pairwave"), "{head}");
        assert_eq!(actual, theirs);
    }
}

#[test]
fn clustal_blocks_depend_on_name_length() {
    let long = "A".repeat(61);
    let actual = text(MsaFormat::Clustal, Alphabet::Protein, &[("a", &long), ("a_b_c_d_e_f", &long.to_lowercase())]);
    let block = |letters: usize, ends: &str| {
        let (upper, stars) = ("A".repeat(letters), "*".repeat(letters));
        let lower = upper.to_lowercase();
        format!("\na{:16}{upper}\na_b_c_d_e_f      {lower}\n{:17}{stars}\n{ends}", "", "")
    };
    assert_eq!(actual.split_once('\n').unwrap().1, format!("\n{}{}", block(60, ""), block(1, "")));
}

const ROWS: [(&str, &str); 3] = [
    ("it's", "MKt--WYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAW"),
    ("#2", "MK----YVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTA--"),
    ("a_long_name", "-KTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAWYVMKTAAW"),
];

#[test]
fn rows_follow_each_format() {
    let [first, second, third] = ROWS.map(|row| row.1);
    let actual = |format| text(format, Alphabet::Protein, &ROWS);
    let lines = |text: &str| format!("{}\n{}\n", &text[..60], &text[60..]);
    assert_eq!(
        actual(MsaFormat::Fasta),
        format!(">it's\n{}>#2\n{}>a_long_name\n{}", lines(first), lines(second), lines(third))
    );
    assert_eq!(
        actual(phylip(false, false)),
        format!("3 70\nit_s         {first}\n#2           {second}\na_long_name  {third}\n")
    );
    assert_eq!(
        actual(phylip(false, true)),
        format!("3 70\nit_s      {first}\n#2        {second}\na_long_nam{third}\n")
    );
    let [a, b, c] = [first, second, third].map(|text| text.split_at(60));
    assert_eq!(
        actual(phylip(true, true)),
        format!("3 70\nit_s      {}\n#2        {}\na_long_nam{}\n\n {}\n {}\n {}\n", a.0, b.0, c.0, a.1, b.1, c.1)
    );
    assert_eq!(
        actual(MsaFormat::Stockholm),
        format!("# STOCKHOLM 1.0\n\nit's        {first}\n_2          {second}\na_long_name {third}\n//\n")
    );
    assert_eq!(
        actual(MsaFormat::Nexus),
        format!(
            "#NEXUS\n\nbegin data;\n  dimensions ntax=3 nchar=70;\n  format datatype=protein gap=- missing=?;\n  matrix\n\
             'it''s'     {first}\n#2          {second}\na_long_name {third}\n  ;\nend;\n"
        )
    );
    let rna = text(MsaFormat::Nexus, Alphabet::Dna, &[("a", "ACGu"), ("b", "AC-N")]);
    assert!(rna.contains("datatype=rna"), "{rna}");
}

/// The checksums are from ClustalW 2.1.
#[test]
fn msf_checksums_equal_gcg() {
    let rows = rows_of(PROTEINS);
    let rows: Vec<(&str, &str)> = rows.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let expected = "\
!!AA_MULTIPLE_ALIGNMENT 1.0

 MSF: 78  Type: P  Check: 9302  ..

 Name: name_of_twenty_one_chr  Len: 78  Check: 3745  Weight: 1.00
 Name: x                       Len: 78  Check: 2193  Weight: 1.00
 Name: y                       Len: 78  Check: 3364  Weight: 1.00

//

name_of_twenty_one_chr  MKTAYIAKQR QISFVKSHFS RQLEERLGLI EVQAPILSRV GDGTQDNLSG
x                       MKSAFIAKQR NISWVKSHFT RQLEDRLGMI EVQ.PILSKV GDGTQENLSG
y                       MKTVYLAKQR QVSHIKNHFS KELEERIGLI EVQAPLFSRV GDWTQDNLSG

name_of_twenty_one_chr  AEKAVQVKVK ALPDAQFEVV HSLAKWKR
x                       CEK.VQVKVK .LPDAQYEVV HSLAKWKR
y                       AEHAVQVRVK ..PDAXFEVI HTLAKWKR
";
    assert_eq!(text(MsaFormat::Msf, Alphabet::Protein, &rows), expected);
    assert!(text(MsaFormat::Msf, Alphabet::Dna, &[("a", "A-")]).starts_with("!!NA_"));
}

#[test]
fn rows_are_written_in_the_requested_order() {
    with_rows(Alphabet::Dna, &[("a", "AC-"), ("b", "-CG"), ("b", "A--")], |rows| {
        let (actual, renamed) = written(MsaFormat::Fasta, &MsaRows { order: &[2, 0, 1], ..*rows });
        assert_eq!(actual, ">b\nA--\n>a\nAC-\n>b_2\n-CG\n");
        assert_eq!(renamed.iter().map(|renamed| (renamed.row, renamed.why)).collect::<Vec<_>>(), [(1, Why::Taken)]);
        let (actual, _) = written(phylip(true, false), &MsaRows { order: &[1], ..*rows });
        assert_eq!(actual, "1 3\nb  -CG\n");
        for wrong in [
            MsaRows { order: &[3], ..*rows },
            MsaRows { names: &rows.names[1..], ..*rows },
            MsaRows { letters: &[b"AC", b"CG", b"AA"], ..*rows },
        ] {
            let problem = write(MsaFormat::Fasta, &wrong, Output::to_writer(CapturedBytes::default())).unwrap_err();
            assert!(matches!(problem, Error::Internal(_)), "{problem}");
        }
    });
}

#[test]
fn distances_are_written_square_or_lower() {
    let mut distances = Distances::new(3);
    distances.set(0, 1, 0.125);
    distances.set(0, 2, -0.5);
    distances.set(1, 2, 1.0 / 3.0);
    let names: [&[u8]; 3] = [b"a", b"b:c", b"name_of_thirteen"];
    let actual = |format, order: &[u32]| {
        let captured = CapturedBytes::default();
        let renamed = write_distances(format, &distances, &names, order, Output::to_writer(captured.clone())).unwrap();
        (captured.text(), renamed.len())
    };
    let square = "3
a                0.000000 0.125000 -0.500000
b_c              0.125000 0.000000 0.333333
name_of_thirteen -0.500000 0.333333 0.000000
";
    assert_eq!(actual(DistanceFormat::Phylip(DistanceMatrixShape::Square), &[0, 1, 2]), (square.to_owned(), 1));
    let lower = "2\nb_c       \na          0.125000\n";
    assert_eq!(actual(DistanceFormat::Phylip(DistanceMatrixShape::Lower), &[1, 0]), (lower.to_owned(), 1));
    let table = "name\tb:c\ta\nb:c\t0.000000\t0.125000\na\t0.125000\t0.000000\n";
    assert_eq!(actual(DistanceFormat::Tsv, &[1, 0]), (table.to_owned(), 0));
    distances.set(0, 1, f64::NAN);
    for (order, names) in [([0, 1], &names[..]), ([0, 3], &names[..]), ([1, 2], &names[1..])] {
        let output = Output::to_writer(CapturedBytes::default());
        assert!(write_distances(DistanceFormat::Tsv, &distances, names, &order, output).is_err());
    }
}

proptest! {
    #[test]
    fn written_alignments_round_trip(
        names in proptest::collection::vec("[ -~ä]{0,14}", 1..12),
        columns in 1usize..200,
        seed: u64,
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let gaps = random.f64();
        let rows: Vec<String> = names
            .iter()
            .map(|_| {
                let letter = |_| match random.f64() < gaps {
                    true => '-',
                    false => char::from(random.choice(b"ACDEFGHIKLMNPQRSTVWYacd").copied().unwrap()),
                };
                (0..columns).map(letter).collect()
            })
            .collect();
        let rows: Vec<(&str, &str)> = names.iter().zip(&rows).map(|(name, row)| (name.as_str(), row.as_str())).collect();
        for format in [MsaFormat::Fasta, MsaFormat::Stockholm, phylip(false, false), phylip(true, false)] {
            let (actual, renamed) = with_rows(Alphabet::Protein, &rows, |rows| written(format, rows));
            let back = AlignedRows::read_bytes("a", actual.as_bytes());
            prop_assert!(back.is_ok(), "{format:?}: {back:?}\n{actual}");
            let back = back.unwrap();
            let expected: Vec<&[u8]> = rows.iter().map(|row| row.1.as_bytes()).collect();
            prop_assert_eq!(&back.rows, &expected, "{:?}\n{}", format, actual);
            for (row, name) in names.iter().enumerate() {
                let changed = renamed.iter().find(|renamed| renamed.row as usize == row);
                prop_assert_eq!(&back.names[row], changed.map_or(name, |renamed| &renamed.written));
                prop_assert!(changed.is_none_or(|renamed| renamed.name == *name && renamed.written != *name));
            }
        }
    }
}
