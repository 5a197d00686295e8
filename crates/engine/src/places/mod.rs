//! Where events happened: folders, the checkouts that they lie in, branches and remotes.
//!
//! [`folding`] works out a checkout's main folder from a working directory; [`mod@checkout`] reads what a folder
//! on this machine shows of its repository; [`mod@git_folder`] finds the folder that a command line asks git about;
//! [`stored_path`] is the form of a path that is stored.
//!
//! Not here: projects. Several folders may turn out to belong to one.

pub mod checkout;
mod command_words;
pub mod folding;
pub mod git_folder;
pub mod stored_path;
