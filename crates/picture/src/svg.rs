//! Writes SVG and HTML: everything that comes from outside is escaped.

use rekindle_text::printable;

/// The colors and shapes of drawings, for both themes.
pub(crate) const STYLE: &str = include_str!("../assets/drawing.css");

/// A drawing that grows.
#[derive(Debug, Default)]
pub(crate) struct Drawing {
    pub(crate) text: String,
}

impl Drawing {
    /// Adds an element that is only made of our own words and of numbers.
    pub(crate) fn put(&mut self, element: &str) {
        self.text.push_str(element);
        self.text.push('\n');
    }

    /// Adds a text at a place, with attributes of ours.
    pub(crate) fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        let (x, y) = (number(x), number(y));
        let text = escaped(text);
        self.put(&format!(
            "<text x=\"{x}\" y=\"{y}\" {attributes}>{text}</text>"
        ));
    }

    pub(crate) fn rect(&mut self, at: (f64, f64), size: (f64, f64), attributes: &str) {
        let (x, y) = (number(at.0), number(at.1));
        let (width, height) = (number(size.0), number(size.1));
        self.put(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {attributes}/>"
        ));
    }

    pub(crate) fn path(&mut self, path: &str, attributes: &str) {
        self.put(&format!("<path d=\"{path}\" {attributes}/>"));
    }
}

/// A drawing by itself, or as a part of a page that has the style already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    File,
    /// What ids in it begin with: those of a page are all different.
    Page(&'static str),
}

impl Place {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::File => "",
            Self::Page(prefix) => prefix,
        }
    }
}

/// Returns a whole drawing; readers of the screen get its title, or in a page the table beside it.
pub(crate) fn finish(body: &str, size: (f64, f64), place: Place, title: &str) -> String {
    let (width, height) = (number(size.0), number(size.1));
    let prefix = place.prefix();
    let open = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\""
    );
    let head = match place {
        Place::File => format!(
            " role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">{}</title>\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" class=\"f-card\"/>\n",
            escaped(title)
        ),
        Place::Page(_) => " aria-hidden=\"true\" focusable=\"false\">\n".to_owned(),
    };
    let patterns = PATTERNS.replace("id=\"", &format!("id=\"{prefix}"));
    format!("{open}{head}{patterns}{body}</svg>\n")
}

const PATTERNS: &str = "<defs><pattern id=\"hatch\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"7\" height=\"7\" class=\"f-dark\"/><rect width=\"1.3\" height=\"7\" class=\"f-line2\"/></pattern><pattern id=\"dots\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" class=\"f-wait-bg\" opacity=\".55\"/><circle cx=\"2\" cy=\"2\" r=\".9\" class=\"f-wait\" opacity=\".6\"/></pattern><linearGradient id=\"fade\"><stop offset=\"0\" class=\"stop\"/><stop offset=\".75\" class=\"stop\"/><stop offset=\"1\" class=\"stop\" stop-opacity=\".25\"/></linearGradient></defs>\n";

/// Returns a number with at most one digit after the point, without a useless one.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// Returns a text that stays one in SVG and HTML, in attributes too.
pub(crate) fn escaped(text: &str) -> String {
    let text = printable(text);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_text() {
        assert_eq!(
            escaped("</script><img onerror='x'> & \"y\"\u{1b}[2J"),
            "&lt;/script&gt;&lt;img onerror=&#39;x&#39;&gt; &amp; &quot;y&quot;\\u{1b}[2J"
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 1.25, -0.01, 0.96].map(number), ["1", "1.2", "0", "1"]);
    }
}
