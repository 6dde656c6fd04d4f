use super::*;

#[test]
fn a_patch_is_taken_apart_whatever_its_lines_look_like() {
    let patch = Patch::parse(
        "diff --git a/a b.txt b/a b.txt\nindex 1..2 100644\n--- a/a b.txt\t\n+++ b/a b.txt\t\n\
         @@ -1,2 +1,3 @@ fn x\n context\n--- removed\n+++ added\n+diff --git a/x b/x\n\
         \\ No newline at end of file\n\
         diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\
         diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    );
    let files: Vec<_> = patch
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.added, file.removed, file.change))
        .collect();
    assert_eq!(
        files,
        [
            ("a b.txt", 2, 1, FileChange::Modified),
            ("new", 1, 0, FileChange::New),
            ("old", 0, 1, FileChange::Deleted)
        ]
    );
    assert_eq!(patch.file_at(0), Some(0));
    assert_eq!(patch.file_at(patch.lines.len()), Some(2));
    // The note belongs to the hunk, although its counts are used up.
    assert!(
        patch
            .lines
            .iter()
            .any(|line| line.text.starts_with("\\ No"))
    );
}

#[test]
fn lines_have_their_numbers_and_their_surroundings() {
    let patch = Patch::parse(
        "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -10,4 +10,4 @@\n a\n-b\n+B\n c\n d\n\
         @@ -30,1 +30,2 @@\n x\n+y\n",
    );
    let at = |side, number| patch.find("f", side, number);
    let text = |at: Option<usize>| at.map(|at| patch.lines[at].text.as_str());
    assert_eq!(text(at(ReviewSide::New, 11)), Some("B"));
    assert_eq!(text(at(ReviewSide::Old, 11)), Some("b"));
    assert_eq!(text(at(ReviewSide::New, 31)), Some("y"));
    assert_eq!(at(ReviewSide::New, 20), None);
    assert_eq!(patch.find("other", ReviewSide::New, 11), None);
    assert_eq!(
        patch.around(at(ReviewSide::New, 11).unwrap(), 1),
        ["-b", "+B", " c"]
    );
    assert_eq!(
        patch.around(at(ReviewSide::New, 31).unwrap(), 5),
        [" x", "+y"]
    );
}

#[test]
fn renames_modes_and_quoted_names_are_read() {
    let patch = Patch::parse(
        "diff --git a/one.txt b/two.txt\nold mode 100644\nnew mode 100755\nsimilarity index 90%\n\
         rename from one.txt\nrename to two.txt\n\
         diff --git \"a/\\303\\244.bin\" \"b/\\303\\244.bin\"\nBinary files a/x and b/x differ\n",
    );
    let [renamed, binary] = patch.files.as_slice() else {
        panic!("{patch:?}");
    };
    assert_eq!(renamed.change, FileChange::Renamed);
    assert_eq!(renamed.before.as_deref(), Some("one.txt"));
    assert_eq!(renamed.path, "two.txt");
    assert_eq!(
        renamed.modes,
        Some(("100644".to_owned(), "100755".to_owned()))
    );
    assert_eq!((binary.path.as_str(), binary.binary), ("ä.bin", true));
}

#[test]
fn a_huge_patch_is_cut() {
    let text = format!(
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,{0} @@\n{1}",
        LONGEST * 2,
        "+line\n".repeat(LONGEST * 2)
    );
    let patch = Patch::parse(&text);
    assert!(patch.cut);
    assert_eq!(patch.lines.len(), LONGEST + 1);
}

const DIFF: &str = "\
diff --git a/a file.rs b/a file.rs
index 1..2 100644
--- a/a file.rs\t
+++ b/a file.rs\t
@@ -1,3 +1,4 @@ fn one
 one
--- two
+two
+three
 four
@@ -50 +51 @@
-old
+new
\\ No newline at end of file
diff --git a/gone.rs b/gone.rs
deleted file mode 100644
--- a/gone.rs
+++ /dev/null
@@ -1,2 +0,0 @@
-first
-second
";

#[test]
fn a_line_is_found_in_its_hunk_only() {
    let patch = Patch::parse(DIFF);
    let found = |file: &str, line: u32| patch.hunk_at(file, (line, line), 8);
    let first = found("a file.rs", 3).unwrap_or_default();
    assert!(first.starts_with("@@ -1,3 +1,4 @@ fn one\n one\n--- two\n+two\n+three\n"));
    assert!(!first.contains("new"), "{first}");
    let second = found("a file.rs", 51).unwrap_or_default();
    assert_eq!(
        second,
        "@@ -50 +51 @@\n-old\n+new\n\\ No newline at end of file\n"
    );
    let deleted = found("gone.rs", 2).unwrap_or_default();
    assert_eq!(deleted, "@@ -1,2 +0,0 @@\n-first\n-second\n");
    assert_eq!(found("a file.rs", 20), None);
    assert_eq!(found("file.rs", 3), None);
}

#[test]
fn a_long_hunk_is_shortened_around_the_lines() {
    let body: String = (1..=100).map(|line| format!("+line {line}\n")).collect();
    let diff = format!(
        "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,100 @@\n{body}"
    );
    let found = Patch::parse(&diff).hunk_at("x", (50, 52), 8);
    let found = found.unwrap_or_default();
    assert_eq!(found.lines().count(), 1 + 3 + 2 * 8);
    assert!(found.contains("+line 42\n") && found.contains("+line 60\n"));
    assert!(!found.contains("+line 41\n") && !found.contains("+line 61\n"));
}
