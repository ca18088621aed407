/** Questions and news between gateways over letters, some of which are lost. */
import { expect, test } from "bun:test";
import { GatewayError } from "../contracts/errors.ts";
import type { InstanceId, SessionKey } from "../contracts/ids.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { createLetterHub } from "../testing/letter-hub.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createSeqIds } from "../testing/seq-ids.ts";
import { advanceUntil } from "../testing/wait-for.ts";
import { createOtherNodes } from "./other-nodes.ts";

const A = "gateway_a" as InstanceId;
const B = "gateway_b" as InstanceId;
const C = "gateway_c" as InstanceId;
const ABORT = { sessionKey: "agent:default:a" as SessionKey };

function world() {
  const clock = createFakeClock();
  const log = recordingLog();
  const hub = createLetterHub();
  const join = (node: InstanceId) => createOtherNodes({ clock, log, ids: createSeqIds(), letters: hub.join(node) });
  /** What came of it, as time passes. */
  const end = async <T>(asking: Promise<T>, stepMs = 1_000): Promise<T | string> => {
    let ended: { readonly value: T | string } | null = null;
    void asking.then(
      (value) => (ended = { value }),
      (error: GatewayError) => (ended = { value: `${error.code}: ${error.say}` }),
    );
    const seen = await advanceUntil({ clock, stepMs }, "an answer", () => ended);
    return (seen as { readonly value: T | string }).value;
  };
  return { clock, log, hub, a: join(A), b: join(B), join, end };
}

test("a question is answered by the gateway that was asked, which hears who asks", async () => {
  const { a, b, end, join } = world();
  join(C).answer("queue.abort", async () => false);
  b.answer("queue.abort", async (body, from) => body.sessionKey === ABORT.sessionKey && from === A);
  expect(await end(a.ask(B, "queue.abort", ABORT))).toBe(true);
});

test("an error at the gateway that was asked is thrown at the one that asks, with its code and its sentence", async () => {
  const { a, b, end } = world();
  b.answer("queue.abort", async () => {
    throw new GatewayError("conflict", "with internals", { say: "Somebody works on it." });
  });
  expect(await end(a.ask(B, "queue.abort", ABORT))).toBe("conflict: Somebody works on it.");
  b.answer("queue.abort", async () => {
    throw new Error("internals that nobody should see");
  });
  const said = await end(a.ask(B, "queue.abort", ABORT));
  expect(said).toStartWith("internal: ");
  expect(said).not.toContain("nobody should see");
});

test.each(["question", "answer"])("a %s that was lost is sent again, and what was asked is done once", async (kind) => {
  const { a, b, end, hub } = world();
  let done = 0;
  b.answer("queue.abort", async () => ++done === 1);
  hub.lose(kind, 2);
  expect(await end(a.ask(B, "queue.abort", ABORT))).toBe(true);
  expect(done).toBe(1);
});

test("a gateway that ends while it is asked, or never answers, is silent", async () => {
  const { a, b, end, hub, clock } = world();
  b.answer("queue.abort", () => new Promise(() => undefined));
  const asked = a.ask(B, "queue.abort", ABORT);
  asked.catch(() => undefined);
  await clock.advance(1_000);
  hub.end(B);
  expect(await end(asked, 1)).toStartWith("node_silent: ");
  expect(clock.elapsed()).toBeLessThan(1_100);
  expect(await end(a.ask(B, "queue.abort", ABORT), 1)).toStartWith("node_silent: ");
  expect(clock.elapsed()).toBeLessThan(1_200);
});

test("a question that nobody answers there is refused, and does not wait", async () => {
  const { a, end, clock } = world();
  expect(await end(a.ask(B, "queue.abort", ABORT), 1)).toStartWith("node_silent: ");
  expect(clock.elapsed()).toBeLessThan(100);
});

test("news reach every other gateway, and cost nothing where there is none", async () => {
  const { a, b, clock, hub } = world();
  const heard: string[] = [];
  const c = createOtherNodes({ clock, log: recordingLog(), ids: createSeqIds(), letters: hub.join(C) });
  for (const [name, node] of [
    ["a", a],
    ["b", b],
    ["c", c],
  ] as const)
    node.hear("outbox", (body, from) => void heard.push(`${name} from ${from}: ${body.for}`));
  a.tell("outbox", { for: B });
  await clock.advance(1);
  expect(heard).toEqual([`b from ${A}: ${B}`, `c from ${A}: ${B}`]);
  hub.end(B);
  hub.end(C);
  const sent = hub.sent.length;
  a.tell("outbox", { for: B });
  expect(hub.sent).toHaveLength(sent);
});

test("a change that all have to know is done when the last of them has read it", async () => {
  const { a, b, join, clock } = world();
  const read: string[] = [];
  const late = Promise.withResolvers<null>();
  b.answer("reload", async ({ what }) => (read.push(`b ${what}`), null));
  join(C).answer("reload", async ({ what }) => (read.push(`c ${what}`), late.promise));
  let done = false;
  const agreed = a.agree("grants").then(() => (done = true));
  await clock.advance(5_000);
  expect([read, done]).toEqual([["b grants", "c grants"], false]);
  late.resolve(null);
  await agreed;
});

test("a change that all have to know does not wait for a gateway that has ended, and one that is silent is named in the log", async () => {
  const { a, b, hub, log, clock, end } = world();
  b.answer("reload", () => new Promise(() => undefined));
  const agreed = a.agree("keys");
  await clock.advance(1_000);
  hub.end(B);
  await end(agreed, 1);
  expect(clock.elapsed()).toBeLessThan(1_100);
  expect(log.lines.map(({ words }) => words)).toContain("another gateway did not say that a change is in force there");
});

test("a change that a live gateway cannot read at first is asked for again, and one that it never can is not said to be done", async () => {
  const { a, b, end, clock } = world();
  let tries = 0;
  b.answer("reload", async () => {
    if (++tries < 3) throw new GatewayError("store_failed", "away");
    return null;
  });
  expect(await end(a.agree("grants"), 100)).toBeUndefined();
  expect(tries).toBe(3);
  b.answer("reload", () => Promise.reject(new GatewayError("store_failed", "away")));
  const before = clock.elapsed();
  expect(await end(a.agree("grants"))).toStartWith("node_silent: The change is stored");
  expect(clock.elapsed() - before).toBeLessThan(40_000);
});

test("a letter that cannot be read, or is of a kind that is not known, harms nobody", async () => {
  const { a, b, hub, clock, end, log } = world();
  b.answer("queue.abort", async () => true);
  const stranger = hub.join(C);
  stranger.send({ to: null, kind: "question", body: "{" });
  stranger.send({ to: null, kind: "toString", body: "{}" });
  stranger.send({ to: null, kind: "of a later version", body: "{}" });
  await clock.advance(1);
  expect(await end(a.ask(B, "queue.abort", ABORT))).toBe(true);
  expect(log.lines.filter(({ words }) => words.startsWith("letter"))).toHaveLength(2);
});
