/** Wherever a secret belongs, and in every group or list around that place, what somebody wrote there is not repeated in a problem. */
import { expect, test } from "bun:test";
import { rootSchema, type SchemaNode } from "../schema-node.ts";
import { checkConfigText } from "./check.ts";

const WORDS = "hunter2-is-my-secret";
const DIGITS = 7_654_321;

/** Null: an entry of a list. */
type Step = string | null;

interface Place {
  readonly steps: readonly Step[];
  readonly holdsSecret: boolean;
}

/** Every place of the schema, with whether a secret stands there or below. */
function placesOf(node: SchemaNode, steps: readonly Step[]): readonly Place[] {
  const below = [
    ...Object.entries(node.properties ?? {}).flatMap(([key, one]) => placesOf(one, [...steps, key])),
    ...Object.values(node.patternProperties ?? {}).flatMap((one) => placesOf(one, [...steps, "x"])),
    ...(node.items ? placesOf(node.items, [...steps, null]) : []),
    ...(node.anyOf ?? []).flatMap((one) => placesOf(one, steps)),
  ];
  return [...below, { steps, holdsSecret: node.secret === true || below.some((place) => place.holdsSecret) }];
}

const written = (steps: readonly Step[], value: unknown): unknown =>
  steps.reduceRight((held, step) => (step === null ? [held] : { [step]: held }), value);

const nameOf = (steps: readonly Step[]): string => steps.map((step) => step ?? "[]").join(".");

test("a value that is written where a secret belongs, or a group or list of them, is in no problem", () => {
  const places = placesOf(rootSchema(), []).filter(({ steps, holdsSecret }) => holdsSecret && steps.length > 0);
  const names = places.map(({ steps }) => nameOf(steps));
  expect(names).toContain("models.keys.x");
  expect(names).toContain("mcp.servers.x.headers.x");
  expect(new Set(names).size).toBeGreaterThan(40);
  const repeated = places.filter(({ steps }) =>
    [WORDS, DIGITS, [WORDS], { [WORDS.length]: WORDS }].some((value) => {
      const { problems, warnings } = checkConfigText(JSON.stringify(written(steps, value)), () => undefined);
      return JSON.stringify([problems, warnings]).match(`${WORDS}|${DIGITS}`) !== null;
    }),
  );
  expect(repeated.map(({ steps }) => nameOf(steps))).toEqual([]);
});
