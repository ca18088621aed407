/** Settings for a machine on which no wall can be built: pi tools are off there, and a test that needs them and is not about the wall asks to go without. */
import { testSandbox } from "../confined-run.ts";

type Settings = Readonly<Record<string, unknown>>;

let walled: Promise<boolean> | null = null;

/** Nothing changes where there is a wall, or where a test says itself what it wants. */
export async function runnableHere(home: string, config: unknown): Promise<unknown> {
  const settings = asSettings(config);
  const agent = asSettings(settings["agent"]);
  if (agent["sandbox"] !== undefined || !needsWall(settings)) return config;
  walled ??= testSandbox(home)
    .wall()
    .then(({ report }) => report.tier !== "none");
  return (await walled) ? config : { ...settings, agent: { ...agent, sandbox: "off" } };
}

function needsWall(settings: Settings): boolean {
  return settings["mcp"] !== undefined || namesPiTools(settings); // MCP servers do not run without one
}

function namesPiTools(settings: Settings): boolean {
  const agents = Array.isArray(settings["agents"]) ? settings["agents"].map(asSettings) : [];
  const roles = Object.values(asSettings(asSettings(settings["roles"])["profiles"])).map(asSettings);
  return [asSettings(settings["agent"]), ...agents, ...roles].some(
    ({ tools }) => tools !== undefined && tools !== "chat",
  );
}

function asSettings(value: unknown): Settings {
  return typeof value === "object" && value !== null ? (value as Settings) : {};
}
