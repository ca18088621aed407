/** One connection to a gateway that takes everything and answers nothing, not even a close. */
import { afterEach, expect, spyOn, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import type { APIGatewayBotInfo } from "discord-api-types/v10";
import { startFakeDiscord } from "../../../testing/discord/fake-discord.ts";
import { BOT_TOKEN } from "../../../testing/discord/fake-people.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { waitFor, waitForEnd } from "../../../testing/wait-for.ts";
import { openAttempt } from "./attempt.ts";

const WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const PING = Uint8Array.of(0x89, 0);
const servers: ReturnType<typeof createServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** `shakesHands` false: not even the upgrade of the connection is answered. */
async function deafGateway({ shakesHands }: { readonly shakesHands: boolean }) {
  const open = new Set<Socket>();
  const state = { asked: 0 };
  // half open: a client that says no more has not closed its socket yet
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
    socket.on("error", () => undefined); // a connection that is torn down says so in this way too
    socket.once("data", (request) => {
      const key = /^sec-websocket-key: (.*)\r$/im.exec(request.toString())?.[1] ?? "";
      const accept = new Bun.CryptoHasher("sha1").update(key + WEBSOCKET_GUID).digest("base64");
      const upgraded = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"];
      if (shakesHands) socket.write([...upgraded, `Sec-WebSocket-Accept: ${accept}`, "", ""].join("\r\n"));
      state.asked++;
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  /** Only a socket that is still there takes something. */
  const sockets = (): number => {
    for (const socket of open) socket.write(PING);
    return open.size;
  };
  return { url: `ws://127.0.0.1:${address.port}`, sockets, state };
}

const deaf = { onReady() {}, onResumed() {}, onDispatch() {}, onBeat() {}, onTrouble() {} };

test.each([
  ["does not answer its close", { shakesHands: true }],
  ["was never made", { shakesHands: false }],
])("the socket of a connection that %s is closed after two seconds all the same", async (_how, how) => {
  const gateway = await deafGateway(how);
  const clock = createFakeClock();
  const info = { url: gateway.url, shards: 1 } as APIGatewayBotInfo;
  const attempt = openAttempt({ ...deaf, clock }, { token: "secret", intents: 0, info, session: null });
  await waitFor("the connection", () => gateway.state.asked === 1);
  using ended = spyOn(WebSocket.prototype, "terminate"); // a close waits for its answer, however quickly Bun's own gives up now
  const closing = attempt[Symbol.asyncDispose]();
  await clock.advance(2_000);
  await waitForEnd("the end of the attempt", Promise.resolve(closing));
  await waitFor("the socket to be closed", () => gateway.sockets() === 0);
  const states = ended.mock.contexts.map((socket) => (socket as WebSocket).readyState);
  expect([states, clock.pending()]).toEqual([[WebSocket.CLOSED], 0]);
});

test("a connection on which Discord does not get ready within half a minute counts as silent", async () => {
  const gateway = await deafGateway({ shakesHands: true });
  const clock = createFakeClock();
  const info = { url: gateway.url, shards: 1 } as APIGatewayBotInfo;
  const attempt = openAttempt({ ...deaf, clock }, { token: "secret", intents: 0, info, session: null });
  await waitFor("the connection", () => gateway.state.asked === 1);
  let end: unknown = null;
  void attempt.ended.then((how) => (end = how));
  await clock.advance(29_999);
  expect(end).toBeNull();
  await clock.advance(1);
  expect(end as object).toEqual({ kind: "silent", wasUp: false, resuming: false });
  const closing = Promise.resolve(attempt[Symbol.asyncDispose]());
  await clock.advance(2_000);
  await waitForEnd("the end of the attempt", closing);
  expect(clock.pending()).toBe(0);
});

test("a connection that was given up hears nothing more and stays where it was, although its socket is still open", async () => {
  const clock = createFakeClock();
  await using fake = await startFakeDiscord({ now: () => clock.now(), heartbeatMs: 120_000 });
  const info = { url: fake.gateway.url, shards: 1 } as APIGatewayBotInfo;
  const connected = async () => {
    const heard: string[] = [];
    const deps = { ...deaf, clock, onDispatch: ({ t }: { t: string }) => void heard.push(t) };
    const attempt = openAttempt(deps, { token: BOT_TOKEN, intents: 0, info, session: null });
    await waitFor("the guild", () => heard.includes("GUILD_CREATE"));
    return { heard, attempt };
  };
  const first = await connected();
  const second = await connected();
  await using _first = first.attempt;
  await using _second = second.attempt;
  first.attempt.giveUp();
  const [before, heard] = [first.attempt.session(), first.heard.length];
  for (const event of ["TYPING_START", "TYPING_START"]) fake.gateway.dispatch(event, {}); // told to the first one first
  await waitFor(
    "the second one has heard both",
    () => second.heard.filter((one) => one === "TYPING_START").length === 2,
  );
  expect([first.heard.length, first.attempt.session()]).toEqual([heard, before]);
});

test("a connection that was given up before Discord got ready is not ready when Discord is, and has no session", async () => {
  const clock = createFakeClock();
  await using fake = await startFakeDiscord({ now: () => clock.now(), heartbeatMs: 120_000 });
  const info = { url: fake.gateway.url, shards: 1 } as APIGatewayBotInfo;
  const heard: string[] = [];
  const options = { token: BOT_TOKEN, intents: 0, info, session: null };
  const given = openAttempt({ ...deaf, clock, onReady: () => void heard.push("given up") }, options);
  given.giveUp();
  await waitFor("the sign-in", () => fake.gateway.identifies === 1);
  const alive = openAttempt({ ...deaf, clock, onDispatch: ({ t }) => void heard.push(t) }, options);
  await waitFor("the server of the next one", () => heard.includes("GUILD_CREATE")); // told after the first one was
  expect([heard.includes("given up"), given.session()]).toEqual([false, null]);
  await given[Symbol.asyncDispose]();
  await alive[Symbol.asyncDispose]();
});
