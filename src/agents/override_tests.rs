//! User files in the `agents` directory, and the messages for mistakes in them.

use std::path::Path;

use super::{Catalog, CatalogError, Host, LaunchContext, LaunchKind};
use crate::detect::{Key, Screen};
use crate::model::Activity;

fn load(files: &[(&str, &str)]) -> Result<Catalog, CatalogError> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Catalog::load(Some(folder.path()))
}

/// The error message about a file, without its directory.
fn complaint(name: &str, text: &str) -> String {
    let error = load(&[(name, text)]).unwrap_err().to_string();
    let start = error.find(name).unwrap_or(0);
    error[start..].to_owned()
}

fn argv(catalog: &Catalog, agent: &str) -> Vec<String> {
    let host = Host {
        biv: "/bin/biv".into(),
        state: "/state".into(),
        shell: "/bin/sh".into(),
        path: None,
    };
    let context = LaunchContext {
        host: &host,
        cwd: Path::new("/work"),
        kind: LaunchKind::Fresh {
            session: Some("id"),
        },
        directories: &[],
        extra_args: &[],
    };
    catalog
        .require(agent)
        .unwrap()
        .launch(&context)
        .unwrap()
        .argv
}

#[test]
fn a_users_file_changes_only_what_it_names() {
    let text = "command = [\"/opt/claude\"]\n[hooks]\noff = true\n[keys]\ncancel = [\"C-c\"]\n[env]\nCLAUDE_CODE_DISABLE_ALTERNATE_SCREEN = \"\"\n";
    let catalog = load(&[("claude.toml", text)]).unwrap();
    assert_eq!(
        argv(&catalog, "claude"),
        ["/opt/claude", "--session-id", "id"]
    );
    let claude = catalog.require("claude").unwrap();
    assert_eq!(claude.cancel_keys(), [Key::CtrlC]);
    assert_eq!(claude.interrupt_keys(), [Key::Escape]);
    assert_eq!(claude.display(), "Claude Code");
    assert!(claude.rules().can_detect_idle());
    assert_eq!(catalog.iter().count(), 12);
}

#[test]
fn a_new_agent_needs_no_more_than_a_command() {
    let catalog = load(&[("my-agent.toml", "command = [\"mine\", \"--fast\"]\n")]).unwrap();
    assert_eq!(argv(&catalog, "my-agent"), ["mine", "--fast"]);
    let mine = catalog.require("my-agent").unwrap();
    assert_eq!(mine.display(), "my-agent");
    assert_eq!(mine.submit_keys(), [Key::Enter]);
    assert!(!mine.assigns_session_id());
}

#[test]
fn a_new_agent_may_have_rules_of_its_own_and_braces_that_mean_nothing() {
    let text = r#"
command = ["mine", "{\"json\": {session}}"]
[[rules]]
name = "ready"
activity = "idle"
last = 1
any = ['^mine> $']
"#;
    let catalog = load(&[("mine.toml", text)]).unwrap();
    assert_eq!(argv(&catalog, "mine"), ["mine", "{\"json\": id}"]);
    let mine = catalog.require("mine").unwrap();
    // Captures come without the spaces at the end of a row.
    let verdict = mine.judge(&Screen::new("mine> \n"), None);
    assert_eq!(verdict.activity, Activity::Unknown);
}

#[test]
fn a_rule_of_ones_own_goes_before_the_built_in_ones_and_may_use_their_dialogs() {
    let text = "[[extra_rules]]\nname = \"mine\"\nactivity = \"approval\"\nlast = 1\nany = ['^Sure\\?$']\ndialog = \"permission\"\n";
    let catalog = load(&[("claude.toml", text)]).unwrap();
    let claude = catalog.require("claude").unwrap();
    let verdict = claude.judge(&Screen::new(" ❯ 1. Yes\n   2. No\nSure?\n"), None);
    assert_eq!(verdict.rule.as_deref(), Some("mine"));
    assert_eq!(verdict.dialog.unwrap().choices.len(), 2);
    let idle = claude.judge(&Screen::new("❯\u{a0}\n──────────────\n"), None);
    assert_eq!(idle.activity, Activity::Idle);
}

#[test]
fn a_folder_that_is_not_there_holds_no_files() {
    let catalog = Catalog::load(Some(Path::new("/no/such/folder"))).unwrap();
    assert_eq!(catalog.names().count(), 12);
}

#[test]
fn a_mistake_is_named_with_file_line_and_key() {
    for (text, expected) in [
        ("command = [\"x\"]\n[session\n", "x.toml:2: "),
        (
            "command = [\"x\"]\n\n[keys]\ninterupt = [\"Escape\"]\n",
            "x.toml:4: `keys.interupt`: unknown key; did you mean `interrupt`?",
        ),
        (
            "comand = [\"x\"]\n",
            "x.toml:1: `comand`: unknown key; did you mean `command`?",
        ),
        (
            "command = [\"x\"]\n[keys]\ninterrupt = [\"Escape\", \"F13\"]\n",
            "x.toml:3: `keys.interrupt[1]`: `F13` is not a key that may be pressed",
        ),
        (
            "command = \"x\"\n",
            "x.toml:1: `command`: invalid type: string \"x\", expected a sequence",
        ),
        (
            "command = [\"x\"]\n[[rules]]\nname = \"a\"\nactivity = \"idle\"\nlast = 2\nany = [\n  'fine',\n  '(',\n]\n",
            "x.toml:8: `rules[0].any[1]`: not a valid pattern: unclosed group",
        ),
        (
            "command = [\"x\"]\n[[rules]]\nname = \"a\"\nactivity = \"idel\"\n",
            "x.toml:4: `rules[0].activity`: unknown variant `idel`",
        ),
        (
            "command = [\"x\"]\n[[rules]]\nname = \"a\"\nactivity = \"idle\"\nany = ['x']\n",
            "x.toml:2: `rules[0].last`: a rule that looks at the screen says at how many",
        ),
        (
            "command = [\"x\"]\n[[rules]]\nname = \"a\"\nactivity = \"idle\"\n",
            "x.toml:3: `rules[0].name`: a rule needs `title`, `any`, `all` or `not`",
        ),
        (
            "command = [\"x\"]\n[[rules]]\nname = \"a\"\nactivity = \"approval\"\ntitle = 'x'\ndialog = \"d\"\n",
            "x.toml:6: `rules[0].dialog`: there is no dialog named `d`",
        ),
        (
            "command = [\"x\"]\n[[rules]]\nname = \"a\"\nactivity = \"idle\"\ntitle = 'x'\nversion = \"new\"\n",
            "x.toml:6: `rules[0].version`: `new` is not a range of versions",
        ),
        (
            "command = [\"x\"]\n[session]\nstrategy = \"native\"\n",
            "x.toml:2: `session.resume`: strategy `native` needs the arguments",
        ),
        (
            "display = \"X\"\n",
            "x.toml: `command`: every agent needs a command",
        ),
    ] {
        let complaint = complaint("x.toml", text);
        assert!(
            complaint.starts_with(expected),
            "{text}\n{complaint}\n{expected}"
        );
    }
}

#[test]
fn a_mistake_in_an_override_of_a_built_in_agent_has_its_line_too() {
    let text = "# mine\n[[rules]]\nname = \"a\"\nactivity = \"idle\"\nlast = 1\nany = ['[']\n";
    let complaint = complaint("claude.toml", text);
    assert!(
        complaint.starts_with("claude.toml:6: `rules[0].any[0]`: "),
        "{complaint}"
    );
}

#[test]
fn a_file_name_that_is_no_agents_name_is_refused() {
    for name in ["My Agent.toml", ".toml", "-x.toml", "ä.toml"] {
        let result = load(&[(name, "command = [\"x\"]\n")]);
        if name == ".toml" {
            assert!(
                result.is_ok(),
                "a dot file has no extension and is not read"
            );
        } else {
            assert!(matches!(result, Err(CatalogError::Name { .. })), "{name}");
        }
    }
}
