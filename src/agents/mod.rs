//! What Bivouac knows of the agent programs: one declarative file each.
