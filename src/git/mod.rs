//! Everything that Bivouac does with git.
