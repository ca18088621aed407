import { expect, test } from "bun:test";
import type { ReplyRetries, TroubledPart } from "../../contracts/delivery.ts";
import type { Principal, TurnId } from "../../contracts/ids.ts";
import { startHttpWorld } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";

const OPERATOR = "operator" as Principal;

function part(id: string, state: TroubledPart["state"]): TroubledPart {
  return {
    id,
    state,
    turnId: "t" as TurnId,
    sessionKey: API_SESSION,
    part: 0,
    message: { text: "words", kind: "reply" },
    to: { channel: "api", account: "default", chat: "1" },
    createdAt: 1,
    outcome: "done",
    because: "403 blocked",
    attempts: 1,
    firstTriedAt: 2,
    endedAt: 3,
    providerId: null,
  };
}

test("the operator sees which replies did not arrive, and why", async () => {
  await using world = startHttpWorld();
  world.troubled.push(part("t:0", "dead"), part("t:1", "ambiguous"), part("t:2", "dead"));
  const idsOf = async (path: string) =>
    ((await (await world.call(path)).json()) as { items: TroubledPart[] }).items.map(({ id }) => id);
  expect(await idsOf("/api/outbox?state=dead")).toEqual(["t:0", "t:2"]);
  expect(await idsOf("/api/outbox")).toEqual(["t:0", "t:2"]);
  expect(await idsOf("/api/outbox?state=dead&limit=1")).toEqual(["t:0"]);
  expect(await idsOf("/api/outbox?state=ambiguous")).toEqual(["t:1"]);
});

test("a list of replies that makes no sense is refused, and strangers get none at all", async () => {
  await using world = startHttpWorld();
  for (const query of ["state=sent", "state=dead&limit=0", "state=dead&limit=9999", "what=ever"])
    expect([query, (await world.call(`/api/outbox?${query}`)).status]).toEqual([query, 422]);
  expect((await fetch(world.url("/api/outbox?state=dead"))).status).toBe(401);
});

const retry = (id: string) => `/api/outbox/${encodeURIComponent(id)}/retry`;
const POST = { method: "POST" } as const;

test("the operator sends a reply again, and says so when its chat may show it twice", async () => {
  await using world = startHttpWorld();
  world.troubled.push(part("t:0", "dead"), part("t:1", "ambiguous"));
  const answers = [await world.call(retry("t:0"), POST), await world.call(`${retry("t:1")}?mayRepeat=true`, POST)];
  expect(await Promise.all(answers.map((answer) => answer.json()))).toEqual([
    { retried: true, from: "dead" },
    { retried: true, from: "ambiguous" },
  ]);
  expect(world.retries).toEqual([
    ["t:0", { by: OPERATOR, mayRepeat: false }],
    ["t:1", { by: OPERATOR, mayRepeat: true }],
  ]);
});

type Result = Awaited<ReturnType<ReplyRetries["retry"]>>;
test.each<[Result, number, string, RegExp]>([
  [{ kind: "unknown" }, 404, "not_found", /no such reply.*deleted with its conversation/],
  [{ kind: "in_doubt" }, 409, "reply_in_doubt", /may show it twice.*mayRepeat=true.*--yes/],
  [{ kind: "not_lost", state: "pending" }, 409, "reply_not_lost", /waits for its delivery already/],
  [{ kind: "not_lost", state: "sending" }, 409, "reply_not_lost", /waits for its delivery already/],
  [{ kind: "not_lost", state: "sent" }, 409, "reply_not_lost", /has arrived/],
  [{ kind: "deleted" }, 409, "reply_undeliverable", /was deleted/],
  [{ kind: "no_channel", channel: "irc" }, 409, "reply_undeliverable", /no channel irc any more/],
  [{ kind: "no_access" }, 409, "reply_undeliverable", /no access any more/],
])("a reply that is not sent again (%p) is answered with %d %s and a sentence", async (result, status, code, say) => {
  await using world = startHttpWorld({}, { operations: { replyRetries: { retry: async () => result } } });
  const answer = await world.call(retry("t:0"), POST);
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  expect([answer.status, error.code]).toEqual([status, code]);
  expect(error.message).toMatch(say);
});

test("a wish to send a reply again that makes no sense is refused, and so are strangers", async () => {
  await using world = startHttpWorld();
  for (const query of ["mayRepeat=yes", "twice=true"])
    expect([query, (await world.call(`${retry("t:0")}?${query}`, POST)).status]).toEqual([query, 422]);
  expect((await fetch(world.url(retry("t:0")), POST)).status).toBe(401);
  expect(world.retries).toEqual([]);
});
