//! Everything that Bivouac does with tmux.
