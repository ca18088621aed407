/** What plugins that only observe are told: sessions, turns and sent messages. */
import { expect, test } from "bun:test";
import type { Channel } from "../contracts/channel.ts";
import { createEvents } from "../observe/index.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { createHooks } from "./hooks.ts";
import { tellSent, tellTurns } from "./observed-hooks.ts";

/** Names of what plugins are told, in order. */
function listening() {
  const [clock, log] = [createFakeClock(), recordingLog()];
  const hooks = createHooks({ clock, log });
  const told: string[] = [];
  for (const name of ["message_sent", "session_start", "before_agent_start"] as const)
    hooks.on(name, () => void told.push(name), "watcher");
  return { clock, log, hooks, told };
}

test("plugins hear of a reply that was sent, and not of one that was not", async () => {
  const { clock, hooks, told } = listening();
  let fails = true;
  const send = () => (fails ? Promise.reject(new Error("cut")) : Promise.resolve({}));
  const channel = tellSent(hooks, { send } as unknown as Channel);
  const part = {} as Parameters<Channel["send"]>[0];
  await expect(channel.send(part, new AbortController().signal)).rejects.toThrow("cut");
  await clock.advance(0);
  expect(told).toEqual([]);
  fails = false;
  await channel.send(part, new AbortController().signal);
  await clock.advance(0);
  expect(told).toEqual(["message_sent"]);
});

test("plugins hear once that a session starts, and of every attempt", async () => {
  const { clock, log, hooks, told } = listening();
  const events = createEvents({ log });
  tellTurns(hooks, events);
  const turn = { sessionKey: "agent:default:webchat:dm:1", turnId: "t", inboxIds: [], waitedMs: 0 };
  for (const attempt of [1, 2]) events.emit("turn.started", { ...turn, attempt } as never);
  await clock.advance(0);
  expect(told.toSorted()).toEqual(["before_agent_start", "before_agent_start", "session_start"]);
});
