/** `pi-gw turns` and `pi-gw activity` as commander sees them. */
import type { Command } from "commander";
import { ACTIVITY_KINDS, ACTIVITY_OUTCOMES } from "../contracts/store/activity.ts";
import type { ActivityFlags, TurnsFlags } from "./turns.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

type Commander = typeof import("commander");
type Common = (command: Command) => Command;

const TURN_OUTCOMES = ["done", "failed", "aborted"];

interface TurnParts {
  readonly common: Common;
  finish(code: number): void;
  limit(text: string): number;
}

export function addTurns(
  program: Command,
  commander: Commander,
  world: CliWorld,
  { common, finish, limit }: TurnParts,
): void {
  const turns = program.command("turns").description("look at turns, and where the time of one went");
  common(turns.command("list").description("list turns, newest first"))
    .option("--session <name>", "only of this conversation")
    .addOption(new commander.Option("--outcome <outcome>", "only with this end").choices(TURN_OUTCOMES))
    .option("-n, --limit <number>", "how many", limit, 20)
    .action(async (flags: TurnsFlags) => {
      const { listTurns } = await import("./turns.ts");
      finish(await listTurns(world, flags));
    });
  common(turns.command("show").description("show one turn from its message to the delivery of its reply"))
    .argument("<id>", "as the list shows it")
    .action(async (id: string, flags: CommonFlags) => {
      const { showTurn } = await import("./turns.ts");
      finish(await showTurn(world, id, flags));
    });
  common(program.command("activity").description("list turns, tool calls, model calls, job runs and deliveries"))
    .addOption(new commander.Option("--kind <kind>", "only of this kind").choices(ACTIVITY_KINDS))
    .addOption(new commander.Option("--outcome <outcome>", "only with this end").choices(ACTIVITY_OUTCOMES))
    .option("--agent <id>", "only of this agent")
    .option("--person <id>", "only of this person, such as telegram:user:1")
    .option("--channel <name>", "only of this channel")
    .option("--text <words>", "only with these words")
    .option("-n, --limit <number>", "how many", limit, 20)
    .action(async (flags: ActivityFlags) => {
      const { listActivity } = await import("./turns.ts");
      finish(await listActivity(world, flags));
    });
}
