use super::*;

fn frame(text: &str, title: &str) -> Frame {
    Frame {
        text: text.to_owned(),
        title: title.to_owned(),
    }
}

/// A program with a box, a spinner whose words change, and a question.
fn recording() -> Recording {
    let screen = |above: &str, input: &str| {
        frame(
            &format!("{above}\n╭───────╮\n│ > {input:<30} │\n╰───────╯\n  ? for help\n"),
            "prog",
        )
    };
    let work = [
        "⠋ Pondering… (1s · press q to stop)",
        "⠙ Stewing… (12s · press q to stop)",
    ];
    Recording {
        command: vec!["prog".to_owned(), "--plain".to_owned()],
        idle: screen("welcome", "Say something"),
        draft: screen("welcome", SAMPLE),
        clears: true,
        busy: work
            .map(|work| screen(&format!("> count\n1\n2\n{work}"), "Say something"))
            .to_vec(),
        rested: screen("> count\n1\n2\n3", "Say something"),
        dialog: Some(frame(
            "> delete\n╭──╮\n│ May I run this? │\n│ y yes · n no │\n╰──╯\n",
            "prog",
        )),
        interrupt: Some("Escape".to_owned()),
        session: RecordedSession::Told,
    }
}

fn described(recording: &Recording) -> (RecordedFile, Provider) {
    let path = Path::new("prog.toml");
    let file = describe("prog", path, recording).unwrap();
    let provider = provider_from("prog", path, "", &file.text).unwrap();
    (file, provider)
}

#[test]
fn the_file_reads_what_was_recorded() {
    let recording = recording();
    let (file, provider) = described(&recording);
    assert_eq!(
        (file.idle, file.busy, file.dialog),
        ((3, 3), (2, 2), Some(true)),
        "{}",
        file.text
    );
    let draft = |frame: &Frame| provider.draft(&Screen::new(&frame.text));
    use crate::detect::Draft;
    assert_eq!(draft(&recording.idle), Some(Draft::Empty), "{}", file.text);
    assert_eq!(
        draft(&recording.draft),
        Some(Draft::Text(SAMPLE.to_owned()))
    );
    assert_eq!(provider.interrupt_keys().len(), 1);
    assert_eq!(provider.clear_keys().len(), 1);
}

#[test]
fn a_title_that_turns_tells_of_work() {
    let mut recording = recording();
    // A sign that is a spinner of other programs.
    for frame in [
        &mut recording.idle,
        &mut recording.draft,
        &mut recording.rested,
    ] {
        frame.title = "✳ prog".to_owned();
    }
    for (frame, title) in recording.busy.iter_mut().zip(["⠋ prog", "⠙ prog"]) {
        *frame = self::frame(&recording.rested.text, title);
    }
    let (file, _) = described(&recording);
    assert_eq!(file.busy, (2, 2), "{}", file.text);
    assert_eq!(file.idle, (3, 3), "{}", file.text);
}

#[test]
fn a_program_without_a_box_is_ready_when_it_is_silent() {
    let mut recording = recording();
    recording.draft = frame(SAMPLE, "prog");
    let (file, provider) = described(&recording);
    assert!(
        matches!(provider.readiness(), super::super::Readiness::Quiet(_)),
        "{}",
        file.text
    );
}

#[test]
fn sessions_are_told_assigned_or_found() {
    let mut recording = recording();
    recording.session = RecordedSession::Assigned {
        fresh: "--id {session}".to_owned(),
        resume: "--resume {session}".to_owned(),
    };
    let (_, provider) = described(&recording);
    assert!(provider.assigns_session_id());
    recording.session = RecordedSession::Found {
        resume: "--resume {session}".to_owned(),
        files: "~/.prog/sessions/*/meta.json".to_owned(),
        id: "id".to_owned(),
        directory: "cwd".to_owned(),
    };
    let (_, provider) = described(&recording);
    assert!(provider.find().is_some());
}

/// A program that shows its directory below its box, as in `~/tmp/biv-record-x/…` or cut.
#[test]
fn the_place_of_the_recording_is_no_sign_of_the_program() {
    for place in [
        "~/tmp/biv-record-gdKhxC/home/app",
        "…/recorded-dy2 (biv/recorded)",
    ] {
        let mut recording = recording();
        for frame in [
            &mut recording.idle,
            &mut recording.draft,
            &mut recording.rested,
        ] {
            frame.text = frame
                .text
                .replace("  ? for help", &format!("  {place} [PID 7]  ? for help"));
        }
        let (file, provider) = described(&recording);
        assert_eq!(file.idle, (3, 3), "{}", file.text);
        assert!(!file.text.contains("record-"), "{}", file.text);
        let elsewhere = recording.idle.text.replace(place, "~/src/app");
        let verdict = provider.judge(&Screen::new(&elsewhere), Some("prog"));
        assert_eq!(verdict.activity, Activity::Idle, "{}", file.text);
    }
}

/// A picture at the start that moves is there at rest as well.
#[test]
fn a_picture_that_moves_is_no_work() {
    let mut recording = recording();
    let pictures = ["⢠⢢⡔⢄ Type /help for more", "⢸⢸⣀ Type /help for more"];
    for frame in [&mut recording.idle, &mut recording.draft] {
        frame.text = frame.text.replace("welcome", pictures[0]);
    }
    for frame in &mut recording.busy {
        let under = format!("{}\n> count\n1\n", pictures[1]);
        frame.text = frame.text.replace("> count\n1\n", &under);
    }
    let (file, _) = described(&recording);
    assert_eq!((file.idle, file.busy), ((3, 3), (2, 2)), "{}", file.text);
    assert!(!file.text.contains("Type"), "{}", file.text);
}
