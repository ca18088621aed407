/** What a channel with buttons promises about questions: shown whole, answered by whoever really pressed, gone when they are over. */
import { expect } from "bun:test";
import type { AskedQuestion, ShownQuestion } from "../../contracts/channels/question.ts";
import type { Principal, SessionKey } from "../../contracts/ids.ts";
import type { ChannelWorld, eventually as Eventually, PlatformUpdate, Promising } from "./channel-contract.ts";

/** How questions look and are answered on a platform that has buttons. */
export interface FakeButtons {
  /** Labels that can be pressed now, in order. */
  labels(): readonly string[];
  /** Presses the button of this label, which was there at some time, under an id of its own. */
  press(label: string, by: PlatformUpdate["by"]): Promise<void>;
  /** The friend replies to this message of ours. */
  reply(messageId: string, text: string): Promise<void>;
}

const NEVER = new AbortController().signal;
const ID = "question-of-a-test-1";

/** For channels that declare it; others show questions as plain messages, which every channel can. */
export function askingPromises(promise: Promising, eventually: typeof Eventually): void {
  const promising = (title: string, check: (world: ChannelWorld, buttons: FakeButtons) => Promise<void>): void =>
    promise(title, async (world) => {
      const { buttons } = world.platform;
      if (world.channel.questions && buttons) await check(world, buttons);
    });

  promising(
    "shows a question with its buttons, tells who pressed which, and ends it visibly",
    async (world, buttons) => {
      const { bench, platform } = world;
      bench.role = "member";
      const shown = await show(world, { text: "Which one?", labels: ["tea", "coffee"] });
      expect(platform.shown()).toEqual(["Which one?"]);
      expect(buttons.labels()).toEqual(["tea", "coffee"]);
      await buttons.press("coffee", "friend");
      await eventually("the press is told", () => bench.pressed.length === 1);
      expect(bench.pressed).toEqual([`${ID} 1 ${platform.people.friend} member`]);
      expect(bench.arrivals.at(-1)?.kind).toBe("action");
      await shown.close({ answered: true, words: "Answered: coffee" });
      expect(buttons.labels()).toEqual([]);
      expect(platform.shown().join("\n")).toContain("Answered: coffee");
    },
  );

  promising(
    "takes the buttons away when a press comes too late, and keeps them from others",
    async (world, buttons) => {
      const { bench } = world;
      await show(world, { labels: ["tea"] });
      bench.verdict = { kind: "refused", because: "not_yours", say: "This is for somebody else." };
      await buttons.press("tea", "friend");
      await eventually("the press is told", () => bench.pressed.length === 1);
      expect(buttons.labels()).toEqual(["tea"]);
      bench.verdict = { kind: "refused", because: "over", say: "This question is over." };
      await buttons.press("tea", "friend");
      await eventually("the buttons are gone", () => buttons.labels().length === 0);
    },
  );

  promising("lets no stranger press, and does nothing about it", async (world, buttons) => {
    const { bench, platform } = world;
    await show(world, { labels: ["tea"] });
    bench.strangers.set(platform.people.stranger, null);
    const [calls, looked] = [platform.calls().length, bench.arrivals.length];
    await buttons.press("tea", "stranger");
    await eventually("the door is asked", () => bench.arrivals.length > looked);
    await buttons.press("tea", "friend"); // behind it
    await eventually("the next press is told", () => bench.pressed.length === 1);
    expect(bench.pressed[0]).toContain(platform.people.friend);
    expect(platform.calls().slice(calls).length).toBeLessThanOrEqual(1); // about the friend's
    expect(buttons.labels()).toEqual(["tea"]);
  });

  promising("has room for as many and as long buttons as it says, and for a long text", async (world, buttons) => {
    const { maxButtons = 0, maxLabelChars = 0 } = world.channel.questions ?? {};
    const labels = Array.from({ length: maxButtons }, (_, at) => String(at).padEnd(maxLabelChars, "x"));
    const words = Array.from({ length: 1_500 }, (_, at) => `w${at}`);
    await show(world, { text: words.join(" "), labels });
    expect(buttons.labels()).toEqual(labels);
    expect(world.platform.shown().join(" ").split(/\s+/)).toEqual(words);
  });

  promising(
    "says which message words reply to, and takes the edit of a message never stored for nothing",
    async (world, buttons) => {
      const { bench, platform } = world;
      const { messageId } = await show(world, { text: "Your name?", labels: [] });
      await buttons.reply(messageId ?? "", "Ann");
      await eventually("the reply is stored", () => bench.stored.length === 1);
      await platform.bring({ id: "1", kind: "message", by: "friend", where: "dm", text: "hello" });
      await eventually("the next is stored", () => bench.stored.length === 2);
      await platform.bring({ id: "2", kind: "edit", by: "friend", where: "dm", text: "other words" });
      await eventually("the door is asked about the edit", () => bench.arrivals.some(({ kind }) => kind === "edit"));
      await platform.bring({ id: "3", kind: "message", by: "friend", where: "dm", text: "next" });
      await eventually("the next is stored", () => bench.stored.length === 3);
      expect(bench.stored.map(({ answering }) => answering)).toEqual([
        { to: messageId, text: "Ann" },
        { to: null, text: "hello" },
        { to: null, text: "next" },
      ]);
    },
  );
}

function show({ channel, here }: ChannelWorld, more: Partial<AskedQuestion>): Promise<ShownQuestion> {
  if (!channel.questions) throw new Error("this channel shows no questions");
  const of = "somebody" as Principal;
  const sessionKey = "agent:default:any:dm:1" as SessionKey;
  return channel.questions.show({ id: ID, to: here, of, sessionKey, text: "Well?", labels: [], ...more }, NEVER);
}
