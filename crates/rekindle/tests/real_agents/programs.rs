//! How each released program is told that the scripted model is its own.

use anyhow::Result;
use serde_json::json;

use crate::scene::Scene;

pub(crate) fn claude(scene: &mut Scene) {
    let address = scene.address();
    scene.set("ANTHROPIC_BASE_URL", &address);
    scene.set("ANTHROPIC_API_KEY", "none");
    scene.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    scene.set("CLAUDE_CODE_MAX_RETRIES", "0");
}

/// Answers what Claude Code asks when it is first started on a terminal.
pub(crate) fn claude_on_a_terminal(scene: &Scene) -> Result<()> {
    let trusted = json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
    let mut projects = serde_json::Map::new();
    projects.insert(scene.sandbox.project().to_string(), trusted);
    let known = json!({
        "hasCompletedOnboarding": true, "theme": "dark", "projects": projects,
        "customApiKeyResponses": {"approved": ["none"], "rejected": []},
    });
    fs_err::write(scene.home(".claude.json"), known.to_string())?;
    Ok(())
}

pub(crate) fn codex(scene: &Scene) -> Result<()> {
    fs_err::create_dir_all(scene.home(".codex"))?;
    let config = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}/v1\"\n\
         wire_api = \"responses\"\n",
        scene.address()
    );
    fs_err::write(scene.home(".codex/config.toml"), config)?;
    Ok(())
}

pub(crate) fn gemini(scene: &mut Scene) -> Result<()> {
    // It takes only this name for an address that needs no encryption.
    let address = scene.address().replace("127.0.0.1", "localhost");
    scene.set("GOOGLE_GEMINI_BASE_URL", &address);
    scene.set("GEMINI_API_KEY", "none");
    scene.set("GEMINI_CLI_TRUST_WORKSPACE", "true");
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        // The default one is chosen by asking a model.
        "model": {"name": "gemini-2.5-pro"},
        "general": {"disableAutoUpdate": true},
        "telemetry": {"enabled": false},
        "privacy": {"usageStatisticsEnabled": false},
    });
    fs_err::create_dir_all(scene.home(".gemini"))?;
    fs_err::write(scene.home(".gemini/settings.json"), settings.to_string())?;
    Ok(())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn opencode(scene: &mut Scene) -> Result<()> {
    // It would ask for lists of models, for releases and for programs.
    for name in ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "SHARE"] {
        scene.set(&format!("OPENCODE_DISABLE_{name}"), "1");
    }
    let models = json!({"m": {"name": "m"}});
    let options = json!({"baseURL": format!("{}/v1", scene.address()), "apiKey": "none"});
    let provider = json!({"npm": "@ai-sdk/anthropic", "options": options, "models": models});
    let config = json!({"provider": {"scripted": provider}, "model": "scripted/m", "small_model": "scripted/m"});
    fs_err::create_dir_all(scene.home(".config/opencode"))?;
    fs_err::write(
        scene.home(".config/opencode/opencode.json"),
        config.to_string(),
    )?;
    Ok(())
}
