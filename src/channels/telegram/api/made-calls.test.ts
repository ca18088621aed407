/** Calls to the Bot API as Telegram gets them: where they go, when they are made at all, again without formatting, or given up. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { deferred } from "../../../kit/deferred.ts";
import { secret } from "../../../kit/secret.ts";
import { createFakeClock, type FakeClock } from "../../../testing/fake-clock.ts";
import { recordingLog } from "../../../testing/recording-log.ts";
import { waitFor } from "../../../testing/wait-for.ts";
import type { AccountState } from "../../kit/index.ts";
import { type BotApi, openBotApi } from "./bot-api.ts";
import { Fault } from "./faults.ts";
import { followMoves, openMovedChats } from "./moved-chats.ts";

const NEVER = new AbortController().signal;
const asked: { readonly path: string; readonly body: Record<string, unknown> }[] = [];
let server: Bun.Server<undefined>;
let clock: FakeClock;
let api: BotApi;
let answer: (nth: number) => Response | Promise<Response>;
const ok = (result: unknown = { message_id: 1 }): Response => Response.json({ ok: true, result });
const refused = (description: string): Response =>
  Response.json({ ok: false, error_code: 400, description: `Bad Request: ${description}` }, { status: 400 });

beforeAll(async () => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const text = await request.text();
      asked.push({ path: new URL(request.url).pathname, body: text.startsWith("{") ? JSON.parse(text) : {} });
      return answer(asked.length);
    },
  });
  clock = createFakeClock();
  api = await openBotApi({ clock }, { token: secret("1:t"), apiRoot: `http://127.0.0.1:${server.port}//` });
});
afterAll(() => server.stop(true));
beforeEach(() => {
  asked.length = 0;
  answer = () => ok();
});

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "it worked",
    (error: unknown) => (error instanceof Fault ? error.info : error),
  );

test("calls and files go below the address of the settings, however many slashes it ends with", async () => {
  await api.call("sendMessage", { chat_id: 1, text: "x" }, NEVER);
  answer = (nth) => (nth === 2 ? ok({ file_path: "a b/ü?.txt" }) : new Response("words"));
  await api.download("f", NEVER);
  expect(asked.map(({ path }) => path)).toEqual([
    "/bot1:t/sendMessage",
    "/bot1:t/getFile",
    "/file/bot1:t/a%20b/%C3%BC%3F.txt",
  ]);
});

test("a call that is given up before it is made reaches nobody, and surely had no effect", async () => {
  const info = await faultOf(api.call("sendMessage", { chat_id: 1, text: "x" }, AbortSignal.abort()));
  expect([info, asked]).toEqual([{ kind: "unreached", detail: "given up before it was called" }, []]);
});

test.each([
  ["half a minute", 30_000, (bot: BotApi) => bot.call("sendMessage", { chat_id: 1, text: "x" }, NEVER)],
  ["half a minute", 30_000, (bot: BotApi) => bot.me(NEVER)],
  ["its own time", 7_000, (bot: BotApi) => bot.slowCall("sendMessage", { chat_id: 1, text: "x" }, NEVER, 7_000)],
])("a call that is not answered within %s may have happened, and leaves no timer", async (_time, ms, call) => {
  const hold = deferred<Response>();
  answer = () => hold.promise;
  const info = faultOf(call(api));
  await waitFor("the call", () => asked.length === 1);
  await clock.advance(ms - 1);
  expect(clock.pending()).toBe(1);
  await clock.advance(1);
  expect([await info, clock.pending()]).toEqual([{ kind: "lost", detail: `no answer within ${ms / 1_000} s` }, 0]);
  hold.resolve(ok());
});

test("words whose formatting Telegram does not take are said again without any of it, files and lists as they were", async () => {
  answer = (nth) => (nth === 1 ? refused("can't parse entities: nesting") : ok());
  const media = [
    { type: "photo", media: "f1", caption: "c", caption_entities: [{ type: "bold", offset: 0, length: 1 }] },
    { type: "photo", media: "f2", caption: "d", parse_mode: "HTML" },
  ];
  await api.call("sendMediaGroup", { chat_id: 1, media } as never, NEVER);
  expect(asked.map(({ body }) => body)).toEqual([
    { chat_id: 1, media },
    {
      chat_id: 1,
      media: [
        { type: "photo", media: "f1", caption: "c" },
        { type: "photo", media: "f2", caption: "d" },
      ],
    },
  ]);
});

test.each([
  ["has no formatting", "can't parse entities", { text: "x" }],
  ["is refused for something else", "chat not found", { text: "x", entities: [] }],
])("a message that %s is not said again when Telegram refuses it", async (_how, description, more) => {
  answer = () => refused(description);
  const info = await faultOf(api.call("sendMessage", { chat_id: 1, ...more } as never, NEVER));
  expect([info, asked.length]).toMatchObject([{ kind: "refused", code: 400 }, 1]);
});

/** What was written down, each time. */
function facts(stored: string | null = null) {
  const puts: [string, string][][] = [];
  const put = async (_key: string, value: string): Promise<void> => void puts.push(JSON.parse(value));
  return { puts, facts: { get: async () => stored, put } as unknown as AccountState };
}

test("a group that moves again is stored once, with its newest number, and a move to where it is not at all", async () => {
  const disk = facts();
  const moved = await openMovedChats({ facts: disk.facts, log: recordingLog() });
  await moved.learn("-1", "-1");
  await moved.learn("-1", "-100");
  await moved.learn("-1", "-100");
  await moved.learn("-2", "-200");
  await moved.learn("-100", "-101");
  expect(disk.puts.at(-1)).toEqual([
    ["-2", "-200"],
    ["-1", "-101"],
  ]);
  expect(disk.puts).toHaveLength(3);
  expect([moved.now("-1"), moved.first("-101"), moved.first("-100"), moved.now("-3"), moved.first("-3")]).toEqual([
    "-101",
    "-1",
    "-1",
    "-3",
    "-3",
  ]);
});

test("a thousand groups that moved are stored, and the one that moved longest ago is forgotten first", async () => {
  const all = Array.from({ length: 1_000 }, (_, n): [string, string] => [`-${n}`, `-100${n}`]);
  const disk = facts(JSON.stringify(all));
  const moved = await openMovedChats({ facts: disk.facts, log: recordingLog() });
  await moved.learn("-5000", "-1005000");
  expect([disk.puts[0]?.length, disk.puts[0]?.[0], disk.puts[0]?.at(-1)]).toEqual([
    1_000,
    all[1] as never,
    ["-5000", "-1005000"],
  ]);
});

test("a send that is told of a move is made once more where the group is now; anything else is not", async () => {
  const calls: [string, string][] = [];
  const moves = new Fault({ kind: "refused", code: 400, detail: "upgraded", movedTo: "-100" });
  const bare = {
    async call(method: string, { chat_id }: { chat_id: string }) {
      calls.push([method, chat_id]);
      if (chat_id === "-1") throw moves;
      return {};
    },
  } as unknown as BotApi;
  const open = async () => followMoves(bare, await openMovedChats({ facts: facts().facts, log: recordingLog() }));
  const sending = await open();
  await sending.call("sendMessage", { chat_id: "-1", text: "x" }, NEVER);
  await sending.call("sendMessage", { chat_id: "-1", text: "y" }, NEVER);
  const editing = await open();
  expect(await faultOf(editing.call("editMessageText", { chat_id: "-1", message_id: 1, text: "x" }, NEVER))).toBe(
    moves.info,
  );
  expect(calls).toEqual([
    ["sendMessage", "-1"],
    ["sendMessage", "-100"],
    ["sendMessage", "-100"],
    ["editMessageText", "-1"],
  ]);
});
