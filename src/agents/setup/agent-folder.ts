/** The folder that pi reads its settings from, written by the gateway. A folder that belongs to somebody else (agent.agentDir) is left as it is. */
import { constants } from "node:fs";
import { mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Config, Environment } from "../../config/index.ts";
import type { ModelChoice } from "./model-choice.ts";
import { callsItself } from "./network.ts";
import { expandPath } from "./paths.ts";
import { agentWorkspace } from "./workspace.ts";
import { type GatewayFeatures, systemPrompt } from "./system-prompt.ts";

export interface AgentFolders {
  /** PI_CODING_AGENT_DIR. */
  readonly agentDir: string;
  readonly ownAgentDir: boolean;
  /** HOME of the agents: nothing of the owner's is in it. */
  readonly home: string;
  readonly workspace: string;
  /** Folders besides the workspace that the owner lets it use. */
  readonly granted: GrantedFolders;
  readonly sessions: string;
  /** Code that Bun has compiled. Of this agent and role alone: whoever writes it decides what the next process runs. */
  readonly transpilerCache: string;
  /** The same for extensions. */
  readonly compiled: string;
  /** Where no agent writes. */
  readonly promptFile: string;
  /** Empty on purpose: Bun would otherwise take settings, code to run included, from the working folder. */
  readonly bunConfig: string;
  /** An empty one: that of the workspace could name other files for what pi imports. */
  readonly compilerConfig: string;
}

interface GrantedFolders {
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Those of `write` in which file tools change nothing without an owner's word. */
  readonly asks: readonly string[];
}

interface FolderOptions {
  readonly home: string;
  readonly config: Config["agent"];
  readonly models: Config["models"];
  readonly environment: Environment;
  /** Where this agent's own folder is, below `home`. */
  readonly folder: readonly string[];
  /** Folders whose files agents may send. Default: none. */
  readonly sendable?: readonly string[];
  readonly features?: GatewayFeatures;
}

/** Of one unit of text. */
const MAX_UTF8_BYTES = 3;
/** Retries of passing provider errors inside pi: quick and few, because somebody is waiting. */
const RETRY = { enabled: true, maxRetries: 2, baseDelayMs: 1_000, maxAgentDelayMs: 8_000 };

export function agentFolders(options: FolderOptions): AgentFolders {
  const { home, folder, config, environment } = options;
  const own = join(home, ...folder);
  const given = config.agentDir === undefined ? null : expandPath(config.agentDir, environment.userHome);
  return {
    agentDir: given ?? own,
    ownAgentDir: given === null,
    home: join(own, "home"),
    workspace: agentWorkspace(config, { home, environment }),
    granted: grantedFolders(options),
    sessions: join(home, "sessions"),
    transpilerCache: environment.transpilerCache ?? join(own, "cache"),
    compiled: join(own, "cache"),
    promptFile: join(home, "agent-files", ...folder, "system-prompt.md"),
    bunConfig: join(home, "agent-files", ...folder, "bunfig.toml"),
    compilerConfig: join(home, "agent-files", ...folder, "tsconfig.json"),
  };
}

/** What the owner lists, and the folders whose files agents may send. */
function grantedFolders({ config, environment, sendable = [] }: FolderOptions): GrantedFolders {
  const expand = (path: string) => expandPath(path, environment.userHome);
  const listed = (access: "read" | "write") => config.folders.filter((one) => one.access === access);
  return {
    read: [...listed("read").map(({ path }) => expand(path)), ...sendable.map(expand)],
    write: listed("write").map(({ path }) => expand(path)),
    asks: listed("write").flatMap(({ path, approval }) => (approval === "ask" ? [expand(path)] : [])),
  };
}

/** Makes the folders, and everything that processes of this kind find in them. */
export async function prepareFolders(
  folders: AgentFolders,
  options: FolderOptions,
  choice: ModelChoice,
): Promise<PreparedFolders> {
  const made = [join(options.home, ...options.folder), folders.home, folders.workspace, folders.sessions];
  made.push(folders.compiled, dirname(folders.promptFile));
  for (const folder of made) await mkdir(folder, { recursive: true, mode: 0o700 });
  await writePrivate(folders.promptFile, systemPrompt(options.config, options.features, callsItself(choice)));
  await writePrivate(folders.bunConfig, "");
  await writePrivate(folders.compilerConfig, "{}\n");
  const restore = async (): Promise<void> => {
    if (!folders.ownAgentDir) return;
    await writePrivate(join(folders.agentDir, "settings.json"), toJson(settings(options.config, choice)));
    await writePrivate(join(folders.agentDir, "models.json"), toJson(models(options.models, choice)));
  };
  await restore();
  return { restore };
}

export interface PreparedFolders {
  /** Before each start: an agent writes its pi folder, and what one conversation put into it must not steer the next process. */
  restore(): Promise<void>;
}

/** Defaults here instead of flags: with a flag pi could not be given another model for a single session. */
function settings(config: Config["agent"], choice: ModelChoice): Record<string, unknown> {
  return {
    ...defaultModel(choice),
    ...(config.thinking === undefined ? {} : { defaultThinkingLevel: config.thinking }),
    retry: RETRY,
  };
}

function defaultModel(choice: ModelChoice): Record<string, unknown> {
  if (choice.kind === "demo") return { defaultProvider: "gwdemo", defaultModel: "demo" };
  if (choice.kind === "configured") return { defaultProvider: choice.provider, defaultModel: choice.model };
  return {};
}

/** Endpoints of the configuration that this process may call. */
function models(models: Config["models"], choice: ModelChoice): Record<string, unknown> {
  if (choice.kind === "demo" || choice.kind === "login") return { providers: {} };
  const entries = choice.access.providers.flatMap((name) => {
    const provider = models.providers[name];
    if (!provider) return [];
    const { baseUrl, api } = provider;
    const list = provider.models.map((model) => ({ ...model, name: model.name ?? model.id }));
    return [[name, { baseUrl, api, apiKey: choice.access.apiKeys[name], models: list }] as const];
  });
  return { providers: Object.fromEntries(entries) };
}

async function writePrivate(path: string, content: string): Promise<void> {
  if (await holds(path, content)) return;
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await writeFile(fresh, content, { mode: 0o600, flag: "wx" }); // never through a link that an agent has put there
  await rename(fresh, path);
}

/** Looks without following a link, and closes the file to others when it is as it should be. */
async function holds(path: string, content: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null); // missing: the first start
  if (file === null) return false;
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > content.length * MAX_UTF8_BYTES) return false;
    if ((await file.readFile("utf8")) !== content) return false;
    await file.chmod(0o600);
    return true;
  } finally {
    await file.close();
  }
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
