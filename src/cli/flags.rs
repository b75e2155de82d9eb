//! Names of the library's fields on the command line. Only this module knows both names.

use pairwave::Error;
use pairwave::error::Usage;

/// Fields as the library's errors name them, with the option to type for each.
const FLAGS: [(&str, &str); 73] = [
    ("against", "--against"),
    ("aligned", "--aligned"),
    ("all_ends", "--all-ends"),
    ("all_places", "--all-places"),
    ("alphabet", "--alphabet"),
    ("blocks", "--blocks"),
    ("candidates", "--pairs"),
    ("checkpoint", "--checkpoint"),
    ("chunk", "--chunk"),
    ("circular", "--circular"),
    ("counts", "--counts"),
    ("coverage.both", "--min-cov"),
    ("coverage.query", "--query-cov"),
    ("coverage.shorter", "--cov"),
    ("coverage.target", "--target-cov"),
    ("definition", "--iddef"),
    ("degap", "--degap"),
    ("deletion", "--gap-open and --gap-extend"),
    ("end_gaps", "--end-gap-open and --end-gap-extend"),
    ("end_gaps.first", "--end-gap-open + --end-gap-extend"),
    ("end_gaps.next", "--end-gap-extend"),
    ("exact", "--exact"),
    ("fields", "--fields"),
    ("gap_site", "--gap-site"),
    ("gaps", "--gap-open and --gap-extend"),
    ("gaps.first", "--gap-open + --gap-extend"),
    ("gaps.next", "--gap-extend"),
    ("given", "--distance"),
    ("guide_tree", "--guidetree-in"),
    ("host_memory", "--host-memory"),
    ("insertion", "--gap-open and --gap-extend"),
    ("kernel", "--kernel"),
    ("kind", "--distance"),
    ("lengths", "--lengths"),
    ("limit", "--max-distance"),
    ("mask", "--mask"),
    ("match_score", "--match"),
    ("matching", "--match"),
    ("matrix", "--matrix"),
    ("max_evalue", "--evalue"),
    ("max_hits", "--max-target-seqs"),
    ("max_hsps", "--max-hsps"),
    ("max_n_fraction", "--max-n-frac"),
    ("method", "--method"),
    ("min_identity", "--min-identity"),
    ("min_score", "--min-score"),
    ("min_query_cover", "--query-cover"),
    ("mismatch", "--mismatch"),
    ("mismatch_score", "--mismatch"),
    ("mode", "--mode"),
    ("overhang", "--overhang"),
    ("pair_memory", "--pair-memory"),
    ("patterns", "PATTERNS"),
    ("queries", "SEQS"),
    ("query", "QUERY"),
    ("query_id", "--query-id"),
    ("quick", "--quick"),
    ("reads", "--reads"),
    ("rounds", "--consistency"),
    ("score_only", "--score-only"),
    ("scoring", "--alphabet"),
    ("seconds", "--seconds"),
    ("sequences", "--seqs"),
    ("shape", "--matrix-shape"),
    ("strand", "--strand"),
    ("strip", "--strip"),
    ("subjects", "DB"),
    ("target", "TARGET"),
    ("target_id", "--target-id"),
    ("texts", "TEXTS"),
    ("top", "--top"),
    ("tree", "--tree"),
    ("tune", "--tune"),
];

/// Returns the option for a field of the library.
fn flag(field: &str) -> Option<&'static str> {
    FLAGS.iter().find(|(name, _)| *name == field).map(|&(_, flag)| flag)
}

/// Replaces the library's field names, which stand between backquotes, with options.
pub(super) fn in_text(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('`') {
        out.push_str(before);
        let quoted = after.split_once('`').and_then(|(name, tail)| Some((flag(name)?, tail)));
        let (instead, tail) = quoted.unwrap_or(("`", after));
        out.push_str(instead);
        rest = tail;
    }
    out + rest
}

/// Returns an error's message with the names of options.
pub(super) fn message(error: &Error) -> String {
    match error {
        Error::Usage(Usage { field, value, message }) => {
            let field = field.map(|field| flag(field).unwrap_or(field));
            Usage { field, value: value.clone(), message: in_text(message) }.to_string()
        }
        Error::Input { location, message } => {
            Error::Input { location: location.clone(), message: in_text(message) }.to_string()
        }
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Args;
    use clap::CommandFactory;
    use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
    use std::collections::BTreeSet;
    use std::path::Path;

    /// Texts of a source file: its string literals, and the first argument of each call that names
    /// a field.
    #[derive(Default)]
    struct Said {
        literals: Vec<String>,
        fields: Vec<String>,
    }

    impl Said {
        /// Collects the texts of some tokens.
        fn read(&mut self, tokens: TokenStream) {
            let tokens: Vec<TokenTree> = tokens.into_iter().collect();
            for (index, token) in tokens.iter().enumerate() {
                let before = index.checked_sub(1).and_then(|index| tokens.get(index));
                match token {
                    TokenTree::Literal(literal) => self.literals.push(literal.to_string()),
                    // Doc comments appear as attributes here.
                    TokenTree::Group(group) if is_attribute(before, group) => {}
                    TokenTree::Group(group) => {
                        if matches!(before, Some(TokenTree::Ident(name)) if *name == "usage_of" || *name == "usage_value")
                        {
                            self.fields.extend(group.stream().into_iter().next().map(|field| field.to_string()));
                        }
                        self.read(group.stream());
                    }
                    _ => {}
                }
            }
            self.literals.retain(|literal| literal.contains('"'));
        }
    }

    fn is_attribute(before: Option<&TokenTree>, group: &Group) -> bool {
        let after_sign =
            matches!(before, Some(TokenTree::Punct(sign)) if sign.as_char() == '#' || sign.as_char() == '!');
        after_sign && group.delimiter() == Delimiter::Bracket
    }

    /// Reads all sources of the library below a folder.
    fn read(folder: &Path, said: &mut Vec<(String, Said)>) {
        for entry in std::fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("it can be read").path();
            // Skips the folder `cli` and the file next to it.
            if path.with_extension("").ends_with("src/cli") {
                continue;
            }
            if path.is_dir() {
                read(&path, said);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("it can be read");
                let mut one = Said::default();
                one.read(text.parse().expect("it is Rust"));
                said.push((path.display().to_string(), one));
            }
        }
    }

    fn library() -> Vec<(String, Said)> {
        let mut said = Vec::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut said);
        assert!(said.len() > 100, "{} files", said.len());
        said
    }

    /// Returns whether a text names an option as typed.
    fn holds_flag(text: &str) -> bool {
        text.match_indices("--").any(|(index, sign)| {
            let before = text[..index].chars().next_back();
            let after = text[index + sign.len()..].chars().next();
            before.is_none_or(|letter| " \"'(\n".contains(letter))
                && after.is_some_and(|letter| letter.is_ascii_lowercase())
        })
    }

    #[test]
    fn the_library_names_no_flag() {
        for (file, said) in library() {
            for literal in said.literals {
                assert!(!holds_flag(&literal), "{file}: {literal}");
            }
        }
    }

    #[test]
    fn every_field_that_the_library_names_has_a_flag() {
        let mut used = BTreeSet::new();
        for (file, said) in library() {
            if file.ends_with("error.rs") {
                continue;
            }
            for field in said.fields {
                let name = field.strip_prefix('"').and_then(|field| field.strip_suffix('"'));
                let name = name.unwrap_or_else(|| panic!("{file}: the field {field} is not written out"));
                assert!(flag(name).is_some(), "{file}: no flag for the field {name}");
                used.insert(name.to_owned());
            }
            for literal in said.literals {
                let quoted: Vec<&str> = literal.split('`').collect();
                for name in quoted.iter().skip(1).step_by(2).take(quoted.len().saturating_sub(1) / 2) {
                    assert!(flag(name).is_some(), "{file}: no flag for `{name}` in {literal}");
                    used.insert((*name).to_owned());
                }
            }
        }
        let all: BTreeSet<String> = FLAGS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(used, all, "names that the library does not use");
    }

    #[test]
    fn every_flag_is_an_option() {
        let command = Args::command();
        let options: BTreeSet<String> = command
            .get_subcommands()
            .flat_map(|command| command.get_arguments())
            .flat_map(|argument| {
                let long = argument.get_long().map(|long| format!("--{long}"));
                long.into_iter().chain(argument.get_value_names().into_iter().flatten().map(|name| name.to_string()))
            })
            .collect();
        for (field, flags) in FLAGS {
            let typed = flags.split([' ', '+']).filter(|word| !word.is_empty() && *word != "and");
            typed.for_each(|typed| assert!(options.contains(typed), "{field}: {typed}"));
        }
    }

    #[test]
    fn texts_of_sources_are_collected() {
        let mut said = Said::default();
        let text = r##"/// --comment
            fn f() { g("a --flag", 'c', 1); Error::usage_of(field, r#"--raw"#) } // "--no""##;
        said.read(text.parse().unwrap());
        assert_eq!(said.fields, ["field"]);
        assert_eq!(said.literals, ["\"a --flag\"", "r#\"--raw\"#"]);
        assert!(said.literals.iter().all(|literal| holds_flag(literal)));
        assert!(!["\"a -- b\"", "\"---\"", "\"x--y\"", "\"--\"", "\"-----BEGIN\""].into_iter().any(holds_flag));
    }

    #[test]
    fn errors_name_the_options_of_their_fields() {
        let shown_message = |error| message(&error);
        let both = Error::usage_value("match_score", 1, "it is below `mismatch_score` 2");
        assert_eq!(shown_message(both), "--match 1: it is below --mismatch 2");
        assert_eq!(shown_message(Error::usage_of("fields", "'`x' and `y`")), "--fields: '`x' and `y`");
        assert_eq!(shown_message(Error::usage("a `top")), "a `top");
        assert_eq!(shown_message(Error::Interrupted), "interrupted");
        assert_eq!(in_text("`top`, `strip``chunk`"), "--top, --strip--chunk");
    }
}
