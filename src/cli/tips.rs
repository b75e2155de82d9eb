//! What to type instead: options of other tools, by what they are called here.

use std::ffi::{OsStr, OsString};

/// Flags of one letter that take no value, and so may be typed together.
const FLAGS: &str = "qvhV";

/// What is said of the options of vsearch, BLAST, EMBOSS, MMseqs2, parasail, edlib and minimap2: their names without dashes
/// and with hyphens, and what stands for them here; of some commands, or of all.
const FOREIGN: &[(&[&str], &str, &[&str])] = &[
    (&["id", "min-seq-id", "perc-identity", "min-id"], "here it is --min-identity FRACTION", &["allpairs"]),
    (&["id", "min-seq-id", "perc-identity"], "here it is --max-distance RATE: 0.03 for 97%", &["edit"]),
    (&["k", "max-dist", "maxdist", "max-edits"], "here it is --max-distance EDITS", &["edit"]),
    (
        &["uc", "centroids", "clusters", "clusterout-id", "cluster-fast", "cluster-size", "cluster-smallmem"],
        "pairwave forms no clusters: allpairs with --min-identity writes the pairs that reach an identity",
        &[],
    ),
    (&["allpairs-global", "usearch-global"], "here it is 'pairwave allpairs SEQS' or 'pairwave allpairs A B'", &[]),
    (&["acceptall"], "every pair is written unless --min-identity or --min-score says otherwise", &["allpairs"]),
    (
        &["id", "min-identity", "min-score", "max-hits", "max-target-seqs"],
        "every listed pair is written: allpairs selects some",
        &["pairs"],
    ),
    (
        &["gapopen", "gap-open-cost", "gop", "open"],
        "here it is --gap-open OPEN: a gap of k symbols costs OPEN + k * EXTEND",
        &[],
    ),
    (
        &["gapextend", "gapext", "gep", "extend"],
        "here it is --gap-extend EXTEND: a gap of k symbols costs OPEN + k * EXTEND",
        &[],
    ),
    (&["reward"], "here it is --match SCORE", &[]),
    (&["penalty"], "here it is --mismatch SCORE", &[]),
    (&["datafile", "sub-mat", "scorematrix"], "here it is --matrix NAME", &[]),
    (
        &["evalue", "e-value", "max-evalue"],
        "E-values are not computed: --min-score selects by score",
        &["allpairs", "long"],
    ),
    (
        &["outfmt", "format-mode", "aformat"],
        "here it is --format; what '-outfmt 6' writes is --format blast6",
        &["allpairs", "pairs", "long"],
    ),
    (&["outfmt", "format-mode"], "here it is --format", &["edit"]),
    (
        &["userfields", "format-output", "outfields", "columns"],
        "here it is --fields LIST; --fields help lists them",
        &[],
    ),
    (&["blast6out"], "here it is --format blast6 --output FILE", &["allpairs", "pairs", "long"]),
    (&["userout", "out", "outfile", "outseq", "o-file"], "here it is --output FILE", &[]),
    (
        &["max-target-seqs", "maxaccepts", "maxhits", "max-seqs", "max-accept", "num-alignments"],
        "here it is --max-hits N",
        &["allpairs", "edit"],
    ),
    (&["max-target-seqs", "maxhits", "max-hits"], "here it is --top N", &["long"]),
    (&["num-threads", "nthreads", "cpu", "cpus", "jobs"], "here it is --threads N", &[]),
    (
        &["query", "subject", "db", "target", "asequence", "bsequence", "in", "input", "q", "i"],
        "the files are named without an option",
        &["allpairs", "pairs", "edit", "long"],
    ),
    (&["query", "queries", "i", "in", "input"], "here it is --reads FILE", &["papara"]),
    (&["ref-msa", "msa", "ref", "alignment"], "here it is --reference FILE", &["papara"]),
    (&["c", "cgap"], "here it is --gap-model cgap", &["papara"]),
    (&["f", "fasta"], "here it is --format fasta, which is the default", &["papara"]),
    (&["n", "run-name"], "here it is --output FILE", &["papara"]),
    (&["jplace"], "no placements are computed: EPA-ng and pplacer read the alignment that is written", &["papara"]),
    (
        &["comp-based-stats", "seg", "dust", "soft-masking"],
        "nothing is masked, and composition changes no score: as with '-comp_based_stats 0', '-seg no' and '-dust no'",
        &["search"],
    ),
    (
        &["word-size", "s", "sensitivity", "sensitive", "threshold", "max-hsps"],
        "every query is aligned with every sequence: there are no seeds, and one alignment a pair",
        &["search"],
    ),
    (&["sw", "nw", "local", "global"], "here it is --mode", &["allpairs", "pairs", "edit", "long"]),
];

/// What to type instead of an option that there is not, in one of the program's commands.
pub(super) fn instead(command: Option<&str>, option: &str) -> Option<&'static str> {
    let name = option.trim_start_matches('-').split('=').next().unwrap_or_default();
    let name = name.to_ascii_lowercase().replace('_', "-");
    let suits = |commands: &[&str]| commands.is_empty() || command.is_some_and(|command| commands.contains(&command));
    let found = FOREIGN.iter().find(|(names, _, commands)| names.contains(&&*name) && suits(commands));
    found.map(|(_, advice, _)| *advice)
}

/// The command that was typed, of these.
pub(super) fn command(typed: &[OsString], commands: impl Fn(&str) -> bool) -> Option<&str> {
    typed.iter().skip(1).filter_map(|word| word.to_str()).find(|word| commands(word))
}

/// A word after a single dash, which would be taken for an option of one letter with its value: `-out` for `-o ut`.
pub(super) fn word_after_one_dash(typed: &[OsString]) -> Option<&str> {
    let options = typed.iter().skip(1).take_while(|word| word.as_os_str() != OsStr::new("--"));
    options.filter_map(|word| word.to_str()).find(|word| {
        let Some(letters) = word.strip_prefix('-') else { return false };
        let name = letters.split('=').next().unwrap_or_default();
        let is_word =
            name.len() > 1 && name.chars().all(|letter| letter.is_ascii_alphabetic() || "-_".contains(letter));
        is_word && !letters.starts_with('-') && !name.chars().all(|letter| FLAGS.contains(letter))
    })
}

/// clap's message and tips without its lines on usage and help, and without its advice to take an option for a value.
pub(super) fn one_line(text: &str) -> String {
    let is_message = |line: &&str| !line.starts_with("Usage:") && !line.starts_with("For more information");
    let mut message = String::new();
    for line in text.strip_prefix("error: ").unwrap_or(text).lines().map(str::trim).take_while(is_message) {
        if line.starts_with("tip: to pass '") {
            continue;
        }
        let joint = if line.starts_with("tip:") { "; " } else { " " };
        message.push_str(if line.is_empty() || message.is_empty() { "" } else { joint });
        message.push_str(line);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_other_tools_are_told_by_their_names_here() {
        for (command, option, expected) in [
            ("allpairs", "--id", "--min-identity"),
            ("edit", "--id", "--max-distance"),
            ("allpairs", "-max_target_seqs", "--max-hits"),
            ("long", "-max_target_seqs", "--top"),
            ("allpairs", "--gapopen=10", "--gap-open"),
            ("allpairs", "--userfields", "--fields"),
            ("pairs", "--min-identity", "allpairs selects"),
            ("search", "-seg", "nothing is masked"),
            ("papara", "-c", "--gap-model"),
            ("papara", "--query", "--reads"),
        ] {
            assert!(instead(Some(command), option).is_some_and(|advice| advice.contains(expected)), "{option}");
        }
        assert_eq!(instead(Some("long"), "--uc"), instead(None, "--UC"));
        assert_eq!(instead(Some("allpairs"), "--nonsense"), None);
    }

    #[test]
    fn a_name_has_one_answer_in_a_command() {
        for command in ["allpairs", "search", "pairs", "edit", "long", "papara"] {
            let here = |commands: &&[&str]| commands.is_empty() || commands.contains(&command);
            let entries = FOREIGN.iter().filter(|(_, _, commands)| here(commands));
            let mut names: Vec<&str> = entries.flat_map(|(names, ..)| names.iter().copied()).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{command}");
        }
    }

    #[test]
    fn words_after_one_dash_are_not_taken_apart() {
        let found = |line: &str| {
            let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            word_after_one_dash(&typed).map(str::to_owned)
        };
        assert_eq!(found("pairwave allpairs a.fa -out b.tsv").as_deref(), Some("-out"));
        assert_eq!(found("pairwave allpairs a.fa -max_target_seqs 3").as_deref(), Some("-max_target_seqs"));
        for fine in ["-o pairs.tsv", "-opairs.tsv", "-t4", "-qv", "--mismatch -4", "-- -out", "-"] {
            assert_eq!(found(&format!("pairwave allpairs a.fa {fine}")), None, "{fine}");
        }
    }
}
