/** What a turn costs the store: one write that is synced before the model, one after it, and nothing that is read between or again. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import type { TurnId } from "../contracts/ids.ts";
import { type Clock, systemClock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import { says } from "../testing/fake-pool.ts";
import { realStore } from "../testing/real-store.ts";
import { flow } from "../testing/worlds/flow-world.ts";

/** In their order: what begins, what is synced, what is read. */
let statements: string[] = [];
let heard: string[] = [];
let prepare: ReturnType<typeof spyOn<Database, "prepare">>;

beforeEach(() => {
  statements = [];
  heard = [];
  const real = Database.prototype.prepare;
  prepare = spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database, ...args: unknown[]) {
    const made = Reflect.apply(real, this, args);
    const text = String(args[0]);
    for (const way of ["run", "get", "all"] as const) {
      const run = made[way];
      made[way] = (...values: never[]) => {
        heard.push(text);
        return Reflect.apply(run, made, values);
      };
    }
    return made;
  } as never);
});

afterEach(() => void prepare.mockRestore());

/** For each transaction whether it waits for the disk. */
function commits(): ("synced" | "not synced")[] {
  let isSynced = true;
  return statements.flatMap((text) => {
    if (text.startsWith("pragma synchronous")) isSynced = text.endsWith("full");
    return text === "commit" ? [isSynced ? ("synced" as const) : ("not synced" as const)] : [];
  });
}

/** Whoever writes again does so before the store stops waiting for it, however slow the machine is. */
const patient: Clock = { ...systemClock, sleep: (_ms, signal) => orAborted(new Promise(() => undefined), signal) };

/** Leaves the statements of the last turn. */
async function turnsOf(texts: readonly string[]): Promise<void> {
  await using world = await realStore(systemClock, patient);
  await using fx = await flow(says("hello"), {
    on: world,
    parts: async ({ store }) => ({ systemEvents: store.systemEvents, reactions: store.outbox }),
  });
  for (const text of texts) {
    const replied = fx.replied();
    const ended = fx.next("turn.recorded");
    heard = [];
    await fx.ask(text);
    await replied;
    await ended;
    for (let tick = 0; tick < 5; tick++) await new Promise((resolve) => setImmediate(resolve)); // nobody writes at once
  }
  statements = heard;
  heard = [];
  await world.store.turns.leave("nobody's" as TurnId, 1); // any write takes the delivery along, or closing would wait for it
}

test("a turn waits for the disk twice: when its message is stored and begun, and when its reply is stored", async () => {
  await turnsOf(["warm up", "measured"]);
  expect(commits().filter((one) => one === "synced")).toHaveLength(2);
  expect(commits()).toHaveLength(2);
});

test("the delivery of a reply is written with the next message, where that comes at once", async () => {
  await turnsOf(["first", "measured"]);
  const [accepted = ""] = statements.join("\n").split("\ncommit");
  expect(accepted).toMatch(
    /begin immediate[^]*update "outbox" set "state"[^]*insert into "inbox"|insert into "inbox"[^]*update "outbox" set "state"/,
  );
});

test("a turn that nothing waits for but its message reads nothing between its two transactions", async () => {
  await turnsOf(["warm up", "measured"]);
  const [began, ended] = [statements.indexOf("commit"), statements.lastIndexOf("begin immediate")];
  expect(statements.slice(began, ended + 1)).toEqual(["commit", "begin immediate"]);
});

test("a reply that was just stored is delivered without being read again", async () => {
  await turnsOf(["warm up", "measured"]);
  expect(statements.filter((text) => /^select .* from "outbox"/.test(text))).toEqual([]);
});
