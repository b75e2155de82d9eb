//! Headless Chromium, controlled through the DevTools protocol: JSON messages in two pipes, each
//! followed by a zero byte.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// After this time without a message, the browser is considered dead.
const SILENCE: Duration = Duration::from_secs(180);

/// Size and colours of a screen.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    width: u32,
    height: u32,
    /// Whether the system prefers dark pages.
    pub is_dark: bool,
}

impl Screen {
    /// Desktops before phones.
    pub const ALL: [Screen; 4] = [
        Screen { width: 1400, height: 900, is_dark: false },
        Screen { width: 1400, height: 900, is_dark: true },
        Screen { width: 390, height: 844, is_dark: true },
        Screen { width: 390, height: 844, is_dark: false },
    ];
}

/// A running browser with one page.
pub struct Browser {
    process: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    last_id: u64,
    session: Option<String>,
    /// Errors and warnings of the current page.
    problems: Vec<String>,
    /// Whether the current page has been loaded.
    is_loaded: bool,
    _profile: TempDir,
}

impl Browser {
    /// Starts Chromium with an empty page.
    pub fn start() -> Self {
        Self::start_with(&["--disable-gpu"])
    }

    /// Starts Chromium with these options and an empty page.
    pub fn start_with(options: &[&str]) -> Self {
        let profile = tempfile::tempdir().expect("a temporary directory");
        // Chromium reads requests from descriptor 3 and writes answers to descriptor 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .args(["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe"])
            .args(options)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in answers.split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("a message is JSON");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut browser = Browser {
            process,
            requests,
            messages,
            last_id: 0,
            session: None,
            problems: Vec::new(),
            is_loaded: false,
            _profile: profile,
        };
        let target = browser.request("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.request("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.request(domain, json!({}));
        }
        browser
    }

    /// Returns the next message. Records the problems and events that it reports.
    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(SILENCE).expect("chromium runs (Debian's package chromium)");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Page.loadEventFired") => self.is_loaded = true,
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => self.problems.push(parameters.to_string()),
            Some("Runtime.consoleAPICalled") => self.problems.push(parameters.to_string()),
            _ => {}
        }
        message
    }

    /// Sends a request and returns its result.
    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut request = json!({ "id": self.last_id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        let sent = self.requests.write_all(format!("{request}\0").as_bytes()).and_then(|()| self.requests.flush());
        sent.expect("chromium runs (Debian's package chromium)");
        loop {
            let mut message = self.receive();
            if message["id"] == self.last_id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
        }
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&mut self, page: &str, screen: Screen) {
        let Screen { width, height, is_dark } = screen;
        let scheme = if is_dark { "dark" } else { "light" };
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 760 });
        self.request("Emulation.setDeviceMetricsOverride", size);
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.request("Emulation.setEmulatedMedia", features);
        self.problems.clear();
        self.is_loaded = false;
        let opened = self.request("Page.navigate", json!({ "url": format!("file://{page}") }));
        assert!(opened["errorText"].is_null(), "{page}: {opened}");
        // The empty page that precedes the first one may be loaded late.
        while !self.is_loaded || self.value("location.protocol + document.readyState") != "file:complete" {
            self.receive();
        }
    }

    /// Returns the value of an expression, or of the promise that it is.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut result = self.request("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let poll = format!(
            "new Promise((done, failed) => {{ const end = Date.now() + 120e3, poll = () => ({expression}) ? done() \
             : Date.now() > end ? failed(new Error('not shown')) : setTimeout(poll, 10); poll(); }})"
        );
        self.value(&poll);
    }

    /// Fails if the page threw an exception, or if the console has an entry.
    pub fn assert_no_problems(&mut self, context: &str) {
        // Entries precede the answer.
        self.value("0");
        assert!(self.problems.is_empty(), "{context}: {:#?}", self.problems);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let kill = self.process.kill();
        if kill.is_ok() {
            drop(self.process.wait());
        }
    }
}
