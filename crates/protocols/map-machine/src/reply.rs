//! The answer of a command: one object, an exit code and effects; or the reason why there is none.

use rekindle_model::Action;
use rekindle_text::python_json::Object;

/// The answer of a command.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The output.
    pub body: Body,
    /// The exit code.
    pub exit: u8,
    /// The effects, which come before the output.
    pub actions: Vec<Action>,
}

/// The standard output of a command.
#[derive(Debug, Clone)]
pub enum Body {
    /// An object on several lines.
    Lines(Object),
    /// An object on one line.
    Line(Object),
    /// A text.
    Text(String),
}

impl Reply {
    /// Returns an answer without effects.
    pub(crate) fn of(body: Object) -> Self {
        Self {
            body: Body::Lines(body),
            exit: 0,
            actions: Vec::new(),
        }
    }

    /// Returns an answer that prints a text.
    pub(crate) fn plain(text: String) -> Self {
        Self {
            body: Body::Text(text),
            ..Self::of(Object::new())
        }
    }

    /// Adds effects.
    pub(crate) fn doing(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }

    /// Sets exit code 1.
    pub(crate) fn failing(self) -> Self {
        self.failing_if(true)
    }

    /// Sets exit code 1, if `fails`.
    pub(crate) fn failing_if(mut self, fails: bool) -> Self {
        self.exit = u8::from(fails);
        self
    }

    /// Returns the answer `{"status": "error", "message": …}` with exit code 0.
    pub(crate) fn error(message: impl Into<String>) -> Self {
        let answer = Object::new().with("status", "error");
        Self::of(answer.with("message", message.into()))
    }

    /// Returns the object `{"status": "success"}`.
    pub(crate) fn success() -> Object {
        Object::new().with("status", "success")
    }

    /// Returns the object of the answer; that of a plain text is empty.
    pub fn object(&self) -> Object {
        match &self.body {
            Body::Lines(object) | Body::Line(object) => object.clone(),
            Body::Text(_) => Object::new(),
        }
    }

    /// Returns the message of the answer, or an empty text.
    pub fn message(&self) -> &str {
        match &self.body {
            Body::Lines(object) | Body::Line(object) => object.text("message").unwrap_or_default(),
            Body::Text(_) => "",
        }
    }

    /// Returns the output with its line end.
    pub(crate) fn text(&self) -> String {
        match &self.body {
            Body::Lines(object) => format!("{}\n", object.to_lines()),
            Body::Line(object) => format!("{}\n", object.to_line()),
            Body::Text(text) => text.clone(),
        }
    }
}

/// Why a command stops without an answer, where MAP's scripts raise an exception.
///
/// It becomes one line `{"error": …}` on standard error and exit code 1, and nothing is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(pub String);

impl Fault {
    /// Returns a fault with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
