//! Turns panics of engines into errors, after which the job continues without the device, and locks
//! data that outlives a panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls `f` and returns the message of a panic as an error. After a panic, the caller must drop
/// the data that `f` was changing and must not use it.
///
/// # Errors
/// The message of the panic.
pub fn catch_panic<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| text(&*panic))
}

/// Locks a mutex, even if a thread panicked while it held the lock. The data must be valid after
/// every statement of code that holds the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_message_is_returned_as_error() {
        assert_eq!(catch_panic(|| 7), Ok(7));
        assert_eq!(catch_panic(|| panic!("a fault")), Err::<(), _>("a fault".into()));
        assert_eq!(catch_panic(|| panic!("fault {}", 2)), Err::<(), _>("fault 2".into()));
        let odd = catch_panic(|| std::panic::panic_any(5u8));
        assert_eq!(odd, Err::<(), _>("without a message".into()));
    }
}
