//! The gap-offset transform: scores as the fast kernels compute them.
