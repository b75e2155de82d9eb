//! Checks of the sources: shaders, layouts, the picture of modules, style rules, and the list of
//! guarantees.

mod drivers;
mod files;
mod guarantees;
mod layout;
mod modules;
mod regressions;
mod shaders;
mod style;
