/** The schemas of 537 real tools: all are usable but the ones named here, and our verdict on values is the one of another validator. */
import { describe, expect, test } from "bun:test";
import Ajv from "ajv";
import addFormats from "ajv-formats";
import Ajv2020 from "ajv/dist/2020.js";
import type { Tool } from "../../contracts/tools/tool.ts";
import { broken, goodValue } from "../../testing/tools/schema-values.ts";
import { createChance } from "../../testing/chance.ts";
import { type CorpusTool, serverOf, toolCorpus } from "../../testing/tools/tool-corpus.ts";
import { nameTools } from "../../testing/tools/foreign-tool-names.ts";
import { registryOf } from "../../testing/tools/quiet-gate.ts";
import { createSchemaCompiler } from "./compile.ts";

const corpus = await toolCorpus();
const SEED = 20_260_728;
const VALUES_PER_TOOL = 12;
const SLOW_MACHINE_MS = 120_000;

/** The only tool whose schema is not checked as a whole: its pattern looks ahead, which RE2 does not do. */
const CHECKED_IN_PART = ["dynatrace-mcp-server_send_email"];

function asTools(): Tool[] {
  const names = nameTools(corpus.map((tool) => ({ server: serverOf(tool), name: tool.name })));
  return corpus.map(({ inputSchema }, index) => ({
    name: names[index] ?? "",
    label: "A tool",
    description: "A tool",
    parameters: inputSchema,
    flags: { idempotent: true },
    timeoutMs: 1_000,
    execute: async () => ({ content: [] }),
  }));
}

describe("the tools of 25 real servers", () => {
  test("are usable side by side; the ones with a pattern that looks ahead say that it is not checked", () => {
    const registry = registryOf(asTools());
    expect(registry.allUsable(null).length).toBe(537);
    const noted = registry.list().filter(({ notices }) => notices !== undefined);
    expect(noted.map(({ name }) => name)).toEqual(CHECKED_IN_PART);
    expect(noted[0]?.notices?.[0]).toMatch(
      /^At .*: the pattern .* \(it looks ahead or behind\)\. It is not checked\.$/,
    );
  });

  test("accept what they accepted before with their defaults filled in, or keep the call as it was", () => {
    const filled = corpus.map((tool) => {
      const made = compile(tool.inputSchema);
      if (made.kind === "quarantined") throw new Error(made.because);
      const value = goodValue(tool.inputSchema, createChance(SEED, tool.name));
      const withDefaults = made.withDefaults(value);
      return { changed: withDefaults !== value, before: made.check(value).ok, after: made.check(withDefaults).ok };
    });
    expect(filled.filter(({ changed }) => changed).length).toBeGreaterThan(50);
    expect(filled.filter(({ before, after }) => before && !after).length).toBe(0);
  });

  test("get names that agents and providers take, each its own", () => {
    const names = asTools().map(({ name }) => name);
    expect(names.filter((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(537);
  });

  test("take less than 300 ms of computing to register", () => {
    const tools = asTools();
    const rounds = [1, 2, 3].map(() => {
      const before = process.cpuUsage();
      registryOf(tools);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    expect(Math.min(...rounds)).toBeLessThan(300);
  });
});

/** Ajv refuses an `enum` without values, which the specification only advises against: no value fits. It is told so in other words. */
function withoutEmptyEnums(schema: CorpusTool["inputSchema"]): CorpusTool["inputSchema"] {
  const isEmpty = (part: unknown) => JSON.stringify((part as { enum?: unknown } | null)?.enum) === "[]";
  return JSON.parse(JSON.stringify(schema), (_key, part: unknown) => (isEmpty(part) ? { not: {} } : part));
}

/** It requires a value of an empty list, so that no call can be right. */
const NEVER_FITS = ["mcp netlify-coding-rules"];

function ajvJudges(): (tool: CorpusTool) => (value: unknown) => boolean {
  const options = { strict: false, ownProperties: true, logger: false } as const;
  const [seven, modern] = [new Ajv(options), new Ajv2020(options)];
  addFormats(seven);
  addFormats(modern);
  return ({ inputSchema }) => {
    const ajv = String(inputSchema.$schema).includes("draft-07") ? seven : modern;
    const validate = ajv.compile(withoutEmptyEnums(inputSchema));
    return (value) => validate(value) === true;
  };
}

const compile = createSchemaCompiler();
const judge = ajvJudges();

/** Every other value is broken on purpose. */
function compare(tool: CorpusTool): { disagreements: string[]; good: number; fits: number } {
  const id = `${serverOf(tool)} ${tool.name}`;
  const ours = compile(tool.inputSchema);
  if (ours.kind === "quarantined" || ours.notices.length > 0) return { disagreements: [], good: 1, fits: 0 };
  const theirs = judge(tool);
  const chance = createChance(SEED, id);
  const found = { disagreements: [] as string[], good: 0, fits: 0 };
  for (let round = 0; round < VALUES_PER_TOOL; round++) {
    const meant = goodValue(tool.inputSchema, chance);
    const value = round % 2 === 0 ? meant : broken(meant, chance);
    const [we, they] = [ours.check(value).ok, theirs(value)];
    if (we !== they) found.disagreements.push(`${id}: ours ${we}, ajv ${they}: ${JSON.stringify(value)}`);
    if (they) found.fits++;
    if (they && round % 2 === 0) found.good++;
  }
  return found;
}

test(
  "our verdict on good and broken values of every tool is ajv's",
  () => {
    const found = corpus.map((tool) => ({ id: `${serverOf(tool)} ${tool.name}`, ...compare(tool) }));
    expect(found.flatMap(({ disagreements }) => disagreements)).toEqual([]);
    expect(found.filter(({ good }) => good === 0).map(({ id }) => id)).toEqual(NEVER_FITS);
    const fits = found.reduce((sum, each) => sum + each.fits, 0);
    expect(fits).toBeGreaterThan(4_000);
    expect(536 * VALUES_PER_TOOL - fits).toBeGreaterThan(1_800);
  },
  SLOW_MACHINE_MS,
);
