/** Seventh fresh list of channels bugs, all written before the first of them was tried: approvals, voice messages, running tools, sign-ins, menus, albums, the doctor, limits, retries, plugins, reactions, code. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/channels"] as const;
const telegram = [...room, "test/telegram.test.ts"] as const;
const discord = [...room, "test/discord.test.ts"] as const;

export const SEVENTH_CHANNELS_BUGS: readonly SeededBug[] = [
  {
    what: "An approval that expires while it is being posted keeps its buttons, and its chat is not told.",
    file: "src/channels/kit/approval-messages.ts",
    in: "expire",
    find: "await posting?.done;",
    replace: "",
    tests: [...telegram, "test/discord.test.ts"],
  },
  {
    what: "The sender of a voice message that could not be written down is not told why.",
    file: "src/channels/kit/keep-files.ts",
    in: "keepFile",
    find: 'tell: heard.kind === "failed" ? [heard.say] : []',
    replace: "tell: []",
    tests: [...telegram, "test/discord.test.ts"],
  },
  {
    what: "A preview shows a tool that waits for an owner as one that is done.",
    file: "src/channels/kit/running-tools.ts",
    in: "noteTool",
    find: 'done: status !== "running" && status !== "pending"',
    replace: 'done: status !== "running"',
    tests: [...telegram, "test/discord.test.ts"],
  },
  {
    what: "A Discord bot that has no sign-ins left today tries again within a minute, which costs it its token.",
    file: "src/channels/discord/link/rules.ts",
    in: "afterLink",
    find: "Math.max(pauseMs, Math.min(end.waitMs ?? 0, MAX_WAIT_MS))",
    replace: "pauseMs",
    tests: discord,
  },
  {
    what: "A command with a long help text makes Discord refuse the menu of all commands.",
    file: "src/channels/discord/interactions/menu.ts",
    in: "menuOf",
    find: "help.slice(0, MAX_DESCRIPTION_CHARS) || name",
    replace: "help || name",
    tests: discord,
  },
  {
    what: "Pieces of a long text that arrive in another order are joined in that order.",
    file: "src/channels/telegram/inbound/albums.ts",
    in: "keepPiece",
    find: "[...pieces, update].toSorted((a, b) => a.update_id - b.update_id)",
    replace: "[...pieces, update]",
    tests: telegram,
  },
  {
    what: "The doctor's word about privacy mode follows the channel's requireMention where a bot has one of its own.",
    file: "src/channels/telegram/check.ts",
    in: "checkAccount",
    find: "(own?.requireMention ?? config.requireMention) === false",
    replace: "config.requireMention === false",
    tests: telegram,
  },
  {
    what: "A bot's own limit for the size of files is ignored; that of the channel counts.",
    file: "src/channels/telegram/settings.ts",
    in: "accountsOf",
    find: "mediaMaxMb: own.mediaMaxMb ?? config.mediaMaxMb",
    replace: "mediaMaxMb: config.mediaMaxMb",
    tests: telegram,
  },
  {
    what: "A platform that did not open twice is tried again only after five minutes.",
    file: "src/channels/open-platforms.ts",
    in: "keepTrying",
    find: "Math.min(pauseMs * 2, MAX_PAUSE_MS)",
    replace: "Math.max(pauseMs * 2, MAX_PAUSE_MS)",
    tests: [...room, "test/channels.test.ts"],
  },
  {
    what: "A message in doubt on a plugin's channel that holds such messages back is sent again.",
    file: "src/channels/plugin-platform.ts",
    in: "around",
    find: "...(whenLost === undefined ? {} : { whenLost }),",
    replace: "",
    tests: [...room, "test/irc.test.ts"],
  },
  {
    what: "An agent that takes one of its reactions in the web console away loses all of them.",
    file: "src/channels/webchat/abilities.ts",
    in: "webChatAbilities",
    find: "remove ? had.filter((one) => !emoji.includes(one)) : [...new Set([...had, ...emoji])]",
    replace: "remove ? [] : [...new Set([...had, ...emoji])]",
    tests: [...room, "test/webchat.test.ts"],
  },
  {
    what: "Code that goes on in a second message on Discord has lost its language, and with it its colours.",
    file: "src/channels/discord/text/split.ts",
    in: "fenceAfter",
    find: 'info: info.length <= MAX_INFO_CHARS ? info.trimEnd() : ""',
    replace: 'info: ""',
    tests: discord,
  },
];
