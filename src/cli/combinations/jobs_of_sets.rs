//! Jobs of sets of sequences.

use super::case::{CommandCase, Idle, SetSize};

#[test]
fn options_of_papara_have_an_effect_or_are_rejected() {
    CommandCase {
        command: "papara",
        inputs: &["--tree @rows.nwk --reference @rows.fa --reads @reads.fa"],
        bases: &[""],
        items: &[
            "--alphabet protein",
            "--strand minus",
            "--strand both",
            "--gap-model cgap",
            "--cgap",
            "--cgap --fasta",
            "--scoring paper",
            "--parameters -2:-1:3:-1",
            "--match 4",
            "--mismatch -3",
            "--gap-open 0",
            "--gap-extend 3",
            "--gap-site 1",
            "--format phylip",
            "--keep-length",
            "--split",
            "--table @out/t.tsv",
            "--jplace @out/t.jplace",
            "--tree-out @out/t.nwk",
        ],
        idle: &[
            (
                "--alphabet protein",
                "--format phylip | --gap-extend 3 | --gap-model cgap | --cgap | --cgap --fasta | --gap-open 0 \
                 | --gap-site 1 | --jplace @out/t.jplace | --keep-length | --match 4 | --mismatch -3 | --parameters -2:-1:3:-1 | --scoring paper \
                 | --split | --tree-out @out/t.nwk",
                "the states of so few letters are the same",
            ),
            ("--gap-model cgap", "--gap-open 0", "it depends on the sequences"),
            ("--format phylip", "--cgap", "what the other option says or implies"),
            ("--cgap --fasta", "--gap-open 0", "it depends on the sequences"),
            ("--gap-open 0", "--strand both", "it depends on the sequences"),
            ("--gap-site 1", "--gap-model cgap | --cgap | --cgap --fasta | --gap-open 0 | --strand minus", "it depends on the sequences"),
            ("--mismatch -3", "--scoring paper", "it depends on the sequences"),
            ("--parameters -2:-1:3:-1", "--strand both", "it depends on the sequences"),
            ("--alphabet", "--alphabet", "the states of so few letters are the same"),
        ],
    }
    .check();
}

#[test]
fn options_of_tree_have_an_effect_or_are_rejected() {
    CommandCase {
        command: "tree",
        inputs: &["@a.fa", "@p.fa", "@gapped.fa", "@rows.fa"],
        bases: &["", "--aligned", "--aligned --bootstrap 9", "--aligned --model jc69"],
        items: &[
            "--alphabet protein",
            "--degap",
            "--aligned",
            "--no-gap-columns",
            "--kimura",
            "--model k80",
            "--model gtr",
            "--model lg",
            "--gamma 0.3",
            "--distance identity",
            "--distance edit",
            "--distance kmer",
            "--tree bionj",
            "--tree bme",
            "--tree upgma",
            "--tree mbed",
            "--pair-matrix blosum",
            "--pair-matrix clustalw",
            "--pair-gap-open 3",
            "--pair-gap-extend 3",
            "--bootstrap 9",
            "--seed 3",
            "--labels branches",
            "--plot @out/p.svg",
        ],
        idle: &[
            ("--alphabet", "--alphabet", "columns are compared letter by letter"),
            ("--tree bionj", "--distance kmer", "it depends on the sequences"),
            ("--degap", "--pair-matrix blosum", "what the other option says or implies"),
            ("--alphabet", "--aligned", "columns are compared letter by letter"),
        ],
    }
    .check();
}

#[test]
fn options_of_dist_have_an_effect_or_are_rejected() {
    CommandCase {
        command: "dist",
        inputs: &["@a.fa", "@p.fa", "@gapped.fa", "@rows.fa"],
        bases: &["", "--aligned", "--aligned --model jc69"],
        items: &[
            "--alphabet protein",
            "--degap",
            "--aligned",
            "--no-gap-columns",
            "--kimura",
            "--model k80",
            "--model gtr",
            "--model lg",
            "--gamma 0.3",
            "--distance identity",
            "--distance edit",
            "--distance kmer",
            "--pair-matrix blosum",
            "--pair-matrix clustalw",
            "--pair-gap-open 3",
            "--pair-gap-extend 3",
            "--format clustal",
            "--format tsv",
            "--matrix-shape lower",
            "--plot @out/p.svg",
        ],
        idle: &[
            ("--alphabet", "--alphabet", "columns are compared letter by letter"),
            ("--degap", "--pair-matrix blosum", "what the other option says or implies"),
            ("--alphabet", "--aligned", "columns are compared letter by letter"),
        ],
    }
    .check();
}

/// Options of `pairwave msa` that may have no effect.
const MSA_IDLE: &[Idle] = &[
    (
        "--delay 90",
        "--distance kmer | --gap-distance 9 | --guidetree-in @guide.nwk | --guidetree-in @p.nwk \
         | --hydrophilic none | --matrix pam | --no-residue-gaps | --pair-matrix blosum \
         | --tree mbed",
        "it depends on the sequences",
    ),
    ("--gap-distance 9", "--gap-extend 3 | --matrix pam | --negative", "it depends on the sequences"),
    ("--gap-extend 3", "--matrix clustalw", "it depends on the sequences"),
    (
        "--hydrophilic none",
        "--distance identity | --distance kmer | --gap-distance 9 | --gap-extend 3 \
         | --guidetree-in @p.nwk | --no-residue-gaps | --no-weights | --pair-gap-open 3 \
         | --pair-matrix blosum | --tree mbed",
        "it depends on the sequences",
    ),
    (
        "--iterate alignment",
        "--distance kmer | --gap-extend 3 | --guidetree-in @guide.nwk | --guidetree-in @p.nwk | --tree mbed",
        "it depends on the sequences",
    ),
    ("--negative", "--matrix clustalw", "it depends on the sequences"),
    ("--no-residue-gaps", "--gap-extend 3 | --matrix pam", "it depends on the sequences"),
    (
        "--no-weights",
        "--guidetree-in @guide.nwk | --guidetree-in @p.nwk | --matrix clustalw | --matrix pam | --negative",
        "it depends on the sequences",
    ),
    ("--order tree", "--guidetree-in @guide.nwk | --guidetree-in @p.nwk", "it depends on the sequences"),
    (
        "--pair-gap-extend 3",
        "--alphabet protein | --gap-distance 9 | --hydrophilic none | --matrix pam | --no-residue-gaps",
        "it depends on the sequences",
    ),
    ("--pair-matrix clustalw", "--pair-gap-extend 3", "it depends on the sequences"),
    ("--tree upgma", "--distance kmer", "it depends on the sequences"),
    ("--distance clustal", "--distance clustal", "what the other option says or implies"),
    ("--alphabet", "--guidetree-in @p.nwk", "what the other option says or implies"),
    ("--degap", "--guidetree-in @p.nwk", "what the other option says or implies"),
    ("--degap", "--matrix pam", "what the other option says or implies"),
    ("--degap", "--pair-matrix blosum", "what the other option says or implies"),
    ("--distance clustal", "--tree upgma", "it depends on the sequences"),
    ("--distance clustal", "--mode clustalw", "what the other option says or implies"),
];

#[test]
fn options_of_msa_have_an_effect_or_are_rejected() {
    // The default mode takes longer, while some options of the other mode have an effect on larger sets only.
    msa_case(&[""]).check_with(SetSize::Five);
    msa_case(&["--mode clustalw"]).check_with(SetSize::Full);
}

/// Returns the options of `pairwave msa` next to some options.
fn msa_case(bases: &'static [&'static str]) -> CommandCase {
    CommandCase {
        command: "msa",
        inputs: &[
            "@a.fa",
            "@p.fa",
            "@gapped.fa",
            "@gappedp.fa",
            "@a.fa --mask 0.3",
            "--add @gapped.fa --to @aligned.fa --keep-length",
            "--profile @aligned.fa @rows.fa",
        ],
        bases,
        items: &[
            "--alphabet protein",
            "--degap",
            "--mode clustalw",
            "--distance identity",
            "--distance edit",
            "--distance kmer",
            "--distance clustal",
            "--tree upgma",
            "--tree mbed",
            "--guidetree-in @guide.nwk",
            "--guidetree-in @p.nwk",
            "--guidetree-out @out/t.dnd",
            "--distmat-out @out/d.phy",
            "--pair-matrix blosum",
            "--pair-matrix clustalw",
            "--pair-gap-open 3",
            "--pair-gap-extend 3",
            "--matrix pam",
            "--matrix clustalw",
            "--gap-open 2",
            "--gap-extend 3",
            "--transition-weight 0.1",
            "--gap-distance 9",
            "--hydrophilic none",
            "--no-residue-gaps",
            "--delay 90",
            "--negative",
            "--no-weights",
            "--iterate tree",
            "--iterate alignment",
            "--consistency 0",
            "--refinements 0",
            "--format clustal",
            "--format phylip",
            "--format stockholm",
            "--format msf",
            "--format nexus",
            "--order tree",
            "--report @out/r.html",
        ],
        idle: MSA_IDLE,
    }
}
