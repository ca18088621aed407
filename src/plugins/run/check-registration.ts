/** Holds what a plugin registers against its description, before anything is done with it. Pure. */
import { GatewayError } from "../../contracts/errors.ts";
import type { GatewayPluginApi, PluginTool } from "../../contracts/plugin.ts";
import { misfitOf, type Shape } from "../../kit/schema/shape.ts";
import { SHAPES } from "./shapes.ts";

type Verb = Extract<keyof GatewayPluginApi, `register${string}`>;

/** The arguments of each verb, in order. */
const ARGUMENTS: Readonly<Record<Verb, readonly Shape[]>> = {
  registerTool: [SHAPES.tool],
  registerCommand: [SHAPES.command],
  registerHook: [SHAPES.hookName, SHAPES.handler],
  registerRoute: [SHAPES.route],
  registerService: [SHAPES.service],
  registerSkill: [SHAPES.skill],
  registerChannel: [SHAPES.channel],
  registerMcp: [SHAPES.mcp],
};
export const VERBS = Object.keys(ARGUMENTS) as readonly Verb[];

/** pi's own: a tool of such a name would take its place. */
const TAKEN = new Set(["read", "write", "edit", "grep", "find", "ls", "bash", "powershell"]);
const MAX_NAME_CHARS = 64;

/** Throws GatewayError `plugin_invalid`. A tool factory is held to the same when it makes a tool. */
export function checkRegistration(verb: Verb, given: readonly unknown[]): void {
  const shapes = ARGUMENTS[verb];
  if (given.length > shapes.length)
    throw invalid(`${verb} takes ${shapes.length} argument${shapes.length === 1 ? "" : "s"}, and got ${given.length}.`);
  if (verb === "registerTool" && typeof given[0] === "function") return;
  if (verb === "registerTool") return checkTool(given[0]);
  for (const [at, shape] of shapes.entries()) {
    const wrong = misfitOf(nameOf(verb, given[0]), given[at], shape);
    if (wrong !== null) throw invalid(wrong);
  }
}

export function checkTool(tool: unknown): asserts tool is PluginTool {
  const wrong = misfitOf(nameOf("registerTool", tool), tool, SHAPES.tool);
  if (wrong !== null) throw invalid(wrong);
  const { name } = tool as PluginTool;
  if (TAKEN.has(name.toLowerCase())) throw invalid(`A tool cannot be called ${name}: pi has one of that name.`);
}

export function checkWakeMode(mode: unknown): void {
  const wrong = misfitOf("wake", mode, SHAPES.wakeMode);
  if (wrong !== null) throw invalid(wrong);
}

export function invalid(say: string): GatewayError {
  return new GatewayError("plugin_invalid", say, { say });
}

/** As far as it can be named: `registerTool(tide)`. */
function nameOf(verb: Verb, given: unknown): string {
  if (typeof given !== "object" || given === null) return verb;
  const named = ["name", "id", "path"].map((key): unknown => Reflect.get(given, key));
  const name = named.find((one) => typeof one === "string");
  return typeof name === "string" ? `${verb}(${name.slice(0, MAX_NAME_CHARS)})` : verb;
}
