//! Operations as journalled plans of steps.
