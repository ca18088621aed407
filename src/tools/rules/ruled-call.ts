/** A call as rules see it: what of its parameters says how far a rule may go. Only pi tools have a program or a file; of all others a rule holds for exactly one call. */
import type { RuledCall } from "../../contracts/tools/approval-rule.ts";
import { isObject } from "../../kit/json.ts";
import { originsOf } from "../origin.ts";
import { canonical, paramsHash } from "../stages/params-hash.ts";
import type { Draft } from "../stages/stage.ts";
import { programOf } from "./simple-command.ts";

const SHELL = "bash";
/** What the shell tool takes besides its command changes nothing about what runs. */
const SHELL_PARAMETERS: readonly string[] = ["command", "timeout"];
/** Whose path is a file, and not a folder. */
const FILE_TOOLS: readonly string[] = ["read", "write", "edit"];

export function ruledCall({ request, tool, usable }: Draft, params: unknown, because: string): RuledCall {
  const { agentId, principal } = request.context;
  const byPi = usable === null;
  const path = byPi ? (request.file?.(params) ?? null) : null;
  const schema = canonical(usable?.tool.parameters ?? null); // another schema is another tool, although its name is the same
  return {
    tool: tool.name,
    agentId,
    principal,
    origins: originsOf(request.context),
    because,
    digest: paramsHash(`${tool.name}\n${schema}\n${path ?? ""}`, params),
    program: byPi && tool.name === SHELL ? programIn(params) : null,
    file: FILE_TOOLS.includes(tool.name) ? path : null,
  };
}

function programIn(params: unknown): string | null {
  if (!isObject(params) || Object.keys(params).some((name) => !SHELL_PARAMETERS.includes(name))) return null;
  const { command } = params as { readonly command?: unknown };
  return typeof command === "string" ? programOf(command) : null;
}
