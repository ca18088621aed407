/** Bugs in the channels: what is taken from whom, how often it counts, what is cleaned up, what the translation leaves out. */
import type { SeededBug } from "./seeded-bug.ts";

const discord = "src/channels/discord";
const telegram = "src/channels/telegram";
const webchat = ["src/channels/webchat/webchat.test.ts"] as const;

export const CHANNELS_BUGS: readonly SeededBug[] = [
  {
    what: "A message of last year is answered when its author changes it.",
    file: `${discord}/inbound/intake.ts`,
    find: '  if (kind === "edit" && deps.clock.now() - snowflakeTime(said.id) > EDIT_MS) return;\n',
    replace: "",
    tests: [`${discord}/inbound`],
  },
  {
    what: "An interaction that is too old to be told from a repeat counts.",
    file: `${discord}/interactions/replays.ts`,
    find: "if (!isSnowflake(id) || snowflakeTime(id) < now - KEEP_MS)",
    replace: "if (!isSnowflake(id))",
    tests: [`${discord}/interactions`],
  },
  {
    what: "An open question is posted to Discord again with every look.",
    file: `${discord}/interactions/questions.ts`,
    find: "        remember(shown, question.id, null, MAX_SHOWN);\n",
    replace: "",
    tests: [`${discord}/interactions`],
  },
  {
    what: "A bot decides a question on Discord.",
    file: `${discord}/interactions/interactions.ts`,
    find: "if (!user || user.bot || !channel) return null;",
    replace: "if (!user || !channel) return null;",
    tests: [`${discord}/interactions`],
  },
  {
    what: "The preview of a reply that Discord refused for good stands for ever.",
    file: `${discord}/outbound/send.ts`,
    find: '    if (failure.kind === "permanent" && known) await deps.previews.putBack(part.turnId);\n',
    replace: "",
    tests: [`${discord}/outbound`],
  },
  {
    what: "An update that comes while its account closes is taken, and lost.",
    file: `${telegram}/account.ts`,
    find: "connected() && !signal.aborted",
    replace: "connected()",
    tests: [`${telegram}/accounts.test.ts`],
  },
  {
    what: "A bot presses a button on Telegram.",
    file: `${telegram}/inbound/arrived.ts`,
    find: " || press.from.is_bot) return null;",
    replace: ") return null;",
    tests: [`${telegram}/inbound`],
  },
  {
    what: "The name of a button is remembered after its question was decided.",
    file: `${telegram}/inbound/questions.ts`,
    find: "  await deps.facts.forget(`ask:${name}`);\n",
    replace: "",
    tests: [`${telegram}/inbound`],
  },
  {
    what: "Half an answer rings the phone.",
    file: `${telegram}/outbound/live.ts`,
    find: "...said, disable_notification: true }, signal);",
    replace: "...said }, signal);",
    tests: [`${telegram}/outbound`],
  },
  {
    what: "A picture that Telegram refuses because of the chat is sent again as a document.",
    file: `${telegram}/outbound/file.ts`,
    find: " || isRefused(error, NOT_THE_FILE)) throw error;",
    replace: ") throw error;",
    tests: [`${telegram}/outbound`],
  },
  {
    what: "A message of the web console that is to steer the running answer waits for its end.",
    file: "src/channels/webchat/inbound.ts",
    find: "    ...(input.steer ? { steer: true } : {}),\n",
    replace: "",
    tests: webchat,
  },
  {
    what: "A message that was deleted is shown as one with no text.",
    file: "src/channels/webchat/outbound.ts",
    find: "    ...(part.deleted ? { deleted: true } : {}),\n",
    replace: "",
    tests: webchat,
  },
];
