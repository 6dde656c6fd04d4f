//! What the newer agents need to find the model on loopback, and to ask nothing at their first start.

use std::path::Path;

use serde_json::json;

use crate::stage::{KEY, Stage, commands};

/// The models that OpenCode and Kilo know beside ours: none. Reading their own list takes seconds at each start.
const NO_MODELS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/fixtures/model-server/models.json"
);

/// OpenCode and Kilo live for seconds here: compiling a function once more, for a long life, takes longer than it
/// saves.
const NO_LATE_COMPILERS: [&str; 2] = ["BUN_JSC_useDFGJIT", "BUN_JSC_useFTLJIT"];

/// The variables that only this agent gets.
pub(crate) fn variables(agent: &str, url: &str, commands: &Path) -> Vec<(&'static str, String)> {
    let no_late_compilers = NO_LATE_COMPILERS.map(|name| (name, "0".to_owned()));
    let url = format!("{url}/v1");
    let key = KEY.to_owned();
    let on = "true".to_owned();
    match agent {
        "copilot" => vec![
            ("COPILOT_PROVIDER_BASE_URL", url),
            ("COPILOT_PROVIDER_API_KEY", key),
            ("COPILOT_MODEL", "test".to_owned()),
            ("COPILOT_OFFLINE", on),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
            // It unpacks itself at its first start: once for all tests.
            (
                "COPILOT_PKG_CACHE_HOME",
                commands
                    .with_file_name("copilot-unpacked")
                    .display()
                    .to_string(),
            ),
        ],
        "qwen" => vec![
            ("OPENAI_API_KEY", key),
            ("OPENAI_BASE_URL", url),
            ("OPENAI_MODEL", "test".to_owned()),
        ],
        "kimi" => vec![
            ("KIMI_MODEL_NAME", "test".to_owned()),
            ("KIMI_MODEL_API_KEY", key),
            ("KIMI_MODEL_PROVIDER_TYPE", "openai".to_owned()),
            ("KIMI_MODEL_BASE_URL", url),
            ("KIMI_CODE_NO_AUTO_UPDATE", "1".to_owned()),
        ],
        "vibe" => vec![("LOOPBACK_KEY", key)],
        // As on most terminals: its input box has an upper and a lower edge then.
        "gemini" => vec![("COLORTERM", "truecolor".to_owned())],
        "kilo" => [
            "KILO_DISABLE_MODELS_FETCH",
            "KILO_DISABLE_AUTOUPDATE",
            "KILO_DISABLE_LSP_DOWNLOAD",
            "KILO_DISABLE_DEFAULT_PLUGINS",
            "KILO_DISABLE_SESSION_INGEST",
        ]
        .map(|name| (name, "1".to_owned()))
        .into_iter()
        .chain([
            ("KILO_TELEMETRY_LEVEL", "off".to_owned()),
            ("KILO_MODELS_PATH", NO_MODELS.to_owned()),
        ])
        .chain(no_late_compilers)
        .collect(),
        "opencode" => [("OPENCODE_MODELS_PATH", NO_MODELS.to_owned())]
            .into_iter()
            .chain(no_late_compilers)
            .collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn write(stage: &Stage) {
    match stage.agent {
        "opencode" => {
            let settings = opencode(stage).to_string();
            stage.write_home(".config/opencode/opencode.json", &settings);
            link_plugin(stage);
        }
        "kilo" => {
            let mut settings = opencode(stage);
            // On a busy machine they take long, and it asks whether to do without them.
            settings["snapshot"] = json!(false);
            stage.write_home(".config/kilo/kilo.json", &settings.to_string());
        }
        "copilot" => {
            let root = std::fs::canonicalize(stage.camp.root()).unwrap();
            let known = json!({ "trustedFolders": [root], "appTipShown": true });
            stage.write_home(".copilot/config.json", &known.to_string());
            let settings = json!({ "banner": "never", "showTipsOnStartup": false });
            stage.write_home(".copilot/settings.json", &settings.to_string());
        }
        "qwen" => {
            let settings = json!({
                "security": { "auth": { "selectedType": "openai" } },
                "privacy": { "usageStatisticsEnabled": false },
                "general": { "enableAutoUpdate": false },
                // Its own default lets a model decide.
                "tools": { "approvalMode": "default" },
                "ui": { "enableFollowupSuggestions": false },
            });
            stage.write_home(".qwen/settings.json", &settings.to_string());
        }
        "kimi" => stage.write_home(".kimi-code/config.toml", "telemetry = false\n"),
        "vibe" => {
            let config = format!(
                r#"active_model = "test"
enable_telemetry = false
enable_update_checks = false
enable_notifications = false
[[providers]]
name = "loopback"
api_base = "{}/v1"
api_key_env_var = "LOOPBACK_KEY"
backend = "generic"
[[models]]
name = "test"
provider = "loopback"
alias = "test"
"#,
                stage.model.url()
            );
            stage.write_home(".vibe/config.toml", &config);
        }
        other => panic!("nothing is known of {other}"),
    }
}

/// Else OpenCode would fetch it, at each first start: from the network, and with ten seconds of processor time.
fn link_plugin(stage: &Stage) {
    let plugin = commands(stage.agent).with_file_name("opencode-plugin");
    let config = stage.home(".config/opencode");
    for name in ["package.json", "package-lock.json"] {
        std::fs::copy(plugin.join(name), config.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(plugin.join("node_modules"), config.join("node_modules")).unwrap();
}

/// What OpenCode and its descendants need.
pub(crate) fn opencode(stage: &Stage) -> serde_json::Value {
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": "loopback/test",
        "small_model": "loopback/test",
        "permission": { "bash": "ask", "edit": "ask" },
        "provider": { "loopback": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "loopback",
            "options": { "baseURL": format!("{}/v1", stage.model.url()), "apiKey": KEY },
            "models": { "test": { "limit": { "context": 100_000, "output": 8_000 } } },
        } },
    })
}
