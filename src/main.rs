//! The `biv` command.

fn main() -> std::process::ExitCode {
    bivouac::main()
}
