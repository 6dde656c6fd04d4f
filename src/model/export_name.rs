//! The name of an export where several of them lie.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{InstanceId, Title, slug};

/// The id of its instance, and as much of its title as fits into the name of a file or of a ref.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct ExportName {
    id: InstanceId,
    title: String,
}

/// Why no export was found by a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unfound {
    None,
    Several(Vec<ExportName>),
}

impl ExportName {
    pub(crate) fn of(id: &InstanceId, title: &Title) -> Self {
        Self {
            id: id.clone(),
            title: slug(title.as_str()),
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (id, title) = text.split_once('-').unwrap_or((text, ""));
        let name = Self {
            id: InstanceId::parse(id)?,
            title: slug(title),
        };
        (name.to_string() == text).then_some(name)
    }

    pub(crate) fn id(&self) -> &InstanceId {
        &self.id
    }

    /// The export that is meant: by its whole name, its id, its title, or the beginning of either. Without a
    /// name the only one.
    pub(crate) fn find(names: &[Self], given: Option<&str>) -> Result<Self, Unfound> {
        let Some(given) = given else {
            return only(names.iter().collect());
        };
        let title = slug(given);
        let whole = |name: &Self| {
            name.to_string() == given
                || name.id.as_str() == given
                || (!title.is_empty() && name.title == title)
        };
        let begins = |name: &Self| {
            !given.is_empty()
                && (name.id.as_str().starts_with(given)
                    || (!title.is_empty() && name.title.starts_with(&title)))
        };
        let found: Vec<&Self> = names.iter().filter(|name| whole(name)).collect();
        match found.is_empty() {
            true => only(names.iter().filter(|name| begins(name)).collect()),
            false => only(found),
        }
    }
}

fn only(found: Vec<&ExportName>) -> Result<ExportName, Unfound> {
    match found.as_slice() {
        [] => Err(Unfound::None),
        [one] => Ok((*one).clone()),
        several => Err(Unfound::Several(
            several.iter().map(|name| (*name).clone()).collect(),
        )),
    }
}

impl fmt::Display for ExportName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.title.as_str() {
            "" => write!(f, "{}", self.id),
            title => write!(f, "{}-{title}", self.id),
        }
    }
}

impl TryFrom<String> for ExportName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("this is no name of an export")
    }
}

impl From<ExportName> for String {
    fn from(name: ExportName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_and_nothing_else_is_one() {
        let id = InstanceId::random();
        for title in ["fix the login", "日本語", "a-b"] {
            let name = ExportName::of(&id, &Title::new(title).unwrap());
            assert_eq!(ExportName::parse(&name.to_string()), Some(name));
        }
        for text in [
            "",
            "../../etc",
            "short-x",
            &format!("{id}-"),
            &format!("{id}-A"),
            &format!("{id}-a/b"),
            &format!("{id}.lock"),
        ] {
            assert_eq!(ExportName::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_export_is_found_by_id_and_title() {
        let name = |text: &str| ExportName::parse(text).unwrap();
        let names = [
            name("bcdfghjkmn-fix-the-login"),
            name("bcdfghjkzz-fix-the-cache"),
            name("zzzzzzzzzz-fix"),
        ];
        let find = |given: &str| ExportName::find(&names, Some(given));
        assert_eq!(find("fix the login"), Ok(names[0].clone()));
        assert_eq!(find("fix"), Ok(names[2].clone()), "a whole title first");
        assert_eq!(find("bcdfghjkzz"), Ok(names[1].clone()));
        assert_eq!(find("z"), Ok(names[2].clone()));
        assert_eq!(find("fix-the-c"), Ok(names[1].clone()));
        assert_eq!(find("nothing"), Err(Unfound::None));
        assert_eq!(find(""), Err(Unfound::None));
        assert!(matches!(find("bcd"), Err(Unfound::Several(two)) if two.len() == 2));
        assert!(matches!(
            ExportName::find(&names, None),
            Err(Unfound::Several(_))
        ));
        assert_eq!(
            ExportName::find(&names[..1], None),
            Ok(names[0].clone()),
            "the only one"
        );
    }
}
