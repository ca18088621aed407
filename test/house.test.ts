/** Keeps the house in order, and keeps the keeper honest: each rule is shown to find what it forbids. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { MUTANT_ROOMS } from "../verification/mutants/rooms.ts";
import { withBug } from "../verification/mutants/seeded-bug.ts";
import { SIMULATED_BUGS } from "../verification/mutants/simulation/simulated-bugs.ts";
import {
  badForms,
  badNames,
  bareWaits,
  brokenWalls,
  chanceWords,
  importCycles,
  keptImports,
  libraryRooms,
  misplaced,
  silentOpenings,
  smallFolders,
  tooLong,
  tooManyParameters,
  verificationUses,
} from "./house.ts";
import { ownedContracts, unusedExports } from "./house-exports.ts";
import {
  DOUBLE_SPREADS,
  EXCEPTIONS,
  LIMITS,
  LITERAL_SPREADS,
  REPLACED_WORDS_LEFT,
  SUBJECTLESS_TESTS,
} from "./house-plan.ts";
import { beyondPlan, doubleSpreads, literalSpreads, overfullBags, subjectless } from "./house-shapes.ts";
import { heavyStarts } from "./house-start.ts";
import { forgottenPromises } from "./house-promises.ts";
import { forgottenSteps } from "./house-steps.ts";
import {
  looseVersions,
  lockAddresses,
  machinePaths,
  missingFromLock,
  readExamples,
  readProject,
  readSources,
} from "./house-project.ts";
import { blank, functionsOf, importsOf, source } from "./house-source.ts";
import { replacedWords } from "./house-words.ts";

const root = dirname(import.meta.dir);
const sources = await readSources(root);

const unexcused = (findings: readonly string[]): string[] =>
  findings.filter((finding) => !EXCEPTIONS.some(({ place }) => finding.startsWith(place)));

const one = (path: string, text: string) => [source(path, text)];
const lines = (count: number) => "x();\n".repeat(count);

describe("the house", () => {
  test("is being looked at: there are sources to check", () => {
    expect(sources.length).toBeGreaterThan(20);
  });
  test("has walls that every import respects", () => expect(unexcused(brokenWalls(sources))).toEqual([]));
  test("does without verification/, apart from the tests that run it", () => {
    expect(unexcused(verificationUses(sources))).toEqual([]);
  });
  test("has no circle of imports", () => expect(unexcused(importCycles(sources))).toEqual([]));
  test("loads nothing at a start that is not in the list of what it may load", () =>
    expect(unexcused(heavyStarts(sources))).toEqual([]));
  test("keeps each library in its rooms", () => expect(unexcused(libraryRooms(sources))).toEqual([]));
  test("keeps time, chance, environment, processes and calls out in their places", () => {
    expect(unexcused(misplaced(sources))).toEqual([]);
  });
  test("has short files and short functions", () => expect(unexcused(tooLong(sources))).toEqual([]));
  test("has functions of few parameters", () => expect(unexcused(tooManyParameters(sources))).toEqual([]));
  test("has file names that say what is inside", () => expect(unexcused(badNames(sources))).toEqual([]));
  test("has folders of three files or more", () => expect(unexcused(smallFolders(sources))).toEqual([]));
  test("exports no name that no file imports", async () => {
    expect(unexcused(unusedExports([...sources, ...(await readExamples(root))]))).toEqual([]);
  });
  test("has no contract that one room alone uses", () => expect(unexcused(ownedContracts(sources))).toEqual([]));
  test("does without default exports, any, star exports and classes", () => {
    expect(unexcused(badForms(sources))).toEqual([]);
  });
  test("keeps no import whose failure would be kept with it", () => {
    expect(unexcused(keptImports(sources))).toEqual([]);
  });
  test("uses the words of the glossary", () => {
    expect(beyondPlan(replacedWords(sources), REPLACED_WORDS_LEFT)).toEqual([]);
  });
  test("hands on twelve dependencies in one object at most", () => expect(overfullBags(sources)).toEqual([]));
  test("spreads no more object literals than planned", () => {
    expect(beyondPlan(literalSpreads(sources), LITERAL_SPREADS)).toEqual([]);
  });
  test("makes no more objects of several others than planned", () => {
    expect(beyondPlan(doubleSpreads(sources), DOUBLE_SPREADS)).toEqual([]);
  });
  test("has no more tests without a subject than planned", () => {
    expect(beyondPlan(subjectless(sources), SUBJECTLESS_TESTS)).toEqual([]);
  });
  test("waits in tests by name and with a deadline", () => expect(unexcused(bareWaits(sources))).toEqual([]));
  test("looks for no word in what a model was shown that a random code may hold", () => {
    expect(unexcused(chanceWords(sources))).toEqual([]);
  });
  test("leaves no promise without somebody who handles its failure", () => {
    expect(unexcused(forgottenPromises(sources))).toEqual([]);
  });
  test("forgets no step of the store's row code", () => expect(unexcused(forgottenSteps(sources))).toEqual([]));
  test("opens every file with its purpose", () => expect(unexcused(silentOpenings(sources))).toEqual([]));
  test("makes few exceptions", () => expect(EXCEPTIONS.length).toBeLessThanOrEqual(LIMITS.exceptions));
});

describe("the project", () => {
  test("pins every dependency to one version", async () => {
    expect(looseVersions(await Bun.file(`${root}/package.json`).text())).toEqual([]);
  });
  test("has a lock file without download addresses", async () => {
    expect(lockAddresses(await Bun.file(`${root}/package-lock.json`).text())).toEqual([]);
    expect(missingFromLock(await Bun.file(`${root}/package-lock.json`).text())).toEqual([]);
  });
  test("names no folder of the machine it was written on", async () => {
    expect(machinePaths(await readProject(root))).toEqual([]);
  });
});

describe("a seeded bug", () => {
  const listed = MUTANT_ROOMS.flatMap(({ bugs }) => bugs);
  test("fits the function that it names exactly once, in the list of mutants and in that of the simulation", async () => {
    const astray: string[] = [];
    for (const bug of [...listed, ...SIMULATED_BUGS]) {
      const file = Bun.file(`${root}/${bug.file}`);
      if (!(await file.exists())) astray.push(`${bug.file}: "${bug.what}" names a file that is not there.`);
      else astray.push(withBug(await file.text(), bug).why ?? "");
    }
    expect(astray.filter(Boolean)).toEqual([]);
  });
  test("names tests that are there", () => {
    const missing = listed.flatMap(({ tests }) => tests).filter((path) => !existsSync(`${root}/${path}`));
    expect(missing).toEqual([]);
  });
});

describe("the wall check", () => {
  const wall = (path: string, text: string) => brokenWalls(one(path, text));
  test("finds a sibling", () => {
    expect(wall("src/queue/a.ts", 'import { b } from "../agents/index.ts";')).toEqual([
      "src/queue/a.ts:1 imports src/agents/index.ts: queue does not know agents",
    ]);
  });
  test("finds a sibling behind a type-only, a dynamic and a re-exporting import", () => {
    expect(wall("src/queue/a.ts", 'import type { B } from "../agents/index.ts";')).toHaveLength(1);
    expect(wall("src/queue/a.ts", 'const b = await import("../agents/index.ts");')).toHaveLength(1);
    expect(wall("src/queue/a.ts", 'export { b } from "../agents/index.ts";')).toHaveLength(1);
    expect(wall("src/queue/a.ts", 'import "../agents/index.ts";')).toHaveLength(1);
  });
  test("finds a way around a door", () => {
    expect(wall("src/flow/a.ts", 'import { b } from "../agents/pool.ts";')).toEqual([
      "src/flow/a.ts:1 imports src/agents/pool.ts: enter agents by its door",
    ]);
  });
  test("finds an import upwards", () => {
    expect(wall("src/store/a.ts", 'import { b } from "../flow/index.ts";')).toHaveLength(1);
    expect(wall("src/kit/a.ts", 'import type { B } from "../contracts/chat.ts";')).toHaveLength(1);
    expect(wall("src/http/a.ts", 'import { b } from "../flow/index.ts";')).toHaveLength(1);
  });
  test("finds one platform importing another", () => {
    expect(wall("src/channels/api/a.ts", 'import { b } from "../webchat/index.ts";')).toHaveLength(1);
  });
  test("finds a value where only types may pass", () => {
    expect(wall("bridge/index.ts", 'import { ERRORS } from "../src/contracts/errors.ts";')).toHaveLength(1);
    expect(wall("bridge/index.ts", 'import type { ErrorCode } from "../src/contracts/errors.ts";')).toEqual([]);
    expect(wall("console/a.ts", 'import { type WireError } from "../src/contracts/wire.ts";')).toEqual([]);
  });
  test("finds a product file that uses test code", () => {
    expect(wall("src/queue/a.ts", 'import { b } from "../testing/fake-clock.ts";')).toHaveLength(1);
  });
  test("finds a use of verification/ outside the tests that run it", () => {
    const uses = (path: string, to: string) => verificationUses(one(path, `import { b } from "${to}";`));
    expect(uses("src/queue/a.test.ts", "../../verification/sim/run.ts")).toEqual([
      "src/queue/a.test.ts:1 imports verification/sim/run.ts: only tests that run verification/ import it",
    ]);
    expect(uses("src/testing/a.ts", "../../verification/sim/run.ts")).toHaveLength(1);
    expect(uses("test/queue.test.ts", "../verification/sim/run.ts")).toHaveLength(1);
    expect(uses("scripts/bench.ts", "../verification/sim/run.ts")).toHaveLength(1);
    expect(uses("test/sim.test.ts", "../verification/sim/run.ts")).toEqual([]);
    expect(uses("verification/chaos/run.ts", "../sim/run.ts")).toEqual([]);
    expect(wall("src/queue/a.ts", 'import { b } from "../../verification/sim/run.ts";')).toHaveLength(1);
  });
  test("finds a room that is not in the plan", () => {
    expect(wall("src/attic/a.ts", 'import { b } from "../kit/clock.ts";')).toHaveLength(1);
  });
  test("lets a door, a ground file and an import in a comment pass", () => {
    expect(wall("src/flow/a.ts", 'import { b } from "../agents/index.ts";')).toEqual([]);
    expect(wall("src/queue/a.ts", 'import { b } from "../kit/clock.ts";')).toEqual([]);
    expect(wall("src/queue/a.ts", '// import { b } from "../agents/index.ts";')).toEqual([]);
    expect(wall("src/queue/a.test.ts", 'import { b } from "../agents/pool.ts";')).toEqual([]);
  });
});

describe("the check of imports that are kept", () => {
  const kept = (text: string, path = "src/http/a.ts") => keptImports(one(path, text)).length;
  test.each([
    'made ??= import("typebox/compile").then(({ Compile }) => Compile(schema));',
    'const module = import("./b.ts");',
    'module = import("./b.ts");',
    'return import("./b.ts").then((b) => b.c);',
    'const load = async () => await import("./b.ts");\nmodule ??= load();',
  ])("finds one: %s", (text) => expect(kept(text)).toBe(1));
  test.each([
    'const { b } = await import("./b.ts");',
    'const made = lazy(async () => (await import("./b.ts")).b);',
    'const door = () => import("./b.ts");',
    'export type B = import("./b.ts").B;',
    'type All = typeof import("./b.ts");',
    'const { b } = await import("./b.ts");\nfirstAt ??= now;\nvalues ??= await load();',
  ])("lets others pass: %s", (text) => expect(kept(text)).toBe(0));
});

describe("the check of exported names", () => {
  const unused = (files: Readonly<Record<string, string>>) =>
    unusedExports(Object.entries(files).map(([path, text]) => source(path, text)));
  const a = "export const used = 1;\nexport interface Unused {}";
  test("finds a name that no file imports, types as well", () => {
    expect(unused({ "src/queue/a.ts": a, "src/queue/b.test.ts": 'import { used } from "./a.ts";' })).toEqual([
      "src/queue/a.ts:2 exports Unused: no file imports it; whoever changes it would look for users that are not there",
    ]);
  });
  test("finds a name that an index.ts hands on to nobody, in both files", () => {
    const door = { "src/queue/a.ts": "export const b = 1;", "src/queue/index.ts": 'export { b as c } from "./a.ts";' };
    expect(unused(door)).toHaveLength(2);
    expect(unused({ ...door, "scripts/d.ts": 'import { c } from "../src/queue/index.ts";' })).toEqual([]);
  });
  test.each([
    'import { used, type Unused as Other } from "../queue/a.ts";',
    'import * as all from "../queue/a.ts";',
    'const { used } = await import("../queue/a.ts");\ntype Unused = import("../queue/a.ts").Unused;',
    'const all = load(() => import("../queue/a.ts"));',
  ])("counts as a user: %s", (text) => expect(unused({ "src/queue/a.ts": a, "src/flow/b.ts": text })).toEqual([]));
  test("takes a dynamic import for a user of the names it unpacks only", () => {
    expect(
      unused({ "src/queue/a.ts": a, "src/flow/b.ts": 'const { used } = await import("../queue/a.ts");' }),
    ).toHaveLength(1);
  });
  test("finds a contract that one room alone uses", () => {
    const a = source("src/contracts/a.ts", "export interface A {}\nexport interface B { readonly a: A }");
    const user = (path: string) => source(path, 'import type { A, B } from "../contracts/a.ts";');
    expect(ownedContracts([a, user("src/queue/b.ts"), user("src/queue/b.test.ts")])).toEqual([
      "src/contracts/a.ts:2 B is used by queue alone: it crosses no border, so it belongs there",
    ]);
    expect(ownedContracts([a, user("src/queue/b.ts"), user("src/flow/b.ts")])).toEqual([]);
  });
  test("lets the contracts of plugins and files of tests export what they like", () => {
    expect(unused({ "src/contracts/plugin.ts": a, "src/queue/a.test.ts": a, "test/console.ts": a })).toEqual([]);
  });
});

describe("the checks of shapes", () => {
  const members = (count: number) => "readonly a: { b: 1; c(d: 2): void };\n".repeat(count);
  test("find a thirteenth member of an object of dependencies, and not those of its members", () => {
    expect(overfullBags(one("src/queue/a.ts", `interface QueueDeps {\n${members(12)}}`))).toEqual([]);
    for (const head of ["interface QueueDeps extends Base", "type QueueOptions =", "export interface QueueParts"])
      expect(overfullBags(one("src/queue/a.ts", `${head} {\n${members(13)}}`))).toHaveLength(1);
    expect(overfullBags(one("src/queue/a.ts", `interface Queue {\n${members(13)}}`))).toEqual([]);
    expect(overfullBags(one("src/queue/a.test.ts", `interface QueueDeps {\n${members(13)}}`))).toEqual([]);
  });
  test("find the spread of an object literal, in tests as well", () => {
    expect(literalSpreads(one("src/queue/a.test.ts", "f({ ...{ a, b }, c });"))).toHaveLength(1);
    expect(literalSpreads(one("src/queue/a.ts", "f({ ...a, ...(b ? { b } : {}), c: [...d] });"))).toEqual([]);
  });
  test.each([
    "f({ ...a, ...b })",
    "f({ ...a(), c: { d }, ...b.c })",
    "f({\n  ...a,\n  ...(b ? { b } : {}),\n  ...c,\n})",
  ])("find an object made of several others: %s", (text) =>
    expect(doubleSpreads(one("src/queue/a.ts", text))).toHaveLength(1),
  );
  test.each([
    "f({ ...a, ...(b ? { b } : {}) })",
    "f({ ...a, c: { ...b } })",
    "f([...a, ...b])",
    "({ a, ...b }) => ({ ...c })",
  ])("take for one object: %s", (text) => expect(doubleSpreads(one("src/queue/a.ts", text))).toEqual([]));
  test("hold a folder to its number, and ask for a lower one when there are fewer", () => {
    const found = ["src/queue/a.ts:1 x", "src/queue/b.ts:2 x", "console/c.ts:1 x"];
    expect(beyondPlan(found, { "src/queue": 2, console: 1 })).toEqual([]);
    expect(beyondPlan(found, { "src/queue": 1, console: 1 })[0]).toBe("src/queue has 2 of at most 1:");
    expect(beyondPlan(found, { "src/queue": 3, console: 1 })).toHaveLength(1);
    expect(beyondPlan(found, { "src/queue": 2 })).toHaveLength(2);
  });
  test.each(["is told", "it ends", "what is left", "one of two", "nobody hears it", "and ends"])(
    "find a test without a subject: %s",
    (name) => {
      const alone = (text: string) => subjectless(one("src/queue/a.test.ts", text)).length;
      expect(alone(`test("${name}", () => f());`)).toBe(1);
      expect(alone(`test.each([1, 2])("${name}", (n) => f(n));`)).toBe(1);
      expect(alone(`describe("a lane", () => { test("${name}", () => f()); });`)).toBe(0);
      expect(alone(`describe("${name}", () => { test("a lane", () => f()); });`)).toBe(1);
      expect(alone('test("a lane is full", () => f("test(it)"));')).toBe(0);
    },
  );
  test("give a function that is one flat list more room than one with a block", () => {
    const long = (before: string) =>
      tooLong(one("src/queue/a.ts", `function a() {\n${before}\n${lines(79)}}\n`)).length;
    expect([long(""), long("if (b) return c;"), long("if (b) {\n}"), long("for (const b of c) d(b);")]).toEqual([
      0, 0, 1, 1,
    ]);
  });
});

describe("the other checks", () => {
  test.each([
    "while (!over) await new Promise((resolve) => setImmediate(resolve));",
    "while (count() < 3) await Bun.sleep(5);",
    "while (!(await there())) {\n  await systemClock.sleep(2, NEVER);\n}",
    "while (!over) await world.clock.advance(1_000);",
    "while (open()) await settled();",
    "for (;;) {\n  await Bun.sleep(5);\n  if (over) return;\n}",
  ])("find a wait without a name: %s", (text) => {
    expect(bareWaits(one("src/queue/a.test.ts", text))).toEqual([
      "src/queue/a.test.ts:1 waits in a loop of its own: use waitFor or advanceUntil",
    ]);
    expect([...bareWaits(one("src/queue/a.ts", text)), ...bareWaits(one("src/testing/wait-for.ts", text))]).toEqual([]);
  });
  test.each([
    "while (next()) await send(next());",
    "for (const a of all) await clock.advance(a);",
    'await waitFor("x", f);',
  ])("take %s for no wait", (text) => expect(bareWaits(one("src/queue/a.test.ts", text))).toEqual([]));
  test("find a word that may be in a random code, and no two words", () => {
    const looking = (words: string) => one("test/a.test.ts", `expect(${"shownWith"}("x")).not.toContain("${words}");`);
    expect(chanceWords(looking("Mog"))).toEqual([
      'test/a.test.ts:1 looks for "Mog", which a random code may hold: look for two words',
    ]);
    expect(chanceWords(looking("called Mog"))).toEqual([]);
  });
  test("find a circle of values, not of types", () => {
    const a = source("src/queue/a.ts", 'import { b } from "./b.ts";');
    expect(importCycles([a, source("src/queue/b.ts", 'import { a } from "./a.ts";')])).toEqual([
      "src/queue/a.ts -> src/queue/b.ts -> src/queue/a.ts: a circle of imports",
    ]);
    expect(importCycles([a, source("src/queue/b.ts", 'import type { A } from "./a.ts";')])).toEqual([]);
  });
  test("find a circle of types in contracts", () => {
    const a = source("src/contracts/a.ts", 'import type { B } from "./store/b.ts";');
    expect(importCycles([a, source("src/contracts/store/b.ts", 'import type { A } from "../a.ts";')])).toEqual([
      "src/contracts/a.ts -> src/contracts/store/b.ts -> src/contracts/a.ts: a circle of imports",
    ]);
  });
  test.each([
    ["src/queue/a.ts", "bun:sqlite"],
    ["src/flow/a.ts", "kysely"],
    ["src/cli/a.ts", "pino"],
    ["src/queue/a.ts", "typebox"],
    ["src/main.ts", "commander"],
    ["src/http/a.ts", "jsonc-parser"],
    ["src/http/a.ts", "marked"],
    ["src/flow/a.ts", "fast-check"],
    ["src/flow/a.ts", "left-pad"],
    ["src/tools/a.ts", "node:fs/promises"],
    ["src/flow/a.ts", "node:fs"],
    ["src/tools/a.ts", "node:https"],
    ["src/media/a.ts", "node:http"],
  ])("%s may not import %s", (path, name) => {
    expect(libraryRooms(one(path, `import { x } from "${name}";`))).toHaveLength(1);
  });
  test("let a library into its room and into tests", () => {
    expect(libraryRooms(one("src/tools/a.ts", 'import { join } from "node:path";'))).toEqual([]);
    expect(libraryRooms(one("src/store/a.ts", 'import { Kysely } from "kysely";'))).toEqual([]);
    expect(libraryRooms(one("src/queue/a.test.ts", 'import fc from "fast-check";'))).toEqual([]);
  });
  test.each([
    "Date.now()",
    "new Date()",
    "performance.now()",
    "setTimeout(f, 1)",
    "setInterval(f, 1)",
    "AbortSignal.timeout(1)",
    "Bun.sleep(1)",
    "Math.random()",
    "crypto.randomUUID()",
    "crypto.getRandomValues(b)",
    "process.env.HOME",
    "Bun.spawn([])",
    "fetch(url)",
  ])("find a misplaced %s", (call) => {
    expect(misplaced(one("src/queue/a.ts", `const a = ${call};`))).toHaveLength(1);
  });
  test("know the right places, definitions, comments and strings", () => {
    expect(misplaced(one("src/kit/a.ts", "Date.now();"))).toEqual([]);
    expect(misplaced(one("src/config/a.ts", "process.env;"))).toEqual([]);
    expect(misplaced(one("src/http/a.ts", "serve({ fetch(request) { return 1; } });"))).toEqual([]);
    expect(misplaced(one("src/queue/a.ts", 'const at = new Date(now); // Date.now\nconst t = "Date.now";'))).toEqual(
      [],
    );
  });
  test("let main hand the environment on once, not twice", () => {
    expect(misplaced(one("src/main.ts", "run(process.env);"))).toEqual([]);
    expect(misplaced(one("src/main.ts", "run(process.env, process.env);"))).toHaveLength(1);
  });
  test("find long files, and give tests more room", () => {
    expect(tooLong(one("src/queue/a.ts", lines(401)))).toEqual(["src/queue/a.ts has 401 lines; the limit is 400"]);
    expect(tooLong(one("src/queue/a.ts", lines(400)))).toEqual([]);
    expect(tooLong(one("src/queue/a.test.ts", lines(600)))).toEqual([]);
    expect(tooLong(one("src/queue/a.test.ts", lines(601)))).toHaveLength(1);
  });
  test.each([
    ["function a() {", "}"],
    ["export async function a<T>(b: T): Promise<{ c: T }> {", "}"],
    ["const a = (b: string): string | null => {", "};"],
    ["const a = async () => {", "};"],
    ["const a = () => ({", "});"],
    ["const o = { a(b: number): { c: number } {", "} };"],
    ["class Refused extends Error { #a(b: number) {", "} }"],
  ])("find a long function that begins with %s", (open, close) => {
    expect(tooLong(one("src/queue/a.ts", `${open}\n${lines(98)}${close}\n`))).toEqual([]);
    expect(tooLong(one("src/queue/a.ts", `${open}\n${lines(99)}${close}\n`))).toHaveLength(1);
  });
  test("find a fifth parameter, counting neither types nor defaults", () => {
    expect(
      tooManyParameters(one("src/a/a.ts", "function f(a: number, b: X<Y, Z>, c = [1, 2], d: (e: 1, f: 2) => void) {}")),
    ).toEqual([]);
    expect(tooManyParameters(one("src/a/a.ts", "const f = (a, b, c, d, e) => {};"))).toEqual([
      "src/a/a.ts:1 f takes 5 parameters; use an object",
    ]);
  });
  test("find a word that the glossary replaces, in a name, a comment and the name of a file", () => {
    const found = (path: string, text: string) => replacedWords(one(path, text));
    expect(found("src/queue/a.ts", "/** What was turned away. */")).toEqual([
      'src/queue/a.ts:1 says "turned away"; the glossary says reject',
    ]);
    expect(found("src/queue/a.ts", "const jobDesk = 1;")).toHaveLength(1);
    expect(found("src/queue/words.ts", "")).toHaveLength(1);
    expect(found("src/queue/rejected.ts", "/** Rejected calls, withdrawn messages. */")).toEqual([]);
  });
  test("find a vague name and a name in the wrong case", () => {
    expect(badNames(one("src/queue/queue-helpers.ts", ""))).toHaveLength(1);
    expect(badNames(one("src/queue/queueLanes.ts", ""))).toHaveLength(1);
    expect(badNames(one("src/queue/queue-lanes.test.ts", ""))).toEqual([]);
  });
  test("find a folder of two files, counting neither tests nor folders of folders", () => {
    const folder = (...paths: readonly string[]) => smallFolders(paths.map((path) => source(path, "")));
    expect(folder("src/queue/a.ts", "src/queue/b.ts", "src/queue/b.test.ts")).toEqual([
      "src/queue has 2 of at least 3 files: move them up, a folder hides what it holds and must be worth it",
    ]);
    expect(folder("console/a.ts", "console/b/a.tsx", "console/b/b.ts", "console/b/c.ts", "test/a.ts")).toEqual([]);
  });
  test("find default exports, any, classes and star exports", () => {
    const found = (text: string) => badForms(one("src/queue/a.ts", text)).length;
    expect(found("export default 1;")).toBe(1);
    expect(found("const a: any = 1;")).toBe(1);
    expect(found("const a = b as any[];")).toBe(1);
    expect(found("class Pool {}")).toBe(1);
    expect(found('export * from "./b.ts";')).toBe(1);
    expect(found("class Refused extends GatewayError {}\nAbortSignal.any([]); // any")).toBe(0);
  });
  test("find a file that does not say what it is for", () => {
    expect(silentOpenings(one("src/queue/a.ts", "export const a = 1;"))).toHaveLength(1);
    expect(silentOpenings(one("src/queue/a.ts", "/** Says it. */\nexport const a = 1;"))).toEqual([]);
  });
  test("find loose versions, download addresses and machine paths", () => {
    expect(looseVersions('{"dependencies":{"a":"^1.0.0","b":"1.2.3"}}')).toEqual(["a: ^1.0.0"]);
    expect(lockAddresses('{"packages":{"x":{"resolved":"https://registry.example/x.tgz"}}}')).toHaveLength(1);
    expect(missingFromLock('{"packages":{"node_modules/a":{"optionalDependencies":{"b":"1.0.0"}}}}')).toEqual(["b"]);
    expect(machinePaths([{ path: "docs/a.md", text: `see ${["", "work", "main"].join("/")}` }])).toEqual([
      "docs/a.md:1",
    ]);
  });
});

describe("the check of what a start loads", () => {
  const entry = (text: string) => [
    source("src/main.ts", text),
    source("src/late.ts", 'import { gzip } from "node:zlib";'),
  ];
  const loads = (text: string) => heavyStarts(entry(text), ["src/main.ts"]);

  test("a start loads what its files import, theirs too, and nothing that is imported by a call or as a type", () => {
    expect(loads('import { late } from "./late.ts";')).toEqual([
      "src/late.ts: loads node:zlib at every start; import it where it is needed",
    ]);
    expect(loads('import { join } from "node:path"; const late = () => import("./late.ts");')).toEqual([]);
    expect(loads('import type { Gzip } from "node:zlib";')).toEqual([]);
  });
});

describe("the scanner", () => {
  test("tells code from text", () => {
    expect(blank('a("x{"); // {').trimEnd()).toBe('a("  ");');
    expect(blank("`a${b({ c })}{`").includes("{ c }")).toBe(true);
    expect(blank("`a${b}{`").includes("}{")).toBe(false);
    expect(blank("const r = /[/{]/g; x / 2 / y").includes("{")).toBe(false);
  });
  test("reads imports over several lines", () => {
    expect(importsOf(source("a.ts", 'import {\n  a,\n  type B,\n} from "./b.ts";'))).toEqual([
      { specifier: "./b.ts", typeOnly: false, dynamic: false, line: 1 },
    ]);
  });
  test("does not take control flow, calls or signatures for functions", () => {
    const text = "if (a) { b(); } for (const c of d) { e(c); } interface F { g(h: number): void }";
    expect(functionsOf(source("a.ts", text))).toEqual([]);
  });
});

describe("the rule about steps", () => {
  const HEAD = "import type { Steps } from '../steps.ts';\n";
  const found = (code: string): number => forgottenSteps([source("src/store/rows/one.ts", HEAD + code)]).length;

  test.each([
    ["a query as a statement", "function* f() {\n  drop.run({ id });\n}"],
    [
      "a query that is only asked whether it is there",
      "function* f() {\n  if (queries.known.first({ id })) return;\n}",
    ],
    ["a query behind an operator", "function* f() {\n  return (yield* a.first({})) ?? b.first({});\n}"],
    ["a list in a loop", "function* f() {\n  for (const one of old.all({})) gone(one);\n}"],
    ["a function of steps as a statement", "function* add() {}\nfunction* f() {\n  add();\n}"],
    [
      "a method of steps as a statement",
      "interface A {\n  append(a: B): Steps<C>;\n}\nfunction* f() {\n  audit.append(b);\n}",
    ],
    [
      "a function that another one made",
      "function make(sql: Sql): (a: B) => Steps<void> {\n}\nconst end = make(sql);\nfunction* f() {\n  end(b);\n}",
    ],
  ])("finds %s", (_what, code) => expect(found(code)).toBe(1));

  test.each([
    ["a query that is run", "function* f() {\n  const row = yield* known.first({ id });\n}"],
    ["a query that is run inside of an expression", "function* f() {\n  return (yield* known.run({ id })) > 0;\n}"],
    ["a query that is handed on", "const list = () => read(() => latest.all({ limit }));"],
    [
      "a set that has a method of the same name",
      "interface A {\n  add(a: B): Steps<C>;\n}\nconst seen = new Set();\nfunction* f() {\n  seen.add(b);\n}",
    ],
  ])("leaves %s alone", (_what, code) => expect(found(code)).toBe(0));
});

describe("the rule about promises", () => {
  const found = (code: string, more: readonly ReturnType<typeof source>[] = []): number =>
    forgottenPromises([source("src/one.ts", code), ...more]).length;

  test.each([
    ["a call behind void", "void save(store);"],
    ["a function that is named like a method of a map", "const end = () => void add(one);"],
    ["a method behind void", "listen(() => void store.save(1));"],
    ["a method behind void with a question mark", "void one.shown?.close();"],
    ["a promise that goes on with one function", "void over.promise.then(() => go());"],
    ["a promise that only has a finally", "void settle(world, id).finally(goOn);"],
    ["a failure after its handler", "void save().catch(() => undefined).then(() => go());"],
    ["a call behind a condition", "void (isOpen && save());"],
    ["a promise that is kept and dropped", "void (queue = queue.then(() => save()));"],
    ["a statement that goes on with a promise", "function f() {\n  save().then(go);\n}"],
    ["an async function called as a statement", "async function save() {}\nfunction f() {\n  save();\n}"],
    ["an async function called behind if", "const save = async () => {};\nif (x) save();\n"],
    ["a name of this file, when another file promises for its own", "const save = async () => {};\nvoid save();"],
  ])("finds %s", (_what, code) => {
    const other = source("src/two.ts", "/** Never rejects. */\nexport async function save() {}\n");
    expect(found(code, code.startsWith("const save") ? [other] : [])).toBe(1);
  });

  test.each([
    ["a failure that is handled", "void save().catch((error) => log.warn(error));"],
    ["a failure that is handled by the second function", "void sleep(1).then(() => go(), () => undefined);"],
    ["a finally after the handler", "void save().catch(() => undefined).finally(() => go());"],
    ["what the comment promises", "/** Saves it. Never rejects. */\nasync function save() {}\nvoid save();"],
    [
      "what a comment promises of a promise",
      "/** Never rejects. */\nlet queue = go();\nvoid (queue = queue.then(() => 1));",
    ],
    ["methods that end at once", "const end = () => void listeners.delete(one);"],
    ["a value", "void limit;"],
    ["what is awaited", "const end = async () => void (await save());"],
    ["types", "function f(): void {}\ninterface A {\n  save(): Promise<void>;\n}\ntype B = () => void;"],
    ["what is kept", "async function save() {}\nfunction f() {\n  working = save();\n}"],
    ["what is returned", "async function save() {}\nfunction f() {\n  return save();\n}"],
  ])("lets pass %s", (_what, code) => expect(found(code)).toBe(0));

  test("lets pass what the contract of another file promises", () => {
    const contract = source("src/two.ts", "interface A {\n  /** Never rejects. */\n  apply(): Promise<void>;\n}\n");
    expect(found("void platforms.apply();", [contract])).toBe(0);
  });
});
