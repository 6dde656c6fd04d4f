//! A menu that the user has opened with a command: a state of its own, said at once, and left alone.

use crate::stage::Stage;
use crate::support::Instance;

#[track_caller]
pub(crate) fn say_and_leave_alone(stage: &Stage, instance: &Instance, command: &str) {
    stage.send(instance, command);
    stage.wait(instance, "menu");
    let refused = stage.camp.biv(["send", &instance.id, "past the menu"]);
    let refused = refused.run().fails(4).stderr;
    for part in ["a menu of ", "Esc closes it"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    stage.wait(instance, "menu");
    stage.close_menu(instance);
    stage.turn(instance, "the menu is closed");
    let asked = stage.model.request_with("the menu is closed");
    let said = asked.said_by("user");
    let typed = said.iter().any(|said| said.contains("past the menu"));
    assert!(!typed, "{said:?}");
}
