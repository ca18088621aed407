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
import type { ReadyAgent } from "../setup/start.ts";
import { openSession } from "./session.ts";

const FILE = "session-a.jsonl";

async function world() {
  const home = await tempHome();
  const folders = { sessions: join(home.path, "sessions"), workspace: join(home.path, "workspace") };
  const visits = join(home.path, "visits");
  mkdirSync(visits);
  const told: string[] = [];
  const state = { sessionFile: join(visits, FILE), model: { provider: "a", id: "m" }, thinkingLevel: "off" };
  const request = async ({ type }: { readonly type: string }) => {
    told.push(type);
    return { ok: true, data: state };
  };
  const agent = { visits, model: "a/m", thinking: "off", process: { request } } as unknown as ReadyAgent;
  const tools = deferred<void>();
  const open = () =>
    openSession({ log: silentLog, clock: systemClock, ids: systemIds }, agent, null, {
      caller: caller("operator"),
      sessionFile: FILE,
      settledBytes: 0,
      folders,
      defaultThinking: undefined,
      toolsPushed: tools.promise,
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

test("a process is told to switch when it has the tools of the caller; the session file is prepared meanwhile", async () => {
  await using at = await world();
  const opened = at.open();
  await waitFor("the session file", () => existsSync(at.kept));
  for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate); // so long, it would have been told
  expect(at.told).toEqual([]);
  at.tools.resolve();
  expect(await opened).toMatchObject({ switched: true, session: { file: FILE } });
  expect(at.told).toEqual(["switch_session", "get_state"]);
});

test("a session is not opened in a process that did not take the tools, and its file stays where it is kept", async () => {
  await using at = await world();
  const opened = at.open();
  at.tools.reject(new Error("the bridge refused the tools"));
  await expect(opened).rejects.toThrow("the bridge refused the tools");
  expect([at.told, existsSync(at.kept)]).toEqual([[], true]);
});
