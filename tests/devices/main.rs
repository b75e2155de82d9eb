//! Tests of the adapters of this machine, alone and together with the CPU, and of their memory.

mod devices;
mod gpu_memory;
mod hybrid;
