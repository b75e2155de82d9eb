//! Ranks of one machine share what it has.

use serde::{Deserialize, Serialize};

/// What a rank may use, as it sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// GPUs, by PCI bus id or whatever else tells them apart.
    pub gpus: Vec<String>,
    /// Processors that it may run on, by number; none if that is not known.
    pub processors: Vec<usize>,
    /// Threads that can run at once there.
    pub threads: usize,
}

impl Offer {
    /// With these GPUs, and the processors of this process.
    pub fn of(mut gpus: Vec<String>) -> Self {
        gpus.sort();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Offer { gpus, processors: processors(), threads }
    }
}

/// What a rank is to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Share {
    /// GPUs, each with the number of ranks that use it.
    pub gpus: Vec<(String, usize)>,
    /// CPU threads.
    pub threads: usize,
}

/// The share of the rank in this place of all those of a machine.
///
/// GPUs are dealt out one by one to the ranks that see the same ones: one for each rank if there are as many, all if there is one
/// rank, and the same for several ranks if there are more of these. A rank that its launcher has shown a GPU of its own takes that.
/// Processors that several ranks may run on are shared; if each is bound to its own, it takes these. `gpus`: that each rank takes so
/// many, or all that there are, and the same as others if there are not so many; `None` to deal out each once.
pub fn share(place: usize, offers: &[Offer], gpus: Option<usize>) -> Share {
    let Some(own) = offers.get(place) else { return Share { gpus: Vec::new(), threads: 1 } };
    let taken: Vec<Vec<&String>> = (0..offers.len()).map(|place| dealt(place, offers, gpus)).collect();
    let users = |gpu: &String| taken.iter().filter(|all| all.contains(&gpu)).count();
    let gpus = taken[place].iter().map(|&gpu| (gpu.clone(), users(gpu))).collect();
    let part = |processor: &usize| {
        let users = offers.iter().filter(|other| other.processors.is_empty() || other.processors.contains(processor));
        1.0 / users.count().max(1) as f64
    };
    let threads = match own.processors.len() {
        0 => own.threads as f64 / offers.len() as f64,
        _ => own.processors.iter().map(part).sum::<f64>(),
    };
    // A third thrice is one.
    Share { gpus, threads: ((threads + 1e-6) as usize).clamp(1, own.threads.max(1)) }
}

fn dealt(place: usize, offers: &[Offer], each: Option<usize>) -> Vec<&String> {
    let gpus = &offers[place].gpus;
    if gpus.is_empty() {
        return Vec::new();
    }
    let alike: Vec<usize> = (0..offers.len()).filter(|&other| offers[other].gpus == *gpus).collect();
    let among = alike.iter().position(|&other| other == place).unwrap_or(0);
    if let Some(each) = each {
        let each = each.min(gpus.len());
        return (0..each).map(|index| &gpus[(among * each + index) % gpus.len()]).collect();
    }
    if alike.len() > gpus.len() {
        return vec![&gpus[among % gpus.len()]];
    }
    gpus.iter().skip(among).step_by(alike.len()).collect()
}

/// Processors that this process may run on.
#[cfg(target_os = "linux")]
fn processors() -> Vec<usize> {
    // proc(5): as in `0-3,8`.
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    list.trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(not(target_os = "linux"))]
fn processors() -> Vec<usize> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn range(text: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some(first.parse().ok()?..=last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(gpus: &[&str], processors: std::ops::Range<usize>) -> Offer {
        let gpus = gpus.iter().map(|gpu| gpu.to_string()).collect();
        Offer { gpus, threads: processors.len(), processors: processors.collect() }
    }

    fn shares(offers: &[Offer]) -> Vec<(Vec<(String, usize)>, usize)> {
        (0..offers.len()).map(|place| share(place, offers, None)).map(|share| (share.gpus, share.threads)).collect()
    }

    fn gpus(names: &[(&str, usize)]) -> Vec<(String, usize)> {
        names.iter().map(|&(name, users)| (name.to_owned(), users)).collect()
    }

    #[test]
    fn gpus_are_dealt_out_by_their_place() {
        let node = ["01", "02", "03", "04"];
        let alike = |ranks: usize| vec![offer(&node, 0..32); ranks];
        assert_eq!(shares(&alike(1)), [(gpus(&[("01", 1), ("02", 1), ("03", 1), ("04", 1)]), 32)]);
        assert_eq!(
            shares(&alike(4)),
            [("01", 8), ("02", 8), ("03", 8), ("04", 8)].map(|(gpu, threads)| (gpus(&[(gpu, 1)]), threads))
        );
        let three = shares(&alike(3));
        assert_eq!(three[0], (gpus(&[("01", 1), ("04", 1)]), 10));
        assert_eq!(three[2], (gpus(&[("03", 1)]), 10));
        let six = shares(&alike(6));
        assert_eq!((&six[0].0, &six[4].0, &six[3].0), (&gpus(&[("01", 2)]), &gpus(&[("01", 2)]), &gpus(&[("04", 1)])));
    }

    #[test]
    fn so_many_gpus_for_each_rank() {
        let node = ["01", "02", "03", "04"];
        let of = |ranks: usize, each: usize| {
            let offers = vec![offer(&node, 0..32); ranks];
            let shares = (0..ranks).map(|place| share(place, &offers, Some(each)).gpus);
            shares.collect::<Vec<_>>()
        };
        assert_eq!(of(1, 1), [gpus(&[("01", 1)])], "others stay for other jobs");
        assert_eq!(of(2, 2), [gpus(&[("01", 1), ("02", 1)]), gpus(&[("03", 1), ("04", 1)])]);
        assert_eq!(of(3, 2)[2], gpus(&[("01", 2), ("02", 2)]));
        let all = gpus(&[("01", 2), ("02", 2), ("03", 2), ("04", 2)]);
        assert_eq!(of(2, usize::MAX), [all.clone(), all]);
        let none = vec![offer(&[], 0..2); 2];
        assert_eq!(share(1, &none, Some(2)).gpus, gpus(&[]));
    }

    #[test]
    fn a_rank_takes_what_it_alone_is_shown() {
        let offers = [offer(&["01"], 0..4), offer(&["02"], 4..12), offer(&[], 12..16)];
        let expected = [(gpus(&[("01", 1)]), 4), (gpus(&[("02", 1)]), 8), (gpus(&[]), 4)];
        assert_eq!(shares(&offers), expected);
    }

    #[test]
    fn nobody_is_without_a_thread() {
        let offers = vec![offer(&[], 0..2); 5];
        assert!(shares(&offers).iter().all(|(_, threads)| *threads == 1));
        let unknown = vec![Offer { threads: 8, ..Offer::default() }; 3];
        assert!(shares(&unknown).iter().all(|(_, threads)| *threads == 2));
        assert_eq!(share(7, &offers, None).threads, 1);
    }

    #[test]
    fn this_process_has_processors() {
        let own = Offer::of(vec!["b".into(), "a".into()]);
        assert_eq!(own.gpus, ["a", "b"]);
        assert!(own.threads > 0 && (cfg!(not(target_os = "linux")) || own.processors.len() >= own.threads));
    }
}
