import { expect, test } from "bun:test";
import { recordingLog } from "../testing/recording-log.ts";
import { createEvents } from "./events.ts";

test("every listener of an event hears it at once, in the order they came", () => {
  const events = createEvents({ log: recordingLog() });
  const heard: string[] = [];
  events.on("status", ({ what }) => heard.push(`first ${what}`));
  events.on("status", ({ what }) => heard.push(`second ${what}`));
  events.on("agent.spawned", () => heard.push("another event"));
  events.emit("status", { what: "config" });
  expect(heard).toEqual(["first config", "second config"]);
});

test("a listener that throws is logged and neither the emitter nor other listeners notice", () => {
  const log = recordingLog();
  const events = createEvents({ log });
  const broken = new Error("broken listener");
  const heard: string[] = [];
  events.on("status", () => {
    throw broken;
  });
  events.on("status", ({ what }) => heard.push(what));
  events.emit("status", { what: "agents" });
  expect(heard).toEqual(["agents"]);
  expect(log.lines).toEqual([
    { level: "error", words: "event listener failed", fields: { event: "status", error: broken } },
  ]);
});

test("a disposed listener hears nothing more, even when the same function was registered twice", () => {
  const events = createEvents({ log: recordingLog() });
  let count = 0;
  const listener = () => count++;
  const first = events.on("status", listener);
  events.on("status", listener);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  events.emit("status", { what: "config" });
  expect(count).toBe(1);
});

test("a listener that leaves during an emission does not make others miss it", () => {
  const events = createEvents({ log: recordingLog() });
  const heard: string[] = [];
  const first = events.on("status", () => {
    heard.push("first");
    first[Symbol.dispose]();
  });
  events.on("status", () => heard.push("second"));
  events.emit("status", { what: "config" });
  events.emit("status", { what: "config" });
  expect(heard).toEqual(["first", "second", "second"]);
});
