/** What a rule can be made of, and what a rule allows. Pure: the same rule and the same call have the same answer, wherever and whenever. */
import { dirname, isAbsolute, normalize, sep } from "node:path";
import type { ApprovalRule, RuleChoice, RuledCall } from "../../contracts/tools/approval-rule.ts";
import type { ToolOrigin } from "../../contracts/tools/tool.ts";

/** The narrowest first. */
export function ruleChoices(call: RuledCall): readonly RuleChoice[] {
  const { tool, digest, program, file } = call;
  const exactly = tool === "bash" ? "exactly this command" : `exactly this call of ${tool}`;
  const choices: RuleChoice[] = [{ reach: "call", value: digest, says: exactly }];
  if (program !== null) choices.push({ reach: "program", value: program, says: `every ${program} command` });
  const folder = file === null ? null : folderOf(file);
  if (folder !== null) choices.push({ reach: "folder", value: folder, says: `${tool} for every file below ${folder}` });
  return choices;
}

type Reaching = Pick<
  ApprovalRule,
  "tool" | "agentId" | "principal" | "origins" | "because" | "reach" | "value" | "expiresAt"
>;

/** Whether this rule is a yes to this call, at this time. */
export function allows(rule: Reaching, call: RuledCall, now: number): boolean {
  return (
    now < rule.expiresAt &&
    rule.tool === call.tool &&
    rule.agentId === call.agentId &&
    rule.principal === call.principal &&
    rule.because === call.because &&
    call.origins.every((origin: ToolOrigin) => rule.origins.includes(origin)) &&
    reaches(rule, call)
  );
}

function reaches({ reach, value }: Pick<Reaching, "reach" | "value">, { digest, program, file }: RuledCall): boolean {
  switch (reach) {
    case "call":
      return value === digest;
    case "program":
      return program !== null && value === program;
    case "folder":
      return file !== null && isPlain(file) && file.startsWith(`${value}${sep}`);
  }
}

/** Null: it is directly below the root of the disk, where a folder means everything. */
function folderOf(file: string): string | null {
  const folder = dirname(file);
  return isPlain(file) && folder !== sep ? folder : null;
}

/** Says where it leads without going up anywhere. */
function isPlain(path: string): boolean {
  return isAbsolute(path) && normalize(path) === path && !path.endsWith(sep);
}
