//! The command line: arguments in, engine call, words out.
