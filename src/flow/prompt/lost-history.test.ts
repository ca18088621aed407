/** What a model is told of a conversation whose session file was lost: the newest messages that fit, oldest first, and nothing else. */
import { describe, expect, test } from "bun:test";
import type { TranscriptItem } from "../../contracts/chat.ts";
import type { SessionKey, TurnId } from "../../contracts/ids.ts";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { conversationOf, historyFor } from "./started-over.ts";

const EARLIER = "turn_1" as TurnId;
const said = (text: string, more: Partial<TranscriptItem> = {}): TranscriptItem =>
  ({ id: text.slice(0, 20), role: "user", text, at: 1, turnId: EARLIER, ...more }) as TranscriptItem;
const LONGEST = 4_000;
/** With what a line has besides: "person: ". */
const filling = (chars: number): TranscriptItem => said("x".repeat(chars - "person: ".length));

describe("the conversation that is told again", () => {
  test("has a message of 4,000 characters whole, and a longer one cut between characters", () => {
    const whole = "x".repeat(LONGEST);
    expect(conversationOf([said(whole)])).toBe(`person: ${whole}`);
    const cut = conversationOf([said(`${"x".repeat(LONGEST - 1)}🌍`)]);
    expect([cut.endsWith(" … (shortened)"), cut.isWellFormed()]).toEqual([true, true]);
  });

  test("ends before the first message that does not fit into 16,000 characters: nothing older is told without it", () => {
    const four = [filling(4_000), filling(4_000), filling(4_000), filling(4_000)];
    expect(conversationOf(four).split("\n\n")).toHaveLength(4);
    expect(conversationOf([said("old"), ...four]).split("\n\n")).toHaveLength(4);
    const [first, ...rest] = four;
    const tooLong = [said("old"), first ?? said(""), filling(1_000), ...rest];
    expect(conversationOf(tooLong).split("\n\n")).toHaveLength(4);
    expect(conversationOf(tooLong)).not.toContain("old");
  });
});

describe("the history of a turn", () => {
  const batch = { sessionKey: "s" as SessionKey, turnId: "turn_2" as TurnId };
  const startedOver = { because: "was lost", kept: null };
  const history = async (items: readonly TranscriptItem[], isLost = true) => {
    const limits: number[] = [];
    const transcript = async (_key: SessionKey, { limit }: { limit: number }) => (limits.push(limit), { items });
    const deps = { ids: createSeqIds(), history: { transcript } as never };
    return { limits, ...(await historyFor(deps, batch, isLost ? startedOver : undefined)) };
  };

  test("is asked for and told only where the session file was lost", async () => {
    expect(await history([said("one")], false)).toEqual({ limits: [], lines: [], blocks: [] });
    const { limits, lines, blocks } = await history([said("one")]);
    expect([limits, lines.length, blocks.length]).toEqual([[60], 1, 1]);
    expect(blocks[0]).toContain("person: one");
  });

  test("has nothing of the turn that asks, and nothing that still waits for a turn", async () => {
    const { blocks } = await history([
      said("earlier"),
      said("asked now", { turnId: batch.turnId }),
      said("waits", { turnId: null }),
    ]);
    expect(blocks[0]).toContain("earlier");
    expect(blocks[0]).not.toContain("asked now");
    expect(blocks[0]).not.toContain("waits");
  });

  test("is none where nothing was said before", async () => {
    expect(await history([said("asked now", { turnId: batch.turnId })])).toMatchObject({ lines: [], blocks: [] });
  });
});
