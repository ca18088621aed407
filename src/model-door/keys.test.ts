/** Keys of a provider: in turn, with pauses for those that fail, and read again where that can help. */
import { expect, test } from "bun:test";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Secret } from "../kit/secret.ts";
import { secret } from "../kit/secret.ts";
import { createFakeClock } from "../testing/fake-clock.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { tempHome } from "../testing/temp-home.ts";
import { createProviderKeys } from "./keys.ts";

const value = (text: string) => ({ value: secret(text) });

function world(userHome = "/nowhere") {
  const clock = createFakeClock();
  const log = recordingLog();
  const hidden: string[] = [];
  const hide = (key: Secret) => void hidden.push(key.reveal());
  return { clock, log, hidden, keys: createProviderKeys({ clock, log, userHome, hide }) };
}

test("keys are used in turn", async () => {
  const { keys } = world();
  const sources = [value("a"), value("b"), value("c")];
  const used = [];
  for (let call = 0; call < 4; call++) used.push((await keys.next("p", sources))?.value);
  expect(used).toEqual(["a", "b", "c", "a"]);
});

test.each([
  ["limited", 429, null, 60_000],
  ["limited for a time that the provider names", 429, 5_000, 5_000],
  ["refused", 401, null, 60_000],
])("a key that is %s is left alone while there are others", async (_name, status, waitMs, pauseMs) => {
  const { clock, keys } = world();
  const sources = [value("a"), value("b")];
  const first = await keys.next("p", sources);
  expect(first?.failed(status, waitMs)).toBe(true);
  expect([(await keys.next("p", sources))?.value, (await keys.next("p", sources))?.value]).toEqual(["b", "b"]);
  await clock.advance(pauseMs);
  expect((await keys.next("p", sources))?.value).toBe("a");
});

test("a provider whose keys are all left alone has none", async () => {
  const { keys } = world();
  const sources = [value("a"), value("b")];
  const [one, two] = [await keys.next("p", sources), await keys.next("p", sources)];
  expect([one?.failed(429, null), two?.failed(429, null)]).toEqual([true, false]);
  expect(await keys.next("p", sources)).toBeNull();
});

test("the only key is tried with every call, whatever came of it", async () => {
  const { keys } = world();
  const sources = [value("a")];
  expect((await keys.next("p", sources))?.failed(401, null)).toBe(false);
  expect((await keys.next("p", sources))?.value).toBe("a");
});

test("an error that has nothing to do with the key changes nothing", async () => {
  const { keys } = world();
  const sources = [value("a"), value("b")];
  expect((await keys.next("p", sources))?.failed(500, null)).toBe(false);
});

test("a key in a file is read once, hidden, and read again when it is refused", async () => {
  await using home = await tempHome();
  const file = join(home.path, "key");
  await writeFile(file, "key-one\n");
  const { clock, keys, hidden } = world(home.path);
  const sources = [{ file: "~/key" }];
  const first = await keys.next("p", sources);
  await writeFile(file, "key-two\n");
  expect([first?.value, (await keys.next("p", sources))?.value]).toEqual(["key-one", "key-one"]);
  expect(first?.failed(401, null)).toBe(false); // it was read a moment ago
  await clock.advance(10_000);
  expect(first?.failed(401, null)).toBe(true);
  expect((await keys.next("p", sources))?.value).toBe("key-two");
  expect(hidden).toEqual(["key-one", "key-two"]);
});

test("a program tells a key, with its arguments as they are written", async () => {
  await using home = await tempHome();
  const program = join(home.path, "tell");
  await writeFile(program, '#!/bin/sh\nprintf "key of %s" "$1" | tr -d " "\n');
  await chmod(program, 0o700);
  const { keys } = world();
  expect((await keys.next("p", [{ command: [program, "$(id)"] }]))?.value).toBe("keyof$(id)");
});

test.each([
  ["a file that is not there", { file: "/nowhere/key" }],
  ["a path that is not absolute", { file: "key" }],
  ["a program that fails", { command: ["false"] }],
  ["a program that is not there", { command: ["/nowhere/program"] }],
  ["a program that says nothing", { command: ["true"] }],
  ["a program that says more than a key", { command: ["echo", "two words"] }],
])("%s is no key, and the next one is used", async (_name, source) => {
  const { keys, log } = world();
  expect((await keys.next("p", [source, value("b")]))?.value).toBe("b");
  expect(log.lines.some(({ words }) => words === "key of a provider could not be read")).toBe(true);
});
