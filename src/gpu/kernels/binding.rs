//! Bindings of kernels as data. Bind group layouts and bind groups are derived from them
//! (`gpu::bindings`), and tests compare them with the shaders.

/// How a kernel uses a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Parameters of this many bytes. Each dispatch of a submission has its own parameters, at a
    /// dynamic offset.
    Uniform(u64),
    /// Storage that the kernel reads.
    Read,
    /// Storage that the kernel reads and writes.
    Write,
    /// Storage that the kernel reads and writes, with one buffer per arena of the variant. The
    /// buffers have consecutive binding numbers. In the shader, the index of the arena, counted
    /// from 0, is appended to the name.
    WriteEach,
}

/// A buffer of a kernel, in bind group 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Binding number.
    pub number: u32,
    /// Name in the shader and in host code.
    pub name: &'static str,
    /// How the kernel uses the buffer.
    pub access: Access,
}

const fn uniform(bytes: u64) -> Binding {
    Binding { number: 0, name: "params", access: Access::Uniform(bytes) }
}

const fn read(number: u32, name: &'static str) -> Binding {
    Binding { number, name, access: Access::Read }
}

const fn write(number: u32, name: &'static str) -> Binding {
    Binding { number, name, access: Access::Write }
}

/// Bindings that `common/nw.wgsl` declares.
const NW: [Binding; 6] = [
    uniform(160),
    read(1, "query_words"),
    read(2, "target_words"),
    read(3, "targets"),
    read(4, "tasks"),
    read(5, "table"),
];
/// Buffers for borders and directions. They have the last binding numbers, because their number
/// varies.
pub const ARENAS: Binding = Binding { number: 8, name: "arena", access: Access::WriteEach };

/// Bindings of `nw_slice` and `nw_slice_half`.
pub const SLICE: &[Binding] = &[NW[0], NW[1], NW[2], NW[3], NW[4], NW[5], write(6, "scratch"), write(7, "out")];
/// Bindings of the kernels that can store directions.
pub const SCAN: &[Binding] = &[NW[0], NW[1], NW[2], NW[3], NW[4], NW[5], ARENAS];
/// Bindings of `nw_traceback` and `nw_checkpoint`.
pub const NW_TRACEBACK: &[Binding] = &[NW[0], NW[1], NW[2], NW[3], NW[4], NW[5], write(7, "out"), ARENAS];

/// Bindings of the kernels for local scores, declared in `common/tile.wgsl`.
pub const TILE: &[Binding] =
    &[uniform(52), NW[1], NW[2], NW[3], NW[4], NW[5], write(6, "scratch"), write(7, "out"), read(8, "parts")];

/// Bindings of the kernels for edit distances.
pub const MYERS: &[Binding] = &[
    uniform(104),
    read(1, "profile"),
    read(2, "texts"),
    read(3, "places"),
    read(4, "runs"),
    read(5, "first_runs"),
    write(6, "scratch"),
    write(7, "out"),
];

/// Bindings of `sw_striped_score`.
pub const STRIPS: &[Binding] = &[
    uniform(112),
    read(1, "query_classes"),
    read(2, "target_codes"),
    read(3, "table"),
    write(4, "vertical"),
    write(5, "horizontal"),
    write(6, "state"),
    write(7, "shared_best"),
    write(8, "records"),
];

const TRACE: Binding = uniform(80);
const BORDERS: [Binding; 2] = [read(1, "vertical"), read(2, "horizontal")];
const SYMBOLS: [Binding; 3] = [read(3, "query_codes"), read(4, "target_codes"), read(5, "table")];
const WINDOW: Binding = read(6, "window");
const PATHS: Binding = write(8, "paths");

/// Bindings of `sw_striped_starts`.
pub const STARTS: &[Binding] =
    &[TRACE, BORDERS[0], BORDERS[1], SYMBOLS[0], SYMBOLS[1], SYMBOLS[2], WINDOW, write(7, "starts")];
/// Bindings of `sw_striped_chase`.
pub const STRIPED_TRACEBACK: &[Binding] = &[TRACE, BORDERS[0], BORDERS[1], WINDOW, read(7, "starts"), PATHS];
/// Bindings of `sw_striped_trace`. Only the variant that starts at borders declares `stored_borders`.
pub const COLUMNS: &[Binding] = &[
    TRACE,
    BORDERS[0],
    BORDERS[1],
    SYMBOLS[0],
    SYMBOLS[1],
    SYMBOLS[2],
    PATHS,
    write(9, "directions"),
    write(10, "runs"),
];

/// Bindings of the kernels for reads and ancestral states.
pub const BLOCK: &[Binding] = &[
    uniform(64),
    read(1, "vectors"),
    read(2, "reads"),
    read(3, "rows"),
    read(4, "places"),
    write(5, "scratch"),
    write(6, "out"),
];

/// Bindings that `common/profiles.wgsl` declares.
const PROFILES: [Binding; 5] = [uniform(32), read(1, "problems"), read(2, "data"), write(3, "nodes"), write(4, "rows")];

/// Bindings of `profile_tile`.
pub const PROFILE_TILE: &[Binding] =
    &[PROFILES[0], PROFILES[1], PROFILES[2], PROFILES[3], PROFILES[4], write(5, "columns"), write(6, "corners")];
/// Bindings of `profile_cross`.
pub const PROFILE_CROSS: &[Binding] = &PROFILES;

/// Bindings that `common/clustal.wgsl` declares.
const CLUSTAL: [Binding; 5] = [uniform(32), read(1, "symbols"), read(2, "table"), read(3, "pairs"), write(4, "found")];

/// Bindings of `sw_ends`.
pub const ENDS: &[Binding] =
    &[CLUSTAL[0], CLUSTAL[1], CLUSTAL[2], CLUSTAL[3], CLUSTAL[4], read(5, "tasks"), write(6, "scratch")];
/// Bindings of `nw_forward_reverse` and `nw_forward_reverse_thread`.
pub const FORWARD_REVERSE: &[Binding] =
    &[CLUSTAL[0], CLUSTAL[1], CLUSTAL[2], CLUSTAL[3], CLUSTAL[4], write(6, "scratch")];

/// Bindings of the kernels for probabilities of pairs, declared in `common/posterior.wgsl`.
pub const POSTERIOR: &[Binding] = &[
    uniform(48),
    read(1, "symbols"),
    read(2, "table"),
    read(3, "pairs"),
    read(4, "tasks"),
    write(5, "kept"),
    write(6, "scratch"),
    write(7, "out"),
];
