//! Comparison with the output of ClustalW 2.1 for `-bootstrap=40 -seed=5`.

use super::*;
use crate::seq::PAD;
use crate::tree::tests::threads;
use crate::tree::{Correction, Distances, Labels, UnrootedTree, neighbour_joining};

const PROTEINS: [&str; 6] = [
    "RD-RTCHHDQI-VRLEDVCGPFYDVATDFYVIYCPMGVHTH-GAFVKCVD",
    "RQRR-LHWTTQGEHLNDVCIPRAYHATQCIVIEARRPWH-YLSTKCEQVS",
    "RDERTCHHDKIRVRLF-VC-PFYDIAWGFYVIYCPM-WHMMQGAFRKCVT",
    "RVRRTFLGWKIGEKLFGVCYPYYGFATDCCWIY-RMRWHTILTADRKQVD",
    "RLRR-WHGTDMGERLFDVCYERAYMATGCIHLYAR-RNHTKLSFKCEQVS",
    "RV-RTWHGTYYG-RKFDVC-DR-GYATDPCR-YAHPRWHTILSEDCKQQD",
];

/// Some letters stand for several bases.
const DNA: [&str; 6] = [
    "TCNCTTTCTTGTACG-GGTGNGGGACGGTGCCCACAGC--GCCGGTGTTGAGCGCAAGAC",
    "TGACCTG-ATGCGCTARAT-GGAGACGCTGCACAATGGGTGGAGTCATGTYAGGC-ATGC",
    "TCCCTTGCTCG-ACGCGG-AYGGGCCGGG-CCCACACCATGCCGG-GTCTAGCGCAAGGC",
    "GTGCTTRTA-GAAGGCGTCATCGGGAGTCGGCCTCACCTTGGACG-GTCCAGCGCAARNC",
    "TGTCGC-TAACNGGC-GTTAGCCTACRCC-CACAGAGGRTCGAG-TACCTAGGNCAYTGC",
    "TCCNTTGTR-RCG-GCGGTATCGAACGGCG-GT-CA-CTTGGAGGTARCCCGCRCAAGGC",
];

fn rows(alphabet: Alphabet, texts: &[&str]) -> Vec<Vec<Code>> {
    let row = |text: &&str| text.bytes().map(|letter| alphabet.encode(letter).unwrap_or(PAD)).collect();
    texts.iter().map(row).collect()
}

fn of_rows(alphabet: Alphabet, rows: &[Vec<Code>], comparison: RowComparison) -> UnrootedTree {
    let threads = threads();
    let (distances, _) = Distances::from_rows(alphabet, rows, comparison, TreeRun::new(&threads)).unwrap();
    neighbour_joining(distances, &threads)
}

fn text(alphabet: Alphabet, texts: &[&str], without_gaps: bool, labels: Labels) -> String {
    let rows = rows(alphabet, texts);
    let comparison = RowComparison { without_gaps, correction: Correction::Uncorrected };
    let tree = BuiltTree::Unrooted(of_rows(alphabet, &rows, comparison));
    let bootstrap = Bootstrap { trials: 40, seed: 5, comparison, ..Bootstrap::default() };
    let support = tree.support(alphabet, &rows, bootstrap, TreeRun::new(&threads())).unwrap();
    tree.labelled(&["s1", "s2", "s3", "s4", "s5", "s6"], &support, labels).to_string().replace('\n', "~")
}

#[test]
fn support_files_equal_clustalw_output() {
    let text = |alphabet, texts: &[&str], without_gaps| text(alphabet, texts, without_gaps, Labels::Branches);
    assert_eq!(
        text(Alphabet::Protein, &PROTEINS, false),
        "(~(~s1:0.09936,~s3:0.12791)~:0.24989[40],~(~(~s2:0.22538,~s5:0.15760)~:0.10663[40],~s6:0.21351)~:0.06206[35],~s4:0.17995);~"
    );
    assert_eq!(
        text(Alphabet::Protein, &PROTEINS, true),
        "(~(~(~s1:0.12500,~s3:0.11824)~:0.22128[40],~s4:0.21115)~:0.03885[23],~(~s2:0.22748,~s5:0.17793)~:0.11993[40],~s6:0.24493);~"
    );
    assert_eq!(
        text(Alphabet::Dna, &DNA, false),
        "(~(~(~s1:0.10899,~s3:0.06748)~:0.10157[38],~s4:0.21647)~:0.01408[13],~(~s2:0.20646,~s5:0.20658)~:0.16853[39],~s6:0.12892);~"
    );
    assert_eq!(
        text(Alphabet::Dna, &DNA, true),
        "(~(~(~s1:0.07124,~s3:0.05071)~:0.10300[39],~s4:0.19051)~:0.03132[24],~(~s2:0.18914,~s5:0.23191)~:0.18779[40],~s6:0.15724);~"
    );
}

#[test]
fn support_can_be_written_as_node_labels() {
    assert_eq!(
        text(Alphabet::Protein, &PROTEINS, false, Labels::Nodes),
        "(~(~s1:0.09936,~s3:0.12791)~40:0.24989,~(~(~s2:0.22538,~s5:0.15760)~40:0.10663,~s6:0.21351)~35:0.06206,~s4:0.17995)TRICHOTOMY;~"
    );
}

#[test]
fn no_rows_give_an_empty_tree() {
    let tree = of_rows(Alphabet::Dna, &[], RowComparison::default());
    assert_eq!((tree.leaves, tree.joins.len()), (0, 0));
}

#[test]
fn splits_exclude_the_first_leaf() {
    for leaves in [4u32, 63, 64, 65, 130] {
        let join = |children| crate::tree::Join { children, lengths: [0.0; 2] };
        let mut joins = vec![join([0, leaves - 1])];
        for leaf in 1..leaves - 3 {
            joins.push(join([leaves + leaf - 1, leaf]));
        }
        let tree = UnrootedTree { leaves: leaves as usize, joins, centre: vec![] };
        for (number, split) in (0..).zip(BuiltTree::Unrooted(tree).groups()) {
            // The first leaf and the last are in all groups, then leaf 1, 2 and so on.
            let has = |leaf: u32| split[leaf as usize / 64] >> (leaf % 64) & 1 == 1;
            let outside: Vec<u32> = (0..leaves).filter(|&leaf| has(leaf)).collect();
            assert_eq!(outside, (number + 1..leaves - 1).collect::<Vec<u32>>(), "{leaves} {number}");
            assert_eq!(split.iter().map(|word| word.count_ones()).sum::<u32>(), leaves - 2 - number, "{leaves}");
        }
    }
}
