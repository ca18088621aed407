/** The part of `doctor` that a running gateway answers: its configuration, model, channels, plugins and tools, as they are in force there. */
import { isGatewayError } from "../../contracts/errors.ts";
import { createClient, type GatewayClient } from "../client.ts";
import { findGateway, type RunningGateway } from "../state-directory.ts";
import { type Fields, listOf, numberOf, recordOf, textOf } from "../read-value.ts";
import type { CliWorld } from "../world.ts";
import type { Check } from "./check.ts";
import { sandboxCheck, type SandboxFinding } from "./sandbox-check.ts";

export type Answer =
  | { readonly kind: "none" }
  /** A gateway left its note in the state directory and does not answer. */
  | { readonly kind: "silent"; readonly gateway: RunningGateway; readonly because: string }
  | {
      readonly kind: "running";
      readonly gateway: RunningGateway;
      readonly status: Fields;
      /** Its settings, without secrets. */
      readonly settings: Fields;
      readonly plugins: readonly Fields[];
      readonly tools: readonly Fields[];
      /** Its own list, as the web console shows it. Empty: a version that has none. */
      readonly checks: readonly Check[];
    };

export type RunningAnswer = Extract<Answer, { readonly kind: "running" }>;

const ASK_GATEWAY_MS = 3_000;

export async function askRunning(world: CliWorld, home: string | undefined): Promise<Answer> {
  const gateway = await findGateway(world, home).catch(() => null);
  if (gateway === null) return { kind: "none" };
  using limit = world.clock.deadline(ASK_GATEWAY_MS, () => new Error("It did not answer within three seconds."));
  try {
    const client = createClient(gateway);
    const status = await client.ask({ path: "/api/status" }, limit.signal);
    const settings = await client.ask({ path: "/api/config" }, limit.signal);
    const { items } = await client.ask({ path: "/api/plugins" }, limit.signal);
    const { tools } = await client.ask({ path: "/api/tools" }, limit.signal);
    return {
      kind: "running",
      gateway,
      status,
      settings,
      plugins: listOf(items).map(recordOf),
      tools: listOf(tools).map(recordOf),
      checks: await ownChecks(client, limit.signal),
    };
  } catch (error) {
    const because = isGatewayError(error) ? error.say : error instanceof Error ? error.message : String(error);
    return { kind: "silent", gateway, because };
  }
}

/** A gateway of an earlier version has no such list, and is looked at from here. */
async function ownChecks(client: GatewayClient, signal: AbortSignal): Promise<readonly Check[]> {
  const { items } = await client.ask({ path: "/api/doctor" }, signal).catch((): Fields => ({}));
  return listOf(items)
    .map(recordOf)
    .map(({ check, state, say }) => ({ check: textOf(check).toLowerCase(), state: stateOf(state), say: textOf(say) }));
}

function stateOf(state: unknown): Check["state"] {
  return state === "ok" || state === "note" ? state : "broken";
}

/** The first line of the report: whose view the following lines are. */
export function checkGateway(answer: Answer, version: string, isAlive: (pid: number) => boolean): Check {
  const check = "gateway";
  if (answer.kind === "none")
    return { check, state: "ok", say: "not running; the following is what a start from this shell would find" };
  const { pid, url } = answer.gateway;
  if (answer.kind === "running") {
    const running = textOf(answer.status["version"]);
    const say = `running at ${url} (process ${pid}); the following is what it says about itself`;
    if (running === version) return { check, state: "ok", say };
    return { check, state: "note", say: `${say}. It is version ${running}, this command is ${version}; restart it.` };
  }
  if (!isAlive(pid))
    return {
      check,
      state: "note",
      say: `not running; process ${pid} ended without a clean stop, and the next start goes on from there. The following is what a start from this shell would find`,
    };
  return {
    check,
    state: "broken",
    say: `process ${pid} should answer at ${url} and does not; the following is what this shell sees. ${answer.because}`,
  };
}

/** One list, whoever asks: the gateway's own. */
export function checkRunning(answer: RunningAnswer): readonly Check[] {
  return answer.checks.length > 0 ? answer.checks : checkFromHere(answer);
}

function checkFromHere(answer: RunningAnswer): readonly Check[] {
  const { status } = answer;
  const checks = [
    ...(status["config"] === undefined ? [] : checkConfiguration(recordOf(status["config"]))),
    checkAgents(status),
    ...(status["sandbox"] === undefined ? [] : [sandboxCheck(sandboxOf(recordOf(status["sandbox"])))]),
    checkModel(recordOf(status["model"])),
    ...listOf(status["channels"]).map((channel) => checkChannel(recordOf(channel))),
    ...checkPlugins(answer.plugins),
    ...checkTools(answer.tools),
    ...listOf(status["mcp"]).map((server) => checkMcpServer(recordOf(server))),
  ];
  const others = listOf(status["notices"])
    .map(textOf)
    .filter((notice) => !checks.some(({ about }) => about !== undefined && about !== "" && notice.includes(about)));
  return [...checks, ...others.map((say): Check => ({ check: "notice", state: "note", say }))];
}

function checkConfiguration(config: Fields): readonly Check[] {
  const check = "configuration";
  const file = textOf(config["file"]);
  if (config["applied"] === true)
    return [{ check, state: "ok", say: file === "" ? "no file, the defaults are in force" : `${file} is in force` }];
  const problems = listOf(config["problems"]).map(textOf);
  const head = `${file || "the file"} is not in force; the gateway goes on with the settings it had before.`;
  return [
    { check, state: "broken", say: head },
    ...problems.map((say): Check => ({ check, state: "broken", say, about: say })),
  ];
}

function checkAgents(status: Fields): Check {
  const trouble = textOf(status["agentTrouble"]);
  if (trouble !== "") return { check: "pi", state: "broken", say: trouble, about: trouble };
  const pool = recordOf(status["pool"]);
  const [idle, busy, starting] = ["idle", "busy", "starting"].map((key) => numberOf(pool[key]));
  return { check: "pi", state: "ok", say: `${busy} agents busy, ${idle} idle, ${starting} starting` };
}

function sandboxOf(sandbox: Fields): SandboxFinding {
  return {
    setting: textOf(sandbox["setting"]),
    tier: textOf(sandbox["tier"]),
    because: textOf(sandbox["because"]),
    leaks: listOf(sandbox["leaks"]).map(textOf),
    advice: textOf(sandbox["advice"]) || null,
  };
}

function checkModel(model: Fields): Check {
  const name = textOf(model["name"]);
  if (name === "") return { check: "model", state: "ok", say: "not known yet: no agent has been started" };
  if (model["demo"] !== true) return { check: "model", state: "ok", say: `${name} answers` };
  return {
    check: "model",
    state: "note",
    say: "the demo model answers. For a real one restart the gateway with a provider's key, such as ANTHROPIC_API_KEY.",
  };
}

function checkChannel(channel: Fields): Check {
  const id = textOf(channel["id"]);
  const detail = textOf(channel["detail"]);
  if (channel["ok"] === true) return { check: "channels", state: "ok", say: detail === "" ? id : `${id}: ${detail}` };
  return { check: "channels", state: "broken", say: `${id}: ${detail || "not connected"}` };
}

function checkPlugins(plugins: readonly Fields[]): readonly Check[] {
  const check = "plugins";
  const wanted = plugins.filter(
    (plugin) => plugin["builtin"] !== true && ["running", "starting", "failed"].includes(textOf(plugin["state"])),
  );
  if (wanted.length === 0) return [{ check, state: "ok", say: "none enabled" }];
  return wanted.map((plugin): Check => {
    const id = textOf(plugin["id"]);
    const state = textOf(plugin["state"]);
    const trouble = textOf(plugin["trouble"]);
    if (state === "failed") return { check, state: "broken", say: `${id} does not run: ${trouble}`, about: trouble };
    const about = `${id} ${textOf(plugin["version"])}, sha256 ${textOf(plugin["digest"])}`;
    if (trouble !== "") return { check, state: "note", say: `${about}. ${trouble}`, about: trouble };
    return { check, state: "ok", say: state === "running" ? about : `${about}, still starting` };
  });
}

function checkMcpServer({ name, state, tools, trouble }: Fields): Check {
  const say = `${textOf(name)}: ${textOf(state)}, ${numberOf(tools)} tools`;
  if (typeof trouble !== "string") return { check: "mcp", state: "ok", say };
  return { check: "mcp", state: "broken", say: `${say}. ${trouble}`, about: trouble };
}

function checkTools(tools: readonly Fields[]): readonly Check[] {
  const notices = tools.flatMap((tool): Check[] => {
    const of = `${textOf(tool["name"])} of ${textOf(tool["plugin"])}`;
    const reason = tool["status"] === "quarantined" ? [`${of} is quarantined: ${textOf(tool["reason"])}`] : [];
    const others = listOf(tool["notices"]).map((notice) => `${of}: ${textOf(notice)}`);
    return [...reason, ...others].map((say) => ({ check: "tools", state: "note", say }));
  });
  return [{ check: "tools", state: "ok", say: `${tools.length} are registered` }, ...notices];
}
