/** Third fresh list of channel bugs, all written before the first of them was tried: order, repeats, what stays in memory, sockets, listeners, sizes, closing while opening. */
import type { SeededBug } from "../seeded-bug.ts";

const telegram = ["src/channels/telegram"] as const;
const discord = ["src/channels/discord"] as const;
const platforms = ["src/channels/open-platforms.test.ts", "src/channels/plugin-platform.test.ts"] as const;

export const THIRD_CHANNELS_BUGS: readonly SeededBug[] = [
  {
    what: "A Telegram chat in which much is said at once is taken in out of order.",
    file: "src/channels/kit/lanes.ts",
    in: "run",
    find: "if (--lane.waiting > 0) return;",
    replace: "lane.waiting--;",
    tests: telegram,
  },
  {
    what: "A piece of an album that is brought again after its delivery becomes a message of its own.",
    file: "src/channels/telegram/inbound/albums.ts",
    in: "keepPiece",
    find: "done.includes(update.update_id) ||",
    replace: "",
    tests: telegram,
  },
  {
    what: "The numbers of all updates ever taken from Telegram stay in memory.",
    file: "src/channels/telegram/inbound/window.ts",
    in: "advance",
    find: "for (const id of settled) if (id < low) settled.delete(id);",
    replace: "",
    tests: telegram,
  },
  {
    what: "Chats of Telegram whose pause is over are remembered for ever.",
    file: "src/channels/telegram/api/chat-cooldowns.ts",
    in: "leftMs",
    find: "if (left <= 0) until.delete(chat);",
    replace: "",
    tests: telegram,
  },
  {
    what: "A send whose answer a proxy gave up waiting for is repeated as if it had not arrived.",
    file: "src/channels/telegram/api/faults.ts",
    in: "NOT_PASSED_ON",
    find: "[502, 503]",
    replace: "[502, 503, 504]",
    tests: telegram,
  },
  {
    what: "A reply is sent into a chat that Telegram wants to be left alone.",
    file: "src/channels/telegram/outbound/send.ts",
    in: "check",
    find: "if (retryAfterMs > 0) throw",
    replace: "if (retryAfterMs < 0) throw",
    tests: telegram,
  },
  {
    what: "A Discord bot that has no sign-ins left today signs in once more.",
    file: "src/channels/discord/link/link.ts",
    in: "connectOnce",
    find: "remaining <= 0",
    replace: "remaining < 0",
    tests: discord,
  },
  {
    what: "The socket of a Discord connection that does not answer its close stays open.",
    file: "src/channels/discord/link/attempt.ts",
    in: "closeSocket",
    find: "socket?.terminate();",
    replace: "",
    tests: discord,
  },
  {
    what: "Files that together are larger than Discord takes are sent in one message.",
    file: "src/channels/discord/outbound/send.ts",
    in: "groupFiles",
    find: "last.length < MAX_FILES && bytes + file.data.length <= maxBytes",
    replace: "last.length < MAX_FILES",
    tests: discord,
  },
  {
    what: "Approvals are posted after their channel was closed.",
    file: "src/channels/kit/approval-messages.ts",
    in: "startApprovalMessages",
    find: "[Symbol.dispose]: () => listening[Symbol.dispose](),",
    replace: "[Symbol.dispose]: () => undefined,",
    tests: ["src/channels/kit"],
  },
  {
    what: "After some thousand messages nothing that is said on Discord is taken in any more.",
    file: "src/channels/discord/inbound/intake.ts",
    in: "startIntake",
    find: "held--;",
    replace: "",
    tests: discord,
  },
  {
    what: "A platform that is closed while it opens stays open beside the next one.",
    file: "src/channels/open-platforms.ts",
    in: "close",
    find: "await one.work;",
    replace: "",
    tests: platforms,
  },
];
