//! Output that tests keep in memory.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// A stream that stores all written bytes. Clones share them.
#[derive(Clone, Default)]
pub(in crate::output) struct CapturedBytes(Arc<Mutex<Vec<u8>>>);

impl CapturedBytes {
    /// Returns the bytes written so far.
    pub(in crate::output) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }

    /// Returns the text written so far.
    pub(in crate::output) fn text(&self) -> String {
        String::from_utf8(self.bytes()).expect("text")
    }
}

impl Write for CapturedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
