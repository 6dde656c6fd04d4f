//! An agent's own git is never disturbed by a UI.

use super::journeys::ui;
use crate::support::Camp;

#[test]
fn no_commit_of_an_agent_fails_while_the_ui_is_open() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    for n in 0..2000 {
        repository.write(&format!("files/{}/{n}.txt", n % 40), "some text\n");
    }
    repository.commit("many");
    // The agent says something with each commit, so that everyone who looks has a reason to.
    let script = "i=0; while [ $i -lt 200 ]; do i=$((i+1)); echo $i >> counted.txt; \
         git add -A && git -c user.name=A -c user.email=a@example.org commit -qm $i || echo FAILED; \
         echo commit $i; done; echo all done; exec cat";
    camp.start_shell(&repository, "committing", script);
    let terminal = ui(&camp, &repository);
    terminal.press(&["Tab"]);
    terminal.wait_for("counted.txt");
    terminal.wait_for("+200 −0");
    terminal.press(&["Tab", "Tab", "Tab", "Tab"]);
    terminal.wait_for("all done");
    let instance = camp.list().remove(0);
    let screen = camp.biv(["peek", "-n", "1000", &instance.id]).run().ok();
    assert!(!screen.stdout.contains("FAILED"), "{}", screen.stdout);
    let count = camp
        .repository_at(&instance.worktree)
        .git(&["rev-list", "--count", "main..HEAD"]);
    assert_eq!(count.trim(), "200");
    terminal.press(&["q"]);
    terminal.wait_for("ended with 0");
}
