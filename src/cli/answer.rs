//! `biv answer`

use clap::Args;

use super::context::CommandResult;
use super::instance::InstanceArg;
use super::output::Output;
use super::progress::StepLine;
use super::report::word;
use crate::engine::{Answered, DialogAnswer, DialogView, Engine};
use crate::model::printable_line;

/// Show what an agent asks, or answer it
#[derive(Debug, Args)]
pub(super) struct AnswerArgs {
    #[command(flatten)]
    pub instance: InstanceArg,
    /// The number of a choice, `yes` (this time only), `no`, the beginning of a label, or your own words
    pub choice: Option<String>,
    /// With `no`: what the agent shall do instead; with the choice for your own words: the words
    #[arg(value_name = "REASON", conflicts_with = "reason")]
    pub said: Option<String>,
    /// Answer only if the dialog is still the one with this id
    #[arg(long, value_name = "ID", requires = "choice")]
    pub dialog: Option<String>,
    /// The same as REASON
    #[arg(long, value_name = "TEXT", requires = "choice")]
    pub reason: Option<String>,
}

pub(super) fn run(args: &AnswerArgs, engine: &Engine, output: &Output) -> CommandResult {
    let given = &args.instance.instance;
    let Some(choice) = &args.choice else {
        let view = engine.open_dialog(given)?;
        return Ok(output.result(&view, || describe(&view)));
    };
    let mut progress = StepLine::new(output, given);
    let answered = engine.answer(
        given,
        &parsed(choice),
        args.dialog.as_deref(),
        args.reason.as_deref().or(args.said.as_deref()),
        &mut progress,
    )?;
    drop(progress);
    Ok(output.done(&answered, || told(&answered)))
}

fn parsed(choice: &str) -> DialogAnswer {
    match (choice.parse(), choice) {
        (Ok(number), _) => DialogAnswer::Number(number),
        (Err(_), "yes" | "y") => DialogAnswer::Yes,
        (Err(_), "no" | "n") => DialogAnswer::No,
        (Err(_), label) => DialogAnswer::Label(label.to_owned()),
    }
}

fn describe(view: &DialogView) -> String {
    let asked = &view.asked;
    let tool = asked.tool.as_deref().unwrap_or("a question");
    let mut lines = vec![format!("`{}` ({}) asks: {tool}", view.title, view.agent)];
    lines.extend(asked.command.iter().flat_map(|command| {
        command
            .lines()
            .map(|line| format!("  {}", printable_line(line)))
            .collect::<Vec<_>>()
    }));
    lines.extend(
        asked
            .paths
            .iter()
            .map(|path| format!("  {}", printable_line(path))),
    );
    lines.extend(
        asked
            .question
            .iter()
            .map(|question| format!("  {}", printable_line(question))),
    );
    if !asked.complete {
        lines.push("  (only a part of it is on the screen)".to_owned());
    }
    lines.extend(asked.choices.iter().enumerate().map(|(at, choice)| {
        let number = at + asked.numbered_from;
        format!("  {number}  {}", printable_line(&choice.label))
    }));
    lines.push(format!(
        "Answer with: biv answer {} N --dialog {}",
        word(&view.title),
        view.dialog
    ));
    if asked.own_words.is_some() {
        lines.push(format!(
            "or in your own words: biv answer {} 'TEXT' --dialog {}",
            word(&view.title),
            view.dialog
        ));
    }
    lines.join("\n")
}

fn told(answered: &Answered) -> String {
    let mut text = match answered.choice {
        Some(choice) => format!(
            "Pressed {choice} ({}) in `{}`.",
            printable_line(&answered.label),
            answered.title
        ),
        None => format!("Declined what `{}` asked.", answered.title),
    };
    if !answered.gone {
        text.push_str(" The dialog is still there.");
    }
    match answered.reason_sent {
        Some(true) => text.push_str(" The reason was sent."),
        Some(false) => text.push_str(" The reason is the next prompt in its queue."),
        None => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_number_a_word_or_a_label() {
        assert_eq!(parsed("2"), DialogAnswer::Number(2));
        assert_eq!(parsed("yes"), DialogAnswer::Yes);
        assert_eq!(parsed("n"), DialogAnswer::No);
        let label = DialogAnswer::Label("Yes, and".to_owned());
        assert_eq!(parsed("Yes, and"), label);
    }
}
