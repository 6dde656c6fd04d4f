//! What an agent is told that has to find back into its work.

/// The longest summary that is worth an agent's attention here.
const LONGEST_SUMMARY: usize = 6000;

/// Task, summary, last action and pending tasks, as a prompt that ends in "continue".
pub(crate) fn resume_prompt(
    task: Option<&str>,
    summary: Option<&str>,
    last_action: Option<&str>,
    pending_tasks: &[String],
) -> String {
    let mut parts = Vec::new();
    parts.extend(task.map(|task| format!("You were working on this task:\n{task}")));
    parts.extend(summary.map(|summary| format!("So far:\n{}", cut(summary))));
    parts.extend(last_action.map(|action| format!("Your last action: {action}")));
    if !pending_tasks.is_empty() {
        parts.push(format!("Still to do:\n- {}", pending_tasks.join("\n- ")));
    }
    parts.push("You were paused and are back now, in the same worktree. Continue.".to_owned());
    parts.join("\n\n")
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SUMMARY) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
