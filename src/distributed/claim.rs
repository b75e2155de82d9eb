//! Claims: files that reserve a block, or the whole directory, for one process.
//!
//! A claim on a block is the file `claims/NUMBER.TURN`, and a claim on the whole directory is the
//! file `claims/all.TURN`. The turn is a counter: a process that takes over a claim creates the
//! file of the next turn. The holder rewrites ("touches") its files every 10 seconds. Another
//! process may take over the claim if the holder has ended or has not touched the file for two
//! minutes.
//!
//! A new claim is written to a temporary file and hard-linked to its name. If two processes try
//! this at the same time, the link succeeds for only one. Two processes may still compute the same
//! block, if one was silent for too long or if clients of the file system see different states.
//! This is harmless: a part file appears complete or not at all, and the rows do not depend on the
//! process that computes them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::process::{Process, unique_token, unix_seconds};
use crate::error::{Error, Result};
use crate::files::position;

/// Time without a touch after which a claim is invalid. Clients of a file server may see a touch a
/// minute late.
pub(super) const SILENCE_LIMIT: Duration = Duration::from_secs(120);
/// Time between two touches of a claim.
const TOUCH_INTERVAL: Duration = Duration::from_secs(10);

/// The holder of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimHolder {
    /// Process that holds the claim.
    pub process: Process,
    /// Start of the claim, in seconds since 1970.
    pub since: u64,
    /// Random token that distinguishes the claims of one process.
    #[serde(rename = "word")]
    token: String,
}

/// Result of an attempt to claim something.
#[derive(Debug)]
pub enum ClaimOutcome {
    /// This process holds the claim until the value is dropped.
    Acquired(Claim),
    /// Another process holds the claim.
    HeldBy(ClaimHolder),
}

/// A claim on a block or on the whole directory. Dropping it releases the claim.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    heartbeat: Arc<ClaimHeartbeat>,
    /// Previous holder and the reason for taking over its claim.
    pub taken_over: Option<(ClaimHolder, &'static str)>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.heartbeat.lock().paths.retain(|path| *path != self.path);
        // If the file cannot be removed, the claim becomes invalid when this process ends or stops
        // touching the file.
        let _ = fs::remove_file(&self.path);
    }
}

/// Access of one process to the subdirectory `claims`.
#[derive(Debug)]
pub(super) struct Claims {
    path: PathBuf,
    process: Process,
    heartbeat: Arc<ClaimHeartbeat>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) silence: Duration,
}

/// The claim file with the highest turn of a name.
struct ClaimFile {
    turn: u64,
    path: PathBuf,
    /// `None` if the file has been removed in the meantime.
    holder: Option<ClaimHolder>,
}

impl Claims {
    pub(super) fn new(path: PathBuf) -> Self {
        Claims {
            path,
            process: Process::current(),
            heartbeat: Arc::default(),
            thread: Mutex::default(),
            silence: SILENCE_LIMIT,
        }
    }

    /// Claims `name` unless a live process holds it.
    pub(super) fn claim(&self, name: &str) -> Result<ClaimOutcome> {
        loop {
            let last = self.latest_file(name)?;
            let (turn, taken_over) = match last {
                None => (0, None),
                Some(ClaimFile { turn, path, holder }) => match holder {
                    Some(holder) => match self.why_invalid(&path, &holder)? {
                        Some(why) => (turn + 1, Some((path, holder, why))),
                        None => return Ok(ClaimOutcome::HeldBy(holder)),
                    },
                    // The holder has just released the claim.
                    None => continue,
                },
            };
            let holder = ClaimHolder { process: self.process.clone(), since: unix_seconds(), token: unique_token() };
            let path = self.path.join(format!("{name}.{turn}"));
            if !self.link(&path, &holder)? {
                continue;
            }
            let mut claim = Claim { path, heartbeat: Arc::clone(&self.heartbeat), taken_over: None };
            self.start_touching(&claim);
            if let Some((old, before, why)) = taken_over {
                // The claim may have been released and acquired again in the meantime.
                if read(&old)?.is_some_and(|there| there != before) {
                    continue;
                }
                fs::remove_file(&old).or_else(ignore_not_found).map_err(|error| Error::io(&old, error))?;
                claim.taken_over = Some((before, why));
            }
            return Ok(ClaimOutcome::Acquired(claim));
        }
    }

    /// Returns the live process that holds `name`.
    pub(super) fn holder(&self, name: &str) -> Result<Option<ClaimHolder>> {
        let Some(ClaimFile { path, holder: Some(holder), .. }) = self.latest_file(name)? else { return Ok(None) };
        Ok(self.why_invalid(&path, &holder)?.is_none().then_some(holder))
    }

    /// Returns every claim of a live process, sorted by name.
    pub(super) fn live_claims(&self) -> Result<Vec<(String, ClaimHolder)>> {
        let mut names: Vec<String> = self.names()?.into_iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        let mut held = Vec::new();
        for name in names {
            held.extend(self.holder(&name)?.map(|holder| (name, holder)));
        }
        Ok(held)
    }

    /// Returns the names and turns of all claim files.
    fn names(&self) -> Result<Vec<(String, u64)>> {
        let failed = |error| Error::io(&self.path, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let parts = name.to_str().and_then(|name| name.split_once('.'));
            names.extend(parts.and_then(|(name, turn)| Some((name.to_owned(), turn.parse().ok()?))));
        }
        Ok(names)
    }

    /// Returns the claim file of `name` with the highest turn.
    fn latest_file(&self, name: &str) -> Result<Option<ClaimFile>> {
        let turns = self.names()?.into_iter().filter(|(other, _)| other == name).map(|(_, turn)| turn);
        let Some(turn) = turns.max() else { return Ok(None) };
        let path = self.path.join(format!("{name}.{turn}"));
        let holder = read(&path)?;
        Ok(Some(ClaimFile { turn, path, holder }))
    }

    /// Returns the reason why a claim is no longer valid, or `None` if it is valid.
    fn why_invalid(&self, path: &Path, holder: &ClaimHolder) -> Result<Option<&'static str>> {
        if holder.process.has_ended() {
            return Ok(Some("its process has ended"));
        }
        // Opening the file makes a network file system fetch the current time stamp.
        let touched = match File::open(path).and_then(|file| file.metadata()?.modified()) {
            Ok(touched) => touched,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, error)),
        };
        let silent = self.file_system_time()?.duration_since(touched).unwrap_or_default();
        Ok((silent > self.silence).then_some("its claim was not renewed in time"))
    }

    /// Returns the time of the file system's clock, which may differ from the clock of this
    /// machine.
    fn file_system_time(&self) -> Result<SystemTime> {
        let path = self.path.join(format!(".now-{}", unique_token()));
        let time = File::create_new(&path).and_then(|file| file.metadata()?.modified());
        let _ = fs::remove_file(&path);
        time.map_err(|error| Error::io(path, error))
    }

    /// Creates a file with its content in one step. Returns `false` if the file already exists.
    fn link(&self, path: &Path, holder: &ClaimHolder) -> Result<bool> {
        let text = serde_json::to_vec(holder).map_err(super::manifest::json_error)?;
        let temporary = self.path.join(format!(".{}", holder.token));
        let made = fs::write(&temporary, &text).and_then(|()| fs::hard_link(&temporary, path));
        let _ = fs::remove_file(&temporary);
        match made {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Without hard links, the file is empty for a moment after its creation.
            Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied) => {
                match File::create_new(path).and_then(|mut file| io::Write::write_all(&mut file, &text)) {
                    Ok(()) => Ok(true),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
                    Err(error) => Err(Error::io(path, error)),
                }
            }
            Err(error) => Err(Error::io(path, error)),
        }
    }

    /// Adds a claim to the files that the heartbeat thread touches. Starts the thread if it is not
    /// running.
    fn start_touching(&self, claim: &Claim) {
        self.heartbeat.lock().paths.push(claim.path.clone());
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let heartbeat = Arc::clone(&self.heartbeat);
            let spawned = std::thread::Builder::new()
                .name("claims".into())
                .spawn(move || heartbeat.touch_until_over(TOUCH_INTERVAL));
            // Without the thread, the claim becomes invalid after the silence limit.
            *thread =
                spawned.inspect_err(|error| tracing::warn!("cannot start the thread that renews claims: {error}")).ok();
        }
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        self.heartbeat.lock().is_over = true;
        self.heartbeat.over.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // The thread returns no value.
            let _ = thread.join();
        }
    }
}

/// Shared state of the thread that touches the claim files.
#[derive(Debug, Default)]
struct ClaimHeartbeat {
    held: Mutex<HeartbeatState>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct HeartbeatState {
    paths: Vec<PathBuf>,
    is_over: bool,
}

impl ClaimHeartbeat {
    fn lock(&self) -> MutexGuard<'_, HeartbeatState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch_until_over(&self, every: Duration) {
        let mut held = self.lock();
        while !held.is_over {
            held = self.over.wait_timeout(held, every).unwrap_or_else(PoisonError::into_inner).0;
            let paths = held.paths.clone();
            drop(held);
            paths.iter().for_each(|path| touch(path));
            held = self.lock();
        }
    }
}

/// Rewrites the content of a file, so that its time stamp comes from the file server's clock.
fn touch(path: &Path) {
    let write = || -> io::Result<()> {
        let mut file = File::options().read(true).write(true).open(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        position::write(&file, &text, 0)
    };
    if let Err(error) = write() {
        // Either the claim was released or replaced, or the next touch may succeed.
        tracing::debug!("{}: {error}", path.display());
    }
}

/// Reads a claim file. Returns `None` if it does not exist. The holder is an unknown process if the
/// content is invalid.
fn read(path: &Path) -> Result<Option<ClaimHolder>> {
    match fs::read(path) {
        Ok(text) => {
            let unknown = || ClaimHolder {
                process: Process { host: "an unknown machine".into(), pid: 0, started: 0, system: String::new() },
                since: 0,
                token: String::new(),
            };
            Ok(Some(serde_json::from_slice(&text).unwrap_or_else(|_| unknown())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// Converts a "not found" error of a removal to success.
pub(super) fn ignore_not_found(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> (tempfile::TempDir, Claims) {
        let folder = tempfile::tempdir().unwrap();
        let claims = Claims::new(folder.path().to_owned());
        (folder, claims)
    }

    fn acquired(outcome: ClaimOutcome) -> Claim {
        match outcome {
            ClaimOutcome::Acquired(claim) => claim,
            ClaimOutcome::HeldBy(holder) => panic!("{holder:?}"),
        }
    }

    /// Writes a claim file of another process.
    fn foreign(claims: &Claims, name: &str, process: Process) -> PathBuf {
        let path = claims.path.join(name);
        assert!(claims.link(&path, &ClaimHolder { process, since: 7, token: unique_token() }).unwrap());
        path
    }

    #[test]
    fn claim_is_exclusive_until_it_is_released() {
        let (_folder, claims) = claims();
        let claim = acquired(claims.claim("000003").unwrap());
        assert!(claim.taken_over.is_none());
        let ClaimOutcome::HeldBy(holder) = claims.claim("000003").unwrap() else { panic!("two claims on one block") };
        assert_eq!(holder.process, Process::current());
        assert_eq!(claims.live_claims().unwrap(), [("000003".to_owned(), holder)]);
        let other = acquired(claims.claim("000004").unwrap());
        drop(claim);
        drop(acquired(claims.claim("000003").unwrap()));
        drop(other);
        assert_eq!(fs::read_dir(&claims.path).unwrap().count(), 0, "released claims leave no file");
    }

    #[test]
    fn claim_of_an_ended_or_silent_process_is_taken_over() {
        let (_folder, claims) = claims();
        let ended = Process { started: 1, ..Process::current() };
        let path = foreign(&claims, "000003.0", ended.clone());
        let claim = acquired(claims.claim("000003").unwrap());
        let (holder, why) = claim.taken_over.as_ref().unwrap();
        assert_eq!((&holder.process, *why), (&ended, "its process has ended"));
        assert!(!path.exists() && claims.path.join("000003.1").exists());

        let far = Process { host: "elsewhere".into(), ..ended };
        let path = foreign(&claims, "all.4", far.clone());
        assert!(matches!(claims.claim("all").unwrap(), ClaimOutcome::HeldBy(holder) if holder.process == far));
        let touched = SystemTime::now() - SILENCE_LIMIT - Duration::from_secs(9);
        File::options().write(true).open(&path).unwrap().set_modified(touched).unwrap();
        assert!(claims.holder("all").unwrap().is_none());
        let claim = acquired(claims.claim("all").unwrap());
        assert_eq!(claim.taken_over.as_ref().unwrap().1, "its claim was not renewed in time");
        assert!(claims.path.join("all.5").exists());
    }

    #[test]
    fn claim_without_content_is_valid_until_it_is_silent() {
        let (_folder, claims) = claims();
        let path = claims.path.join("000001.0");
        fs::write(&path, "").unwrap();
        assert!(matches!(claims.claim("000001").unwrap(), ClaimOutcome::HeldBy(holder) if holder.process.pid == 0));
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        acquired(claims.claim("000001").unwrap());
    }

    #[test]
    fn one_of_many_concurrent_claims_succeeds() {
        let (_folder, claims) = claims();
        foreign(&claims, "000000.0", Process { started: 1, ..Process::current() });
        let got = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    if let ClaimOutcome::Acquired(claim) = claims.claim("000000").unwrap() {
                        got.lock().unwrap().push(claim);
                    }
                });
            }
        });
        assert_eq!(got.lock().unwrap().len(), 1);
    }

    #[test]
    fn touch_renews_a_claim() {
        let (_folder, claims) = claims();
        let claim = acquired(claims.claim("000000").unwrap());
        let file = File::options().write(true).open(&claim.path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        touch(&claim.path);
        let silent =
            claims.file_system_time().unwrap().duration_since(fs::metadata(&claim.path).unwrap().modified().unwrap());
        assert!(silent.unwrap_or_default() < SILENCE_LIMIT);
        assert!(claims.holder("000000").unwrap().is_some());
    }
}
