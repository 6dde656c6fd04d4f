//! Paths of values in JSON documents.

use serde::Deserialize;
use serde_json::Value;

use crate::model::Timestamp;

/// The path of a value in a JSON document: `data.items.0.name`. `*` stands for every element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct JsonPath(Vec<String>);

impl TryFrom<String> for JsonPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let steps: Vec<String> = text.split('.').map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) {
            return Err(format!(
                "`{text}` is not the path of a value; write for example `data.text`"
            ));
        }
        Ok(Self(steps))
    }
}

impl JsonPath {
    /// Every value at this path.
    pub(crate) fn all<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| match (value, step.as_str()) {
                    (Value::Array(items), "*") => items.iter().collect::<Vec<_>>(),
                    (Value::Object(fields), "*") => fields.values().collect(),
                    (Value::Array(items), index) => {
                        let index: Option<usize> = index.parse().ok();
                        index.and_then(|at| items.get(at)).into_iter().collect()
                    }
                    (other, key) => other.get(key).into_iter().collect(),
                })
                .collect();
        }
        found
    }

    pub(crate) fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.all(value).into_iter().next()
    }

    /// The texts at this path, one per line; None where there is none.
    pub(crate) fn text(&self, value: &Value) -> Option<String> {
        let texts: Vec<String> = self
            .all(value)
            .into_iter()
            .filter_map(|value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// A time: RFC 3339, or seconds or milliseconds since the epoch.
    pub(crate) fn time(&self, value: &Value) -> Option<Timestamp> {
        /// As seconds this is a time in the far future.
        const MILLISECONDS: f64 = 1e11;
        match self.first(value)? {
            Value::String(text) => Timestamp::parse(text),
            Value::Number(number) => {
                let number = number.as_f64().filter(|number| number.is_finite())?;
                let milliseconds = if number.abs() < MILLISECONDS {
                    number * 1000.0
                } else {
                    number
                };
                #[expect(clippy::cast_possible_truncation, reason = "times are far smaller")]
                Timestamp::from_epoch_millis(milliseconds as i64)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> JsonPath {
        JsonPath::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn a_path_leads_to_values() {
        let value = json!({"a": {"b": [{"t": "x"}, {"t": "y"}, {"u": 1}]}, "n": 5});
        assert_eq!(path("a.b.*.t").text(&value).as_deref(), Some("x\ny"));
        assert_eq!(path("a.b.1.t").text(&value).as_deref(), Some("y"));
        assert_eq!(path("n").text(&value).as_deref(), Some("5"));
        assert_eq!(path("a.c").text(&value), None);
        assert!(JsonPath::try_from("a..b".to_owned()).is_err());
    }

    #[test]
    fn a_time_is_read_in_each_of_its_forms() {
        let value = json!({
            "text": "2026-11-17T01:38:26Z", "seconds": 1_794_879_506.5, "milliseconds": 1_794_879_506_000_u64
        });
        let seconds = |key: &str| path(key).time(&value).unwrap().seconds_since_epoch();
        assert_eq!(seconds("text"), 1_794_879_506);
        assert_eq!(seconds("seconds"), 1_794_879_506);
        assert_eq!(seconds("milliseconds"), 1_794_879_506);
    }
}
