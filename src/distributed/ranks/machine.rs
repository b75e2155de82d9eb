//! Divides the GPUs and processors of a machine among its ranks.

use serde::{Deserialize, Serialize};

/// The devices that a rank sees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankResources {
    /// GPUs, identified by PCI bus id or another unique name.
    pub gpus: Vec<String>,
    /// Numbers of the processors that the rank may run on. Empty if they are not known.
    pub processors: Vec<usize>,
    /// Number of threads that can run at the same time.
    pub threads: usize,
}

impl RankResources {
    /// Creates the resources of this process with the given GPUs.
    pub fn new(mut gpus: Vec<String>) -> Self {
        gpus.sort();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        RankResources { gpus, processors: processors(), threads }
    }
}

/// The devices that a rank uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResourceShare {
    /// GPUs, each with the number of ranks that use it.
    pub gpus: Vec<(String, usize)>,
    /// Number of CPU threads.
    pub threads: usize,
}

/// Returns the share of the rank at position `index` among all ranks of a machine.
///
/// Each GPU is assigned to one of the ranks that see the same set of GPUs. If there are more ranks
/// than GPUs, several ranks share a GPU. If a launcher has given each rank its own GPU, the rank
/// uses that GPU. A processor that several ranks may use counts in equal parts for each of them.
///
/// If `gpus` is set, each rank uses this number of GPUs, and ranks share GPUs if there are too few.
/// If it is `None`, each GPU is assigned once.
pub fn share(index: usize, ranks: &[RankResources], gpus: Option<usize>) -> ResourceShare {
    let Some(rank) = ranks.get(index) else { return ResourceShare { gpus: Vec::new(), threads: 1 } };
    let assigned: Vec<Vec<&String>> = (0..ranks.len()).map(|index| assigned_gpus(index, ranks, gpus)).collect();
    let users = |gpu: &String| assigned.iter().filter(|all| all.contains(&gpu)).count();
    let gpus = assigned[index].iter().map(|&gpu| (gpu.clone(), users(gpu))).collect();
    let part = |processor: &usize| {
        let users = ranks.iter().filter(|other| other.processors.is_empty() || other.processors.contains(processor));
        1.0 / users.count().max(1) as f64
    };
    let threads = match rank.processors.len() {
        0 => rank.threads as f64 / ranks.len() as f64,
        _ => rank.processors.iter().map(part).sum::<f64>(),
    };
    // Adding 1e-6 compensates for rounding, so that three thirds count as one thread.
    ResourceShare { gpus, threads: ((threads + 1e-6) as usize).clamp(1, rank.threads.max(1)) }
}

fn assigned_gpus(index: usize, ranks: &[RankResources], each: Option<usize>) -> Vec<&String> {
    let gpus = &ranks[index].gpus;
    if gpus.is_empty() {
        return Vec::new();
    }
    let alike: Vec<usize> = (0..ranks.len()).filter(|&other| ranks[other].gpus == *gpus).collect();
    let among = alike.iter().position(|&other| other == index).unwrap_or(0);
    if let Some(each) = each {
        let each = each.min(gpus.len());
        return (0..each).map(|index| &gpus[(among * each + index) % gpus.len()]).collect();
    }
    if alike.len() > gpus.len() {
        return vec![&gpus[among % gpus.len()]];
    }
    gpus.iter().skip(among).step_by(alike.len()).collect()
}

/// Returns the processors that this process may run on.
#[cfg(target_os = "linux")]
fn processors() -> Vec<usize> {
    // proc(5): a list such as `0-3,8`.
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

    fn resources(gpus: &[&str], processors: std::ops::Range<usize>) -> RankResources {
        let gpus = gpus.iter().map(|gpu| gpu.to_string()).collect();
        RankResources { gpus, threads: processors.len(), processors: processors.collect() }
    }

    fn shares(ranks: &[RankResources]) -> Vec<(Vec<(String, usize)>, usize)> {
        (0..ranks.len()).map(|index| share(index, ranks, None)).map(|share| (share.gpus, share.threads)).collect()
    }

    fn gpus(names: &[(&str, usize)]) -> Vec<(String, usize)> {
        names.iter().map(|&(name, users)| (name.to_owned(), users)).collect()
    }

    #[test]
    fn gpus_are_divided_among_ranks() {
        let node = ["01", "02", "03", "04"];
        let alike = |ranks: usize| vec![resources(&node, 0..32); ranks];
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
    fn requested_number_of_gpus_is_given_to_each_rank() {
        let node = ["01", "02", "03", "04"];
        let gpus_of = |count: usize, each: usize| {
            let ranks = vec![resources(&node, 0..32); count];
            let shares = (0..count).map(|index| share(index, &ranks, Some(each)).gpus);
            shares.collect::<Vec<_>>()
        };
        assert_eq!(gpus_of(1, 1), [gpus(&[("01", 1)])], "the other GPUs stay free");
        assert_eq!(gpus_of(2, 2), [gpus(&[("01", 1), ("02", 1)]), gpus(&[("03", 1), ("04", 1)])]);
        assert_eq!(gpus_of(3, 2)[2], gpus(&[("01", 2), ("02", 2)]));
        let all = gpus(&[("01", 2), ("02", 2), ("03", 2), ("04", 2)]);
        assert_eq!(gpus_of(2, usize::MAX), [all.clone(), all]);
        let none = vec![resources(&[], 0..2); 2];
        assert_eq!(share(1, &none, Some(2)).gpus, gpus(&[]));
    }

    #[test]
    fn rank_takes_the_devices_that_only_it_sees() {
        let ranks = [resources(&["01"], 0..4), resources(&["02"], 4..12), resources(&[], 12..16)];
        let expected = [(gpus(&[("01", 1)]), 4), (gpus(&[("02", 1)]), 8), (gpus(&[]), 4)];
        assert_eq!(shares(&ranks), expected);
    }

    #[test]
    fn every_rank_has_a_thread() {
        let ranks = vec![resources(&[], 0..2); 5];
        assert!(shares(&ranks).iter().all(|(_, threads)| *threads == 1));
        let unknown = vec![RankResources { threads: 8, ..RankResources::default() }; 3];
        assert!(shares(&unknown).iter().all(|(_, threads)| *threads == 2));
        assert_eq!(share(7, &ranks, None).threads, 1);
    }

    #[test]
    fn processors_of_this_process_are_known() {
        let rank = RankResources::new(vec!["b".into(), "a".into()]);
        assert_eq!(rank.gpus, ["a", "b"]);
        assert!(rank.threads > 0 && (cfg!(not(target_os = "linux")) || rank.processors.len() >= rank.threads));
    }
}
