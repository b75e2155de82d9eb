//! Who computes a block: files that only one process can make, and that it touches as long as it lives.
//!
//! A claim on a block is the file `NUMBER.TURN` in the directory `claims`, one on the whole directory `all.TURN`; who finds one
//! whose process is gone, or silent for long, claims the next turn. A file is linked to its name with its content, so that of
//! two processes one is refused. What two processes compute all the same, because one was silent too long or the file system
//! has its ways, is computed twice, and no harm done: a part is whole or not there, and rows are the same whoever computes them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::process::{Process, now, word};
use crate::error::{Error, Result};
use crate::files::position;

/// How long a process may be silent before its claims are others' to take. A file server's clients may see a touch a minute late.
pub(super) const SILENCE: Duration = Duration::from_secs(120);
/// How often claims are touched.
const BEAT: Duration = Duration::from_secs(10);

/// Who holds a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: Process,
    /// When it began to hold it, in seconds since 1970.
    pub since: u64,
    /// Tells its claims apart.
    word: String,
}

/// What becomes of the wish to claim something.
#[derive(Debug)]
pub enum Claimed {
    /// It is claimed until this is dropped.
    Yes(Claim),
    /// Another process holds it.
    By(Holder),
}

/// Holds a block, or a whole directory, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    heart: Arc<Heart>,
    /// From whom it was taken over, and why.
    pub taken_over: Option<(Holder, &'static str)>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.heart.held().paths.retain(|path| *path != self.path);
        // If it cannot be removed, its process will be gone, or it falls silent.
        let _ = fs::remove_file(&self.path);
    }
}

/// The directory of claims.
#[derive(Debug)]
pub(super) struct Claims {
    path: PathBuf,
    own: Process,
    heart: Arc<Heart>,
    thread: Mutex<Option<JoinHandle<()>>>,
    pub(super) silence: Duration,
}

/// A file that was found.
struct Found {
    turn: u64,
    path: PathBuf,
    /// `None` if it is gone by now, or is being written.
    holder: Option<Holder>,
}

impl Claims {
    pub(super) fn new(path: PathBuf) -> Self {
        Claims { path, own: Process::own(), heart: Arc::default(), thread: Mutex::default(), silence: SILENCE }
    }

    /// Claims what has this name, if nobody does who is alive.
    pub(super) fn claim(&self, name: &str) -> Result<Claimed> {
        loop {
            let last = self.last(name)?;
            let (turn, taken_over) = match last {
                None => (0, None),
                Some(Found { turn, path, holder }) => match holder {
                    Some(holder) => match self.why_free(&path, &holder)? {
                        Some(why) => (turn + 1, Some((path, holder, why))),
                        None => return Ok(Claimed::By(holder)),
                    },
                    // It was let go just now.
                    None => continue,
                },
            };
            let holder = Holder { process: self.own.clone(), since: now(), word: word() };
            let path = self.path.join(format!("{name}.{turn}"));
            if !self.link(&path, &holder)? {
                continue;
            }
            let mut claim = Claim { path, heart: Arc::clone(&self.heart), taken_over: None };
            self.keep(&claim);
            if let Some((old, before, why)) = taken_over {
                // What was taken over may have been let go meanwhile, and claimed anew.
                if read(&old)?.is_some_and(|there| there != before) {
                    continue;
                }
                fs::remove_file(&old).or_else(forgive_gone).map_err(|error| Error::io(&old, error))?;
                claim.taken_over = Some((before, why));
            }
            return Ok(Claimed::Yes(claim));
        }
    }

    /// Who holds what has this name, if it is somebody alive.
    pub(super) fn holder(&self, name: &str) -> Result<Option<Holder>> {
        let Some(Found { path, holder: Some(holder), .. }) = self.last(name)? else { return Ok(None) };
        Ok(self.why_free(&path, &holder)?.is_none().then_some(holder))
    }

    /// Everything that is held by somebody alive, by name, without what this process holds.
    pub(super) fn held(&self) -> Result<Vec<(String, Holder)>> {
        let mut names: Vec<String> = self.names()?.into_iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        let mut held = Vec::new();
        for name in names {
            held.extend(self.holder(&name)?.map(|holder| (name, holder)));
        }
        Ok(held)
    }

    /// Names of files, with their turns.
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

    /// The claim of a name with the highest turn.
    fn last(&self, name: &str) -> Result<Option<Found>> {
        let turns = self.names()?.into_iter().filter(|(other, _)| other == name).map(|(_, turn)| turn);
        let Some(turn) = turns.max() else { return Ok(None) };
        let path = self.path.join(format!("{name}.{turn}"));
        let holder = read(&path)?;
        Ok(Some(Found { turn, path, holder }))
    }

    /// Why a claim does not count any more, if so.
    fn why_free(&self, path: &Path, holder: &Holder) -> Result<Option<&'static str>> {
        if holder.process.is_gone() {
            return Ok(Some("that process is gone"));
        }
        // Opened, not looked up: a client of a file server then asks it anew.
        let touched = match File::open(path).and_then(|file| file.metadata()?.modified()) {
            Ok(touched) => touched,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path, error)),
        };
        let silent = self.time()?.duration_since(touched).unwrap_or_default();
        Ok((silent > self.silence).then_some("it has been silent for too long"))
    }

    /// What time it is where the files are: clocks of machines differ.
    fn time(&self) -> Result<SystemTime> {
        let path = self.path.join(format!(".now-{}", word()));
        let time = File::create_new(&path).and_then(|file| file.metadata()?.modified());
        let _ = fs::remove_file(&path);
        time.map_err(|error| Error::io(path, error))
    }

    /// Makes a file with its content in one step; `false` if there is one.
    fn link(&self, path: &Path, holder: &Holder) -> Result<bool> {
        let text = serde_json::to_vec(holder).map_err(super::manifest::broken)?;
        let aside = self.path.join(format!(".{}", holder.word));
        let made = fs::write(&aside, &text).and_then(|()| fs::hard_link(&aside, path));
        let _ = fs::remove_file(&aside);
        match made {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Without links, the content comes a moment later.
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

    /// Touches a claim from now on.
    fn keep(&self, claim: &Claim) {
        self.heart.held().paths.push(claim.path.clone());
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let heart = Arc::clone(&self.heart);
            let spawned = std::thread::Builder::new().name("claims".into()).spawn(move || heart.beat(BEAT));
            // Without it a claim lasts as long as one may be silent, or as long as its process.
            *thread = spawned.inspect_err(|error| tracing::warn!("claims are not touched: {error}")).ok();
        }
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        self.heart.held().is_over = true;
        self.heart.over.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It has nothing to say.
            let _ = thread.join();
        }
    }
}

/// Touches claims.
#[derive(Debug, Default)]
struct Heart {
    held: Mutex<Held>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    paths: Vec<PathBuf>,
    is_over: bool,
}

impl Heart {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn beat(&self, every: Duration) {
        let mut held = self.held();
        while !held.is_over {
            held = self.over.wait_timeout(held, every).unwrap_or_else(PoisonError::into_inner).0;
            let paths = held.paths.clone();
            drop(held);
            paths.iter().for_each(|path| touch(path));
            held = self.held();
        }
    }
}

/// Writes what is there once more: the server's clock says when, not this machine's.
fn touch(path: &Path) {
    let write = || -> io::Result<()> {
        let mut file = File::options().read(true).write(true).open(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        position::write(&file, &text, 0)
    };
    if let Err(error) = write() {
        // It was let go, or another process has taken it over; or the next beat comes through.
        tracing::debug!("{}: {error}", path.display());
    }
}

/// What a claim's file says; `None` if it is gone. One that says nothing is of nobody who is known.
fn read(path: &Path) -> Result<Option<Holder>> {
    match fs::read(path) {
        Ok(text) => {
            let unknown = || Holder {
                process: Process { host: "a machine unknown".into(), number: 0, began: 0, system: String::new() },
                since: 0,
                word: String::new(),
            };
            Ok(Some(serde_json::from_slice(&text).unwrap_or_else(|_| unknown())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// That a file is not there is as good as that it was removed.
pub(super) fn forgive_gone(error: io::Error) -> io::Result<()> {
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

    fn yes(claimed: Claimed) -> Claim {
        match claimed {
            Claimed::Yes(claim) => claim,
            Claimed::By(holder) => panic!("{holder:?}"),
        }
    }

    /// Writes a claim of somebody else.
    fn foreign(claims: &Claims, name: &str, process: Process) -> PathBuf {
        let path = claims.path.join(name);
        assert!(claims.link(&path, &Holder { process, since: 7, word: word() }).unwrap());
        path
    }

    #[test]
    fn what_is_claimed_is_refused_until_it_is_let_go() {
        let (_folder, claims) = claims();
        let claim = yes(claims.claim("000003").unwrap());
        assert!(claim.taken_over.is_none());
        let Claimed::By(holder) = claims.claim("000003").unwrap() else { panic!("it is claimed") };
        assert_eq!(holder.process, Process::own());
        assert_eq!(claims.held().unwrap(), [("000003".to_owned(), holder)]);
        let other = yes(claims.claim("000004").unwrap());
        drop(claim);
        drop(yes(claims.claim("000003").unwrap()));
        drop(other);
        assert_eq!(fs::read_dir(&claims.path).unwrap().count(), 0, "nothing is left behind");
    }

    #[test]
    fn who_is_gone_or_silent_is_succeeded() {
        let (_folder, claims) = claims();
        let gone = Process { began: 1, ..Process::own() };
        let path = foreign(&claims, "000003.0", gone.clone());
        let claim = yes(claims.claim("000003").unwrap());
        let (holder, why) = claim.taken_over.as_ref().unwrap();
        assert_eq!((&holder.process, *why), (&gone, "that process is gone"));
        assert!(!path.exists() && claims.path.join("000003.1").exists());

        let far = Process { host: "elsewhere".into(), ..gone };
        let path = foreign(&claims, "all.4", far.clone());
        assert!(matches!(claims.claim("all").unwrap(), Claimed::By(holder) if holder.process == far));
        let touched = SystemTime::now() - SILENCE - Duration::from_secs(9);
        File::options().write(true).open(&path).unwrap().set_modified(touched).unwrap();
        assert!(claims.holder("all").unwrap().is_none());
        let claim = yes(claims.claim("all").unwrap());
        assert_eq!(claim.taken_over.as_ref().unwrap().1, "it has been silent for too long");
        assert!(claims.path.join("all.5").exists());
    }

    #[test]
    fn a_claim_without_content_counts_until_it_is_old() {
        let (_folder, claims) = claims();
        let path = claims.path.join("000001.0");
        fs::write(&path, "").unwrap();
        assert!(matches!(claims.claim("000001").unwrap(), Claimed::By(holder) if holder.process.number == 0));
        File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        yes(claims.claim("000001").unwrap());
    }

    #[test]
    fn of_many_at_once_one_has_it() {
        let (_folder, claims) = claims();
        foreign(&claims, "000000.0", Process { began: 1, ..Process::own() });
        let got = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    if let Claimed::Yes(claim) = claims.claim("000000").unwrap() {
                        got.lock().unwrap().push(claim);
                    }
                });
            }
        });
        assert_eq!(got.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_touch_is_seen() {
        let (_folder, claims) = claims();
        let claim = yes(claims.claim("000000").unwrap());
        let file = File::options().write(true).open(&claim.path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        touch(&claim.path);
        let silent = claims.time().unwrap().duration_since(fs::metadata(&claim.path).unwrap().modified().unwrap());
        assert!(silent.unwrap_or_default() < SILENCE);
        assert!(claims.holder("000000").unwrap().is_some());
    }
}
