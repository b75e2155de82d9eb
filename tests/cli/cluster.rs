//! `pairwave cluster`: every method and format, and its messages.

use insta::assert_snapshot;

use super::*;

const AMPLICONS: &str = "assets/16s/amplicons.fasta.gz";
const METHODS: [&str; 4] = ["greedy", "single", "complete", "average"];
/// Further output files with their endings.
const FILES: [(&str, &str); 11] = [
    ("-o", "tsv"),
    ("--uc", "uc"),
    ("--centroids", "fasta"),
    ("--otu-table", "tsv"),
    ("--biom", "biom"),
    ("--mothur-list", "list"),
    ("--shared", "shared"),
    ("--clstr", "clstr"),
    ("--pairs-out", "tsv"),
    ("--report", "html"),
    ("--plot", "svg"),
];

/// Returns the options of all output files in a folder.
fn all_files(folder: &TempDir, prefix: &str) -> Vec<String> {
    let option = |(option, ending): (&str, &str)| {
        [option.to_owned(), path(folder, &format!("{prefix}{}.{ending}", option.trim_start_matches('-')))]
    };
    FILES.into_iter().flat_map(option).collect()
}

fn words(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

/// Returns the content of each file.
fn contents(files: &[String]) -> Vec<Vec<u8>> {
    files.chunks(2).map(|pair| std::fs::read(&pair[1]).expect("the file was written")).collect()
}

#[test]
fn every_method_gives_the_same_table_on_every_device() {
    let tables: Vec<String> = METHODS
        .iter()
        .map(|method| {
            let options = [GENES, "--min-identity", "0.97,0.8", "--method", method, "--check"];
            format!("{method}\n{}", equal_output("cluster", ALL_WAYS, &options))
        })
        .collect();
    assert_snapshot!(tables.concat());
}

#[test]
fn files_of_other_programs_describe_the_same_clusters() {
    let folder = folder();
    let reads = ">a1;sample=A;size=3\nGATTACAGATTACAGATTACA\n>b1;sample=B\nGATTACAGATTACAGATTACA\n\
                 >a2;sample=A\nTGTAATCTGTAATCTGTATTC\n>b2;sample=B;size=2\nCCCCGGGGTTTTAAAACCCCG\n";
    let input = file(&folder, "reads.fa", reads);
    let mut text = String::new();
    for (option, ending) in &FILES[..9] {
        let output = path(&folder, &format!("out.{ending}"));
        let options = ["--min-identity", "0.9", "--strand", "both", "--quiet", option, &output];
        pairwave(&["cluster", &input]).args(options).assert().success().stdout("").stderr("");
        let written = std::fs::read_to_string(&output).expect("the file was written");
        write!(text, "{option}\n{written}\n").expect("a string takes all");
    }
    assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    let clusters = path(&folder, "clusters");
    let command = ["cluster", &input, "--min-identity", "0.9", "--quiet", "--clusters", &clusters];
    pairwave(&command).assert().success().stdout("");
    assert_eq!(entries(Path::new(&clusters)), ["cluster_0.fasta", "cluster_1.fasta", "cluster_2.fasta"]);
    let again = pairwave(&command).assert().code(2);
    let message = String::from_utf8_lossy(&again.get_output().stderr).into_owned();
    assert!(message.lines().count() == 1 && message.contains("clusters"), "{message}");
}

/// Clusters 1,200 reads in another order, in other batches of threads, and in blocks.
#[test]
fn order_and_blocks_change_no_byte() {
    let folder = folder();
    let reads = {
        let mut text = String::new();
        let compressed = std::fs::read(AMPLICONS).expect("it is there");
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&compressed[..]), &mut text).expect("FASTA");
        text
    };
    let mut records: Vec<String> = reads.split('>').skip(1).map(|record| format!(">{record}")).collect();
    records.reverse();
    let reversed = file(&folder, "reads.fa", records.concat());
    for (number, method) in METHODS.iter().enumerate() {
        let run = |input: &str, prefix: &str, more: &[&str]| {
            let files = all_files(&folder, &format!("{prefix}{number}"));
            let base = ["cluster", input, "--min-identity", "0.97", "--method", method, "--quiet"];
            pairwave(&[&base[..], &words(&files), more].concat()).assert().success().stdout("").stderr("");
            files
        };
        let first = run(AMPLICONS, "first", &["--device", "cpu"]);
        let second = run(&reversed, "second", &["--device", "0,cpu", "--threads", "1"]);
        let is_page = |files: &[String]| files[0] == "--report";
        for (one, other) in first.chunks(2).zip(second.chunks(2)).filter(|(one, _)| !is_page(one)) {
            let [a, b] = [one, other].map(|file| std::fs::read(&file[1]).expect("the file was written"));
            assert!(!a.is_empty() && a == b, "{method} {}", one[0]);
        }
        let work = path(&folder, &format!("work{number}"));
        let plan =
            ["plan", "--block-cells", "300M", "cluster", AMPLICONS, "--min-identity", "0.97", "--method", method];
        pairwave(&[&plan[..], &["-o", &work, "--quiet"]].concat()).assert().success();
        pairwave(&["run", &work, "--device", "cpu", "--quiet"]).assert().success();
        let merged = all_files(&folder, &format!("merged{number}"));
        pairwave(&[&["merge", &work, "--quiet"], &words(&merged)[..]].concat()).assert().success();
        assert!(contents(&first) == contents(&merged), "{method}");
    }
}

#[test]
fn messages_name_the_option_or_the_record() {
    let folder = folder();
    let input = |name: &str, text: &str| file(&folder, name, text);
    let genes = input("genes.fa", ">a\nGATTACA\n>b\nGATTACC\n");
    let sizes = input("sizes.fa", ">a\nGATTACA\n>b;size=x\nGATTACC\n");
    let commas = input("commas.fa", ">a,b\nGATTACA\n");
    let twice = input("twice.fa", ">a\nGATTACA\n>b\nGATTACA\n>a\nGATTACA\n");
    let proteins = input("proteins.fa", ">p\nMKTAYIAKQRQ\n>q\nMKTAYIAKQRW\n");
    let out = path(&folder, "out");
    let lines: Vec<Vec<&str>> = vec![
        vec![&genes],
        vec![&genes, "--min-identity", "97"],
        vec![&genes, "--min-identity", "0"],
        vec![&genes, "--min-identity", "0.9,0.9"],
        vec![&genes, "--min-identity", "0.9", "--strand", "minus"],
        vec![&genes, "--min-identity", "0.9", "--cov-mode", "query"],
        vec![&genes, "--min-identity", "0.9", "--cov", "80"],
        vec![&genes, "--min-identity", "0.9", "--cov", "0.8", "--min-cov", "0.8"],
        vec![&genes, "--min-identity", "0.9,0.8", "--uc", &out],
        vec![&genes, "--min-identity", "0.9,0.8", "--report", &out],
        vec![&genes, "--min-identity", "0.9", "--uc", &out, "--clstr", &out],
        vec![&genes, "--min-identity", "0.9", "--uc", &genes],
        vec![&genes, "--min-identity", "0.9", "--centroids", "x.tsv"],
        vec![&genes, "--min-identity", "0.9", "--method", "nearest-neighbor"],
        vec![&sizes, "--min-identity", "0.9"],
        vec![&commas, "--min-identity", "0.9", "--mothur-list", &out],
        vec![&twice, "--min-identity", "0.9", "--mothur-list", &out],
        vec![&proteins, "--min-identity", "0.9", "--strand", "both"],
        vec![AMPLICONS, "--min-identity", "0.9", "--method", "complete", "--pair-memory", "64K", "-o", &out],
    ];
    let place = folder.path().to_str().expect("text");
    let mut text = String::new();
    for words in lines {
        let run =
            pairwave(&[&["cluster", "--device", "cpu", "--quiet"], &words[..]].concat()).assert().code(2).stdout("");
        let message = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert_eq!(message.lines().count(), 1, "{message}");
        write!(text, "{}\n  {message}", words.join(" ")).expect("a string takes all");
    }
    assert!(!Path::new(&out).exists());
    assert_snapshot!(text.replace(place, "DIR"));
}

#[test]
fn two_spellings_of_an_output_file_are_one_file() {
    let folder = folder();
    let genes = file(&folder, "genes.fa", ">a\nGATTACA\n>b\nGATTACC\n");
    for options in [["-o", "--uc"], ["--uc", "--clstr"], ["--stats", "-o"]] {
        let [first, second] = options;
        let line = ["cluster", &genes, "--min-identity", "0.9", "--quiet", first, "out", second, "./out"];
        let mut refused = pairwave(&line);
        refused.current_dir(folder.path()).assert().code(2).stdout("");
        assert!(!folder.path().join("out").exists(), "{options:?}");
    }
}
