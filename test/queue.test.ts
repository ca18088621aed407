/** Queue modes on a real gateway with real pi: what the provider receives proves which message was heard in which turn, and how often. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Deferred, deferred } from "../src/kit/deferred.ts";
import {
  type FakeProvider,
  type FakeReply,
  type ProviderRequest,
  says,
  startFakeProvider,
} from "../src/testing/fake-provider.ts";
import { storedRows } from "../src/testing/stored-rows.ts";
import { type GatewayProcess, startGatewayProcess } from "../src/testing/whole/gateway-process.ts";
import {
  agentPids,
  endpoint,
  eventually,
  keyOf,
  openSocket,
  post,
  problemOf,
  type RawSocket,
  streamed,
  wordsOf,
  transcript,
  WHOLE_TEST_MS,
} from "./whole-fixture.ts";

setDefaultTimeout(WHOLE_TEST_MS);

/** What a prompt that begins with this word gets; anything else is answered at once. */
const scripts = new Map<string, FakeReply>();
let provider: FakeProvider;
let gateway: GatewayProcess;

const usersIn = ({ messages }: ProviderRequest): string[] =>
  messages.filter(({ role }) => role === "user").map(({ content }) => wordsOf(content));
const lastIn = ({ messages }: ProviderRequest): string => wordsOf(messages.at(-1)?.content);
/** The requests of the conversation that began with these words. */
const requestsOf = (first: string): string[][] => provider.requests.map(usersIn).filter(([one]) => one === first);

beforeAll(async () => {
  provider = await startFakeProvider((request) => scripts.get(lastIn(request)) ?? says("noted"));
  const base = endpoint(provider);
  gateway = await startGatewayProcess({ config: { ...base, queue: { mode: "steer", maxPerSession: 3 } } });
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

/**
 * Asks something; the model holds back until `goOn`, then calls a tool, which asks pi something over its pipe. Whatever was steered into the
 * turn before that has reached pi when the tool ends.
 */
async function heldTurn(socket: RawSocket, session: string, first: string): Promise<Deferred<void>> {
  const goOn = deferred<void>();
  scripts.set(first, { kind: "tools", calls: [{ name: "session_status", input: {} }], after: goOn.promise });
  await send(socket, session, first);
  await eventually(
    `the model is asked "${first}"`,
    () => requestsOf(first).length,
    (count) => count > 0,
  );
  return goOn;
}

let sent = 0;
async function send(socket: RawSocket, session: string, text: string, method = "chat.send"): Promise<string> {
  const said = { session: keyOf(session), text, clientId: `queue-${++sent}` };
  return ((await socket.request(method, said)) as { accepted: string }).accepted;
}

const answersIn = async (session: string): Promise<string[]> =>
  (await transcript(gateway, session)).filter(({ role }) => role === "assistant").map(({ text }) => text);
const settled = (session: string, answers: number) =>
  eventually(
    `${answers} answers`,
    () => answersIn(session),
    (seen) => seen.length >= answers,
  );

describe("a message that arrives during an answer", () => {
  test("is heard by the model in the same turn, once, and answered with it", async () => {
    const socket = await openSocket(gateway);
    const goOn = await heldTurn(socket, "steer", "tell me one");
    const second = await send(socket, "steer", "and two");
    goOn.resolve();
    await settled("steer", 1);
    expect(requestsOf("tell me one")).toEqual([["tell me one"], ["tell me one", "and two"]]);
    expect(await answersIn("steer")).toEqual(["noted"]);
    const items = await transcript(gateway, "steer");
    expect(new Set(items.map(({ turnId }) => turnId)).size).toBe(1);
    const turnId = items[0]?.turnId;
    const ended = socket.events.find(({ event }) => event === "turn.ended");
    const joined = socket.events.find(({ event }) => event === "turn.joined");
    expect([joined?.data, ended?.data]).toMatchObject([
      { turnId, inboxIds: [second] },
      { turnId, inboxIds: [items[0]?.id, second], outcome: "done" },
    ]);
    socket.close();
  });

  test("is answered to a program that waits for it, with the words that followed", async () => {
    const socket = await openSocket(gateway);
    const goOn = await heldTurn(socket, "program", "begin slowly");
    const response = await post(gateway, { session: keyOf("program"), text: "program asks", stream: true });
    const events = streamed(response);
    expect((await events.next()).value).toMatchObject({ event: "accepted" });
    goOn.resolve();
    const rest = await Array.fromAsync(events);
    expect(rest.at(-1)).toMatchObject({ event: "done", data: { content: "noted" } });
    expect(requestsOf("begin slowly")).toEqual([["begin slowly"], ["begin slowly", "program asks"]]);
    socket.close();
  });

  test("is tried again together with the turn it has joined when the agent is killed", async () => {
    const socket = await openSocket(gateway);
    const goOn = await heldTurn(socket, "killed", "begin this");
    scripts.set("and finish it", { kind: "hang" });
    await send(socket, "killed", "and finish it");
    goOn.resolve();
    await socket.until("the steered message has joined the turn", (events) =>
      events.some(({ event }) => event === "turn.joined"),
    );
    await eventually(
      "a second request for the same turn",
      () => requestsOf("begin this").length,
      (count) => count === 2,
    );
    for (const pid of agentPids(gateway.home)) process.kill(pid, "SIGKILL");
    await settled("killed", 1);
    const last = provider.requests.at(-1);
    expect([last && usersIn(last), await answersIn("killed")]).toEqual([["begin this\n\nand finish it"], ["noted"]]);
    socket.close();
  });

  test("is taken up after a crash of the gateway, once, in whatever turn it was", async () => {
    const home = gateway.home;
    const socket = await openSocket(gateway);
    await heldTurn(socket, "crash", "before the crash");
    await send(socket, "crash", "told too late");
    await gateway.kill();
    scripts.set("before the crash", says("answered again"));
    gateway = await startGatewayProcess({ home });
    const answers = await eventually(
      "the answer after the crash",
      () => answersIn("crash"),
      (seen) => seen.length > 0 && seen.join().includes("noted"),
    );
    const heard = provider.requests
      .map(usersIn)
      .filter((users) => users.some((text) => text.includes("told too late")));
    expect(heard).toHaveLength(1); // in one call of the model, however the turns were cut
    expect(answers.length).toBeLessThanOrEqual(2);
    const items = await transcript(gateway, "crash");
    expect(items.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual([
      "before the crash",
      "told too late",
    ]);
    expect(items.every(({ turnId }) => turnId !== null)).toBe(true);
  });
});

describe("a message that waited too long", () => {
  test("is not answered by the next start, which tells its chat; the turn before it is", async () => {
    const { home } = gateway;
    await post(gateway, { session: "old", text: "/queue followup" });
    const socket = await openSocket(gateway);
    await heldTurn(socket, "old", "asked in time");
    await send(socket, "old", "asked long ago");
    await gateway.kill();
    scripts.set("asked in time", says("in time"));
    await storedRows(home, "update inbox set received_at = received_at - 90000000 where text = 'asked long ago'");
    gateway = await startGatewayProcess({ home });
    await settled("old", 3);
    expect((await answersIn("old")).slice(1)).toEqual([
      "in time",
      "This message waited 25 hours and was not answered. Send it again if it still matters.",
    ]);
    expect(provider.requests.map(usersIn).flat()).not.toContain("asked long ago");
  });
});

describe("a conversation", () => {
  test("keeps the mode that /queue chose for it, over a restart, and chat.steer goes before it", async () => {
    const said = await post(gateway, { session: "chosen", text: "/queue followup" });
    expect(((await said.json()) as { content: string }).content).toEndWith("chosen for this conversation.");
    const home = gateway.home;
    expect(await gateway.stop()).toBe(0);
    gateway = await startGatewayProcess({ home });
    const { session } = (await (await gateway.fetch("/api/sessions/chosen")).json()) as {
      session: { queueMode: string };
    };
    expect(session.queueMode).toBe("followup");
    const socket = await openSocket(gateway);
    const goOn = await heldTurn(socket, "chosen", "a long one");
    await send(socket, "chosen", "into it", "chat.steer");
    goOn.resolve();
    await settled("chosen", 2);
    expect(requestsOf("a long one").at(-1)).toEqual(["a long one", "into it"]);
    expect((await answersIn("chosen")).at(-1)).toBe("noted");
    socket.close();
  });

  test("lets a waiting message be withdrawn by its sender, and not one that is being answered", async () => {
    await post(gateway, { session: "back", text: "/queue collect" });
    const socket = await openSocket(gateway);
    const goOn = deferred<void>();
    scripts.set("take your time", says("one", goOn.promise, " more"));
    await send(socket, "back", "take your time");
    await eventually(
      "the model is asked",
      () => requestsOf("take your time").length,
      (count) => count > 0,
    );
    const regretted = await send(socket, "back", "I did not mean this");
    const cancel = (id: string) => gateway.fetch(`/api/messages/${id}/cancel`, { method: "POST" });
    expect(await (await cancel(regretted)).json()).toMatchObject({ cancelled: true });
    expect(await problemOf(await cancel(regretted))).toMatchObject({ status: 409, code: "conflict" });
    expect(await problemOf(await cancel("msg_nobody"))).toMatchObject({ status: 404 });
    goOn.resolve();
    await settled("back", 3);
    expect((await answersIn("back")).slice(1)).toEqual(["one more", "Withdrawn before it was answered."]);
    expect(provider.requests.map(usersIn).flat()).not.toContain("I did not mean this");
    socket.close();
  });

  test("that is full refuses with 429 before it acknowledges, and still takes /stop", async () => {
    await post(gateway, { session: "full", text: "/queue followup" });
    const socket = await openSocket(gateway);
    await heldTurn(socket, "full", "never ends");
    const waiting = ["one", "two", "three"].map((text) => send(socket, "full", text));
    await Promise.all(waiting);
    expect(await problemOf(await post(gateway, { session: "full", text: "four" }))).toMatchObject({
      status: 429,
      code: "queue_full",
    });
    await expect(send(socket, "full", "five")).rejects.toThrow("queue_full");
    const stopped = await post(gateway, { session: "full", text: "/stop" });
    expect([stopped.status, ((await stopped.json()) as { content: string }).content]).toEqual([200, "Stopped."]);
    await settled("full", 6);
    expect((await transcript(gateway, "full")).map(({ text }) => text)).not.toContain("four");
    socket.close();
  });
});
