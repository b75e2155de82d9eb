//! Command line program. All code is in the library.

use pairwave::cli::{self, RecordingAllocator};

#[global_allocator]
static ALLOCATOR: RecordingAllocator = RecordingAllocator;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os().collect()).into()
}
