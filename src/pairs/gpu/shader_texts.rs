//! The text of every shader: what is measured of a device holds as long as none of it changes.

/// A file of `shaders/` by its name there, with its text.
macro_rules! shaders {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../shaders/", $name)))),*]
    };
}

/// All files of `shaders/` with their texts: kernels, and what they have in common.
pub const SHADERS: &[(&str, &str)] = shaders![
    "common/arena.wgsl",
    "common/exchange_subgroup.wgsl",
    "common/exchange_workgroup.wgsl",
    "common/lanes_subgroup.wgsl",
    "common/lanes_workgroup.wgsl",
    "common/myers.wgsl",
    "common/myers_column.wgsl",
    "common/myers_lanes.wgsl",
    "common/nw.wgsl",
    "common/profile.wgsl",
    "common/strip.wgsl",
    "common/striped_border_anchored.wgsl",
    "common/striped_border_edges.wgsl",
    "common/striped_edges.wgsl",
    "common/striped_paths.wgsl",
    "common/striped_symbols.wgsl",
    "common/striped_trace.wgsl",
    "myers_band.wgsl",
    "myers_subgroup.wgsl",
    "myers_thread.wgsl",
    "myers_workgroup.wgsl",
    "nw_diagonal.wgsl",
    "nw_diagonal_subgroup.wgsl",
    "nw_rows.wgsl",
    "nw_slice.wgsl",
    "nw_tiled_diagonal.wgsl",
    "nw_walk.wgsl",
    "sw_striped_chase.wgsl",
    "sw_striped_score.wgsl",
    "sw_striped_starts.wgsl",
    "sw_striped_trace.wgsl",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Names of the files in a folder of `shaders/` and below.
    fn names(folder: &Path, before: &str) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let of_entry = |entry: std::fs::DirEntry| {
            let name = format!("{before}{}", entry.file_name().to_str().unwrap());
            if entry.path().is_dir() { names(&entry.path(), &format!("{name}/")) } else { vec![name] }
        };
        entries.flat_map(of_entry).collect()
    }

    #[test]
    fn no_shader_is_left_out() {
        let mut there = names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders"), "");
        there.sort();
        let mut listed: Vec<&str> = SHADERS.iter().map(|&(name, _)| name).collect();
        listed.sort();
        assert_eq!(listed, there);
    }
}
