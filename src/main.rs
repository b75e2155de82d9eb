//! The command line program: everything is in [`cli`] and in the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
