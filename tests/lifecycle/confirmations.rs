//! The plain questions of any program: whether to go on is answered, everything else is left to the user.

use serde_json::Value;

use crate::support::{Camp, Instance, until};

/// A program that asks, with autoyes on and without a daemon that would be quicker than the test.
fn asking(camp: &Camp, script: &str) -> Instance {
    let instance = camp.start_shell(&camp.repository("app"), "asks", script);
    let switch = camp.instances_dir().join(&instance.id).join("autoyes.json");
    let on = r#"{"format":1,"on":true,"until":null,"changed_at":"2026-11-15T18:02:00Z"}"#;
    std::fs::write(switch, on).unwrap();
    instance
}

fn answer(camp: &Camp, instance: &Instance) -> Value {
    instance.wait_for(camp, "activity", "approval");
    camp.biv(["__answer", &instance.id]).run().ok().json()
}

#[test]
fn whether_to_go_on_is_answered_and_what_that_would_do_is_not() {
    let camp = Camp::new();
    let instance = asking(
        &camp,
        "printf 'Continue? [Y/n] '; read a; echo \"1:$a.\"; \
         printf 'Proceed (y/n)? '; read a; echo \"2:$a.\"; \
         printf 'Press Enter to continue...'; read a; echo \"3:$a.\"; \
         printf 'Delete everything? [Y/n] '; read a; echo \"4:$a.\"; sleep 1000",
    );
    let listed = || camp.biv(["list"]).run().ok().stdout;
    instance.wait_for(&camp, "activity", "approval");
    assert!(listed().contains("needs you"), "{}", listed());
    for (keys, echo) in [("Enter", "1:."), ("y Enter", "2:y."), ("Enter", "3:.")] {
        let answered = answer(&camp, &instance);
        assert_eq!(answered["outcome"], "accepted", "{answered}");
        let pressed: Vec<&str> = answered["keys"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(pressed.join(" "), keys);
        instance.wait_screen(&camp, echo);
    }
    instance.wait_screen(&camp, "Delete everything?");
    let left = answer(&camp, &instance);
    assert_eq!(left["outcome"], "manual", "{left}");
    let screen = camp.biv(["peek", "asks"]).run().ok().stdout;
    assert!(!screen.contains("4:"), "{screen}");
}

/// A program may take the first key of an answer alone. The Enter behind it would answer its next question,
/// whatever that is.
#[test]
fn a_program_that_reads_one_key_is_left_to_the_user() {
    let camp = Camp::new();
    let instance = asking(
        &camp,
        "stty -icanon min 1; printf 'Proceed (y/n)? '; dd bs=1 count=1 >/dev/null 2>&1; \
         stty icanon; printf '\nDelete everything? [Y/n] '; read a; echo \"deleted:$a.\"; sleep 1000",
    );
    instance.wait_screen(&camp, "Proceed (y/n)?");
    let answered = answer(&camp, &instance);
    assert_eq!(answered["outcome"], "manual", "{answered}");
    let screen = camp.biv(["peek", "asks"]).run().ok().stdout;
    assert!(!screen.contains("Delete"), "nothing was pressed: {screen}");
}

#[test]
fn the_same_words_in_a_log_are_no_question() {
    let camp = Camp::new();
    let instance = asking(&camp, "echo 'Continue? [Y/n]'; exec sleep 1000");
    instance.wait_screen(&camp, "Continue? [Y/n]");
    until("it is quiet", || {
        camp.show(&instance)["activity"] == "unknown"
    });
    let answered = camp.biv(["__answer", &instance.id]).run().ok().json();
    assert_eq!(answered["outcome"], "no_dialog", "{answered}");
}
