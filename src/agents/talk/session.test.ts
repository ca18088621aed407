/** Opening a session in a process, with a pi that only notes what it is told. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../kit/clock.ts";
import { deferred } from "../../kit/deferred.ts";
import { systemIds } from "../../kit/ids.ts";
import { silentLog } from "../../kit/log.ts";
import { caller } from "../../testing/agent-fixture.ts";
import { tempHome } from "../../testing/temp-home.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { inspectSessionFile } from "../setup/damaged-session.ts";
import type { Fields, PiEvent } from "./protocol.ts";
import type { ReadyAgent } from "../setup/start.ts";
import { openSession } from "./session.ts";

const FILE = "session-a.jsonl";

/** `said`: what pi says of itself when it has switched; left out, nothing. */
async function world(said?: (path: string) => Fields) {
  const home = await tempHome();
  const folders = { sessions: join(home.path, "sessions"), workspace: join(home.path, "workspace") };
  const visits = join(home.path, "visits");
  mkdirSync(visits);
  const told: string[] = [];
  const says = said?.(join(visits, FILE));
  const state = { sessionFile: join(visits, FILE), model: { provider: "a", id: "m" }, thinkingLevel: "off" };
  const listeners = new Set<(event: PiEvent) => void>();
  const onEvent = (listener: (event: PiEvent) => void) => {
    listeners.add(listener);
    return { [Symbol.dispose]: () => listeners.delete(listener) };
  };
  const request = async ({ type }: { readonly type: string }) => {
    told.push(type);
    if (says && type === "switch_session") for (const hear of listeners) hear({ type: "session_opened", state: says });
    return { ok: true, data: state };
  };
  const agent = { visits, model: "a/m", thinking: "off", process: { request, onEvent } } as unknown as ReadyAgent;
  const tools = { sent: deferred<void>(), taken: deferred<void>() };
  const open = () =>
    openSession({ log: silentLog, clock: systemClock, ids: systemIds }, agent, null, {
      caller: caller("operator"),
      sessionFile: FILE,
      settledBytes: 0,
      folders,
      defaultThinking: undefined,
      tools: { sent: tools.sent.promise, taken: tools.taken.promise },
      inspect: inspectSessionFile,
    });
  return {
    told,
    tools,
    open,
    kept: join(folders.sessions, FILE),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  };
}

test("a process is told to switch right behind the tools of the caller; the session file is prepared meanwhile", async () => {
  await using at = await world();
  const opened = at.open();
  await waitFor("the session file", () => existsSync(at.kept));
  for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate); // so long, it would have been told
  expect(at.told).toEqual([]);
  at.tools.sent.resolve();
  await waitFor("the switch", () => at.told.length > 0);
  at.tools.taken.resolve();
  expect(await opened).toMatchObject({ switched: true, session: { file: FILE } });
  expect(at.told).toEqual(["switch_session", "get_state"]);
});

test("a process that says by itself which session it has opened is not asked", async () => {
  await using at = await world((path) => ({
    sessionFile: path,
    model: { provider: "a", id: "m" },
    thinkingLevel: "off",
  }));
  for (const one of Object.values(at.tools)) one.resolve();
  expect(await at.open()).toMatchObject({ switched: true, session: { file: FILE } });
  expect(at.told).toEqual(["switch_session"]);
});

test("a process that says that it has another session open, or another model, is not taken at its word for the one it was told to open", async () => {
  await using other = await world(() => ({ sessionFile: "/other.jsonl" }));
  for (const one of Object.values(other.tools)) one.resolve();
  await expect(other.open()).rejects.toThrow("pi has another session open than it was told to");
  await using at = await world((path) => ({
    sessionFile: path,
    model: { provider: "a", id: "n" },
    thinkingLevel: "high",
  }));
  for (const one of Object.values(at.tools)) one.resolve();
  await at.open();
  expect(at.told).toEqual(["switch_session", "set_model", "set_thinking_level"]);
});

test("a session is not opened in a process that was not told of the tools, and its file stays where it is kept", async () => {
  await using at = await world();
  const opened = at.open();
  at.tools.sent.reject(new Error("the tools could not be listed"));
  await expect(opened).rejects.toThrow("the tools could not be listed");
  expect([at.told, existsSync(at.kept)]).toEqual([[], true]);
});

test("a session is not opened in a process that did not take the tools, and its file goes back to where it is kept", async () => {
  await using at = await world();
  const opened = at.open();
  at.tools.sent.resolve();
  await waitFor("the switch", () => at.told.length > 0);
  at.tools.taken.reject(new Error("the bridge refused the tools"));
  await expect(opened).rejects.toThrow("the bridge refused the tools");
  expect(existsSync(at.kept)).toBe(true);
});
