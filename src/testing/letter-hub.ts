/** Letters between gateways in one process: what a test needs of Postgres to join some. Passes the same contract test. */
import type { InstanceId } from "../contracts/ids.ts";
import type { Letter, LetterStore, OtherChange, ReceivedLetter } from "../contracts/store/letters.ts";
import { createTopic } from "../kit/topic.ts";

interface LetterHub {
  join(node: InstanceId): LetterStore;
  /** It has ended, or another one has taken over from it: its letters are not read any more. */
  end(node: InstanceId): void;
  /** The next letters of this kind are lost, and nobody is told. */
  lose(kind: string, count: number): void;
  /** What was sent, in order. */
  readonly sent: readonly ReceivedLetter[];
}

export function createLetterHub(): LetterHub {
  const boxes = new Map<InstanceId, Box>();
  const lost = new Map<string, number>();
  const sent: ReceivedLetter[] = [];
  const others = (me: InstanceId): readonly InstanceId[] => [...boxes.keys()].filter((node) => node !== me);

  const post = (from: InstanceId, letter: Letter): void => {
    sent.push({ from, ...letter });
    const losing = lost.get(letter.kind) ?? 0;
    if (losing > 0) return void lost.set(letter.kind, losing - 1);
    queueMicrotask(() => {
      if (!boxes.has(from)) return;
      for (const node of others(from))
        if (letter.to === null || letter.to === node) boxes.get(node)?.letters.publish({ from, ...letter });
    });
  };

  return {
    sent,
    lose: (kind, count) => void lost.set(kind, count),
    join(node) {
      const box = createBox();
      for (const other of boxes.values()) other.changes.publish({ node, is: "here" });
      boxes.set(node, box);
      queueMicrotask(() => others(node).forEach((other) => box.changes.publish({ node: other, is: "here" })));
      return {
        send: (letter) => post(node, letter),
        onLetter: box.letters.subscribe,
        onMissed: box.missed.subscribe,
        onOther: box.changes.subscribe,
        others: () => others(node),
        live: async () => others(node),
      };
    },
    end(node) {
      boxes.delete(node);
      for (const other of boxes.values()) other.changes.publish({ node, is: "gone" });
    },
  };
}

type Box = ReturnType<typeof createBox>;

function createBox() {
  return {
    letters: createTopic<ReceivedLetter>(),
    missed: createTopic<InstanceId>(),
    changes: createTopic<OtherChange>(),
  };
}
