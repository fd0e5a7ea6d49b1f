//! What a command answers: one object, an exit code, and the effects that go with it.

use rekindle_model::Action;
use rekindle_text::python_json::Object;

/// What a command answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// What is printed.
    pub(crate) body: Body,
    /// The exit code.
    pub(crate) exit: u8,
    /// What is written before anything is printed.
    pub(crate) actions: Vec<Action>,
}

/// What is printed on standard output.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    /// An object on lines of its own.
    Lines(Object),
    /// An object on one line.
    Line(Object),
    /// A text as it is.
    Text(String),
}

impl Reply {
    /// Returns an answer that changes nothing.
    pub(crate) fn of(body: Object) -> Self {
        Self {
            body: Body::Lines(body),
            exit: 0,
            actions: Vec::new(),
        }
    }

    /// Returns the answer with more effects.
    pub(crate) fn doing(mut self, actions: impl IntoIterator<Item = Action>) -> Self {
        self.actions.extend(actions);
        self
    }

    /// Returns the answer with exit code 1.
    pub(crate) fn failing(mut self) -> Self {
        self.exit = 1;
        self
    }

    /// Returns the answer `{"status": "error", "message": …}`, which by itself is no failure.
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self::of(
            Object::new()
                .with("status", "error")
                .with("message", message.into()),
        )
    }

    /// Returns the answer `{"status": "success", …}` to be filled.
    pub(crate) fn success() -> Object {
        Object::new().with("status", "success")
    }

    /// Returns the text that is printed, with its line end.
    pub(crate) fn text(&self) -> String {
        match &self.body {
            Body::Lines(object) => format!("{}\n", object.to_lines()),
            Body::Line(object) => format!("{}\n", object.to_line()),
            Body::Text(text) => text.clone(),
        }
    }
}
