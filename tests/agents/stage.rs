//! Where an agent plays: a camp, a repository, a model, and files that answer what an agent would ask
//! a new user.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::model::Model;
use crate::room::Place;
use crate::settings;
use crate::support::wait::until_within;
use crate::support::{Answer, Camp, Instance, Repository, until};
use crate::versions;

/// OpenCode takes a minute to answer on a machine that has ten other things to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);
/// A look is a process of its own.
pub(crate) const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
/// For an agent that starts while ten other things are done.
pub(crate) const PATIENT: &str = "[launch]\nready = \"5m\"\n[resume]\nready = \"5m\"\n";
/// A person's pause between the last word and Enter.
const A_MOMENT: Duration = Duration::from_millis(300);
/// How long a key may take to show.
const ONE_KEY: Duration = Duration::from_secs(3);
/// Long enough that every agent takes it for a key. It belongs to no account.
pub(crate) const KEY: &str = "sk-ant-api03-not-a-real-key-only-for-tests-0000000000";

pub(crate) struct Stage {
    pub(crate) camp: Camp,
    pub(crate) repository: Repository,
    pub(crate) model: Arc<Model>,
    pub(crate) agent: &'static str,
    // Given back last: what holds memory is gone by then.
    _place: Option<Place>,
}

impl Stage {
    /// A stage on which the agent asks nothing before it starts.
    pub(crate) fn of(agent: &'static str) -> Self {
        let stage = Self::for_a_stranger(agent);
        stage.set_up();
        stage
    }

    /// Another machine with the same agent and the same model. At most one of the two has an agent that runs.
    pub(crate) fn another_machine(&self) -> Self {
        let camp = Camp::new();
        let stage = Self::with(self.agent, camp, Arc::clone(&self.model), None);
        stage.set_up();
        stage
    }

    fn set_up(&self) {
        match self.agent {
            "claude" => self.trust_claude(),
            "codex" => self.trust_codex(),
            "gemini" => self.set_up_gemini(),
            "aider" => self.set_up_aider(),
            "opencode" | "copilot" | "qwen" | "kimi" | "vibe" | "kilo" => settings::write(self),
            agent => panic!("nothing is known of {agent}"),
        }
    }

    /// A stage on which the agent has never been.
    pub(crate) fn for_a_stranger(agent: &'static str) -> Self {
        let place = Place::take(agent);
        let camp = Camp::new();
        let model = Arc::new(Model::start(&camp.root()));
        Self::with(agent, camp, model, Some(place))
    }

    fn with(agent: &'static str, camp: Camp, model: Arc<Model>, place: Option<Place>) -> Self {
        let path = std::env::var("PATH").unwrap_or_default();
        let camp = [
            ("PATH", format!("{}:{path}", commands(agent).display())),
            ("ANTHROPIC_BASE_URL", model.url()),
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_ERROR_REPORTING", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", model.url()),
            ("GEMINI_API_KEY", KEY.to_owned()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned()),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".to_owned()),
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()),
        ]
        .into_iter()
        .chain(settings::variables(agent, &model.url(), &commands(agent)))
        .fold(camp, |camp, (name, value)| camp.with(name, &value));
        let repository = camp.repository("app");
        // A busy machine takes minutes to start an agent.
        let config = camp.home().join("config");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), PATIENT).unwrap();
        versions::hand_on(agent, &camp);
        Self {
            camp,
            repository,
            model,
            agent,
            _place: place,
        }
    }

    /// `biv new TITLE -p PROMPT`
    #[track_caller]
    pub(crate) fn start(&self, title: &str, prompt: &str) -> Instance {
        // It asks about each directory, and this worktree has never been.
        if self.agent == "kimi" {
            let instance = self.start_trusted(title);
            self.send(&instance, prompt);
            return instance;
        }
        Instance::from_json(&self.new(title, &["-p", prompt]).ok().json())
    }

    /// `biv new TITLE -p PROMPT`, and the first turn is over.
    #[track_caller]
    pub(crate) fn start_talking(&self, title: &str, prompt: &str) -> Instance {
        let instance = self.start(title, prompt);
        self.model.request_with(prompt);
        self.wait(&instance, "idle");
        instance
    }

    /// `biv new TITLE`, and yes to the question whether the directory is trusted.
    #[track_caller]
    pub(crate) fn start_trusted(&self, title: &str) -> Instance {
        let instance = Instance::from_json(&self.new(title, &[]).ok().json());
        if self.agent == "kimi" {
            self.wait(&instance, "blocked");
            self.press(&instance, &["Enter"]);
            self.wait(&instance, "idle");
        }
        instance
    }

    /// `biv new TITLE …`
    #[expect(
        clippy::new_ret_no_self,
        clippy::wrong_self_convention,
        reason = "it is named after the command"
    )]
    pub(crate) fn new(&self, title: &str, more: &[&str]) -> Answer {
        self.camp
            .biv(["new", "--json", title, "-a", self.agent, "--repo"])
            .arg(&self.repository.path)
            .args(more)
            .run()
    }

    /// Whether the agent has a file of this session in its directory.
    pub(crate) fn keeps_a_file_of(&self, directory: &str, session: &str) -> bool {
        holds(&self.home(directory), session)
    }

    #[track_caller]
    pub(crate) fn send(&self, instance: &Instance, prompt: &str) {
        let sent = self
            .camp
            .biv(["send", "--now", &instance.id, "-"])
            .stdin(prompt)
            .run();
        if sent.status != Some(0) {
            panic!("{}\n{}", sent.stderr, self.screen(instance));
        }
    }

    #[track_caller]
    pub(crate) fn pause(&self, instance: &Instance, more: &[&str]) -> Value {
        let paused = self.camp.biv(["pause", "--json", &instance.id]).args(more);
        drop(paused.run().ok());
        let shown = self.camp.show(instance);
        assert_eq!(shown["state"], "paused", "{shown:#}");
        assert_eq!(instance.processes().len(), 0, "{:?}", instance.processes());
        shown
    }

    /// All of the agent ends at one moment: none of its processes sees another end, and tidies up.
    #[track_caller]
    pub(crate) fn kill(&self, instance: &Instance) {
        let processes = instance.processes();
        for process in &processes {
            process.signal(rustix::process::Signal::STOP);
        }
        for process in &processes {
            process.kill();
        }
        self.wait_state(instance, "failed");
    }

    #[track_caller]
    pub(crate) fn resume(&self, instance: &Instance) -> Value {
        drop(self.camp.biv(["resume", &instance.id]).run().ok());
        let shown = self.camp.show(instance);
        assert_eq!(shown["state"], "running", "{shown:#}");
        shown
    }

    /// Waits until `show` says that the agent does this.
    #[track_caller]
    pub(crate) fn wait(&self, instance: &Instance, activity: &str) {
        self.until(instance, activity, |shown| shown["activity"] == activity);
    }

    /// Waits until its dialog was read.
    #[track_caller]
    pub(crate) fn wait_dialog(&self, instance: &Instance) {
        self.until(instance, "asking", |shown| !shown["asks"].is_null());
    }

    #[track_caller]
    pub(crate) fn wait_state(&self, instance: &Instance, state: &str) {
        self.until(instance, state, |shown| shown["state"] == state);
    }

    /// Waits until this is what its hooks told last.
    #[track_caller]
    pub(crate) fn wait_hook(&self, instance: &Instance, event: &str) {
        self.look(instance, event, || self.hook(instance)["event"] == event);
    }

    /// What its hooks told last.
    pub(crate) fn hook(&self, instance: &Instance) -> Value {
        let file = self
            .camp
            .instances_dir()
            .join(&instance.id)
            .join("hook.json");
        let text = std::fs::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Waits until its screen shows this.
    #[track_caller]
    pub(crate) fn see(&self, instance: &Instance, text: &str) {
        self.look(instance, text, || self.screen(instance).contains(text));
    }

    pub(crate) fn screen(&self, instance: &Instance) -> String {
        let peeked = self.camp.biv(["peek", &instance.id, "-n", "50"]);
        peeked.run().stdout
    }

    #[track_caller]
    fn until(&self, instance: &Instance, wanted: &str, holds: impl Fn(&Value) -> bool) {
        self.look(instance, wanted, || holds(&self.camp.show(instance)));
    }

    #[track_caller]
    fn look(&self, instance: &Instance, wanted: &str, holds: impl Fn() -> bool) {
        let what = || {
            let shown = self.camp.show(instance);
            format!("it is {wanted}: {shown:#}\n{}", self.screen(instance))
        };
        until_within(PATIENCE, BETWEEN_LOOKS, what, || holds().then_some(()));
    }

    /// A whole turn: the prompt is sent, the model was asked, and the agent is at its prompt again.
    #[track_caller]
    pub(crate) fn turn(&self, instance: &Instance, prompt: &str) {
        self.send(instance, prompt);
        self.wait_request(instance, prompt);
        self.wait(instance, "idle");
    }

    /// Waits until the model was asked this by the instance.
    #[track_caller]
    fn wait_request(&self, instance: &Instance, prompt: &str) {
        let what = || {
            let asked = self.model.told();
            let screen = self.screen(instance);
            format!("the model was asked {prompt:?}; it was asked {asked}\n{screen}")
        };
        until_within(PATIENCE, BETWEEN_LOOKS, what, || {
            self.model.find_request(prompt).map(drop)
        });
    }

    /// Every screen as it is now, for people who wonder why a test failed.
    fn print_screens(&self) {
        let panes = self
            .camp
            .tmux(&["list-panes", "-a", "-F", "#{pane_id} #{session_name}"]);
        for line in String::from_utf8_lossy(&panes.stdout).lines() {
            let Some((pane, session)) = line.split_once(' ') else {
                continue;
            };
            let shown = self.camp.tmux(&["capture-pane", "-p", "-t", pane]);
            let screen = String::from_utf8_lossy(&shown.stdout);
            eprintln!("the screen of {session}:\n{}", screen.trim_end());
        }
    }

    /// Presses keys in the agent's pane, as a person would who is attached.
    pub(crate) fn press(&self, instance: &Instance, keys: &[&str]) {
        let target = format!("=biv-{}:", instance.id);
        let pressed = self
            .camp
            .tmux(&[&["send-keys", "-t", &target], keys].concat());
        assert!(pressed.status.success(), "{pressed:?}");
    }

    /// Presses a key until this is selected.
    #[track_caller]
    pub(crate) fn select(&self, instance: &Instance, key: &str, selected: &str) {
        let is_selected = || self.screen(instance).contains(selected);
        self.press_until(
            instance,
            key,
            &format!("{selected} is selected"),
            is_selected,
        );
    }

    #[track_caller]
    pub(crate) fn close_menu(&self, instance: &Instance) {
        let is_idle = || self.camp.show(instance)["activity"] == "idle";
        self.press_until(instance, "Escape", "the menu is closed", is_idle);
    }

    /// Presses a key again and again: a dialog or menu that was just drawn takes none.
    #[track_caller]
    fn press_until(&self, instance: &Instance, key: &str, what: &str, holds: impl Fn() -> bool) {
        let pressing = || {
            self.press(instance, &[key]);
            soon(&holds)
        };
        let told = || format!("{what}\n{}", self.screen(instance));
        until_within(PATIENCE, BETWEEN_LOOKS, told, pressing);
    }

    /// Selects this in the dialog that blocks the agent and confirms it, until the dialog is gone: one that draws
    /// itself anew takes no key, and forgets what was selected.
    #[track_caller]
    pub(crate) fn confirm(&self, instance: &Instance, key: &str, selected: &str) {
        let is_gone = || self.camp.show(instance)["activity"] != "blocked";
        let confirming = || {
            if !self.screen(instance).contains(selected) {
                self.select(instance, key, selected);
            }
            self.press(instance, &["Enter"]);
            soon(is_gone)
        };
        let told = || format!("{selected} is confirmed\n{}", self.screen(instance));
        until_within(PATIENCE, BETWEEN_LOOKS, told, confirming);
    }

    /// Submits what was typed by hand, a moment later: agents take an Enter that follows at once for a line break of
    /// a paste.
    pub(crate) fn submit_by_hand(&self, instance: &Instance) {
        std::thread::sleep(A_MOMENT);
        self.press(instance, &["Enter"]);
    }

    /// A turn without any call of biv: typed by a person who is attached.
    pub(crate) fn turn_by_hand(&self, instance: &Instance, prompt: &str) {
        self.press(instance, &["-l", prompt]);
        self.submit_by_hand(instance);
        self.model.request_with(prompt);
        until("the answer is complete", || self.model.open_requests() == 0);
    }

    /// The directory that the agent's program and all that it needs are in.
    pub(crate) fn installed(&self) -> PathBuf {
        let commands = commands(self.agent);
        let root = commands.ancestors().find(|dir| dir.ends_with("agents"));
        root.unwrap_or(&commands).to_owned()
    }

    /// A file in the agent's home.
    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.camp.root().join("user").join(path)
    }

    pub(crate) fn write_home(&self, path: &str, text: &str) {
        let path = self.home(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Claude Code as after its first start, in a repository that it was told to trust.
    fn trust_claude(&self) {
        let known = json!({
            "hasCompletedOnboarding": true,
            "hasSeenAutoDefaultNotice": true,
            "hasSeenAutoDefaultNudge": true,
            "customApiKeyResponses": { "approved": [&KEY[KEY.len() - 20..]], "rejected": [] },
            "projects": { self.repository.path.to_str().unwrap(): { "hasTrustDialogAccepted": true } },
        });
        self.write_home(".claude.json", &known.to_string());
        // Its own default asks about next to nothing.
        let settings = json!({ "permissions": { "defaultMode": "default" } });
        self.write_home(".claude/settings.json", &settings.to_string());
    }

    fn set_up_gemini(&self) {
        let settings = json!({
            "security": {
                "auth": { "selectedType": "gemini-api-key" },
                "folderTrust": { "enabled": false },
            },
            "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
            "privacy": { "usageStatisticsEnabled": false },
        });
        self.write_home(".gemini/settings.json", &settings.to_string());
    }

    fn set_up_aider(&self) {
        let config = format!(
            "model: openai/test\nweak-model: openai/test\nopenai-api-base: {}/v1\n\
             openai-api-key: {KEY}\ncheck-update: false\nanalytics-disable: true\n\
             show-model-warnings: false\nshow-release-notes: false\ngitignore: false\n\
             edit-format: diff\n",
            self.model.url()
        );
        self.write_home(".aider.conf.yml", &config);
        // Else it would ask the network for the prices of models.
        self.write_home(".aider/caches/model_prices_and_context_window.json", "{}");
    }

    fn trust_codex(&self) {
        let trusted = format!(
            "[projects.\"{}\"]\ntrust_level = \"trusted\"\n",
            self.repository.path.display()
        );
        self.write_home(".codex/config.toml", &(self.codex_config() + &trusted));
    }

    /// Codex with our model, and without the offer of another one.
    pub(crate) fn codex_config(&self) -> String {
        format!(
            r#"model = "gpt-5.5"
model_provider = "loopback"
approval_policy = "on-request"
check_for_update_on_startup = false
[model_providers.loopback]
name = "loopback"
base_url = "{}/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
"#,
            self.model.url()
        )
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print_screens();
        }
        versions::keep(self.agent, &self.camp);
        // Claude leaves the socket of a process that was killed.
        drop(std::fs::remove_dir_all(self.home("tmp/cc-socks")));
    }
}

/// Waits as long as a key may take to show for this to hold.
fn soon(holds: impl Fn() -> bool) -> Option<()> {
    let since = Instant::now();
    while since.elapsed() < ONE_KEY {
        if holds() {
            return Some(());
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    None
}

/// Where the commands of the installed agents are. Quick when this one is there already.
pub(crate) fn commands(agent: &str) -> PathBuf {
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/install-agents");
    let output = Command::new(script).arg(agent).output().unwrap();
    assert!(
        output.status.success(),
        "{agent} could not be installed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// Whether a file below this directory holds the text.
fn holds(directory: &Path, text: &str) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| {
        if path.is_dir() {
            return holds(&path, text);
        }
        std::fs::read_to_string(&path).is_ok_and(|held| held.contains(text))
    })
}
