//! Why a client has left: its user may want to go on to the next instance that needs them.

use std::path::Path;

use super::Server;
use super::configuration::WISH;
use crate::model::InstanceId;

impl Server {
    /// The instance from which the user of this terminal wants to go on, if that is why they left. It is
    /// told once.
    pub(crate) fn take_wish_for_next(&self, terminal: &Path) -> Option<InstanceId> {
        let format = format!("#{{session_name}}\u{1f}#{{@biv_id}}\u{1f}#{{{WISH}}}");
        let listed = self
            .client()
            .args(["-N", "list-sessions", "-F", &format])
            .text()
            .ok()?;
        let mut sessions = listed.lines().filter_map(|line| {
            let mut fields = line.splitn(3, '\u{1f}');
            let (session, id) = (fields.next()?, fields.next()?);
            let from = Path::new(fields.next()?);
            (from == terminal).then_some((session, id))
        });
        let (session, id) = sessions.next()?;
        let forgotten = self
            .client()
            .args([
                "-N",
                "set-option",
                "-u",
                "-t",
                &format!("={session}:"),
                WISH,
            ])
            .text();
        if let Err(error) = forgotten {
            tracing::debug!(%error, "forget the wish of a client");
        }
        InstanceId::parse(id)
    }
}
