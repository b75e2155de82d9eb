//! A stream in memory.

use std::io::Write;
use std::sync::{Arc, Mutex};

/// A stream that stores the written bytes in memory.
#[derive(Clone, Default)]
pub struct Tape(Arc<Mutex<Vec<u8>>>);

impl Write for Tape {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Tape {
    /// Returns all bytes that were written.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    /// Returns all text that was written.
    pub fn text(&self) -> String {
        String::from_utf8(self.bytes()).unwrap()
    }
}
