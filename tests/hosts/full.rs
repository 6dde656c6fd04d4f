//! The disk of the host is full, or fills up while an instance arrives.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::pair::{Pair, Words};
use crate::portable::portable;
use crate::support::mount::Mount;
use crate::support::root::mounts_left_out;
use crate::support::{Answer, Camp, Instance, Repository};

const MEGA: u64 = 1 << 20;

struct Traveller {
    pair: Pair,
    repository: Repository,
    one: Instance,
    before: String,
}

impl Traveller {
    fn new(disk: &Mount) -> Self {
        let pair = Pair::strange_to(Camp::below(&disk.path()));
        pair.add("far", Words::Exact, "");
        let repository = pair.here.repository("app");
        let one = pair.here.start_shell(&repository, "one", "exec sleep 600");
        let work = pair.here.repository_at(&one.worktree);
        work.write("staged.txt", "staged\n");
        work.git(&["add", "."]);
        work.write("staged.txt", "and changed\n");
        let bytes: Vec<u8> = (0_u32..1 << 19)
            .flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes())
            .collect();
        std::fs::write(one.worktree.join("large.bin"), bytes).unwrap();
        let before = format!("{:?}", portable(&repository.path, &one.worktree));
        Self {
            pair,
            repository,
            one,
            before,
        }
    }

    fn move_there(&self) -> Answer {
        self.pair.biv(&["move", "one", "far"]).run()
    }

    /// It failed with a reason, and goes on here, to the byte; the host has nothing that could be used.
    #[track_caller]
    fn stayed(&self, answer: Answer, after: &str) {
        let answer = answer.fails(1);
        let told = ["space", "free", "is full"];
        assert!(
            told.iter().any(|word| answer.stderr.contains(word)),
            "{after}: {}",
            answer.stderr
        );
        assert_eq!(
            self.pair.here.show(&self.one)["state"],
            "running",
            "{after}: {}",
            answer.stderr
        );
        assert!(!self.one.processes().is_empty(), "{after}: its agent works");
        let now = format!("{:?}", portable(&self.repository.path, &self.one.worktree));
        assert_eq!(now, self.before, "{after}");
    }

    /// With space again it goes there, all of it, and comes back.
    #[track_caller]
    fn goes_and_comes_back(&self, after: &str) {
        assert!(self.pair.there.list().is_empty(), "{after}");
        drop(self.move_there().ok());
        assert_eq!(self.pair.there.list().len(), 1, "{after}");
        drop(self.pair.biv(&["move", "one", "--take-back"]).run().ok());
        let now = format!("{:?}", portable(&self.repository.path, &self.one.worktree));
        assert_eq!(now, self.before, "{after}");
        assert!(self.pair.there.list().is_empty(), "{after}");
    }
}

#[test]
fn a_host_without_space_refuses_and_the_agent_goes_on_here() {
    if mounts_left_out() {
        return;
    }
    let disk = Mount::small(200);
    let it = Traveller::new(&disk);
    for free in [0, 4 << 10, MEGA, 60 * MEGA] {
        disk.fill(free);
        let answer = it.move_there();
        disk.relieve();
        it.stayed(answer, &format!("{free} bytes were free"));
    }
    it.goes_and_comes_back("no space at first");
}

#[test]
fn a_disk_that_fills_up_while_it_arrives_leaves_it_here() {
    if mounts_left_out() {
        return;
    }
    let disk = Mount::small(200);
    let it = Traveller::new(&disk);
    for step in ["add-worktree", "unpack", "snapshot"] {
        let journal = it.pair.there.instances_dir().join(&it.one.id);
        let journal = journal.join("journal.jsonl");
        let sign = format!("{{\"entry\":\"intend\",\"step\":\"{step}\"");
        let over = AtomicBool::new(false);
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let text = std::fs::read_to_string(&journal).unwrap_or_default();
                    if text.contains(&sign) {
                        disk.fill(0);
                        return;
                    }
                }
            });
            let answer = it.move_there();
            over.store(true, Ordering::Relaxed);
            answer
        });
        disk.relieve();
        // The step may have had all its space before the disk was full.
        if answer.status == Some(0) {
            drop(it.pair.biv(&["move", "one", "--take-back"]).run().ok());
        } else {
            it.stayed(answer, step);
        }
        it.goes_and_comes_back(step);
    }
}
