//! One verb for several instances, and instances of two repositories with one title.

use crate::support::{Camp, until};

#[test]
fn one_verb_reaches_several_instances() {
    let camp = Camp::new();
    let repository = camp.repository("app");
    let [one, two, three] = ["one", "two", "three"].map(|title| {
        let instance = camp.start(&repository, title, &[]);
        instance.wait_idle(&camp);
        instance
    });

    // A prompt for two, with flags wherever they stand; a typing mistake sends nothing.
    drop(camp.biv(["send", "one", "nobody", "hello"]).run().fails(3));
    let told = camp
        .biv(["send", "one", "two", "- hi there", "--json"])
        .run()
        .ok();
    let told = told.json();
    assert_eq!(told["instances"].as_array().unwrap().len(), 2, "{told}");
    until("both have it", || {
        [&one, &two]
            .iter()
            .all(|each| each.prompts(&camp) == ["- hi there"])
    });
    assert_eq!(three.prompts(&camp), Vec::<String>::new());
    let waited = camp
        .biv(["wait", "one", "two", "three", "--for", "idle"])
        .run()
        .ok();
    assert_eq!(waited.stdout.lines().count(), 3, "{}", waited.stdout);

    // Settings for all of them.
    let set = camp.biv(["timeout", "one", "two", "20m"]).run().ok();
    assert_eq!(set.stdout.lines().count(), 2, "{}", set.stdout);
    drop(camp.biv(["timeout", "--all", "30m"]).run().ok());
    for each in [&one, &two, &three] {
        assert_eq!(camp.show(each)["idle_timeout_s"], 1800);
    }
    let shown = camp.biv(["timeout", "one", "two", "--json"]).run().ok();
    assert_eq!(shown.json()["instances"].as_array().unwrap().len(), 2);
    drop(camp.biv(["autoyes", "one", "two", "on"]).run().ok());
    assert_eq!(camp.show(&two)["autoyes"], true);
    assert_eq!(camp.show(&three)["autoyes"], false);
    let off = camp.biv(["autoyes", "--all", "off", "--json"]).run().ok();
    assert_eq!(off.json()["instances"].as_array().unwrap().len(), 3);
    assert_eq!(camp.show(&one)["autoyes"], false);
    drop(camp.biv(["autoyes", "--all", "one", "on"]).run().fails(2));

    // By state. The paused one is not woken by a prompt for all that run.
    let paused = camp.biv(["pause", "one", "three"]).run().ok();
    assert!(paused.said().contains("Paused 2 instances."));
    let sent = camp.biv(["send", "--all", "hi to all"]).run().ok();
    drop(sent);
    until("the running one has it", || {
        two.prompts(&camp).contains(&"hi to all".to_owned())
    });
    assert_eq!(camp.show(&one)["state"], "paused");
    let queued = camp
        .biv(["queue", "one", "three", "later", "--json"])
        .run()
        .ok();
    let queues = queued.json();
    for queue in queues["queues"].as_array().unwrap() {
        assert_eq!(queue["counts"]["waiting"], 1, "{queue}");
    }
    // The last of two words is a prompt, whatever it is.
    drop(camp.biv(["queue", "one", "three"]).run().ok());
    assert_eq!(camp.show(&one)["queue"]["waiting"], 2);
    let cleared = camp.biv(["queue", "--state", "paused", "--clear"]).run();
    drop(cleared.ok());
    assert!(camp.show(&one)["queue"].is_null());
    drop(camp.biv(["resume", "--state", "paused"]).run().ok());
    let none = camp.biv(["resume", "--state", "paused"]).run().ok();
    assert!(
        none.said().contains("No instance is paused."),
        "{}",
        none.said()
    );

    // Some fail: the others are done, and the count is true.
    drop(camp.biv(["kill", "-y", "two"]).run().ok());
    let script = "echo here; until [ -f go ]; do sleep 0.1; done; exit 3";
    let wrong = camp.start_shell(&repository, "ended", script);
    std::fs::write(wrong.worktree.join("go"), "").unwrap();
    wrong.wait_for(&camp, "state", "failed");
    let failed = camp.biv(["send", "one", "ended", "both?"]).run().fails(1);
    let said = failed.said();
    assert!(said.contains("sent to 1 of 2"), "{said}");
    assert!(said.contains("`ended`"), "{said}");
    // `one` has it, and does not get it twice.
    assert!(said.contains("`biv send ended …`"), "{said}");
    let never = ["wait", "one", "ended", "--for", "idle"];
    let said = camp.biv(never).run().fails(4).said();
    assert!(said.contains("`ended`: it is failed"), "{said}");
    assert!(said.contains("1 of 2 was not idle"), "{said}");
    let any = ["wait", "one", "ended", "--for", "idle", "--any"];
    drop(camp.biv(any).run().ok());
    drop(camp.biv(["kill", "-y", "--all"]).run().ok());
    assert_eq!(camp.list().len(), 0);
}

#[test]
fn equal_titles_of_two_repositories_are_told_apart() {
    let camp = Camp::new();
    let (app, lib) = (camp.repository("app"), camp.repository("lib"));
    let first = camp.start(&app, "login", &[]);
    let second = camp.start(&lib, "login", &[]);
    let twin = camp.biv(["new", "login", "-a", "demo", "--repo"]);
    drop(twin.arg(&app.path).run().fails(1));
    let said = camp.biv(["show", "login"]).run().fails(3).said();
    assert!(
        said.contains(&format!("app/login ({})", first.id)),
        "{said}"
    );
    assert!(
        said.contains(&format!("lib/login ({})", second.id)),
        "{said}"
    );
    let shown = camp.biv(["show", "--json", "lib/login"]).run().ok().json();
    assert_eq!(shown["id"], second.id.as_str());
    let listed = camp.biv(["list"]).run().ok().stdout;
    assert!(
        listed.contains("app/login") && listed.contains("lib/login"),
        "{listed}"
    );
    drop(camp.biv(["kill", "-y", "lib/login"]).run().ok());
    // Alone it needs no repository.
    assert_eq!(camp.show(&first)["title"], "login");
    drop(camp.biv(["show", "login"]).run().ok());
    drop(camp.biv(["undo-kill", &second.id]).run().ok());
    assert_eq!(camp.show(&second)["title"], "login");
}

#[test]
fn a_title_that_looks_like_a_full_name_hides_no_other_instance() {
    let camp = Camp::new();
    let (app, lib) = (camp.repository("app"), camp.repository("lib"));
    let meant = camp.start(&app, "two", &[]);
    let looks_so = camp.start(&lib, "app/two", &[]);
    let said = camp.biv(["show", "app/two"]).run().fails(3).said();
    for instance in [&meant, &looks_so] {
        assert!(said.contains(&instance.id), "{said}");
    }
    drop(camp.biv(["kill", "-y", "lib/app/two"]).run().ok());
    let shown = camp.biv(["show", "--json", "app/two"]).run().ok().json();
    assert_eq!(shown["id"], meant.id.as_str());
}
