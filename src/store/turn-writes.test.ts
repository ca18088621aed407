/** What a turn costs in writes: one that is synced before the model, one after it, and nothing that is read again after it was stored. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { says } from "../testing/fake-pool.ts";
import { flow } from "../testing/worlds/flow-world.ts";

/** In their order: what begins, what is synced, what is read. */
let statements: string[] = [];
let prepare: ReturnType<typeof spyOn<Database, "prepare">>;

beforeEach(() => {
  statements = [];
  const real = Database.prototype.prepare;
  prepare = spyOn(Database.prototype, "prepare").mockImplementation(function (this: Database, ...args: unknown[]) {
    const made = Reflect.apply(real, this, args);
    const text = String(args[0]);
    for (const way of ["run", "get", "all"] as const) {
      const run = made[way];
      made[way] = (...values: never[]) => {
        statements.push(text);
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

async function turnsOf(texts: readonly string[]) {
  await using fx = await flow(says("hello"));
  for (const text of texts) {
    const replied = fx.replied();
    const ended = fx.next("turn.recorded");
    statements = [];
    await fx.ask(text);
    await replied;
    await ended;
  }
}

test("a turn waits for the disk twice: when its message is stored and begun, and when its reply is stored", async () => {
  await turnsOf(["warm up", "measured"]);
  expect(commits().filter((one) => one === "synced")).toHaveLength(2);
  expect(commits()).toHaveLength(3); // and that the reply was delivered
});

test("a reply that was just stored is delivered without being read again", async () => {
  await turnsOf(["warm up", "measured"]);
  expect(statements.filter((text) => /^select .* from "outbox"/.test(text))).toEqual([]);
});
