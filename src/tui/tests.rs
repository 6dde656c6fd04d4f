//! Tests of the UI without a terminal: keys in, screen out.

mod answering;
mod auditing;
mod driver;
mod finding;
mod forms;
mod hostile;
mod hosts;
mod journeys;
mod landing;
mod reviewing;
mod screens;
mod told;
