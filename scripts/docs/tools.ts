/** The reference page of the built-in tools, made from their definitions: words, parameters, limits, flags. */
import type { Tool } from "../../src/contracts/tools/tool.ts";

interface Parameter {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Parameter[];
  readonly items?: Parameter;
  readonly description?: string;
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

const MINUTE_MS = 60_000;
const FLAGS = {
  ownerOnly: "owners only",
  optional: "offered only when `tools.allow` names it",
  sequential: "one at a time in a conversation",
} as const;

const cell = (text: string): string => text.replaceAll("|", "\\|");
const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;

export function renderTools(tools: readonly Tool[]): string {
  const overview = tools.map(({ name, description, limit }) =>
    row(`[\`${name}\`](#${name})`, description, limitText(limit)),
  );
  const head = [row("Tool", "What it does", "Limit for one person"), row("---", "---", "---")];
  return [[...head, ...overview].join("\n"), ...tools.map(renderTool)].join("\n\n");
}

function renderTool(tool: Tool): string {
  const notes = notesOf(tool);
  return [`## ${tool.name}`, tool.description, parametersOf(tool.parameters), notes]
    .filter((part) => part !== "")
    .join("\n\n");
}

function notesOf({ flags, origins, timeoutMs }: Tool): string {
  const marks = Object.entries(FLAGS).flatMap(([flag, words]) => (flags[flag as keyof typeof FLAGS] ? [words] : []));
  const again = flags.idempotent ? "safe to repeat after a crash" : "never repeated after a crash";
  const from = origins ? [`called from ${origins.join(", ")} only`] : [];
  return `Time limit ${timeoutMs / 1_000} s; ${[...marks, ...from, again].join("; ")}.`;
}

function parametersOf(schema: Tool["parameters"]): string {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, Parameter>>;
    readonly required?: readonly string[];
  };
  const rows = Object.entries(properties).map(([name, parameter]) =>
    row(`\`${name}\``, typeText(parameter), required.includes(name) ? "yes" : "no", aboutText(parameter)),
  );
  if (rows.length === 0) return "No parameters.";
  return [row("Parameter", "Type", "Required", "Meaning"), row("---", "---", "---", "---"), ...rows].join("\n");
}

function typeText(parameter: Parameter): string {
  if (parameter.const !== undefined) return `\`${String(parameter.const)}\``;
  if (parameter.anyOf) return parameter.anyOf.map(typeText).join(", ");
  return parameter.type === "array" ? `list of ${typeText(parameter.items ?? {})}` : (parameter.type ?? "any");
}

function aboutText(parameter: Parameter): string {
  const { description = "", maxLength, minimum, maximum, maxItems } = parameter;
  const bounds = [
    ...(maxLength === undefined ? [] : [`at most ${maxLength.toLocaleString("en-US")} characters`]),
    ...(minimum === undefined || maximum === undefined ? [] : [`${minimum} to ${maximum}`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
    ...(parameter.default === undefined ? [] : [`default ${String(parameter.default)}`]),
  ];
  return bounds.length > 0 ? `${description} (${bounds.join("; ")})` : description;
}

function limitText(limit: Tool["limit"]): string {
  if (!limit) return "";
  return limit.perMs === MINUTE_MS ? `${limit.calls} per minute` : `${limit.calls} per ${limit.perMs / 1_000} s`;
}
