/** `pi-gw approvals` as commander sees it. */
import type { Command } from "commander";
import { RULE_REACHES } from "../contracts/tools/approval-rule.ts";
import type { DecideFlags } from "./tools/approvals.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Commander = typeof import("commander");
type Common = (command: Command) => Command;

const DECISIONS = ["once", "session", "always", "deny"];

export function addApprovals(
  program: Command,
  commander: Commander,
  world: CliWorld,
  { common, finish }: { common: Common; finish(code: number): void },
): void {
  const approvals = program
    .command("approvals")
    .description("tool calls that wait for an owner's approval, and approval rules");
  common(approvals.command("list").description("show what waits, the oldest first")).action(
    async (flags: CommonFlags) => {
      const { approvalsList } = await import("./tools/approvals.ts");
      finish(await approvalsList(world, flags));
    },
  );
  common(approvals.command("decide").description("allow a call once, for its conversation or always, or deny it"))
    .argument("<id>", "as the list shows it")
    .addArgument(new commander.Argument("<decision>", "the answer").choices(DECISIONS))
    .addOption(
      new commander.Option("--rule <reach>", "how far always goes (default: exactly this call)").choices(RULE_REACHES),
    )
    .action(async (id: string, decision: string, flags: DecideFlags) => {
      const { approvalsDecide } = await import("./tools/approvals.ts");
      finish(await approvalsDecide(world, id, decision, flags));
    });
  common(approvals.command("rules").description("show approval rules, the newest first")).action(
    async (flags: CommonFlags) => {
      const { approvalsRules } = await import("./tools/approvals.ts");
      finish(await approvalsRules(world, flags));
    },
  );
  common(approvals.command("forget").description("remove an approval rule: what it allowed asks again"))
    .argument("<rule>", "as the list of rules shows it")
    .action(async (rule: string, flags: CommonFlags) => {
      const { approvalsForget } = await import("./tools/approvals.ts");
      finish(await approvalsForget(world, rule, flags));
    });
}
