import { expect, test } from "bun:test";
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { BranchRequest } from "../../contracts/flow.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import { type HttpWorld, startHttpWorld } from "../../testing/http/http-fixture.ts";
import { API_SESSION } from "../../testing/http/memory-store.ts";

const path = `/api/sessions/${encodeURIComponent(API_SESSION)}`;
const said = (id: string, text: string): TranscriptItem => ({ id, role: "user", text, at: 1, turnId: "t" as TurnId });

/** A session whose turn had two messages, and what was asked of those who go back and branch. */
function branchWorld() {
  const world = startHttpWorld();
  const rewound: (readonly [SessionKey, string])[] = [];
  const branched: (readonly [SessionKey, BranchRequest])[] = [];
  const place = { turnId: "t" as TurnId, file: "f", beganBytes: 1, settledBytes: 2, endedAt: 2 };
  Object.assign(world.deps.store.sessions.branches, {
    place: async (_key: SessionKey, id: string) => {
      if (id === "nothing") return null;
      return { ...place, said: id === "run:0" ? [] : [said("in_1", "first"), said("in_2", "second")] };
    },
  });
  Object.assign(world.deps.messages.care, {
    rewind: async (key: SessionKey, id: string) => void rewound.push([key, id]),
    branch: async (key: SessionKey, request: BranchRequest) => {
      branched.push([key, request]);
      return { sessionKey: request.to.sessionKey, title: "A title (branch)" };
    },
  });
  return { world, rewound, branched };
}

const texts = (world: HttpWorld) => world.received.map(({ text }) => text);

test("a message is sent again with the others of its turn, with other words or as it was, after the session went back", async () => {
  const { world, rewound } = branchWorld();
  await using _world = world;
  const changed = await world.postJson(`${path}/resend`, { message: "in_2", text: "another second" });
  expect(await changed.json()).toMatchObject({ accepted: expect.any(String), sessionKey: API_SESSION });
  await world.postJson(`${path}/resend`, { message: "t:0" });
  expect(texts(world)).toEqual(["first\n\nanother second", "first\n\nsecond"]);
  expect(rewound).toEqual([
    [API_SESSION, "in_2"],
    [API_SESSION, "t:0"],
  ]);
});

test("a message that cannot be sent again is refused before the session goes back", async () => {
  const { world, rewound } = branchWorld();
  await using _world = world;
  const maxChars = 200_001;
  for (const [body, status] of [
    [{ message: "t:0", text: "words for a reply" }, 422],
    [{ message: "nothing", text: "x" }, 422],
    [{ message: "run:0" }, 409],
    [{ message: "in_1", text: "x".repeat(maxChars) }, 413],
    [{ text: "x" }, 422],
    [{ message: "in_1", txt: "x" }, 422],
  ] as const)
    expect([body, (await world.postJson(`${path}/resend`, body)).status]).toEqual([body, status]);
  const elsewhere = encodeURIComponent("agent:default:telegram:dm:7");
  for (const action of ["resend", "branch"])
    expect((await world.postJson(`/api/sessions/${elsewhere}/${action}`, { message: "in_1" })).status).toBe(422);
  expect([rewound, texts(world)]).toEqual([[], []]);
});

test("a branch gets a session of the web console with the same agent, or the name that was given", async () => {
  const { world, branched } = branchWorld();
  await using _world = world;
  const made = (await (await world.postJson(`${path}/branch`, { message: "in_1" })).json()) as { sessionKey: string };
  expect(made.sessionKey).toMatch(/^agent:default:webchat:dm:[a-z0-9-]+$/);
  await world.postJson(`${path}/branch`, { session: "other-way" });
  expect(branched).toMatchObject([
    [API_SESSION, { message: "in_1", by: "operator", to: { channel: "webchat" } }],
    [API_SESSION, { to: { sessionKey: "agent:default:api:dm:other-way", channel: "api" } }],
  ]);
  const taken = await world.postJson(`${path}/branch`, { session: "agent:other:api:dm:x" });
  expect(taken.status).toBe(422);
});
