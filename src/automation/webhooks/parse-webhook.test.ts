/** Bodies of incoming webhooks: for each field the longest value that is taken, and what is refused, with the field's name. */
import { describe, expect, test } from "bun:test";
import { checkConfigText } from "../../config/index.ts";
import { parseWebhook } from "./parse-webhook.ts";
import { rulesFor } from "./rules.ts";

const TASK = "Say why.";

const { config } = checkConfigText(
  JSON.stringify({
    hooks: {
      enabled: true,
      token: "the-token-of-hooks-9a8b7c6d5e",
      mappings: {
        all: { message: "{{.}}", task: TASK, signed: false },
        twice: { message: "{{.}}{{.}}", signed: false },
      },
    },
  }),
  () => undefined,
);

function parse(hook: string, body: unknown, bytes = new TextEncoder().encode(JSON.stringify(body))) {
  const rules = config && rulesFor(hook, config.hooks);
  if (!rules) throw new Error(`no hook ${hook}`);
  return parseWebhook(bytes, rules);
}

interface Field {
  readonly name: string;
  readonly longest: string;
  /** One character more than the longest, and other texts that are refused. */
  readonly refused: readonly string[];
}

const longText = (name: string): Field => ({
  name,
  longest: "x".repeat(7_900),
  refused: ["x".repeat(7_901), " \n", ""],
});
const shortText = (name: string): Field => ({ name, longest: "x".repeat(512), refused: ["x".repeat(513), ""] });
const identifier = (name: string): Field => ({
  name,
  longest: `a${"0-".repeat(31)}b`,
  refused: [`a${"0-".repeat(31)}bc`, "", "-a", "A", "a b", "a\n"],
});
const oneOf = (name: string, ...values: readonly string[]): readonly Field[] =>
  values.map((longest) => ({ name, longest, refused: ["soon", "", longest.toUpperCase()] }));

describe.each([
  ["wake", { text: "x" }, [longText("text"), ...oneOf("mode", "now", "next-heartbeat"), shortText("to")]],
  [
    "agent",
    { message: "x" },
    [
      longText("message"),
      identifier("name"),
      identifier("agent"),
      identifier("agentId"),
      shortText("session"),
      ...oneOf("delivery", "announce", "direct", "silent"),
      shortText("to"),
      identifier("webhook"),
    ],
  ],
] as const)("the hook %s", (hook, least, fields) => {
  test.each<Field>([...fields])(
    "takes $name up to its limit, and nothing longer, emptier or of another kind",
    (field) => {
      expect(parse(hook, { ...least, [field.name]: field.longest }).ok).toBe(true);
      for (const wrong of [...field.refused, 7, true, null, [field.longest], {}]) {
        const problem = parse(hook, { ...least, [field.name]: wrong });
        expect([wrong, problem]).toEqual([
          wrong,
          { ok: false, problem: expect.stringContaining(`\`${field.name}\` must be`) },
        ]);
      }
    },
  );

  test("says which field is missing, and which one it does not know, shortened", () => {
    const [needed = ""] = Object.keys(least);
    expect(parse(hook, {})).toEqual({ ok: false, problem: `\`${needed}\` is missing.` });
    const unknown = parse(hook, { ...least, ["y".repeat(100)]: "x" });
    expect(unknown).toMatchObject({
      ok: false,
      problem: expect.stringContaining(`no field \`${"y".repeat(40)}\` here`),
    });
    expect(parse(hook, { ...least, valueOf: "x" }).ok).toBe(false);
  });

  test.each([[null], ["text"], [7], [[least]]])("refuses %j, which is no object", (body) => {
    expect(parse(hook, body)).toEqual({ ok: false, problem: "The body must be a JSON object." });
  });
});

test("requests that name nothing get the default of each field", () => {
  expect(parse("wake", { text: "x" })).toEqual({ ok: true, asked: { kind: "wake", text: "x", now: true, to: null } });
  const work = { name: "agent", text: "x", task: null, agent: "default", session: "hook", delivery: "announce" };
  expect(parse("agent", { message: "x" })).toEqual({
    ok: true,
    asked: { kind: "work", ...work, to: null, webhook: null } as never,
  });
});

test("a conversation that a request names is where its text is put, and only `main` leaves the choice to `to`", () => {
  const sessionOf = (fields: object) => parse("agent", { message: "x", ...fields });
  expect(sessionOf({ session: "request", to: "a" })).toMatchObject({ asked: { session: "request", to: "a" } });
  expect(sessionOf({ session: "main", to: "a" })).toMatchObject({ asked: { session: "main", to: "a" } });
  expect(sessionOf({ session: "b", to: "a" })).toMatchObject({ asked: { session: "main", to: "b" } });
  expect(sessionOf({ session: "hook", webhook: "ops" }).ok).toBe(true);
  expect(sessionOf({ session: "b", webhook: "ops" }).ok).toBe(false);
});

describe("the body of a webhook", () => {
  const problem = "The body is not valid JSON, or nested too deeply.";

  test("that is not UTF-8 is refused, and never read with other characters in it", () => {
    const bytes = new Uint8Array([...new TextEncoder().encode('{"text":"'), 0xff, ...new TextEncoder().encode('"}')]);
    expect(parse("wake", null, bytes)).toEqual({ ok: false, problem });
    expect(parse("wake", null, new Uint8Array())).toEqual({ ok: false, problem });
  });

  test("is read down to 64 levels and up to 256 Ki characters", () => {
    const nested = (levels: number) => new TextEncoder().encode("[".repeat(levels) + "]".repeat(levels));
    expect([parse("all", null, nested(64)).ok, parse("all", null, nested(65)).ok]).toEqual([true, false]);
    const long = (chars: number) => new TextEncoder().encode(JSON.stringify("x".repeat(chars - 2)));
    expect([parse("all", null, long(256 * 1024)).ok, parse("all", null, long(256 * 1024 + 1)).ok]).toEqual([
      true,
      false,
    ]);
  });

  test("fills a mapping's message with 6,000 characters of each value, and 7,900 in all; the task stays apart", () => {
    const text = (body: unknown, hook = "all") => {
      const read = parse(hook, body);
      return read.ok && read.asked.kind === "work" ? read.asked : null;
    };
    expect(text("y".repeat(6_000))?.text).toBe("y".repeat(6_000));
    const cut = text("y".repeat(6_001))?.text ?? "";
    expect([cut === "y".repeat(6_001), cut.startsWith("y".repeat(5_900)), cut.length <= 6_100]).toEqual([
      false,
      true,
      true,
    ]);
    expect(text("y".repeat(3_950), "twice")?.text).toBe("y".repeat(7_900));
    expect(text("y".repeat(3_951), "twice")?.text).toMatch(/^y{7900}[^y]/); // and a mark that it was cut
    expect(text("y")?.task).toBe(TASK);
  });
});
