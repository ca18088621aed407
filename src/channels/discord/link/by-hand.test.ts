/** The connection to Discord where no connection can be made: what it says, when it asks again, and how it ends. */
import { describe, expect, spyOn, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import type { API } from "@discordjs/core";
import { DiscordAPIError } from "@discordjs/rest";
import { orAborted } from "../../../kit/deferred.ts";
import { secret } from "../../../kit/secret.ts";
import { startFakeDiscord } from "../../../testing/discord/fake-discord.ts";
import { BOT_TOKEN } from "../../../testing/discord/fake-people.ts";
import { createFakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { createSeqIds } from "../../../testing/seq-ids.ts";
import { advanceUntil, waitFor, waitForEnd } from "../../../testing/wait-for.ts";
import { startLink } from "./link.ts";

const SILENT = new Promise<never>(() => undefined);

function world(getBot: (signal: AbortSignal) => Promise<unknown>) {
  const clock = createFakeClock();
  const log = recordingLog();
  const begunAt = clock.elapsed();
  const asked: number[] = [];
  let renewed = 0;
  const api = {
    gateway: {
      getBot({ signal }: { signal: AbortSignal }) {
        asked.push(clock.elapsed() - begunAt);
        return asked.length > 100 ? SILENT : getBot(signal); // a loop without a pause would never end
      },
    },
  } as unknown as API;
  const link = startLink(
    {
      clock,
      log,
      api,
      ids: createSeqIds(),
      renew: () => void renewed++,
      onReady: () => undefined,
      onDispatch: () => undefined,
    },
    { token: secret(BOT_TOKEN), intents: 0 },
  );
  const stop = () => waitForEnd("the stop", Promise.resolve(link[Symbol.asyncDispose]()));
  return { clock, log, asked, link, stop, renewed: () => renewed };
}

async function minutes({ clock }: ReturnType<typeof world>, count: number): Promise<void> {
  for (let second = 0; second < count * 60; second++) await clock.advance(1_000);
}

const refused = new DiscordAPIError({ code: 0, message: "401" }, 0, 401, "GET", "https://d.example", {});

describe("a connection to Discord", () => {
  test("whose token is refused says where the right one goes, and asks again after five minutes, with the token of then", async () => {
    const at = world(() => Promise.reject(refused));
    await minutes(at, 11);
    expect(at.asked).toEqual([0, 300_000, 600_000]);
    expect([at.link.health(), at.renewed()]).toEqual([
      { ok: false, detail: expect.stringContaining("channels.discord.token") },
      3,
    ]);
    expect(at.log.lines.map(({ level }) => level)).toEqual(["error", "error", "error"]);
    await at.stop();
    expect(at.clock.pending()).toBe(0);
  });

  test("that cannot be made is tried after longer and longer pauses, up to a minute", async () => {
    const at = world(() => Promise.reject(new Error("ECONNREFUSED")));
    await minutes(at, 10);
    const pauses = at.asked.slice(1).map((time, n) => time - (at.asked[n] ?? 0));
    expect(pauses.length).toBeGreaterThan(8);
    expect(pauses.every((pause, n) => pause <= Math.min(2_000 * 2 ** n, 60_000) && pause >= 1_000)).toBe(true);
    expect(at.link.health()).toEqual({ ok: false, detail: expect.stringContaining("next try in") });
    await at.stop();
    expect(at.clock.pending()).toBe(0);
  });

  test("whose address is not told within fifteen seconds is tried again", async () => {
    const at = world(() => SILENT);
    await at.clock.advance(14_999);
    expect([at.asked.length, at.link.health().detail]).toEqual([1, "connecting to Discord"]);
    await at.clock.advance(1);
    expect(at.link.health().detail).toContain("not connected to Discord");
    await minutes(at, 1);
    expect(at.asked.length).toBeGreaterThan(2);
    await at.stop();
    expect(at.clock.pending()).toBe(0);
  });

  test("is given up while its address is asked for, with the call, and no other is made", async () => {
    const signals: AbortSignal[] = [];
    const at = world((signal) => (signals.push(signal), orAborted(SILENT, signal)));
    await at.clock.advance(1);
    await at.stop();
    expect([signals.map(({ aborted }) => aborted), at.clock.pending()]).toEqual([[true], 0]);
    await minutes(at, 1);
    expect([at.asked, at.log.lines]).toEqual([[0], []]);
  });

  test("goes on with its session although its address was not told at first, and is given up five seconds after a silence", async () => {
    await using fake = await startFakeDiscord({ now: () => 0, heartbeatMs: 120_000 });
    const session_start_limit = { total: 1, remaining: 1, reset_after: 0, max_concurrency: 1 };
    let fails = false;
    const at = world(async () => {
      if (fails) throw new Error("no answer");
      return { url: fake.gateway.url, shards: 1, session_start_limit };
    });
    const ends = () => at.log.lines.filter(({ words }) => words === "connection to Discord ended").length;
    await waitFor("the connection", () => at.link.health().ok);
    fails = true;
    fake.gateway.drop(4000);
    await waitFor("its end", () => ends() === 1);
    await at.clock.advance(1_000);
    await waitFor("another end", () => ends() === 2);
    fails = false;
    await advanceUntil({ clock: at.clock, stepMs: 500 }, "a connection", () => at.link.health().ok);
    expect([fake.gateway.identifies, fake.gateway.resumes.length]).toEqual([1, 1]);
    await at.clock.advance(100_000);
    expect(ends()).toBe(2);
    await at.clock.advance(5_000);
    await waitFor("the end of the silent one", () => ends() === 3, Boolean, { withinMs: 5_000 });
    expect(at.log.lines.at(-1)?.fields).toMatchObject({ end: "silent" });
    await at.stop();
  });

  test("ends when its socket has, also with a server that answers nothing", async () => {
    const open = new Set<Socket>();
    const server = createServer((socket) => {
      open.add(socket);
      socket.on("error", () => undefined); // a connection that is torn down says so in this way too
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const session_start_limit = { total: 1, remaining: 1, reset_after: 0, max_concurrency: 1 };
    const at = world(async () => ({ url: `ws://127.0.0.1:${port}`, shards: 1, session_start_limit }));
    await waitFor("the connection", () => open.size === 1);
    using ended = spyOn(WebSocket.prototype, "terminate");
    let ends = -1;
    void at.stop().then(() => (ends = ended.mock.calls.length));
    await advanceUntil({ clock: at.clock, stepMs: 500 }, "the stop", () => ends >= 0);
    expect([ends, at.clock.pending()]).toEqual([1, 0]);
    server.close();
    for (const socket of open) socket.destroy();
  });

  test("for which no sign-in is left today is made when there are some again, and not before", async () => {
    const info = { url: "", shards: 1, session_start_limit: { total: 1, remaining: 0, reset_after: 400_000 } };
    const at = world(async () => info);
    await minutes(at, 14);
    expect(at.asked).toEqual([0, 400_000, 800_000]);
    await at.stop();
  });
});
