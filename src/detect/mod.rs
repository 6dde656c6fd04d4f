//! Screen text in, activity and dialog out, by rules that are data.
