//! Advice on wrong command lines: options, values and commands of other programs by their names here, and numbers that were
//! written in another way.

use std::ffi::{OsStr, OsString};

/// Flags of one letter that take no value, and so may be typed together.
const FLAGS: &str = "qvhV";

/// Names that other programs give to something, the advice, and the commands that it is for (all if none is named).
pub(super) type Entry = (&'static [&'static str], &'static str, &'static [&'static str]);

/// Commands that align sequences with each other one pair at a time.
const OF_PAIRS: &[&str] = &["allpairs", "pairs", "long"];
/// Commands around multiple alignments.
const OF_SETS: &[&str] = &["msa", "tree", "dist"];
/// Commands whose output replaces an existing file.
const WRITING: &[&str] = &[
    "allpairs", "search", "pairs", "edit", "long", "papara", "msa", "tree", "dist", "merge", "makedb", "dbinfo",
    "bench",
];

/// Options of vsearch, BLAST, EMBOSS, MMseqs2, parasail, edlib, minimap2, PaPaRa, ClustalW, Clustal Omega, MAFFT and MUSCLE: their
/// names without dashes, in lower case and with hyphens. Advice is given only where the options that it names exist.
pub(super) const FOREIGN: &[Entry] = &[
    (&["id", "min-seq-id", "perc-identity", "min-id", "pident"], "here it is --min-identity FRACTION", &["allpairs"]),
    (&["min-seq-id", "perc-identity", "min-id", "pident"], "here it is --min-identity FRACTION", &["search"]),
    (&["id", "min-seq-id", "perc-identity", "min-identity"], "here it is --max-distance RATE: 0.03 for 97%", &["edit"]),
    (&["k", "max-dist", "maxdist", "max-edits"], "here it is --max-distance EDITS", &["edit"]),
    (&["n", "max-target-seqs"], "here it is --max-hits N", &["edit"]),
    (&["m"], "here it is --mode: 'infix' for HW, 'prefix' for SHW, 'global' for NW", &["edit"]),
    (&["p"], "here it is --align", &["edit"]),
    (&["f"], "here it is --format", &["edit"]),
    (
        &["uc", "centroids", "clusters", "clusterout-id", "cluster-fast", "cluster-size", "cluster-smallmem"],
        "pairwave forms no clusters: 'pairwave allpairs SEQS --min-identity FRACTION' writes the pairs that reach an identity",
        &[],
    ),
    (&["allpairs-global", "usearch-global"], "here it is 'pairwave allpairs SEQS' or 'pairwave allpairs A B'", &[]),
    (&["acceptall"], "every pair is written unless --min-identity or --min-score selects some", &["allpairs"]),
    (
        &["id", "min-identity", "min-score", "max-hits", "max-target-seqs"],
        "every listed pair is written: 'pairwave allpairs A B' can select some",
        &["pairs"],
    ),
    (
        &["gapopen", "gap-open-cost", "gop", "open"],
        "here it is --gap-open OPEN: a gap of k symbols costs OPEN + k * EXTEND",
        &["allpairs", "pairs", "long", "search", "papara"],
    ),
    (
        &["gapextend", "gapext", "gep", "extend"],
        "here it is --gap-extend EXTEND: a gap of k symbols costs OPEN + k * EXTEND",
        &["allpairs", "pairs", "long", "search", "papara"],
    ),
    (&["gapopen", "gop", "op"], "here it is --gap-open COST, with --mode clustalw", &["msa"]),
    (&["gapextend", "gapext", "gep", "ep", "exp"], "here it is --gap-extend COST, with --mode clustalw", &["msa"]),
    (&["endopen"], "here it is --end-gap-open OPEN", &["allpairs", "pairs"]),
    (&["endextend"], "here it is --end-gap-extend EXTEND", &["allpairs", "pairs"]),
    (&["endweight"], "here it is --end-gap-open OPEN and --end-gap-extend EXTEND", &["allpairs", "pairs"]),
    (&["reward"], "here it is --match SCORE", &["allpairs", "pairs", "long", "papara"]),
    (&["penalty"], "here it is --mismatch SCORE", &["allpairs", "pairs", "long", "papara"]),
    (&["datafile", "sub-mat", "scorematrix"], "here it is --matrix NAME", &["allpairs", "search", "pairs", "long"]),
    (
        &["evalue", "e-value", "max-evalue"],
        "E-values are not computed: --min-score selects by score",
        &["allpairs", "long"],
    ),
    (&["evalue", "e-value", "e"], "E-values are computed by 'pairwave search A B --evalue EVALUE'", &["pairs", "edit"]),
    (
        &["outfmt", "format-mode", "aformat", "m"],
        "here it is --format; what '-outfmt 6' writes is --format blast6",
        &["allpairs", "pairs"],
    ),
    (&["outfmt", "format-mode", "out-format", "aformat"], "here it is --format", &["edit", "long", "dist", "papara"]),
    (&["outfmt", "out-format", "format-mode"], "here it is --format FORMAT: 'clustal' for clu", &["msa"]),
    (
        &["userfields", "format-output", "outfields", "columns"],
        "here it is --fields LIST; --fields help lists them",
        &["allpairs", "search", "pairs", "edit", "long"],
    ),
    (&["blast6out"], "here it is --format blast6 --output FILE", &["allpairs", "search", "pairs"]),
    (&["samout"], "here it is --format sam --output FILE", &["allpairs", "search", "pairs", "long"]),
    (&["alnout"], "here it is --format text --output FILE", OF_PAIRS),
    (
        &["fastapairs"],
        "here it is --fields query,target,query_row,target_row",
        &["allpairs", "search", "pairs", "long"],
    ),
    (
        &["matched", "notmatched", "dbmatched", "dbnotmatched"],
        "hits are written, not sequences",
        &["allpairs", "search"],
    ),
    (&["userout", "out", "outfile", "outseq", "o-file", "out-file"], "here it is --output FILE", &[]),
    (&["force", "overwrite", "clobber"], "an existing output is replaced in any case: leave it out", WRITING),
    (
        &["force", "overwrite", "clobber"],
        "a directory of blocks is never replaced: remove it, or name another",
        &["plan"],
    ),
    (
        &["max-target-seqs", "maxaccepts", "maxhits", "max-seqs", "max-accept", "num-alignments"],
        "here it is --max-hits N",
        &["allpairs"],
    ),
    (
        &["num-alignments", "num-descriptions", "maxaccepts", "maxhits", "max-seqs", "max-accept"],
        "here it is --max-target-seqs N",
        &["search"],
    ),
    (&["maxrejects"], "every sequence is compared: leave it out", &["allpairs", "search"]),
    (&["query-cov", "qcov", "qcov-hsp-perc"], "here it is --query-cover FRACTION", &["search"]),
    (&["max-target-seqs", "maxhits", "max-hits"], "here it is --top N", &["long"]),
    (&["num-threads", "nthreads", "cpu", "cpus", "jobs", "ncpu", "nproc"], "here it is --threads N", &[]),
    (&["gpu", "gpus", "cuda"], "here it is --device; 'pairwave devices' lists what there is", &[]),
    (&["no-gpu", "nogpu", "cpu-only"], "here it is --device cpu", &[]),
    (&["mem", "max-memory", "memory-limit", "ram", "maxmemory"], "here it is --memory SIZE", &[]),
    (&["tmpdir", "tmp-dir", "tempdir", "temp-dir", "tmp"], "set the environment variable TMPDIR instead", &[]),
    (
        &["resume", "restart", "continue"],
        "here it is --checkpoint, with the name of the earlier run",
        &["long", "papara"],
    ),
    (&["licence", "license", "copying"], "pairwave may be used under the MIT or the Apache 2.0 licence", &[]),
    (&["cite"], "here it is 'pairwave --citation'", &[]),
    (
        &["query", "subject", "db", "target", "asequence", "bsequence", "in", "input", "q", "i", "infile"],
        "the files are named without an option",
        &["allpairs", "pairs", "edit", "long"],
    ),
    (&["subject", "subjects", "target"], "here it is --db FILE, or the second file without an option", &["search"]),
    (
        &["in", "input", "i", "infile", "sequence"],
        "the file is named without an option",
        &["msa", "tree", "dist", "makedb"],
    ),
    (&["type", "seqtype", "dbtype"], "here it is --alphabet: 'dna', 'rna' or 'protein'", &[]),
    (&["amino", "protein", "prot"], "here it is --alphabet protein", &[]),
    (&["nuc", "dna", "nucl"], "here it is --alphabet dna", &[]),
    (&["dealign"], "here it is --degap", &[]),
    (&["query", "queries", "i", "in", "input"], "here it is --reads FILE", &["papara"]),
    (&["ref-msa", "msa", "ref", "alignment"], "here it is --reference FILE", &["papara"]),
    (&["c", "cgap"], "here it is --gap-model cgap", &["papara"]),
    (&["f", "fasta"], "here it is --format fasta, which is the default", &["papara"]),
    (&["n", "run-name"], "here it is --output FILE", &["papara"]),
    (&["jplace"], "no placements are computed: EPA-ng and pplacer read the alignment that is written", &["papara"]),
    (
        &["comp-based-stats", "seg", "dust", "soft-masking", "lcase-masking", "qmask", "dbmask", "hardmask"],
        "nothing is masked, and composition changes no score: as with '-comp_based_stats 0', '-seg no' and '-dust no'",
        &["search"],
    ),
    (&["qmask", "dbmask", "hardmask"], "nothing is masked: leave it out", &["allpairs"]),
    (
        &[
            "word-size",
            "s",
            "sensitivity",
            "sensitive",
            "threshold",
            "max-hsps",
            "window-size",
            "xdrop-ungap",
            "xdrop-gap",
            "xdrop-gap-final",
            "culling-limit",
            "wordlength",
            "minwordmatches",
        ],
        "every query is aligned with every sequence: there are no seeds, and one alignment a pair",
        &["search"],
    ),
    (&["task"], "here it is --scheme NAME; --scheme help lists them", &["search"]),
    (&["html"], "here it is --report FILE", &["search", "msa"]),
    (
        &["gilist", "seqidlist", "taxids", "taxidlist", "negative-gilist", "negative-seqidlist", "entrez-query"],
        "all of the database is searched: make one of the sequences that you want",
        &["search"],
    ),
    (&["remote"], "everything is computed on this machine: leave it out", &["search"]),
    (&["ungapped"], "alignments may have gaps in any case", &["search"]),
    (
        &["parse-seqids", "hash-index", "title"],
        "names and descriptions are kept in any case: leave it out",
        &["makedb"],
    ),
    (&["sw", "local"], "here it is --mode local", &["allpairs", "pairs", "long"]),
    (&["nw", "global"], "here it is --mode global", &["allpairs", "pairs", "edit", "long"]),
    (&["a"], "here it is --format sam", &["long"]),
    (&["c", "cs", "eqx"], "CIGARs are written by --format paf in any case", &["long"]),
    (
        &["x", "ax", "preset"],
        "there are no presets: --match, --mismatch, --gap-open and --gap-extend set the scores",
        &["long"],
    ),
    (&["output"], "-output of ClustalW is --format FORMAT here; --output FILE names the file", &["msa"]),
    (&["clustalout", "clw"], "here it is --format clustal", &["msa"]),
    (&["phylipout"], "here it is --format phylip", &["msa"]),
    (&["align", "auto"], "sequences are aligned in any case: leave it out", &["msa"]),
    (
        &["localpair", "globalpair", "genafpair", "linsi", "ginsi", "einsi"],
        "the default, --mode accurate, is for such alignments: leave it out",
        &["msa"],
    ),
    (&["maxiterate", "iter", "iters", "iterations"], "here it is --refinements N", &["msa"]),
    (&["iteration", "numiter"], "here it is --mode clustalw --iterate alignment", &["msa"]),
    (
        &["parttree", "dpparttree", "fastaparttree", "retree", "fftns", "super5"],
        "the fastest is --mode clustalw --tree mbed",
        &["msa"],
    ),
    (&["quicktree"], "here it is --mode clustalw --distance kmer", &["msa"]),
    (&["reorder"], "here it is --order tree", &["msa"]),
    (&["inputorder"], "here it is --order input, which is the default", &["msa"]),
    (&["outorder"], "here it is --order: 'input' or 'tree'", &["msa"]),
    (&["bl", "jtt", "tm", "aamatrix", "dnamatrix"], "here it is --mode clustalw --matrix NAME", &["msa"]),
    (&["treeout", "newtree", "newtree1"], "here it is --guidetree-out FILE", &["msa"]),
    (&["treein", "usetree"], "here it is --guidetree-in FILE", &["msa"]),
    (
        &[
            "add",
            "addfragments",
            "addprofile",
            "addfull",
            "merge",
            "profile",
            "profile1",
            "profile2",
            "p1",
            "p2",
            "seed",
        ],
        "alignments are not added to: give all sequences in one file, with --degap",
        &["msa"],
    ),
    (&["pwmatrix", "pwdnamatrix"], "here it is --pair-matrix NAME, with --distance clustal", OF_SETS),
    (&["pwgapopen"], "here it is --pair-gap-open COST, with --distance clustal", OF_SETS),
    (&["pwgapext"], "here it is --pair-gap-extend COST, with --distance clustal", OF_SETS),
    (&["gapdist"], "here it is --gap-distance COLUMNS, with --mode clustalw", &["msa"]),
    (&["hgapresidues"], "here it is --hydrophilic LETTERS, with --mode clustalw", &["msa"]),
    (&["nohgap"], "here it is --hydrophilic none, with --mode clustalw", &["msa"]),
    (&["nopgap"], "here it is --no-residue-gaps, with --mode clustalw", &["msa"]),
    (&["maxdiv"], "here it is --delay PERCENT, with --mode clustalw", &["msa"]),
    (&["transweight"], "here it is --transition-weight SHARE, with --mode clustalw", &["msa"]),
    (&["noweights"], "here it is --no-weights, with --mode clustalw", &["msa"]),
    (&["bootstrap", "boot"], "here it is 'pairwave tree ALIGNMENT --aligned --bootstrap N'", &["msa"]),
    (&["boot", "bs", "bb"], "here it is --bootstrap N, with --aligned", &["tree"]),
    (&["bootlabels"], "here it is --labels: 'nodes' or 'branches'", &["tree"]),
    (&["outputtree"], "the tree is Newick; 'pairwave dist SEQS' writes the distances", &["tree"]),
    (&["nj"], "here it is --tree nj", &["msa", "tree"]),
    (&["upgma"], "here it is --tree upgma", &["msa", "tree"]),
];

/// Values of options that other programs have: the option, the values, the advice, and the commands that it is for.
pub(super) const VALUES: &[(&str, Entry)] = &[
    (
        "format",
        (
            &["fasta", "fa"],
            "aligned letters are --fields query,target,query_row,target_row",
            &["allpairs", "search", "pairs", "long"],
        ),
    ),
    ("format", (&["csv"], "tables are --format tsv", &["allpairs", "search", "pairs", "edit", "long", "dist"])),
    ("format", (&["6"], "here it is --format blast6", &["allpairs", "search", "pairs"])),
    ("format", (&["7"], "here it is --format blast7", &["search"])),
    ("format", (&["0"], "here it is --format blast0", &["search"])),
    ("format", (&["0", "aln", "clustal", "needle", "water"], "here it is --format text", OF_PAIRS)),
    ("format", (&["matrix", "square", "lower", "dist"], "here it is --format phylip", &["allpairs", "dist"])),
    (
        "format",
        (
            &["bam"],
            "here it is --format sam: 'samtools view' makes BAM of it",
            &["allpairs", "search", "pairs", "long"],
        ),
    ),
    ("format", (&["svg", "png"], "here it is --plot FILE", &["long", "bench"])),
    ("format", (&["html"], "here it is --report FILE", &["search", "msa"])),
    ("alphabet", (&["nucl", "nuc", "nt", "nucleotide", "nucleotides", "dna5"], "here it is --alphabet dna", &[])),
    ("alphabet", (&["prot", "aa", "amino", "proteins", "peptide"], "here it is --alphabet protein", &[])),
    (
        "mode",
        (&["infix", "hw", "prefix", "shw"], "parts of texts are found by 'pairwave edit A B --mode infix'", OF_PAIRS),
    ),
    ("mode", (&["local", "sw"], "here it is --mode infix: the pattern as a whole in a part of the text", &["edit"])),
    ("mode", (&["auto", "linsi", "ginsi", "einsi", "fast"], "here it is --mode accurate", &["msa"])),
];

/// Commands of other programs, and other words in place of a command.
pub(super) const COMMANDS: &[(&[&str], &str)] = &[
    (&["version"], "'pairwave --version'"),
    (&["cite", "citation"], "'pairwave --citation'"),
    (
        &["blastn", "blastp", "blast", "ssearch", "ssearch36", "swipe", "diamond", "mmseqs", "blastall"],
        "'pairwave search QUERIES DB'",
    ),
    (&["makeblastdb", "formatdb", "createdb", "index"], "'pairwave makedb SEQS -o NAME.pwdb'"),
    (&["blastdbcmd"], "'pairwave dbinfo DB'"),
    (&["needle", "water", "align", "parasail", "needleall", "stretcher"], "'pairwave pairs A B'"),
    (&["vsearch", "usearch", "allpairs-global"], "'pairwave allpairs SEQS'"),
    (&["edlib", "edlib-aligner", "agrep"], "'pairwave edit PATTERNS TEXTS'"),
    (&["nucmer", "minimap2", "mummer", "lastz", "dotplot", "mummerplot"], "'pairwave long QUERY TARGET'"),
    (
        &["clustalw", "clustalw2", "clustalo", "clustal", "mafft", "muscle", "tcoffee", "probcons"],
        "'pairwave msa SEQS'",
    ),
    (&["nj", "upgma", "fasttree", "phylogeny"], "'pairwave tree SEQS'"),
    (&["distmat", "matrix", "distance", "distances"], "'pairwave dist SEQS'"),
    (&["place", "placement", "epa", "epa-ng", "pplacer"], "'pairwave papara -t TREE -s REFERENCE -q READS'"),
    (&["mpirun"], "'mpirun -n RANKS pairwave mpi JOB'"),
];

fn suits(commands: &[&str], command: Option<&str>) -> bool {
    commands.is_empty() || command.is_some_and(|command| commands.contains(&command))
}

/// The options that an advice names outside of quoted commands.
pub(super) fn options_in(advice: &str) -> impl Iterator<Item = &str> {
    let plain = advice.split('\'').step_by(2);
    let words = plain.flat_map(|text| text.split([' ', ',', ';', ':']));
    words.filter_map(|word| word.strip_prefix("--")).filter(|name| !name.is_empty())
}

/// Returns the advice for an option that a command does not have. `has` reports whether the command has an option.
pub(super) fn instead(command: Option<&str>, option: &str, has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let name = option.trim_start_matches('-').split('=').next().unwrap_or_default();
    let name = name.to_ascii_lowercase().replace('_', "-");
    let fits = |(names, advice, commands): &&Entry| {
        names.contains(&&*name) && suits(commands, command) && options_in(advice).all(&has)
    };
    FOREIGN.iter().find(fits).map(|(_, advice, _)| *advice)
}

/// Returns the advice for a value that an option of this command does not take.
pub(super) fn value_instead(command: Option<&str>, option: &str, value: &str) -> Option<&'static str> {
    let value = value.to_ascii_lowercase();
    let fits = |(name, (values, _, commands)): &&(&str, Entry)| {
        *name == option && values.contains(&&*value) && suits(commands, command)
    };
    VALUES.iter().find(fits).map(|(_, (_, advice, _))| *advice)
}

/// Returns the advice for a word that is no command.
pub(super) fn command_instead(word: &str) -> Option<String> {
    let name = word.to_ascii_lowercase().replace('_', "-");
    if let Some((_, line)) = COMMANDS.iter().find(|(names, _)| names.contains(&&*name)) {
        return Some(format!("here it is {line}"));
    }
    let is_file = word.contains(['.', '/']) || std::path::Path::new(word).exists();
    is_file.then(|| format!("a command stands before the files, as in 'pairwave allpairs {word}'"))
}

/// Returns the advice for a number that cannot be parsed, for an option such as `--min-identity <FRACTION>`.
pub(super) fn number_instead(option: &str, value: &str) -> Option<String> {
    let name = option.split_whitespace().next().unwrap_or_default();
    let unit = option.split_once('<').map_or("", |(_, unit)| unit.trim_end_matches('>'));
    let is_share = ["FRACTION", "SHARE", "RATE"].iter().any(|share| unit.contains(share));
    let digits = value.trim().trim_end_matches('%').trim();
    let pointed = if digits.contains('.') { digits.to_owned() } else { digits.replacen(',', ".", 1) };
    let number = pointed.parse::<f64>().ok().filter(|number| number.is_finite())?;
    if value.trim().ends_with('%') {
        return match number {
            0.0..=100.0 if is_share => Some(format!("use {name} {}", share_of_percent(number))),
            number if unit == "PERCENT" => Some(format!("use {name} {number}")),
            _ => None,
        };
    }
    let is_whole = ["N", "K", "COLUMNS", "ROWS", "SCORE", "OPEN", "EXTEND", "COST", "NUMBER"].contains(&unit);
    match digits.split_once(',') {
        // Thousands and a decimal comma look alike: only what can be meant is advised.
        Some((_, decimals)) if is_whole && decimals.len() == 3 => {
            let whole = digits.replace(',', "");
            Some(format!("use {name} {whole}"))
        }
        Some(_) if is_whole && unit != "COST" => None,
        Some(_) => Some(format!("use {name} {pointed}")),
        // A whole number that was refused is out of range.
        None if is_whole && number.fract() == 0.0 && number.abs() < 1e15 && format!("{number:.0}") != digits => {
            Some(format!("use {name} {number:.0}"))
        }
        None => None,
    }
}

/// A percentage as a fraction, without the noise of binary numbers.
pub(super) fn share_of_percent(percent: f64) -> String {
    let text = format!("{:.8}", percent / 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whether a word may be a slip for another: at most a third of its letters are wrong.
fn is_slip(typed: &str, meant: &str) -> bool {
    let (typed, meant): (Vec<char>, Vec<char>) = (typed.chars().collect(), meant.chars().collect());
    let mut row: Vec<usize> = (0..=meant.len()).collect();
    for (line, a) in (1..).zip(&typed) {
        let mut diagonal = std::mem::replace(&mut row[0], line);
        for (column, b) in (1..).zip(&meant) {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[column];
            row[column] = substituted.min(diagonal + 1).min(row[column - 1] + 1);
        }
    }
    let is_start = meant.starts_with(&typed) && typed.len() > 2;
    is_start || row[meant.len()] <= typed.len().max(meant.len()) / 3
}

/// Removes the advice of clap from a message if it names something unlike the typed word.
pub(super) fn without_far_advice(message: &str, typed: &str) -> String {
    let typed = typed.trim_start_matches('-').to_ascii_lowercase();
    let is_near = |part: &&str| {
        let Some(advice) = part.strip_prefix("tip: ").filter(|advice| advice.contains("similar")) else { return true };
        advice.split('\'').skip(1).step_by(2).any(|meant| is_slip(&typed, meant.trim_start_matches('-')))
    };
    message.split("; ").filter(is_near).collect::<Vec<_>>().join("; ")
}

/// The command that was typed, of these.
pub(super) fn command(typed: &[OsString], commands: impl Fn(&str) -> bool) -> Option<&str> {
    typed.iter().skip(1).filter_map(|word| word.to_str()).find(|word| commands(word))
}

/// The first word that is no option, if nothing but flags stands before it.
pub(super) fn first_word(typed: &[OsString]) -> Option<&str> {
    let word = typed.iter().skip(1).filter_map(|word| word.to_str()).find(|word| {
        let letters = word.trim_start_matches('-');
        !word.starts_with('-')
            || !(["quiet", "verbose"].contains(&letters) || letters.chars().all(|one| FLAGS.contains(one)))
    })?;
    (!word.starts_with('-')).then_some(word)
}

/// Returns the option that a letter stands for in PaPaRa, where letters differ from our other commands.
pub(super) fn letter_instead(command: Option<&str>, option: &str, typed: &[OsString]) -> Option<String> {
    let (letter, meant) = match (command?, option) {
        ("papara", "reads") => ("-q", "for no messages write --quiet"),
        ("papara", "tree") => ("-t", "for threads write -j or --threads"),
        ("papara", "parameters") => ("-p", "for threads write -j or --threads"),
        _ => return None,
    };
    let is_typed = typed.iter().any(|word| word.to_str().is_some_and(|word| word.starts_with(letter)));
    is_typed.then(|| format!("{letter} is --{option} here; {meant}"))
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

    fn advice(command: &str, option: &str) -> Option<&'static str> {
        instead(Some(command), option, |_| true)
    }

    #[test]
    fn options_of_other_programs_have_their_names_here() {
        for (command, option, expected) in [
            ("allpairs", "--id", "--min-identity"),
            ("edit", "--id", "--max-distance"),
            ("allpairs", "-max_target_seqs", "--max-hits"),
            ("long", "-max_target_seqs", "--top"),
            ("allpairs", "--gapopen=10", "--gap-open"),
            ("allpairs", "--userfields", "--fields"),
            ("pairs", "--min-identity", "'pairwave allpairs A B'"),
            ("search", "-seg", "nothing is masked"),
            ("papara", "-c", "--gap-model"),
            ("papara", "--query", "--reads"),
            ("msa", "--outfmt", "'clustal' for clu"),
            ("msa", "-output=phylip", "--format"),
            ("allpairs", "--force", "replaced in any case"),
            ("plan", "--force", "never replaced"),
        ] {
            assert!(advice(command, option).is_some_and(|advice| advice.contains(expected)), "{command} {option}");
        }
        assert!(instead(None, "--licence", |_| false).is_some_and(|advice| advice.contains("MIT")));
        assert_eq!(advice("long", "--uc"), instead(None, "--UC", |_| true));
        assert_eq!(advice("allpairs", "--nonsense"), None);
        assert_eq!(instead(Some("tree"), "--gpu", |option| option != "device"), None);
    }

    #[test]
    fn a_name_has_one_answer_in_a_command() {
        for command in WRITING {
            let here = |commands: &&[&str]| suits(commands, Some(command));
            let entries = FOREIGN.iter().filter(|(_, _, commands)| here(commands));
            let mut names: Vec<&str> = entries.flat_map(|(names, ..)| names.iter().copied()).collect();
            names.sort_unstable();
            let twice: Vec<&[&str]> = names.windows(2).filter(|two| two[0] == two[1]).collect();
            assert!(twice.is_empty(), "{command}: {twice:?}");
        }
    }

    #[test]
    fn numbers_that_were_written_in_another_way() {
        let advice = |option: &str, value: &str| number_instead(option, value).unwrap_or_default();
        for (option, value, expected) in [
            ("--min-identity <FRACTION>", "97%", "use --min-identity 0.97"),
            ("--min-identity <FRACTION>", "99.9%", "use --min-identity 0.999"),
            ("--min-identity <FRACTION>", "97,5 %", "use --min-identity 0.975"),
            ("--min-identity <FRACTION>", "0,97", "use --min-identity 0.97"),
            ("--min-identity <FRACTION>", "100%", "use --min-identity 1"),
            ("--min-identity <FRACTION>", "970%", ""),
            ("--min-identity <FRACTION>", "high", ""),
            ("--max-distance <EDITS|RATE>", "3%", "use --max-distance 0.03"),
            ("--transition-weight <SHARE>", "50%", "use --transition-weight 0.5"),
            ("--delay <PERCENT>", "30%", "use --delay 30"),
            ("--tolerance <PERCENT>", "12,5", "use --tolerance 12.5"),
            ("--evalue <EVALUE>", "0,001", "use --evalue 0.001"),
            ("--threads <N>", "50%", ""),
            ("--max-hits <N>", "1,000", "use --max-hits 1000"),
            ("--max-hits <N>", "5.0", "use --max-hits 5"),
            ("--max-hits <N>", "1e3", "use --max-hits 1000"),
            ("--max-hits <N>", "1,5", ""),
            ("--iddef <NUMBER>", "5", ""),
            ("--gap-open <OPEN>", "10.0", "use --gap-open 10"),
            ("--gap-open <OPEN>", "0.5", ""),
            ("--pair-gap-open <COST>", "0,1", "use --pair-gap-open 0.1"),
        ] {
            assert_eq!(advice(option, value), expected, "{option} {value}");
        }
    }

    #[test]
    fn far_advice_is_dropped() {
        let kept = |typed: &str, meant: &str| {
            let message = format!("unexpected argument '{typed}' found; tip: a similar argument exists: '{meant}'");
            without_far_advice(&message, typed).contains("tip:")
        };
        for (typed, meant) in
            [("--fromat", "--format"), ("--thread", "--threads"), ("--out", "--output"), ("--boot", "--bootstrap")]
        {
            assert!(kept(typed, meant), "{typed}");
        }
        for (typed, meant) in [("--force", "--format"), ("--in", "--refinements"), ("fasta", "blast0")] {
            assert!(!kept(typed, meant), "{typed}");
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
