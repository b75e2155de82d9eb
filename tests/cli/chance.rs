//! Warnings about local alignments that may be due to chance, and no warnings for other alignments.

use super::*;

const VIRUSES: [&str; 2] = ["assets/genomes/ON811099.fa.xz", "assets/genomes/ON811173.fa.xz"];
const PHAGE: &str = "assets/genomes/lambda.fa.xz";

/// Runs a command on the CPU. Returns its warnings.
fn warnings(arguments: &[&str]) -> Vec<String> {
    let run = pairwave(&[arguments, &["--device", "cpu"]].concat()).assert().success();
    let text = String::from_utf8(run.get_output().stderr.clone()).expect("text");
    text.lines().filter_map(|line| Some(line.strip_prefix("pairwave: warning: ")?.to_owned())).collect()
}

#[test]
fn unrelated_genomes_give_a_warning() {
    let arguments = ["long", VIRUSES[0], PHAGE];
    let said = warnings(&arguments);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("the score of ") && said[0].contains("that chance gives"), "{said:?}");
    pairwave(&[&arguments[..], &["--device", "cpu", "--quiet"]].concat()).assert().success().stderr("");
}

#[test]
fn related_sequences_give_no_warning() {
    assert_eq!(warnings(&["long", VIRUSES[0], VIRUSES[1]]), [""; 0]);
    // End-to-end alignments have no score by chance.
    let folder = folder();
    let short = file(&folder, "short.fa", ">a\nGATTACAGATTACAGATTACA\n");
    assert_eq!(warnings(&["long", "--mode", "global", &short, GENES, "--target-id", &first_gene()]), [""; 0]);
    assert_eq!(warnings(&["allpairs", "--mode", "local", GENES]), [""; 0]);
}

/// Returns the name of the first gene: its header up to the first blank.
fn first_gene() -> String {
    let text = std::fs::read_to_string(GENES).expect("it is there");
    text.lines().next().and_then(|line| line[1..].split_whitespace().next()).expect("a name").to_owned()
}

#[test]
fn scores_that_align_everything_give_one_warning() {
    for (costs, what) in [
        (&["--match", "5", "--mismatch", "-1"][..], "without a negative average"),
        (&["--scheme", "needle"], "gaps cost so little"),
    ] {
        let said = warnings(&[&["allpairs", "--mode", "local", GENES], costs].concat());
        assert!(said.len() == 1 && said[0].contains(what), "{said:?}");
        let said = warnings(&[&["long", VIRUSES[0], VIRUSES[1], "--score-only"], costs].concat());
        assert!(said.len() == 1 && said[0].contains(what), "{said:?}");
        // The warning concerns local alignments only.
        assert_eq!(warnings(&[&["allpairs", GENES], costs].concat()), [""; 0]);
    }
}
