/** What Discord shows of commands, questions and approvals, up to the limits that it has. */
import { expect, test } from "bun:test";
import type { API } from "@discordjs/core";
import { DiscordAPIError, RateLimitError } from "@discordjs/rest";
import { recordingLog } from "../../../testing/recording-log.ts";
import { approvalPlatform, decidedText } from "./approvals.ts";
import { menuOf, registerMenu } from "./menu.ts";
import { createQuestionMessages, readQuestionButton } from "./question-messages.ts";
import { verifyRequest } from "./signature.ts";

const NEVER = new AbortController().signal;
const HERE = { channel: "discord", account: "default", chat: "500000000000000002" };

test("the menu has a hundred commands that Discord takes, each with a line and, where it takes words, one argument", () => {
  const many = Array.from({ length: 150 }, (_, n) => ({
    name: `c${n}`,
    help: "x".repeat(150),
    usage: "y".repeat(150),
  }));
  const menu = menuOf([{ name: "Not This", help: "no" }, ...many, { name: "last", help: "" }]);
  expect([menu.length, menu[0]?.name]).toEqual([100, "c0"]);
  expect(menu[0] as unknown).toEqual({
    name: "c0",
    type: 1,
    description: "x".repeat(100),
    options: [{ type: 3, name: "text", description: "y".repeat(100), required: false, max_length: 1_500 }],
  });
  const [plain, empty] = menuOf([
    { name: "plain", help: "" },
    { name: "empty", help: "h", usage: "" },
  ] as never);
  expect(plain as unknown).toEqual({ name: "plain", type: 1, description: "plain" });
  expect(empty).toMatchObject({ options: [{ description: "text" }] });
});

test("the menu is that of an owner, is registered with the signal of the channel, and noted when Discord has it", async () => {
  const roles: string[] = [];
  const noted: string[] = [];
  const signals: unknown[] = [];
  const state = { fails: true };
  const bulkOverwriteGlobalCommands = async (_id: string, _menu: unknown, { signal }: { signal: AbortSignal }) => {
    signals.push(signal);
    if (state.fails) throw new Error("no answer");
  };
  const deps = {
    api: { applicationCommands: { bulkOverwriteGlobalCommands } } as unknown as API,
    log: recordingLog(),
    facts: {
      get: async () => noted.at(-1) ?? null,
      put: async (_key: string, value: string) => void noted.push(value),
    } as never,
    commands: (role: string) => (roles.push(role), []),
  };
  await expect(registerMenu(deps, "77", NEVER)).rejects.toThrow("no answer");
  expect(noted).toEqual([]);
  state.fails = false;
  await registerMenu(deps, "77", NEVER);
  await registerMenu(deps, "77", NEVER);
  expect([noted.length, signals, new Set(roles)]).toEqual([1, [NEVER, NEVER], new Set(["owner"])]);
});

test("a question on Discord of several messages is closed in its last one, with as many words as there is room for", async () => {
  const calls: unknown[][] = [];
  let number = 0;
  const channels = {
    createMessage: async (channel: string, body: object) => (
      calls.push(["create", channel, body]),
      { id: `m${++number}` }
    ),
    editMessage: async (...given: unknown[]) => void calls.push(["edit", ...given]),
  };
  const life = new AbortController().signal;
  const questions = createQuestionMessages({ api: { channels } as unknown as API, log: recordingLog() }, life);
  expect([questions.maxButtons, questions.maxLabelChars]).toEqual([25, 80]);
  const text = `${"first ".repeat(300)}\n\n${"second ".repeat(40)}`;
  const labels = Array.from({ length: 12 }, (_, at) => `choice ${at}`);
  const shown = await questions.show({ id: "question_1", to: HERE, text, labels } as never, NEVER);
  const bodies = calls.map(
    (call) => call[2] as { content: string; components: { components: { custom_id: string }[] }[] },
  );
  expect(bodies.map(({ components }) => components.map((row) => row.components.length))).toEqual([[], [5, 5, 2]]);
  expect(readQuestionButton(bodies[1]?.components[2]?.components[1]?.custom_id ?? "")).toEqual({
    id: "question_1",
    at: 11,
  });
  await shown.close({ answered: true, words: "w".repeat(500) });
  const [, channel, messageId, body, options] = calls.at(-1) ?? [];
  expect([channel, messageId, shown.messageId]).toEqual([HERE.chat, "m2", "m2"]);
  const content = `${bodies[1]?.content}\n\n${"w".repeat(198)}`;
  expect([body, (options as { signal: AbortSignal }).signal === life]).toEqual([{ content, components: [] }, true]);
});

test("an approval on Discord is posted again after the pause it asks for, soon after a lost answer, and not after a refusal", () => {
  const { retryAfterMs } = approvalPlatform({} as API);
  const refused = new DiscordAPIError({ code: 50013, message: "no" }, 50013, 403, "POST", "https://d.example", {});
  const errors = [new RateLimitError({ retryAfter: 7_000 } as never), new Error("no answer"), refused];
  expect(errors.map((error) => retryAfterMs(error))).toEqual([7_000, 1_000, null]);
});

test("a decision on Discord names who made it, and nothing in a name is formatting", () => {
  expect([decidedText("once", "*Eve*"), decidedText("session", "a_b"), decidedText("deny", "Ann")]).toEqual([
    "Allowed once by \\*Eve\\*.",
    "Allowed in this session by a\\_b.",
    "Denied by Ann.",
  ]);
});

test.each(["", "-1", "1e9", "1700000000.5", "1".repeat(13), "0x10"])(
  "a request with the time %p is forged, whoever signed it",
  async (timestamp) => {
    const keys = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    const publicKey = Buffer.from(await crypto.subtle.exportKey("raw", keys.publicKey)).toString("hex");
    const body = new TextEncoder().encode("{}");
    const signed = Buffer.concat([Buffer.from(timestamp), body]);
    const signature = Buffer.from(await crypto.subtle.sign("Ed25519", keys.privateKey, signed)).toString("hex");
    const headers = new Headers({ "x-signature-ed25519": signature, "x-signature-timestamp": timestamp });
    expect(await verifyRequest({ headers, body }, publicKey, Number(timestamp) * 1_000)).toBe("forged");
  },
);
