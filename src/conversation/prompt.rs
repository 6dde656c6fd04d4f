//! The prompt for an agent that resumes its work.

/// The longest summary in the prompt.
const LONGEST_SUMMARY: usize = 6000;

/// Task, summary, last action and pending tasks, as a prompt that ends in "continue".
pub(crate) fn resume_prompt(
    task: Option<&str>,
    summary: Option<&str>,
    last_action: Option<&str>,
    pending_tasks: &[String],
    stopped: &[String],
) -> String {
    let mut parts = Vec::new();
    parts.extend(task.map(|task| format!("You were working on this task:\n{task}")));
    // Without a known task, the summary itself begins with it.
    let summary = summary.map(|summary| match (task, summary.split_once('\n')) {
        (Some(_), Some((first, rest))) if first.starts_with("Task: ") => rest,
        _ => summary,
    });
    parts.extend(summary.map(|summary| format!("So far:\n{}", cut(summary))));
    parts.extend(last_action.map(|action| format!("Your last action: {action}")));
    if !pending_tasks.is_empty() {
        parts.push(format!("Still to do:\n- {}", pending_tasks.join("\n- ")));
    }
    if !stopped.is_empty() {
        parts.push(format!(
            "What you had running in the background was stopped; start it again if you need it:\n- {}",
            stopped.join("\n- ")
        ));
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
