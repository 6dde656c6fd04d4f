//! Every screen, and what the keys do to it: keys in, screen out.

mod driver;
mod hostile;
mod journeys;
mod screens;
