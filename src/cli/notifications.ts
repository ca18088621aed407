/** `pi-gw notifications`: browsers that get notifications, a test for one, and taking one off the list. They are put on it in the web console. */
import { visible } from "../observe/index.ts";
import { askGateway, printAnswer, printList } from "./ask-gateway.ts";
import { EXIT_FAILED, EXIT_OK } from "./exit-code.ts";
import { numberOf, textOf } from "./read-value.ts";
import { durationText } from "./status.ts";
import type { CliWorld, CommonFlags } from "./world.ts";

export function listNotified(world: CliWorld, flags: CommonFlags): Promise<number> {
  const now = world.clock.now();
  return printList(world, flags, "/api/notifications", {
    columns: [
      ["ID", ({ id }) => textOf(id)],
      ["BROWSER", ({ browser }) => textOf(browser)],
      ["LAST NOTIFICATION", ({ sentAt }) => sentText(sentAt, now)],
      ["TROUBLE", ({ problem }) => (problem === null ? "" : `not taken: ${textOf(problem)}`)],
    ],
    none: "No browser gets notifications. Switch them on in the web console: Inbox, Notify this browser.",
  });
}

/** Ends with 1 when it was not sent. */
export async function testNotified(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  const request = { method: "POST", path: `${pathOf(id)}/test` } as const;
  const answer = await askGateway(world, flags, (client, signal) => client.ask(request, signal));
  world.stdout(`${flags.json ? JSON.stringify(answer) : visible(textOf(answer["say"]))}\n`);
  return answer["ok"] === true ? EXIT_OK : EXIT_FAILED;
}

export function removeNotified(world: CliWorld, id: string, flags: CommonFlags): Promise<number> {
  const request = { method: "DELETE", path: pathOf(id) } as const;
  return printAnswer(world, flags, request, () => "It gets no more notifications.");
}

function pathOf(id: string): string {
  return `/api/notifications/${encodeURIComponent(id)}`;
}

function sentText(at: unknown, now: number): string {
  return at === null ? "none yet" : `${durationText(Math.max(0, now - numberOf(at)))} ago`;
}
