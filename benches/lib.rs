//! The benchmarks are programs of this package.
