/** Fresh list of channel bugs, all written before the first of them was tried: fences around plugins, stop, moves, albums, buttons, files. */
import type { SeededBug } from "../seeded-bug.ts";

const guest = ["src/channels/plugin-platform.test.ts"] as const;
const platforms = ["src/channels/open-platforms.test.ts", ...guest] as const;
const telegramIn = ["src/channels/telegram/inbound", "src/channels/telegram/accounts.test.ts"] as const;

export const FRESH_CHANNELS_BUGS: readonly SeededBug[] = [
  {
    what: "A plugin's channel takes a webhook path of another channel whose name begins with its own.",
    file: "src/channels/plugin-platform.ts",
    in: "checkOpen",
    find: "!channel.webhook.path.startsWith(`/${id}/`)",
    replace: "!channel.webhook.path.startsWith(`/${id}`)",
    tests: guest,
  },
  {
    what: "A plugin's channel that did not open goes on listening to events.",
    file: "src/channels/plugin-platform.ts",
    in: "open",
    find: "services[Symbol.dispose](); if (Array",
    replace: "if (Array",
    tests: guest,
  },
  {
    what: "The access settings of a plugin channel's accounts are not checked.",
    file: "src/channels/plugin-platform.ts",
    in: "accessOf",
    find: "for (const own of Object.values(all.accounts ?? {})) accessOf(id, own);",
    replace: "",
    tests: guest,
  },
  {
    what: "A plugin that goes after the stop opens the platforms again.",
    file: "src/channels/open-platforms.ts",
    in: "apply",
    find: "if (ended) return queue;",
    replace: "",
    tests: platforms,
  },
  {
    what: "Replies to a platform that is away are given up after an hour, although it may show stored ones.",
    file: "src/channels/switchboard.ts",
    in: "createSwitchboard",
    find: 'repeat: first?.repeat ?? "safe"',
    replace: 'repeat: first?.repeat ?? "risky"',
    tests: platforms,
  },
  {
    what: "A poller that stood down takes the place of the newer one away when it stops.",
    file: "src/channels/telegram/inbound/poller.ts",
    in: "goodbye",
    find: "if ((await facts.get(HOLDER)) !== holder) return;",
    replace: "",
    tests: telegramIn,
  },
  {
    what: "A piece of an album that could not be stored counts as stored when it is brought again.",
    file: "src/channels/telegram/inbound/albums.ts",
    in: "keepPiece",
    find: "state.kept = { ...state.kept, open: withoutPiece(state.kept.open, key, update) };",
    replace: "",
    tests: telegramIn,
  },
  {
    what: "A button counts in another chat than the one it was shown in.",
    file: "src/channels/kit/approval-messages.ts",
    in: "decide",
    find: "posting?.to.chat === by.address.chat && (posting.messageId",
    replace: "posting !== undefined && (posting.messageId",
    tests: ["src/channels/kit"],
  },
  {
    what: "A message of the old group is changed in the new one, where its number is somebody else's message.",
    file: "src/channels/telegram/api/moved-chats.ts",
    in: "run",
    find: 'if (!method.startsWith("send")) throw error;',
    replace: "",
    tests: ["src/channels/telegram/moved.test.ts"],
  },
  {
    what: "Two Discord channels that are noted at the same moment overwrite each other in the index.",
    file: "src/channels/discord/inbound/seen.ts",
    in: "createSeen",
    find: "note: (channel, message) => inLine(() => note(channel, message)),",
    replace: "note,",
    tests: ["src/channels/discord/inbound"],
  },
  {
    what: "A file of Discord is fetched from wherever a redirection leads.",
    file: "src/channels/discord/outbound/rest-client.ts",
    in: "download",
    find: 'redirect: "error"',
    replace: 'redirect: "follow"',
    tests: ["src/channels/discord/outbound", "src/channels/discord/inbound"],
  },
  {
    what: "The history that an agent reads ends early where a page of it holds few messages.",
    file: "src/store/rows/channels/messages.ts",
    in: "readHistory",
    find: "if (cursor === undefined || messages.length >= limit) break;",
    replace: "if (cursor === undefined || read.items.length >= limit) break;",
    tests: ["src/store/contract.test.ts", "src/tools/builtin/chat"],
  },
];
