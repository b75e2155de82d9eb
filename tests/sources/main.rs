//! Checks of the sources: shaders, layouts and the picture of modules.

mod layout;
mod modules;
mod shaders;
