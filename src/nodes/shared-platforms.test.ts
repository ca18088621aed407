/** What agents do in chats of a platform that another gateway receives for. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Channel } from "../contracts/channel.ts";
import type { ShownQuestion } from "../contracts/channels/question.ts";
import type { InstanceId, Principal, SessionKey } from "../contracts/ids.ts";
import type { LetterStore } from "../contracts/store/letters.ts";
import { systemClock } from "../kit/clock.ts";
import { systemIds } from "../kit/ids.ts";
import { createEvents } from "../observe/index.ts";
import { createLetterHub } from "../testing/letter-hub.ts";
import { testPostgres } from "../testing/postgres/database.ts";
import { createPostgresWorlds } from "../testing/postgres/store-world.ts";
import { recordingLog } from "../testing/recording-log.ts";
import { waitFor } from "../testing/wait-for.ts";
import { createOtherNodes } from "./other-nodes.ts";
import { sharePlatforms } from "./shared-platforms.ts";

setDefaultTimeout(30_000);

const [A, B] = ["gateway_a", "gateway_b"] as [InstanceId, InstanceId];
const never = new AbortController().signal;
const TO = { channel: "telegram", account: "default", chat: "1" };
const SESSION = "agent:default:telegram:dm:1" as SessionKey;
const TARGET = { to: TO, sessionKey: SESSION, messageId: "7" };
const QUESTION = {
  id: "q1",
  to: TO,
  of: "telegram:user:1" as Principal,
  sessionKey: SESSION,
  text: "Tea?",
  labels: ["Yes", "No"],
};

/** A platform that writes down what is done on it, and can do everything but pin. */
function platform() {
  const done: unknown[] = [];
  const act =
    (name: string) =>
    async (...given: unknown[]) => {
      done.push([name, ...given.filter((one) => !(one instanceof AbortSignal))]);
      return { kind: "done" } as const;
    };
  const close: ShownQuestion["close"] = async ({ words }) => void done.push(["close", words]);
  const channel: Channel = {
    ...away("telegram"),
    react: act("react"),
    edit: act("edit"),
    delete: act("delete"),
    questions: {
      maxButtons: 5,
      maxLabelChars: 20,
      show: async ({ id }) => {
        done.push(["show", id]);
        return { messageId: "9", close };
      },
    },
  };
  return { done, channel };
}

/** As a platform is that is not open. */
function away(id: string): Channel {
  return {
    id,
    canRefuse: false,
    repeat: "safe",
    send: () => Promise.reject(new Error("not open")),
    ready: () => false,
    health: () => ({ ok: false, detail: "away" }),
  };
}

function gateway(letters: LetterStore) {
  const log = recordingLog();
  const events = createEvents({ log });
  const nodes = createOtherNodes({ clock: systemClock, log, ids: systemIds, letters });
  const state: { open: Channel | null } = { open: null };
  const current = () => state.open ?? away("telegram");
  const own = {
    channel: (id: string) => (id === "telegram" ? current() : undefined),
    channels: () => [current()],
    isOpen: () => state.open !== null,
  };
  const shared = sharePlatforms(own, { clock: systemClock, log, events, nodes });
  return {
    channel: () => shared.channel("telegram"),
    unknown: () => shared.channel("discord"),
    open(channel: Channel | null) {
      state.open = channel;
      events.emit("status", { what: "channels" });
    },
  };
}

const reachesFar = ({ channel }: ReturnType<typeof gateway>) =>
  waitFor("the platform of the other gateway", () => channel()?.questions !== undefined);

test("reactions, edits and deletions are done by the gateway that has the platform, and what it cannot do nobody offers", async () => {
  const hub = createLetterHub();
  const [one, other] = [gateway(hub.join(A)), gateway(hub.join(B))];
  const { channel, done } = platform();
  other.open(channel);
  await reachesFar(one);
  const far = one.channel();
  expect(await far?.react?.(TARGET, { emoji: ["👍"], remove: false }, never)).toEqual({ kind: "done" });
  expect(await far?.edit?.(TARGET, "new", never)).toEqual({ kind: "done" });
  expect(await far?.delete?.(TARGET, never)).toEqual({ kind: "done" });
  expect(done).toEqual([
    ["react", TARGET, { emoji: ["👍"], remove: false }],
    ["edit", TARGET, "new"],
    ["delete", TARGET],
  ]);
  expect([far?.pin, far?.ready(TO), one.unknown()]).toEqual([undefined, false, undefined]);
  expect(other.channel()).toBe(channel);
});

test("a question with buttons is shown and closed by the gateway that has the platform", async () => {
  const hub = createLetterHub();
  const [one, other] = [gateway(hub.join(A)), gateway(hub.join(B))];
  const { channel, done } = platform();
  other.open(channel);
  await reachesFar(one);
  expect(one.channel()?.questions).toMatchObject({ maxButtons: 5, maxLabelChars: 20 });
  const shown = await one.channel()?.questions?.show(QUESTION, never);
  expect(shown?.messageId).toBe("9");
  await shown?.close({ answered: true, words: "Answered: Yes" });
  expect(done).toEqual([
    ["show", "q1"],
    ["close", "Answered: Yes"],
  ]);
});

test("a question whose gateway has ended is closed, and a platform whose gateway has ended is there no more", async () => {
  const hub = createLetterHub();
  const [one, other] = [gateway(hub.join(A)), gateway(hub.join(B))];
  const { channel, done } = platform();
  other.open(channel);
  await reachesFar(one);
  await one.channel()?.questions?.show(QUESTION, never);
  hub.end(A);
  await waitFor("the end of the question", () => done.length === 2);
  expect(done[1]).toEqual(["close", "This question is over. The gateway that asked it has ended."]);

  const third = gateway(hub.join("gateway_c" as InstanceId));
  await reachesFar(third); // it came later, and asked
  const far = third.channel();
  other.open(null); // given back, and told
  expect(await far?.edit?.(TARGET, "late", never)).toMatchObject({ kind: "refused" });
  await waitFor("the end of the platform", () => third.channel()?.edit === undefined);
});

test("a platform that this gateway has open itself is its own, whatever others said before", async () => {
  const hub = createLetterHub();
  const [one, other] = [gateway(hub.join(A)), gateway(hub.join(B))];
  other.open(platform().channel);
  await reachesFar(one);
  const { channel } = platform();
  one.open(channel);
  expect(one.channel()).toBe(channel);
});

describe.skipIf((await testPostgres()) === null)("two gateways on one Postgres database", () => {
  const worlds = createPostgresWorlds();
  afterAll(() => worlds[Symbol.asyncDispose]());

  test("an edit at one gateway reaches the platform of the other one", async () => {
    await using world = await worlds.open();
    const [one, other] = [gateway(world.store.letters), gateway((await world.openSecond()).letters)];
    const { channel, done } = platform();
    other.open(channel);
    await reachesFar(one);
    expect(await one.channel()?.edit?.(TARGET, "new", never)).toEqual({ kind: "done" });
    expect(done).toEqual([["edit", TARGET, "new"]]);
  });
});
