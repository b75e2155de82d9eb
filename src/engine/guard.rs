//! Panics of engines as errors: a device that panics is lost, the job is not.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls `f`. A panic comes back as what it said. What `f` had in hand when it panicked is only fit to be dropped.
///
/// # Errors
/// The text of the panic.
pub fn catch<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| text(&*panic))
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "for no reason it could tell".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_comes_back_as_what_it_said() {
        assert_eq!(catch(|| 7), Ok(7));
        assert_eq!(catch(|| panic!("a fault")), Err::<(), _>("a fault".into()));
        assert_eq!(catch(|| panic!("fault {}", 2)), Err::<(), _>("fault 2".into()));
        let odd = catch(|| std::panic::panic_any(5u8));
        assert_eq!(odd, Err::<(), _>("for no reason it could tell".into()));
    }
}
