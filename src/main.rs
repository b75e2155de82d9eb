//! Command line program. All code is in [`cli`] and in the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
