//! Freeing the disk never holds an instance up: what cannot be deleted stays, is named, and is tried
//! again.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::ground::{Ground, camp_below, state};
use crate::support::mount::{Mount, scratch};
use crate::support::root::{Root, mounts_left_out};
use crate::support::{Camp, Instance};

/// The camp of a user who is not root, with one instance.
struct Plain {
    camp: Camp,
    instance: Instance,
}

impl Plain {
    fn new() -> Self {
        Self::below(&scratch())
    }

    fn below(disk: &Path) -> Self {
        let camp = camp_below(disk);
        let settings = "[snapshots]\nignored_limit = \"1KB\"\n";
        std::fs::write(camp.home().join("config/config.toml"), settings).unwrap();
        let repository = camp.repository("r");
        repository.write(".gitignore", "cache/\nout/\n*.log\n");
        repository.commit("second");
        let path = repository.path.to_str().unwrap().to_owned();
        let camp = camp.of_a_plain_user();
        let call = camp.biv(["new", "--json", "t", "-a", "still", "--repo", &path, "--"]);
        let command = ["sh", "-c", "echo I am here; exec cat"];
        let instance = Instance::from_json(&call.args(command).run().ok().json());
        Self { camp, instance }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.instance.worktree.join(path)
    }

    /// A file that is the user's, like everything else there.
    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        let above = path.parent().unwrap().to_owned();
        std::fs::create_dir_all(&above).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let owner = std::fs::metadata(&self.instance.worktree).unwrap();
        for path in path.ancestors() {
            if path == self.instance.worktree {
                break;
            }
            std::os::unix::fs::chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
    }

    /// One that root has written, in a directory of root's.
    fn write_as_root(&self, path: &str, bytes: impl AsRef<[u8]>) {
        self.write(path, bytes);
        let path = self.at(path);
        root(
            "chown",
            &["-R", "0:0", path.parent().unwrap().to_str().unwrap()],
        );
    }

    fn biv(&self, command: &[&str]) -> crate::support::Answer {
        self.camp
            .biv([command[0], &self.instance.id])
            .args(&command[1..])
            .run()
    }

    fn show(&self) -> Value {
        self.camp.show(&self.instance)
    }

    /// The paths that `show` says are left, sorted.
    fn left(&self) -> Vec<String> {
        let shown = self.show();
        let left = shown["pause"]["left_on_disk"].as_array().unwrap().clone();
        let mut paths: Vec<String> = left
            .iter()
            .map(|left| left["path"].as_str().unwrap().to_owned())
            .collect();
        paths.sort();
        paths
    }

    fn gc(&self) -> Value {
        let gc = self.camp.biv(["gc", "--json"]).run().ok().json();
        assert_eq!(gc["failed"], json!([]));
        gc
    }

    fn record(&self) -> PathBuf {
        let dir = self.camp.instances_dir().join(&self.instance.id);
        dir.join("record.json")
    }
}

fn root(program: &str, arguments: &[&str]) {
    let output = Root::command(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_read_only_module_cache_is_let_go() {
    let plain = Plain::new();
    plain.write("cache/mod/go.mod", [b'm'; 4000]);
    plain.write("cache/mod/sub/file.go", [b'g'; 4000]);
    plain.write("small.log", "kept\n");
    for path in ["cache/mod/go.mod", "cache/mod/sub/file.go"] {
        mode(&plain.at(path), 0o444);
    }
    for path in ["cache/mod/sub", "cache/mod", "cache"] {
        mode(&plain.at(path), 0o555);
    }
    let paused = plain.biv(&["pause", "--remove-worktree"]).ok();
    assert!(paused.stderr.contains("cache"), "{}", paused.stderr);
    assert_eq!(plain.show()["state"], "paused");
    assert_eq!(plain.left(), Vec::<String>::new());
    drop(plain.biv(&["resume"]).ok());
    assert!(!plain.at("cache").exists());
    assert_eq!(std::fs::read(plain.at("small.log")).unwrap(), b"kept\n");
}

#[test]
fn what_root_has_written_stays_and_is_named() {
    if mounts_left_out() {
        return;
    }
    let plain = Plain::new();
    plain.write_as_root("out/o.bin", [b'o'; 4000]);
    plain.write_as_root("sub/small.log", "of root\n");
    plain.write("own.txt", "own\n");
    let paused = plain.biv(&["pause", "--remove-worktree"]).ok();
    assert!(paused.stderr.contains("out/o.bin"), "{}", paused.stderr);
    assert_eq!(plain.show()["state"], "paused");
    assert_eq!(plain.left(), ["out/o.bin"]);
    // The next one tries again, says the same and is no failure.
    let gc = plain.gc();
    assert_eq!(gc["collected"][0]["left"][0]["path"], "out/o.bin", "{gc}");
    assert_eq!(plain.left(), ["out/o.bin"]);
    drop(plain.biv(&["resume"]).ok());
    for (path, bytes) in [
        ("out/o.bin", vec![b'o'; 4000]),
        ("sub/small.log", b"of root\n".to_vec()),
    ] {
        assert_eq!(std::fs::read(plain.at(path)).unwrap(), bytes, "{path}");
        assert_eq!(
            std::fs::metadata(plain.at(path)).unwrap().uid(),
            0,
            "{path}"
        );
    }
    assert_eq!(std::fs::read(plain.at("own.txt")).unwrap(), b"own\n");
}

#[test]
fn a_killed_instance_is_forgotten_when_all_of_it_can_be_deleted() {
    if mounts_left_out() {
        return;
    }
    let plain = Plain::new();
    plain.write_as_root("out/o.bin", [b'o'; 4000]);
    drop(plain.biv(&["kill", "-y"]).ok());
    let mut record: Value =
        serde_json::from_slice(&std::fs::read(plain.record()).unwrap()).unwrap();
    let parked = record["vault"]["parking"]["parked_worktree"].clone();
    let parked = PathBuf::from(parked.as_str().unwrap());
    record["killed_at"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(plain.record(), serde_json::to_vec(&record).unwrap()).unwrap();
    let gc = plain.gc();
    assert_eq!(gc["collected"][0]["action"], "forget", "{gc}");
    assert_eq!(gc["collected"][0]["left"][0]["path"], "out/o.bin", "{gc}");
    assert!(plain.record().exists(), "it is remembered");
    root("rm", &["-r", parked.join("out").to_str().unwrap()]);
    let gc = plain.gc();
    assert_eq!(gc["collected"][0]["left"], json!([]), "{gc}");
    assert!(!plain.record().exists());
    assert!(!parked.exists());
}

#[test]
fn an_immutable_file_stays_until_it_can_be_deleted() {
    if mounts_left_out() {
        return;
    }
    let disk = Mount::disk(96);
    let ground = Ground::made_below(&state("mixed"), &disk.path());
    let change = |sign: &str, path: &Path| root("chattr", &[sign, path.to_str().unwrap()]);
    let stubborn = ["b.txt", "dir/sub"];
    for path in stubborn {
        change("+i", &ground.lab.worktree.join(path));
    }
    let paused = ground.biv(&["pause", "--remove-worktree"]).ok();
    assert!(paused.stderr.contains("b.txt"), "{}", paused.stderr);
    let left = |ground: &Ground| -> Vec<String> {
        let shown = ground.show();
        let left = shown["pause"]["left_on_disk"].as_array().unwrap().clone();
        let path = |left: &Value| left["path"].as_str().unwrap().to_owned();
        left.iter().map(path).collect()
    };
    assert_eq!(left(&ground), ["b.txt", "dir/sub/d.txt"]);
    assert_eq!(ground.state(), "paused");
    let parked = ground.record()["vault"]["parking"]["parked_worktree"].clone();
    let parked = PathBuf::from(parked.as_str().unwrap());
    change("-i", &parked.join("dir/sub"));
    drop(ground.camp.biv(["gc"]).run().ok());
    assert_eq!(left(&ground), ["b.txt"]);
    // Back as it was, with the one that never went.
    drop(ground.biv(&["resume"]).ok());
    change("-i", &ground.lab.worktree.join("b.txt"));
    assert_eq!(ground.losses(&["running"]), Vec::<String>::new());
    drop(ground.biv(&["pause", "--remove-worktree"]).ok());
    assert_eq!(left(&ground), Vec::<String>::new());
    assert_eq!(ground.losses(&["paused"]), Vec::<String>::new());
}
