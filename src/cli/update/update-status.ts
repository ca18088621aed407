/** `pi-gw update --status`: which version runs, whether a newer one is known, and how an update goes on or ended. The running gateway is asked. */
import type { UpdateReport } from "../../contracts/update.ts";
import { visible, visibleLines } from "../../observe/index.ts";
import { askGateway } from "../ask-gateway.ts";
import { EXIT_OK } from "../exit-code.ts";
import type { CliWorld, CommonFlags } from "../world.ts";

export async function updateStatus(world: CliWorld, flags: CommonFlags): Promise<number> {
  const ask = { path: "/api/update" };
  const answer = await askGateway(world, flags, (client, signal) => client.ask(ask, signal));
  const text = flags.json ? JSON.stringify(answer) : lines(answer as unknown as UpdateReport).join("\n");
  world.stdout(`${text}\n`);
  return EXIT_OK;
}

function lines({ version, because, newest, isRunning, steps, hasFailed, last }: UpdateReport): readonly string[] {
  return [
    visible(`Version ${version} runs.`),
    ...(newest === null ? [] : [visible(newestText(newest))]),
    ...(because === null ? [] : [visible(because)]),
    ...(last === null ? [] : [visible(lastText(last))]),
    ...(isRunning ? ["An update is at work:"] : []),
    ...(hasFailed ? ["The last update failed before it switched, and nothing was changed:"] : []),
    ...(isRunning || hasFailed ? steps.map((step) => `  ${visibleLines(step)}`) : []),
  ];
}

function newestText({ version, isNewer }: NonNullable<UpdateReport["newest"]>): string {
  return isNewer ? `Version ${version} is there. Update with: pi-gw update` : "It is the newest version.";
}

function lastText({ from, to, at, kind, why }: NonNullable<UpdateReport["last"]>): string {
  const when = new Date(at).toISOString().slice(0, 16);
  if (kind === "updated") return `Updated from ${from} to ${to} at ${when}.`;
  return `The update from ${from} to ${to} at ${when} went back: ${why ?? "the new version ended without a word"}.`;
}
