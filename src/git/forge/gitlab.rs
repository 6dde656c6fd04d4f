//! The state of a merge request on GitLab, as `glab mr view --output json` prints it: the answer of GitLab's
//! REST API. Comments are not read: it does not say whether their authors belong to the project.

use serde::Deserialize;

use super::news::{ForgeAnswer, News, NewsKind};
use crate::model::{ChecksState, PullRequestStanding, PullRequestState, ReviewState};

pub(super) fn read(text: &str) -> Result<ForgeAnswer, serde_json::Error> {
    let request: MergeRequest = serde_json::from_str(text)?;
    Ok(request.answer())
}

#[derive(Deserialize)]
struct MergeRequest {
    state: String,
    #[serde(default)]
    draft: bool,
    #[serde(default)]
    sha: String,
    head_pipeline: Option<Pipeline>,
    detailed_merge_status: Option<String>,
}

#[derive(Deserialize)]
struct Pipeline {
    id: u64,
    status: String,
    web_url: Option<String>,
}

impl MergeRequest {
    fn answer(self) -> ForgeAnswer {
        let checks =
            self.head_pipeline
                .as_ref()
                .and_then(|pipeline| match pipeline.status.as_str() {
                    "success" => Some(ChecksState::Passed),
                    "failed" => Some(ChecksState::Failed),
                    "canceled" | "skipped" => None,
                    _ => Some(ChecksState::Pending),
                });
        let standing = PullRequestStanding {
            state: match self.state.as_str() {
                "merged" => PullRequestState::Merged,
                "closed" => PullRequestState::Closed,
                _ if self.draft => PullRequestState::Draft,
                _ => PullRequestState::Open,
            },
            review: match self.detailed_merge_status.as_deref() {
                Some("not_approved") => Some(ReviewState::Required),
                Some("requested_changes") => Some(ReviewState::ChangesRequested),
                _ => None,
            },
            checks,
        };
        let failed = self
            .head_pipeline
            .filter(|_| checks == Some(ChecksState::Failed));
        let news = failed.map(|pipeline| News {
            key: format!("pipeline {}", pipeline.id),
            what: NewsKind::FailedCheck {
                name: "pipeline".to_owned(),
                commit: self.sha,
            },
            url: pipeline.web_url,
        });
        ForgeAnswer {
            standing,
            news: news.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_pipeline_is_news() {
        let text = r#"{"iid":7,"state":"opened","draft":true,"sha":"abc","detailed_merge_status":"not_approved",
            "head_pipeline":{"id":3,"status":"failed","web_url":"https://g/p/3"}}"#;
        let answer = read(text).unwrap();
        assert_eq!(
            answer.standing.words(),
            "draft, review required, checks failed"
        );
        assert_eq!(answer.news.len(), 1);
        assert_eq!(answer.news[0].key, "pipeline 3");
        let quiet = read(r#"{"state":"merged","head_pipeline":null}"#).unwrap();
        assert_eq!(quiet.standing.words(), "merged");
        assert_eq!(quiet.news, []);
    }
}
