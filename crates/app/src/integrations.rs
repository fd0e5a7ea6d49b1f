//! Whether coding agents call rekindle: hooks, servers and the plugin, and whether they work.
//!
//! Nothing is started: what agents would run is looked at, and a hook is carried out in here.

use rekindle_agents::Preset;
use rekindle_agents::hook::{Event, Moment};
use rekindle_world::World as _;

use crate::install::{Part, Scope, part};
use crate::{Check, Project, Verdict};

/// The list of plugins of Claude Code is a few kilobytes long.
const LARGEST: u64 = 1024 * 1024;
/// The name of the plugin in that list.
const PLUGIN: &str = "\"rekindle@";
const SCOPES: [Scope; 2] = [Scope::User, Scope::Project];

/// Returns what is worth knowing of each agent that calls rekindle.
pub(crate) fn checks(project: &Project) -> Vec<Check> {
    let agents = [
        Preset::Claude,
        Preset::Codex,
        Preset::Gemini,
        Preset::Opencode,
    ];
    let installed: Vec<(Preset, Vec<Place>)> = agents
        .into_iter()
        .map(|agent| (agent, places(project, agent)))
        .filter(|(_, places)| !places.is_empty())
        .collect();
    let mut checks: Vec<Check> = installed
        .iter()
        .map(|(agent, places)| integration(project, *agent, places))
        .collect();
    if !installed.is_empty() {
        checks.push(hook(project));
    }
    checks
}

/// Where an agent has rekindle's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Settings(Scope, Part),
    Plugin,
}

impl Place {
    fn shown(self) -> String {
        match self {
            Self::Settings(scope, _) => format!("{} settings", scope.as_str()),
            Self::Plugin => "plugin".to_owned(),
        }
    }
}

fn places(project: &Project, agent: Preset) -> Vec<Place> {
    let settings = SCOPES.into_iter().filter_map(|scope| {
        let part = part(project, agent, scope);
        (part != Part::Absent).then_some(Place::Settings(scope, part))
    });
    let mut places: Vec<Place> = settings.collect();
    if agent == Preset::Claude && has_plugin(project) {
        places.push(Place::Plugin);
    }
    places
}

fn has_plugin(project: &Project) -> bool {
    let Some(home) = crate::install::home(project, Some("CLAUDE_CONFIG_DIR"), ".claude") else {
        return false;
    };
    let list = home.join("plugins/installed_plugins.json");
    let bytes = project.world().read(&list, LARGEST).unwrap_or_default();
    String::from_utf8_lossy(&bytes).contains(PLUGIN)
}

fn integration(project: &Project, agent: Preset, places: &[Place]) -> Check {
    let name = agent.name();
    let shown: Vec<String> = places.iter().map(|place| place.shown()).collect();
    let seen = format!("calls rekindle by {}", shown.join(" and "));
    let check = |verdict, seen: String, hint: Option<String>| Check {
        name: name.to_owned(),
        verdict,
        seen,
        hint,
    };
    if let [first, _, ..] = places {
        let hint = match first {
            Place::Settings(Scope::User, _) => {
                format!("keep one: `rekindle uninstall {name} --user`")
            }
            Place::Settings(Scope::Project, _) => {
                format!("keep one: `rekindle uninstall {name} --project`")
            }
            Place::Plugin => format!(
                "keep one: `claude plugin uninstall rekindle@rekindle`, or `rekindle uninstall {name}`"
            ),
        };
        return check(
            Verdict::Note,
            format!("{seen}, so each event is handled twice"),
            Some(hint),
        );
    }
    let is_old = |place: &Place| matches!(place, Place::Settings(_, Part::Old));
    if places.iter().any(is_old) {
        let hint = format!("`rekindle install {name}` completes and renews them");
        return check(
            Verdict::Note,
            format!("{seen}, incompletely or for another path"),
            Some(hint),
        );
    }
    if places.contains(&Place::Plugin) && !crate::install::is_on_path(project) {
        let hint = "put the folder of `rekindle` on your PATH".to_owned();
        let seen = "the plugin calls `rekindle`, which is not on the path".to_owned();
        return check(Verdict::Problem, seen, Some(hint));
    }
    let hint = (agent == Preset::Codex)
        .then(|| "Codex skips hooks until you trust them: type `/hooks` in it".to_owned());
    check(Verdict::Ok, seen, hint)
}

/// Carries out what a hook does when a session starts.
fn hook(project: &Project) -> Check {
    let event = Event::parse(Moment::SessionStart, None, b"{}");
    let result = event.map_err(|error| error.to_string()).and_then(|event| {
        crate::hook::hook(project, &event, None).map_err(|error| error.to_string())
    });
    let (verdict, seen, hint) = match result {
        Ok(Some(_)) => (
            Verdict::Ok,
            "a new session is told what is interrupted".to_owned(),
            None,
        ),
        Ok(None) => (
            Verdict::Ok,
            "a new session is told nothing: nothing recent is interrupted".to_owned(),
            None,
        ),
        Err(error) => (
            Verdict::Problem,
            error,
            Some("see `.rekindle/hook.log` in the project".to_owned()),
        ),
    };
    Check {
        name: "hooks".to_owned(),
        verdict,
        seen,
        hint,
    }
}
