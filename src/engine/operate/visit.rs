//! While a user looks at an agent in a terminal, somebody else sees to it that tmux knows of its end.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::model::AgentPlace;
use crate::tmux::Server;

/// How often the agent is looked at where the kernel does not tell its end.
const LOOK: Timespec = Timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// Runs this, and asks tmux about the agent when that has ended meanwhile. tmux loses SIGCHLD, on a busy machine often:
/// asking makes up for it, and the line below the agent's last screen says that it has ended.
pub(super) fn seeing_its_end<T>(
    server: &Server,
    place: &AgentPlace,
    visit: impl FnOnce() -> T,
) -> T {
    let Ok((over, visiting)) = std::io::pipe() else {
        return visit();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            if ends_before(place, &over)
                && let Err(error) = server.death_of(&place.pane)
            {
                tracing::debug!(%error, "ask tmux how an agent has ended");
            }
        });
        let result = visit();
        drop(visiting);
        result
    })
}

/// Waits until the agent ends or the other end of this pipe is closed; whether the agent came first.
fn ends_before(place: &AgentPlace, over: &impl AsFd) -> bool {
    let end: Option<OwnedFd> = place.agent.end_signal();
    let wait = end.is_none().then_some(&LOOK);
    while place.agent.is_alive() {
        let mut ends = vec![PollFd::new(over, PollFlags::IN)];
        ends.extend(end.iter().map(|end| PollFd::new(end, PollFlags::IN)));
        // Interrupted: the agent is looked at again.
        if poll(&mut ends, wait).is_ok()
            && ends.first().is_some_and(|over| !over.revents().is_empty())
        {
            return false;
        }
    }
    true
}
