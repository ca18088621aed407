/** MCP servers that people ask for most: the settings of each, and what to create where before it works. Words and data only. */

export interface McpPreset {
  readonly title: string;
  /** What the settings are made of, besides themselves: `--set NAME=VALUE`, or a variable of the environment. */
  readonly needs: readonly PresetValue[];
  /** What to create where, step by step. */
  readonly steps: readonly string[];
  /** What to do once the settings are written. `NAME` stands for the server's name. */
  readonly after: readonly string[];
  /** `${VALUE}` stands for a needed value. */
  readonly settings: Readonly<Record<string, unknown>>;
}

interface PresetValue {
  readonly name: string;
  readonly what: string;
  /** Used where nothing is given. */
  readonly usual?: string;
}

const NPM = "registry.npmjs.org";

export const MCP_PRESETS: Readonly<Record<string, McpPreset>> = {
  github: {
    title: "GitHub: issues, pull requests, code (GitHub's own server)",
    needs: [{ name: "GITHUB_TOKEN", what: "a personal access token" }],
    steps: [
      "Open https://github.com/settings/personal-access-tokens and make a fine-grained token.",
      "Give it the repositories and rights that the assistant shall have, and no more.",
    ],
    after: ["Try it: pi-gw mcp test NAME"],
    settings: { url: "https://api.githubcopilot.com/mcp/", headers: { Authorization: "Bearer ${GITHUB_TOKEN}" } },
  },
  notion: {
    title: "Notion: pages and databases (Notion's own server)",
    needs: [],
    steps: ["Nothing to create: you sign in with your browser, and Notion asks which workspace to share."],
    after: ["Sign in: pi-gw mcp login NAME"],
    settings: { url: "https://mcp.notion.com/mcp", oauth: {} },
  },
  slack: {
    title: "Slack: channels, threads, search (npm package slack-mcp-server)",
    needs: [{ name: "SLACK_TOKEN", what: "a user token of a Slack app, which begins with xoxp-" }],
    steps: [
      "Open https://api.slack.com/apps, choose Create New App, From scratch, and your workspace.",
      "Under OAuth & Permissions add user token scopes: channels:history, channels:read, groups:history, groups:read, im:history, users:read, search:read.",
      "Choose Install to Workspace, and copy the User OAuth Token.",
    ],
    after: ["Try it: pi-gw mcp test NAME"],
    settings: {
      command: "npx",
      args: ["-y", "slack-mcp-server@latest", "--transport", "stdio"],
      env: { SLACK_MCP_XOXP_TOKEN: "${SLACK_TOKEN}" },
      network: { allow: [NPM, "slack.com", "*.slack.com"] },
    },
  },
  "google-calendar": {
    title: "Google Calendar: events and free time (npm package @cocal/google-calendar-mcp)",
    needs: [
      {
        name: "GOOGLE_FOLDER",
        what: "a folder with the client file of Google, gcp-oauth.keys.json",
        usual: "~/.config/google-calendar-mcp",
      },
    ],
    steps: [
      "Open https://console.cloud.google.com, make a project, and enable the Google Calendar API.",
      "Under APIs & Services, Credentials, create an OAuth client of the type Desktop app, and add yourself as a test user of the consent screen.",
      "Download its file as ~/.config/google-calendar-mcp/gcp-oauth.keys.json.",
      "Sign in once: GOOGLE_OAUTH_CREDENTIALS=~/.config/google-calendar-mcp/gcp-oauth.keys.json GOOGLE_CALENDAR_MCP_TOKEN_PATH=~/.config/google-calendar-mcp/tokens.json npx @cocal/google-calendar-mcp auth",
    ],
    after: ["Try it: pi-gw mcp test NAME"],
    settings: {
      command: "npx",
      args: ["-y", "@cocal/google-calendar-mcp"],
      env: {
        GOOGLE_OAUTH_CREDENTIALS: "${GOOGLE_FOLDER}/gcp-oauth.keys.json",
        GOOGLE_CALENDAR_MCP_TOKEN_PATH: "${GOOGLE_FOLDER}/tokens.json",
      },
      folders: [{ path: "${GOOGLE_FOLDER}", access: "write" }],
      network: { allow: [NPM, "*.googleapis.com", "accounts.google.com"] },
    },
  },
  mail: {
    title: "Mail: read, search and send by IMAP and SMTP (npm package @gnidreve/classic-imap-smtp-mcp)",
    needs: [
      { name: "MAIL_USER", what: "your mail address" },
      { name: "MAIL_PASSWORD", what: "an app password; not the one you sign in with" },
      { name: "IMAP_HOST", what: "the IMAP server, such as imap.example.org" },
      { name: "SMTP_HOST", what: "the SMTP server, such as smtp.example.org" },
    ],
    steps: [
      "Make an app password at your mail provider (Gmail: https://myaccount.google.com/apppasswords, with two-step verification on).",
      "IMAP is no HTTP, so no proxy can watch it: this server has the network of the machine. Its files stay behind the wall.",
    ],
    after: ["Try it: pi-gw mcp test NAME"],
    settings: {
      command: "npx",
      args: ["-y", "@gnidreve/classic-imap-smtp-mcp"],
      env: {
        USERNAME: "${MAIL_USER}",
        PASSWORD: "${MAIL_PASSWORD}",
        IMAP_HOST: "${IMAP_HOST}",
        IMAP_PORT: "993",
        SMTP_HOST: "${SMTP_HOST}",
        SMTP_PORT: "465",
      },
      network: "machine",
    },
  },
  browser: {
    title: "A browser: open pages, click, fill in forms (npm package @playwright/mcp)",
    needs: [],
    steps: [
      "Nothing to create, but Chrome has to be installed. The first start downloads the package. For another browser add --executable-path and its path to args, and its folder to folders.",
      "The version is fixed: since 0.0.70 the server opens a local socket, which the wall around programs refuses.",
      "Whatever a page says reaches the model: allow the tools that change something only where you read along.",
    ],
    after: ["Try it: pi-gw mcp test NAME"],
    settings: {
      command: "npx",
      args: ["-y", "@playwright/mcp@0.0.68", "--headless", "--isolated", "--no-sandbox"],
      network: "all",
      startMs: "2m",
    },
  },
};
