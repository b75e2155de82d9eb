//! Configures several devices at once: one device of each model is measured, and the others use its
//! result.

use std::collections::BTreeMap;

use crate::error::Result;

/// Finds a configuration for every device. Measures one device of each model; if that fails,
/// measures another device of the model. Models are measured in parallel. Devices of a model whose
/// measurement panics are dropped.
pub(crate) fn once_a_model<D: Send, C: Copy + Send>(
    devices: Vec<(String, D)>,
    ask: impl Fn(&str, &mut D) -> Result<C> + Sync,
) -> Vec<(D, Result<C>)> {
    let mut models: BTreeMap<String, Vec<D>> = BTreeMap::new();
    for (model, device) in devices {
        models.entry(model).or_default().push(device);
    }
    let ask_one = |model: &str, devices: Vec<D>| {
        let mut known = None;
        let mut configured = Vec::new();
        for mut device in devices {
            let config = known.map_or_else(|| ask(model, &mut device), Ok);
            known = config.as_ref().ok().copied();
            configured.push((device, config));
        }
        configured
    };
    let ask_one = &ask_one;
    let answers = at_once(models.into_iter().map(|(model, devices)| move || ask_one(&model, devices)));
    answers.into_iter().flatten().flatten().collect()
}

/// Runs every task on its own thread and returns the results in the order of the tasks. A result is
/// `None` if the task panicked, as a driver may, or if no thread could be started.
pub(crate) fn at_once<T: Send>(tasks: impl Iterator<Item = impl FnOnce() -> T + Send>) -> Vec<Option<T>> {
    std::thread::scope(|scope| {
        let start = |task| std::thread::Builder::new().spawn_scoped(scope, task).ok();
        let threads: Vec<_> = tasks.map(start).collect();
        threads.into_iter().map(|thread| thread?.join().ok()).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error::Error;

    #[test]
    fn one_device_of_each_model_is_measured() {
        let answers = AtomicUsize::new(0);
        let devices = ["a", "b", "a", "a", "b"].iter().enumerate().map(|(index, model)| (model.to_string(), index));
        let measure = |model: &str, device: &mut usize| {
            answers.fetch_add(1, Ordering::Relaxed);
            match device {
                0 => Err(Error::Internal("the first one is broken".into())),
                _ => Ok(if model == "a" { 12 } else { 20 }),
            }
        };
        let mut configured = once_a_model(devices.collect(), measure);
        configured.sort_by_key(|(device, _)| *device);
        let slices: Vec<Option<u32>> = configured.into_iter().map(|(_, config)| config.ok()).collect();
        assert_eq!(slices, [None, Some(20), Some(12), Some(12), Some(20)]);
        // Device 0 fails, then device 2 is measured for its model and device 1 for the other.
        assert_eq!(answers.into_inner(), 3);
    }

    #[test]
    fn panicking_task_does_not_affect_the_others() {
        let tasks = [1, 2, 3].map(|number| move || if number == 2 { panic!("by intent") } else { number });
        assert_eq!(at_once(tasks.into_iter()), [Some(1), None, Some(3)]);
    }
}
