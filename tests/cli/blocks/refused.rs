//! Plans and blocks that are refused before anything is computed.

use super::*;

/// A merge could not write the results of these jobs, after all blocks have been computed.
#[test]
fn plans_whose_results_cannot_be_written_are_refused() {
    let folder = folder();
    let twice = file(&folder, "twice.fa", ">a\nGATTACA\n>b\nGATCA\n>a\nTTACA\n");
    let letters = file(&folder, "letters.fa", ">a,b\nGATTACA\n>c\nGATCA\n");
    let proteins = file(&folder, "proteins.fa", ">a\nMKTAYIAKQRQISF\n>b\nMKTAYIAKQRQIQW\n");
    let queries = file(&folder, "queries.fa", ">q\nGATTACA\n");
    let database = path(&folder, "twice.pwdb");
    runs(&["makedb", &twice, "-o", &database]);
    let work = path(&folder, "work");
    let double =
        "record 'a': record 3 has the name of an earlier one, but SAM has no two references of one name; use paf";
    let jobs: [(&[&str], &str); 10] = [
        (&["allpairs", &twice, "--format", "sam"], double),
        (&["allpairs", &queries, "--against", &twice, "--format", "sam"], double),
        (&["pairs", &twice, &twice, "--format", "sam"], double),
        (&["edit", &queries, &twice, "--mode", "infix", "--format", "sam"], double),
        (&["search", &queries, &twice, "--format", "sam"], double),
        (&["search", &queries, &database, "--format", "sam"], double),
        (&["long", &queries, &twice, "--format", "sam"], "record 'a': SAM has no two references of one name"),
        (&["allpairs", &letters, "--format", "sam"], "record 'a,b': SAM has no names of references with ,; use paf"),
        (&["allpairs", &proteins, "--format", "sam"], "SAM is for nucleotides, but these are proteins; use paf"),
        (
            &["search", &proteins, &proteins, "--format", "sam"],
            "SAM is for nucleotides, but these are proteins; use paf",
        ),
    ];
    for (job, expected) in jobs {
        let run = pairwave(&[&["plan"], job, &["--quiet", "-o", &work]].concat()).assert().code(2).stdout("");
        let text = String::from_utf8(run.get_output().stderr.clone()).expect("text");
        assert!(text.lines().count() == 1 && text.contains(expected), "{job:?}: {text}");
        assert!(!Path::new(&work).exists(), "{job:?}");
    }
    // Names are different, or another format can contain them.
    for job in [&["allpairs", &queries, "--format", "sam"][..], &["search", &queries, &twice, "--format", "paf"]] {
        runs(&[&["plan"], job, &["-o", &work]].concat());
        fs::remove_dir_all(&work).expect("it is there");
    }
}

#[test]
fn options_without_effect_on_blocks_are_refused() {
    let folder = folder();
    let input = file(&folder, "genes.fa", ">a\nGATTACA\n>b\nGATCA\n>c\nTTACA\n");
    let jobs: [(&[&str], &[&str]); 4] = [
        (&["dist", &input, "--distance", "edit"], &["--kernel nw_forward_reverse", "--tune"]),
        (&["tree", &input], &["--tune"]),
        (&["edit", &input], &["--tune"]),
        (&["allpairs", &input], &["--device cpu --tune", "--device cpu --memory 1G"]),
    ];
    for (number, (job, options)) in jobs.into_iter().enumerate() {
        let work = planned(&folder, &format!("work{number}"), "1", job);
        for typed in options {
            let arguments: Vec<&str> = ["run", &work].into_iter().chain(typed.split(' ')).collect();
            let text = refused(&arguments);
            assert!(text.contains(" has no effect "), "{job:?} {typed}: {text}");
        }
        runs(&["run", &work, "--threads", "1"]);
        runs(&["merge", &work]);
    }
}
