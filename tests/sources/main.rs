//! Checks of the sources: shaders, layouts, the picture of modules, and style rules.

mod layout;
mod modules;
mod shaders;
mod style;
