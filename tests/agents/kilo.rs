//! Kilo, a descendant of OpenCode.

use std::os::unix::fs::PermissionsExt;

use crate::acts;
use crate::allowing;
use crate::day;
use crate::menus;
use crate::own_commands;
use crate::refusing;
use crate::settings;
use crate::stage::Stage;
use crate::support::Instance;

#[test]
fn a_day_with_pauses_and_a_kill() {
    day::whole(&Stage::of("kilo"));
}

#[test]
fn an_hour_of_work() {
    let stage = Stage::of("kilo");
    let instance = stage.start_talking("hour", "the first word");
    menus::say_and_leave_alone(&stage, &instance, "/models");
    own_commands::keep_prompts_out_of_shell_mode(&stage, &instance);
    refusing::take_a_no(&stage, &instance);
    allowing::confirm_what_is_allowed_always(&stage, &instance);
    acts::follow_a_new_conversation(&stage, &instance, "/new");
}

/// In a large repository it asks in the middle of a turn whether to do without snapshots. Here its git is slow.
#[test]
fn its_question_about_slow_snapshots_is_answered() {
    let stage = Stage::of("kilo");
    let with_snapshots = settings::opencode(&stage).to_string();
    stage.write_home(".config/kilo/kilo.json", &with_snapshots);
    let slow_git = stage.home("slow/git");
    let script = "#!/bin/sh\ncase \"$*\" in *kilo/snapshot*) [ ! -e \"$0.slow\" ] || sleep 3 ;; esac\n\
                  PATH=${PATH#*:}\nexec git \"$@\"\n";
    stage.write_home("slow/git", script);
    stage.write_home("slow/git.slow", "");
    std::fs::set_permissions(&slow_git, PermissionsExt::from_mode(0o755)).unwrap();
    let path = stage.camp.environment().into_iter();
    let path = path.rev().find(|(name, _)| name == "PATH").unwrap().1;
    let slow = slow_git.parent().unwrap().display();
    let new = stage
        .camp
        .biv(["new", "--json", "large", "-a", "kilo", "--repo"])
        .arg(&stage.repository.path)
        .env("PATH", format!("{slow}:{path}"));
    let instance = Instance::from_json(&new.run().ok().json());
    stage.send(&instance, "read the map");
    stage.wait(&instance, "question");
    let shown = stage.camp.biv(["answer", "--json", &instance.id]);
    let dialog = shown.run().ok().json();
    let asked = dialog["question"].as_str().unwrap();
    assert!(asked.contains("disable Snapshots"), "{dialog:#}");
    // It would ask again in the same turn.
    std::fs::remove_file(stage.home("slow/git.slow")).unwrap();
    let answered = stage.camp.biv(["answer", "--json", &instance.id, "1"]);
    let answered = answered.run().ok().json();
    assert_eq!(answered["label"], "Continue with snapshots", "{answered:#}");
    stage.model.request_with("read the map");
    stage.wait(&instance, "idle");
}
