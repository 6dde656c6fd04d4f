//! Hostile commands in harmless clothes, as a hook tells them and as a screen shows them: none is accepted.

use proptest::prelude::*;
use proptest::sample::select;

use crate::agents::Catalog;
use crate::detect::explain;
use crate::engine::autoyes::corpus::{Ground, request, requests};
use crate::engine::autoyes::grammar::{AHEAD, BEHIND, grouped};
use crate::engine::autoyes::policy::{DialogSite, rule_on};
use crate::policy::tests::draw;
use crate::policy::{Decision, Policy, Seal};

fn hostile() -> Vec<String> {
    let commands = requests("hostile.txt").into_iter();
    let plain = |line: &String| {
        let tool = ["read: ", "edit: ", "create: "];
        !tool.iter().any(|mark| line.starts_with(mark)) && !line.contains('\\')
    };
    commands.filter(plain).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn hostile_commands_are_not_accepted_in_harmless_clothes(
        dressed in prop::collection::vec(
            (select(hostile()), select(&AHEAD[..]), select(&BEHIND[..]), 0usize..4),
            8,
        )
    ) {
        let ground = Ground::new();
        let context = ground.context();
        let policy = Policy::built_in().unwrap();
        let catalog = Catalog::built_in();
        for (command, before, behind, kind) in dressed {
            let text = format!("{before}{}{behind}", grouped(&command, kind));
            let told = policy.decide(&request(&text), &context);
            prop_assert_ne!(told.decision, Decision::Accept, "told: {} {:?}", text, told);

            let shown = draw(&[format!("claude/shell 200 {text}")]);
            let rules = catalog.require(&shown.agent).unwrap().rules();
            if let Some(dialog) = explain(rules, &shown.screen, None).dialog {
                let shown = rule_on(&policy, "claude", &dialog, DialogSite::at_top(&ground.worktree), Seal::None);
                prop_assert_ne!(shown.decision, Decision::Accept, "shown: {} {:?}", text, shown);
            }
        }
    }
}

fn cases() -> u32 {
    if std::env::var_os("BIV_TEST_LONG").is_some() {
        2_000
    } else {
        40
    }
}
