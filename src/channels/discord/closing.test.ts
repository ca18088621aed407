/** A Discord channel that closes, and a caller that gives up, while a call to Discord hangs: the call is given up. */
import { afterEach, expect, test } from "bun:test";
import type { PendingApproval } from "../../contracts/tools/approval.ts";
import { eventually } from "../../testing/contracts/channel-contract.ts";
import { type DiscordWorld, discordWorld } from "../../testing/discord/discord-world.ts";
import { waitForEnd } from "../../testing/wait-for.ts";

const NEVER = new AbortController().signal;
const SOON = { withinMs: 2_000 };
let world: DiscordWorld;
afterEach(async () => {
  world.fake.rest.misbehave(null); // lets go of what hangs, also when a test has failed
  await world[Symbol.asyncDispose]();
});

async function hanging(begin: () => unknown): Promise<void> {
  const { rest } = world.fake;
  const before = rest.calls.length;
  rest.misbehave("late");
  begin();
  await eventually("the call", () => rest.calls.length > before);
}

test("a channel that closes gives up an approval that is being shown", async () => {
  world = await discordWorld();
  const asked = {
    id: "ask_12345",
    tool: "t",
    shown: "{}",
    input: {},
    origin: world.here,
  } as unknown as PendingApproval;
  world.bench.questions.push(asked);
  await hanging(() => world.bench.deps.events.emit("approval", { ...asked, decision: null }));
  await waitForEnd("the end of the channel", world.close(), SOON);
});

test.each(["the caller gives up", "the channel closes"])(
  "a part that is being sent is given up when %s",
  async (when) => {
    world = await discordWorld();
    const [part] = await world.bench.reply(world.here, ["one"]);
    if (!part) throw new Error("no part");
    const caller = new AbortController();
    let outcome: Promise<string> = Promise.resolve("not begun");
    await hanging(() => {
      outcome = world.channel.send(part, when === "the caller gives up" ? caller.signal : NEVER).then(
        () => "sent",
        () => "given up",
      );
    });
    if (when === "the caller gives up") caller.abort(new Error("no longer wanted"));
    else await waitForEnd("the end of the channel", world.close(), SOON);
    expect(await waitForEnd("the send", outcome, SOON)).toBe("given up");
  },
);

test("a channel that has closed has no connection left", async () => {
  world = await discordWorld();
  await world.close();
  expect(world.fake.gateway.connections()).toBe(0);
});
