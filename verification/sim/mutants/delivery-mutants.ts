/** Bugs in the outbox. */
import type { Mutant } from "./mutant.ts";

export const DELIVERY_MUTANTS: readonly Mutant[] = [
  {
    name: "a part is marked as sent before it is sent",
    file: "delivery/deliver-part.ts",
    find: "receipt = await send(deps, channel, row, signal);",
    replace:
      "await stored(deps, () => store.markSent([id], clock.now()), signal); receipt = await send(deps, channel, row, signal);",
  },
  {
    name: "a send that must not be repeated is not announced",
    file: "delivery/deliver-part.ts",
    find: "await stored(deps, () => store.markSending(id, note), signal);",
    replace: "true;",
  },
  {
    name: "a lost answer counts as nothing sent",
    file: "delivery/rules.ts",
    find: 'failure.kind === "lost" ? part.lost + 1 : part.lost',
    replace: "part.lost",
  },
  {
    name: "a send that a crash cut off counts as nothing sent",
    file: "delivery/rules.ts",
    find: 'state: "pending", lost: current.lost + 1 } : current',
    replace: 'state: "pending", lost: current.lost } : current',
  },
  {
    name: "the pause a platform asks for is not kept",
    file: "delivery/rules.ts",
    find: "if (askedMs !== null) return askedMs;",
    replace: "if (askedMs === -1) return askedMs;",
  },
  {
    name: "what is to be held back is sent again",
    file: "delivery/rules.ts",
    find: 'part.lost > 1 || channel.whenLost === "hold"',
    replace: "part.lost > 1",
  },
  {
    name: "a platform is trusted to drop repeats for ever",
    file: "delivery/rules.ts",
    find: "return dedupeMs !== undefined && firstTriedAt !== null && now - firstTriedAt >= dedupeMs;",
    replace: "return false;",
  },
  {
    name: "the outbox reads the same parts again",
    file: "delivery/outbox.ts",
    find: "after = row.seq;",
    replace: "",
  },
  {
    name: "a part that waits is overtaken in its chat",
    file: "delivery/outbox.ts",
    find: "lane.parts[0] = done.part;",
    replace: "lane.parts.shift(); lane.parts.push(done.part);",
  },
  {
    name: "an outbox that is empty does not say so, and a stop waits for it",
    file: "delivery/outbox.ts",
    find: "quiet?.resolve();",
    replace: "",
  },
  {
    name: "lost responses are counted for a whole reply, so that two of them cost the end of a long answer",
    file: "delivery/rules.ts",
    find: "const current = delivered > part.delivered ? onward(part, channel, delivered, now) : part;",
    replace: "const current = part;",
  },
  {
    name: "a message in doubt costs all messages after it",
    file: "delivery/deliver-part.ts",
    find: "if (!more.value) return end(deps, part, doubtful(), signal);",
    replace: "if (!more.value || part.lost > 0) return end(deps, part, doubtful(), signal);",
  },
  {
    name: "a message that was skipped is told to nobody",
    file: "delivery/deliver-part.ts",
    find: "const told = await tell(deps, row, doubtful(), signal);",
    replace: "const told = true;",
  },
  {
    name: "a reply that is given up is told to nobody",
    file: "delivery/deliver-part.ts",
    find: "if (result.tell) {",
    replace: "if (!result) {",
  },
  {
    name: "a reply of several messages that may show one of them twice is called sent",
    file: "delivery/rules.ts",
    find: "return { ...part, delivered, doubt, lost: 0 };",
    replace: "return { ...part, delivered, doubt: false && doubt, lost: 0 };",
  },
];
