//! Adapters of this machine, alone and together with the CPU, and their memory.

mod devices;
mod gpu_memory;
mod hybrid;
