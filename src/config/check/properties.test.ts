/** Promises that hold for any text: the check never throws, never says yes to what TypeBox refuses, and never pollutes a prototype. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { isSecret } from "../../kit/secret.ts";
import { checkConfigText, ConfigSchema, configJsonSchema } from "../index.ts";
import { migrateText } from "../file/migrate-text.ts";
import { allKeys, rootSchema } from "../schema-node.ts";

const RUNS = 400;
/** Made once: they take longer than the check of a small file. */
const typeBox = Compile(ConfigSchema);
const typeBoxOfJson = Compile(configJsonSchema());
const variables = (name: string) => (name.length % 2 ? "7" : undefined);

const keyNames = [...new Set(allKeys(rootSchema()).map(({ key }) => key)), "token", "maxPending", "__proto__", "x"];
const leaf = fc.oneof(
  fc.string(),
  fc.integer({ min: -10, max: 70_000 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom(
    "loopback",
    "lan",
    "5m",
    "${A}",
    "$${",
    "${",
    "text",
    "warn",
    "http://h",
    "a/b",
    "10.0.0.0/8",
    "password",
  ),
);
const { near } = fc.letrec<{ near: unknown }>((tie) => ({
  near: fc.oneof(
    { depthSize: "medium" },
    leaf,
    fc.array(tie("near"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keyNames), tie("near"), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const section = fc.dictionary(fc.constantFrom(...keyNames), near, { maxKeys: 6, noNullPrototype: true });
const file = fc.record(
  { gateway: section, agent: section, queue: section, models: section, logging: section, media: section },
  { requiredKeys: [], noNullPrototype: true },
);

describe("the check", () => {
  test("never throws, whatever the text", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.json(),
      fc.stringMatching(/^[{}[\]",:$a-z0-9/* \n]*$/),
    );
    fc.assert(
      fc.property(text, (written) => {
        const { config, problems } = checkConfigText(written, variables);
        expect(config === null).toBe(problems.length > 0);
        migrateText(written);
      }),
      { numRuns: RUNS },
    );
  });

  test("never throws on something like a configuration, and every problem has a place in the text", () => {
    fc.assert(
      fc.property(file, (value) => {
        const text = JSON.stringify(value, null, 2);
        const { problems, warnings } = checkConfigText(text, variables);
        const lineCount = text.split("\n").length;
        for (const { line, column, message } of [...problems, ...warnings]) {
          expect(line >= 1 && line <= lineCount && column >= 1).toBe(true);
          expect(message).not.toMatch(/undefined|\[object|Symbol\(/);
        }
        expect(Object.prototype).not.toHaveProperty("x");
      }),
      { numRuns: RUNS },
    );
  });

  test("gives only what TypeBox accepts under the same schema", () => {
    fc.assert(
      fc.property(file, (value) => {
        const { config } = checkConfigText(JSON.stringify(value), variables);
        if (config) expect([...typeBox.Errors(unwrapped(config))]).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test("refuses the single values that TypeBox refuses, and takes those it takes", () => {
    const paths = allKeys(rootSchema()).filter(
      ({ path }) =>
        !/NAME|\[\]|auth|trustedProxies|bind|pool\.m|allowedHosts|model$|timezone$|^store\.(url|secret)$|^backup\.every$|^hooks\.(enabled|token|secret|previousSecret)$/.test(
          path,
        ),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        leaf.filter((value) => !String(value).includes("$")),
        ({ path }, value) => {
          const nested = path.split(".").reduceRight<unknown>((below, key) => ({ [key]: below }), value);
          const text = JSON.stringify(nested);
          const byTypeBox = typeBoxOfJson.Check(JSON.parse(text));
          expect([path, value, checkConfigText(text, variables).config !== null]).toEqual([path, value, byTypeBox]);
        },
      ),
      { numRuns: RUNS * 3 },
    );
  });
});

/** Secrets as the texts they were, so that the schema can be asked about them. */
function unwrapped(value: unknown): unknown {
  if (isSecret(value)) return value.reveal();
  if (Array.isArray(value)) return value.map(unwrapped);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, below]) => [key, unwrapped(below)]));
}
