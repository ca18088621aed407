/** A process that has what runs before pi: what it asks the disk, reads, copies and says, as it would without. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { tempHome } from "../src/testing/temp-home.ts";

/** Asks about a file, lets it grow, asks again at once and then in a later moment. Prints the three sizes. */
const ASKING = `
import { appendFileSync, statSync } from "node:fs";
const [file, mode] = process.argv.slice(-2);
const options = mode === "plain" ? undefined : { bigint: true };
const size = () => Number(statSync(file, options).size);
const sizes = [size()];
appendFileSync(file, "more");
sizes.push(size());
await new Promise((resolve) => setImmediate(resolve));
sizes.push(size());
console.log(JSON.stringify(sizes));
`;

/** Looks for a file that is not there, in both ways, then makes it and looks again at once. */
const MISSING = `
import { statSync, writeFileSync } from "node:fs";
const [file] = process.argv.slice(-1);
const seen = [statSync(file, { bigint: true, throwIfNoEntry: false }) === undefined];
try {
  statSync(file, { bigint: true });
} catch (error) {
  seen.push(error.code);
}
writeFileSync(file, "new");
seen.push(Number(statSync(file, { bigint: true }).size));
console.log(JSON.stringify(seen));
`;

/** Reads a known schema twice, copies a list, and says lines as pi does, others as careless libraries do, and the last one at its end. */
const SAYING = `
const schema = { type: "object", properties: {} };
globalThis[Symbol.for("pi-gateway.known-schemas")](schema);
const text = JSON.stringify(schema);
const facts = [JSON.parse(text) === JSON.parse(text), /native code/.test(String(structuredClone))];
const said = (line) => new Promise((resolve) => process.stdout.write(line + "\\n", resolve));
for (let n = 0; n < 3; n++) await said("pi " + n);
process.stdout.write("library\\n");
await said("x".repeat(100_000));
await said("facts " + JSON.stringify(facts));
await said("");
process.stdout.write("end\\n", () => undefined);
process.exit(0);
`;

const STARTING = `console.log(JSON.stringify(require("node:child_process").execFileSync("env").toString().includes("BUN_JSC")))`;

let home: Awaited<ReturnType<typeof tempHome>>;
beforeAll(async () => {
  home = await tempHome();
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

async function told(script: string, name: string, ...more: readonly string[]): Promise<unknown> {
  return JSON.parse(await printed(script, name, ...more));
}

async function printed(script: string, name: string, ...more: readonly string[]): Promise<string> {
  const at = join(home.path, "asking.mjs");
  await Bun.write(at, script);
  const argv = [
    process.execPath,
    `--preload=${join(import.meta.dir, "preload.ts")}`,
    at,
    join(home.path, name),
    ...more,
  ];
  const env = { ...process.env, PI_CODING_AGENT_DIR: home.path, BUN_JSC_useFTLJIT: "0" };
  const child = Bun.spawn(argv, { env, stdout: "pipe", stderr: "inherit" });
  return new Response(child.stdout).text();
}

test.each(["auth.json", "models-store.json"])(
  "pi is told about %s as it was at its first question of a moment, and anew in the next",
  async (name) => {
    await Bun.write(join(home.path, name), "old");
    expect(await told(ASKING, name, "exact")).toEqual([3, 3, 7]);
  },
);

test("pi is told about other files, and in other words about its own, as they are", async () => {
  await Bun.write(join(home.path, "settings.json"), "old");
  expect(await told(ASKING, "settings.json", "exact")).toEqual([3, 7, 7]);
  await Bun.write(join(home.path, "auth.json"), "old");
  expect(await told(ASKING, "auth.json", "plain")).toEqual([3, 7, 7]);
});

test("a file of pi that is not there is looked for each time, and its absence is told as it was asked for", async () => {
  await Bun.file(join(home.path, "auth.json"))
    .delete()
    .catch(() => undefined); // it is only there when another test has made it
  expect(await told(MISSING, "auth.json")).toEqual([true, "ENOENT", 3]);
});

test("programs that pi starts do not learn how pi is compiled", async () => {
  expect(await told(STARTING, "auth.json")).toBe(false);
});

test("everything that is said arrives in order, up to the last word of a process that ends itself, and schemas and copies are made the short way", async () => {
  const lines = (await printed(SAYING, "auth.json")).replace(/x{9,}/, "long").split("\n");
  const said = ["pi 0", "pi 1", "pi 2", "library", "long", "facts [true,false]", "", "end", ""];
  expect(lines).toEqual(said);
});
