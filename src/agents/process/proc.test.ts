/** Process numbers are used again: whoever has taken over the number of an agent is a stranger and stays alive. */
import { expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { systemClock } from "../../kit/clock.ts";
import { waitFor } from "../../testing/wait-for.ts";
import { PROCESS_VARIABLE, withProcessMark } from "./marks.ts";
import { descendantsOf, identify, isAlive, signalProcess } from "./proc.ts";
import { killAll, stopTree } from "./stop.ts";

function started(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const [program = "", ...args] = command;
  const child: ChildProcess = spawn(program, args, {
    stdio: "ignore",
    detached: true,
    env: { ...process.env, ...env },
  });
  const { pid = 0 } = child;
  return {
    pid,
    identity: () => identify(pid),
    async [Symbol.asyncDispose]() {
      await killAll(systemClock, [
        ...descendantsOf(pid),
        ...(identify(pid) ? [{ pid, startTime: identify(pid)?.startTime ?? "" }] : []),
      ]);
    },
  };
}

test("a signal for a process that is gone does not reach the one that has its number now", async () => {
  await using stranger = started(["sleep", "600"]);
  const gone = { pid: stranger.pid, startTime: "1" };
  expect(isAlive(gone)).toBe(false);
  signalProcess(gone, "SIGKILL");
  await killAll(systemClock, [gone]);
  expect(stranger.identity()).not.toBeNull();
});

test("stopping an agent whose number is a stranger's by now ends neither the stranger nor its children", async () => {
  await using stranger = started(["sh", "-c", "sleep 600 & wait"]);
  const children = await waitFor(
    "the child of the stranger",
    () => descendantsOf(stranger.pid),
    (found) => found.length === 1,
  );
  const exited = Promise.resolve();
  const target = { pid: stranger.pid, id: "gone", identity: { pid: stranger.pid, startTime: "1" }, exited };
  await stopTree(systemClock, { ...target, closeInput: () => undefined, kill: () => undefined }, false);
  expect([stranger.identity() !== null, ...children.map(isAlive)]).toEqual([true, true]);
});

test("a mark finds the process and what it started, and nothing with another mark", async () => {
  await using ours = started(["sh", "-c", "sleep 600 & wait"], { [PROCESS_VARIABLE]: "ours" });
  await using other = started(["sleep", "600"], { [PROCESS_VARIABLE]: "ours-too" });
  const found = await waitFor(
    "the marked process and its child",
    () => withProcessMark("ours").map(({ pid }) => pid),
    (pids) => pids.length === 2,
  );
  expect([found.includes(ours.pid), found.includes(other.pid)]).toEqual([true, false]);
});
