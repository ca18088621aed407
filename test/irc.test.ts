/** The IRC channel of examples/ in a whole gateway: the plugin as an owner would install it, a real IRC server, a real pi. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import type { PairedPerson } from "../src/contracts/channels/pairing.ts";
import { deferred } from "../src/kit/deferred.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { type IrcPerson, joinIrc } from "../src/testing/irc/irc-client.ts";
import { findNgircd, HOW_TO_GET_NGIRCD, type IrcServer, startIrcServer } from "../src/testing/irc/ngircd.ts";
import { type TempHome, tempHome } from "../src/testing/temp-home.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import { pluginsOf } from "./plugins-fixture.ts";
import { asked, endpoint, eventually, statusOf, WHOLE_TEST_MS } from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

const EXAMPLE = join(import.meta.dir, "..", "examples", "irc-channel");
const DEN = "#den";
/** Longer than a new connection and the next try of a reply take together. */
const BACK_MS = 40_000;

let provider: FakeProvider;
let server: IrcServer;
let home: TempHome;
let gateway: GatewayProcess;
let ada: IrcPerson;
let eve: IrcPerson;
let reply: (request: ProviderRequest) => FakeReply = () => says("ok");

const config = () => ({
  ...endpoint(provider),
  tools: { approvals: { ask: ["save_note"] } },
  plugins: {
    enabled: ["irc-channel"],
    config: {
      "irc-channel": {
        server: "127.0.0.1",
        port: server.port,
        tls: false,
        burst: 50,
        groups: { [DEN]: {} },
        requireAccount: false, // ngircd knows none
      },
    },
  },
});

const heard = ({ heard: all }: IrcPerson, to: string): readonly string[] =>
  all.filter((one) => one.by.startsWith("pibot") && one.to === to).map(({ text }) => text);
const hears = (person: IrcPerson, to: string, text: string, withinMs?: number) =>
  eventually(
    `"${text}" from the bot`,
    () => heard(person, to),
    (seen) => seen.includes(text),
    withinMs,
  );
const isIn = () =>
  eventually(
    "the bot is back in its channel",
    async () => (await statusOf(gateway)).channels.find(({ id }) => id === "irc")?.detail ?? "",
    (detail) => detail.endsWith(`in ${DEN}`),
    BACK_MS,
  );

/** What was said is known to have been said: a server or a gateway that dies now leaves no doubt about it. */
const nothingPending = () =>
  eventually(
    "an empty outbox",
    async () => (await statusOf(gateway)).outbox.pending,
    (pending) => pending === 0,
  );

const inGateway = (): void => {
  beforeAll(async () => {
    provider = await startFakeProvider((request) => reply(request));
    server = await startIrcServer();
    home = await tempHome();
    await cp(EXAMPLE, join(home.path, "plugins", "irc-channel"), { recursive: true });
    gateway = await startGatewayProcess({ home: home.path, config: config() });
    await isIn();
    ada = await joinIrc(server.port, "ada", [DEN]);
    eve = await joinIrc(server.port, "eve", [DEN]);
  });
  afterAll(async () => {
    for (const one of [gateway, ada, eve, server, provider, home]) await one?.[Symbol.asyncDispose]();
  });

  test("a stranger gets a code and nothing else", async () => {
    expect((await pluginsOf(gateway)).get("irc-channel")).toMatchObject({
      state: "running",
      provides: { channels: ["irc"] },
    });
    ada.say("pibot", "hello");
    const [code] = await eventually(
      "a pairing code for Ada",
      () => heard(ada, "ada"),
      (seen) => seen.length > 0,
    );
    expect(code).toMatch(/[A-Z2-9]{8}/);
    ada.say("pibot", "hello?");
    await ada.settled();
    eve.say(DEN, "pibot: and me?");
    eve.say("pibot", "and me?"); // decided after all of these, and its code tells that it was
    await eventually(
      "a pairing code for Eve",
      () => heard(eve, "eve"),
      (seen) => seen.length > 0,
    );
    const waiting = await pairings();
    const principals = ["ada!~ada@127.0.0.1", "eve!~eve@127.0.0.1"].map((id) => `irc:user:127.0.0.1/${id}`);
    expect(waiting.map(({ principal }) => String(principal)).toSorted()).toEqual(principals);
    expect([heard(ada, "ada"), heard(eve, "eve"), heard(eve, DEN)]).toEqual([[code], [expect.any(String)], []]);
    const chosen = waiting.find(({ principal }) => principal === principals[0]);
    const decided = await gateway.fetch(`/api/pairing/${chosen?.id}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ decision: "approve", code: code?.slice(-8), role: "owner" }),
    });
    expect(decided.status).toBe(200);
    expect(provider.requests).toEqual([]);
  });

  test("who was let in is answered in a query, and in a channel when they address the gateway", async () => {
    reply = () => says("Good morning, Ada.\nHow can I help?");
    ada.say("pibot", "good morning");
    await hears(ada, "ada", "How can I help?");
    expect(heard(ada, "ada").slice(-2)).toEqual(["Good morning, Ada.", "How can I help?"]);
    reply = () => says("42, I think.");
    ada.say(DEN, "nobody in particular: what is six by seven?");
    ada.say(DEN, "pibot: what is six by seven?");
    await hears(eve, DEN, "42, I think.");
    ada.say("pibot", "!status");
    await eventually(
      "the whole answer to the command",
      () => heard(ada, "ada").join("\n"),
      (seen) => seen.includes("fake-1") && seen.includes("Up for"), // its first line and its last
    );
    expect(provider.requests.map(asked)).toEqual(["good morning", "what is six by seven?"]);
    expect(heard(eve, "eve")).toHaveLength(1); // her code
    expect(heard(ada, "ada")).toHaveLength(new Set(heard(ada, "ada")).size);
  });

  test("an owner is asked about a call in their query, and says yes there", async () => {
    let calls = 0;
    reply = () =>
      calls++ === 0
        ? { kind: "tools", calls: [{ name: "save_note", input: { title: "tea", content: "at four" } }] }
        : says("It is noted.");
    ada.say("pibot", "note that tea is at four");
    await eventually(
      "the approval in the query",
      () => heard(ada, "ada").join("\n"),
      (seen) => seen.includes("May save_note run?") && seen.includes("!yes 1"),
    );
    expect(calls).toBe(1);
    ada.say("pibot", "!yes 1");
    await hears(ada, "ada", "It is noted.");
  });

  test("a server that dies and comes back finds the answer that was waiting for it", async () => {
    const gate = deferred<void>();
    await nothingPending();
    reply = () => says(gate.promise, "Here is what you missed.");
    ada.say("pibot", "think about it");
    await eventually(
      "the model is asked",
      () => provider.requests.map(asked),
      (seen) => seen.includes("think about it"),
    );
    await server.kill();
    await eventually(
      "the channel is down",
      async () => (await statusOf(gateway)).channels.find(({ id }) => id === "irc")?.ok,
      (ok) => ok === false,
    );
    gate.resolve();
    await eventually(
      "one pending reply",
      async () => (await statusOf(gateway)).outbox.pending,
      (pending) => pending === 1,
    );
    await server.start();
    ada = await joinIrc(server.port, "ada", [DEN]);
    await hears(ada, "ada", "Here is what you missed.", BACK_MS);
    await isIn();
    expect(heard(ada, "ada")).toEqual(["Here is what you missed."]);
  });

  test("a gateway that is killed says what it had ready, and answers what it had taken in, once", async () => {
    const [ready, never] = [deferred<void>(), deferred<void>()];
    await nothingPending();
    reply = (request) =>
      asked(request) === "and in here?" ? says(never.promise, "never said") : says(ready.promise, "I had this ready.");
    ada.say("pibot", "do not forget me");
    ada.say(DEN, "pibot: and in here?");
    await eventually(
      "both questions at the model",
      () => provider.requests.map(asked).slice(-2).toSorted(),
      (seen) => seen.join() === "and in here?,do not forget me",
    );
    await server.kill();
    ready.resolve();
    await eventually(
      "one pending reply",
      async () => (await statusOf(gateway)).outbox.pending,
      (pending) => pending === 1,
    );
    await gateway.kill();
    reply = () => says("I did not forget you.");
    never.resolve();
    await server.start();
    ada = await joinIrc(server.port, "ada", [DEN]);
    gateway = await startGatewayProcess({ home: home.path, config: config() });
    await hears(ada, "ada", "I had this ready.", BACK_MS);
    await hears(ada, DEN, "I did not forget you.", BACK_MS);
    await nothingPending();
    expect(ada.heard.filter(({ by }) => by.startsWith("pibot"))).toHaveLength(2);
    expect((await statusOf(gateway)).outbox).toMatchObject({ dead: 0, ambiguous: 0 });
  });
};

if (findNgircd()) describe("IRC", inGateway);
else test.skip(`IRC in a whole gateway. ${HOW_TO_GET_NGIRCD}`, () => undefined);

async function pairings(): Promise<readonly PairedPerson[]> {
  const response = await gateway.fetch("/api/pairing");
  return Object.values((await response.json()) as Record<string, readonly PairedPerson[]>)[0] ?? [];
}
