//! The terminal comes back: scrollback with its colours, size, title.

use crate::ground::camp;
use crate::support::{Camp, Instance};

/// All that a pane holds, line by line, with colours.
fn history(camp: &Camp, instance: &Instance) -> Vec<String> {
    let session = camp.show(instance)["tmux_session"]
        .as_str()
        .unwrap()
        .to_owned();
    let target = format!("={session}:");
    let output = camp.tmux(&["capture-pane", "-p", "-e", "-S", "-", "-t", &target]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

fn asked(camp: &Camp, instance: &Instance, format: &str) -> String {
    let session = camp.show(instance)["tmux_session"]
        .as_str()
        .unwrap()
        .to_owned();
    let target = format!("={session}:");
    let output = camp.tmux(&["display-message", "-p", "-t", &target, format]);
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// Colour escapes taken off.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('\x1b') {
        text.push_str(&rest[..at]);
        let end = rest[at..].find('m').map_or(rest.len(), |end| at + end + 1);
        rest = &rest[end..];
    }
    text + rest
}

/// The lines that `/lines` has printed.
fn numbered(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| {
            let plain = plain(line);
            plain.contains("line ") && line.contains('\x1b')
        })
        .cloned()
        .collect()
}

#[test]
fn ten_thousand_coloured_lines_come_back_with_size_and_title() {
    let camp = camp();
    std::fs::write(
        camp.home().join("config/config.toml"),
        "[terminal]\nhistory = 11000\ncolumns = 133\nrows = 41\n",
    )
    .unwrap();
    let repository = camp.repository("app");
    let instance = camp.start(
        &repository,
        "t",
        &["-p", "/lines 10000\n/title My own title"],
    );
    instance.wait_screen(&camp, "10000");
    instance.wait_idle(&camp);
    let before = numbered(&history(&camp, &instance));
    assert!(before.len() >= 10_000, "{} lines", before.len());
    let size = asked(&camp, &instance, "#{window_width}x#{window_height}");
    assert_eq!(size, "133x41");

    drop(camp.biv(["pause", &instance.id]).run().ok());
    let kept = camp.show(&instance)["pause"]["scrollback_lines"]
        .as_u64()
        .unwrap();
    assert!(kept >= 10_000, "{kept} lines");
    // Another default since: the session comes back as it was, all the same.
    std::fs::write(
        camp.home().join("config/config.toml"),
        "[terminal]\nhistory = 11000\ncolumns = 80\nrows = 24\n",
    )
    .unwrap();
    drop(camp.biv(["resume", &instance.id]).run().ok());

    let lines = history(&camp, &instance);
    let banner = lines
        .iter()
        .position(|line| plain(line).starts_with("── resumed "))
        .expect("a line says that it was resumed");
    let after = numbered(&lines[..banner]);
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before, after);
    }
    assert_eq!(
        asked(&camp, &instance, "#{window_width}x#{window_height}"),
        size
    );
}

#[test]
fn a_restart_is_called_one() {
    let camp = camp();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "t", &["-p", "/print first-life"]);
    instance.wait_screen(&camp, "first-life");
    instance.wait_idle(&camp);
    drop(camp.biv(["pause", &instance.id]).run().ok());
    drop(camp.biv(["resume", &instance.id]).run().ok());
    drop(camp.biv(["restart", "-y", &instance.id]).run().ok());
    // What it does is read below that line.
    instance.wait_idle(&camp);
    let lines = history(&camp, &instance);
    let ours: Vec<String> = lines
        .iter()
        .map(|line| plain(line))
        .filter(|line| line.starts_with("── re"))
        .collect();
    let [resumed, restarted] = ours.as_slice() else {
        panic!("{ours:?}")
    };
    assert!(resumed.contains(" · paused "), "{resumed}");
    assert!(restarted.starts_with("── restarted "), "{restarted}");
    assert!(!restarted.contains("paused"), "{restarted}");
}

#[test]
fn what_the_agent_clears_away_is_kept_in_the_archive() {
    let camp = camp();
    let repository = camp.repository("app");
    let instance = camp.start(&repository, "t", &["-p", "/print first-life"]);
    instance.wait_screen(&camp, "first-life");
    instance.wait_idle(&camp);
    for (command, mark) in [
        ("/print second-life", "second-life"),
        // Not the line of ours that it begins like.
        ("/print ── resumed third-life", "third-life"),
    ] {
        drop(camp.biv(["pause", &instance.id]).run().ok());
        drop(camp.biv(["resume", &instance.id]).run().ok());
        let above = history(&camp, &instance).join("\n");
        assert!(
            above.contains("first-life"),
            "scrolling up shows the old history: {above}"
        );
        drop(camp.biv(["send", &instance.id, "/clear-screen"]).run().ok());
        instance.wait_idle(&camp);
        drop(camp.biv(["send", &instance.id, command]).run().ok());
        instance.wait_screen(&camp, mark);
        instance.wait_idle(&camp);
    }
    drop(camp.biv(["pause", &instance.id]).run().ok());
    let kept = camp
        .biv(["peek", "-n", "1000", &instance.id])
        .run()
        .ok()
        .stdout;
    let places: Vec<Option<usize>> = ["first-life", "second-life", "third-life"]
        .iter()
        .map(|mark| kept.find(mark))
        .collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?} in\n{kept}"
    );
    drop(camp.biv(["resume", &instance.id]).run().ok());
    let above = history(&camp, &instance).join("\n");
    for mark in ["first-life", "second-life", "third-life"] {
        assert!(above.contains(mark), "{mark} in\n{above}");
    }
}

/// An agent that clears its screen adds to its archive at each pause, which has its end.
#[test]
fn the_archive_has_the_bound_of_the_terminal() {
    let camp = camp();
    let config = camp.home().join("config");
    std::fs::create_dir_all(&config).unwrap();
    let small = "[terminal]\nrows = 12\nhistory = 10\n";
    std::fs::write(config.join("config.toml"), small).unwrap();
    let instance = camp.start(&camp.repository("app"), "t", &[]);
    instance.wait_idle(&camp);
    for life in 0..4 {
        let mark = format!("life-{life}");
        drop(camp.biv(["send", &instance.id, "/clear-screen"]).run().ok());
        instance.wait_idle(&camp);
        let print = format!("/print {mark}");
        drop(camp.biv(["send", &instance.id, &print]).run().ok());
        instance.wait_screen(&camp, &mark);
        instance.wait_idle(&camp);
        drop(camp.biv(["pause", &instance.id]).run().ok());
        let kept = camp.biv(["peek", "-n", "1000", &instance.id]).run().ok();
        assert!(kept.stdout.contains(&mark), "{}", kept.stdout);
        let lines = camp.show(&instance)["pause"]["scrollback_lines"].as_u64();
        assert!(lines.unwrap() <= 22, "{life}: {lines:?}");
        if life == 3 {
            assert!(!kept.stdout.contains("life-0"), "{}", kept.stdout);
        }
        drop(camp.biv(["resume", &instance.id]).run().ok());
    }
}
