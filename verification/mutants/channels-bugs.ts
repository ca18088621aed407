/** Bugs in the channels: what is taken from whom, how often it counts, what is cleaned up, what the translation leaves out. */
import type { SeededBug } from "./seeded-bug.ts";

const discord = "src/channels/discord";
const telegram = "src/channels/telegram";
const webchat = ["src/channels/webchat/webchat.test.ts"] as const;

export const CHANNELS_BUGS: readonly SeededBug[] = [
  {
    what: "A message of last year is answered when its author changes it.",
    file: "src/channels/discord/inbound/intake.ts",
    in: "takeIn",
    find: 'if (kind === "edit" && deps.clock.now() - snowflakeTime(said.id) > EDIT_MS) return;',
    replace: "",
    tests: [`${discord}/inbound`],
  },
  {
    what: "An interaction that is too old to be told from a repeat counts.",
    file: "src/channels/discord/interactions/replays.ts",
    in: "createReplays.take",
    find: "if (!isSnowflake(id) || snowflakeTime(id) < now - KEEP_MS)",
    replace: "if (!isSnowflake(id))",
    tests: [`${discord}/interactions`],
  },
  {
    what: "An approval is posted again whenever its account opens or it is told once more.",
    file: "src/channels/kit/approval-messages.ts",
    in: "show",
    find: " || postings.has(id)) return;",
    replace: ") return;",
    tests: ["src/channels/kit"],
  },
  {
    what: "A bot decides a question on Discord.",
    file: "src/channels/discord/interactions/interactions.ts",
    in: "sourceOf",
    find: "if (!user || user.bot || !channel) return null;",
    replace: "if (!user || !channel) return null;",
    tests: [`${discord}/interactions`],
  },
  {
    what: "The preview of a reply that Discord refused for good stands for ever.",
    file: "src/channels/kit/part-sender.ts",
    in: "giveUp",
    find: "if (part.part === 0) await previews.release(part.turnId);",
    replace: "",
    tests: [`${discord}/outbound`],
  },
  {
    what: "An update that comes while its account closes is taken, and lost.",
    file: "src/channels/telegram/account.ts",
    in: "openAccount",
    find: "me !== null && !signal.aborted",
    replace: "me !== null",
    tests: [`${telegram}/accounts.test.ts`],
  },
  {
    what: "A bot presses a button on Telegram.",
    file: "src/channels/telegram/inbound/arrived.ts",
    in: "readUpdate",
    find: "|| press.from.is_bot) return null;",
    replace: ") return null;",
    tests: [`${telegram}/inbound`],
  },
  {
    what: "A member decides an approval.",
    file: "src/channels/kit/approval-messages.ts",
    in: "decide",
    find: 'if (role !== "owner") return "not_allowed";',
    replace: "",
    tests: ["src/channels/kit"],
  },
  {
    what: "Half an answer rings the phone.",
    file: "src/channels/telegram/outbound/previews.ts",
    in: "telegramPreviews",
    find: "Number(replyTo), silent: true }, signal)",
    replace: "Number(replyTo) }, signal)",
    tests: [`${telegram}/outbound`],
  },
  {
    what: "A picture that Telegram refuses because of the chat is sent again as a document.",
    file: "src/channels/telegram/outbound/file.ts",
    in: "sendFile",
    find: "|| isRefused(error, NOT_THE_FILE)) throw error;",
    replace: ") throw error;",
    tests: [`${telegram}/outbound`],
  },
  {
    what: "A message of the web console that is to steer the running answer waits for its end.",
    file: "src/channels/webchat/inbound.ts",
    in: "toInbound",
    find: "...(input.steer ? { steer: true } : {}),",
    replace: "",
    tests: webchat,
  },
  {
    what: "A message that was deleted is shown as one with no text.",
    file: "src/channels/webchat/outbound.ts",
    in: "toTranscriptItem",
    find: "...(part.deleted ? { deleted: true } : {}),",
    replace: "",
    tests: webchat,
  },
  {
    what: "A picture whose album could not be stored takes the others with it.",
    file: "src/channels/telegram/inbound/albums.ts",
    in: "withoutPiece",
    find: "pieces.filter((one) => one !== update)",
    replace: "[]",
    tests: [`${telegram}/inbound/albums.test.ts`],
  },
];
