/** Sixth fresh list of channels bugs, one in each of twelve files, all written before the first of them was tried: tokens, senders that are no people, sessions, limits of time, menus, previews, groups that move, late pieces. */
import type { SeededBug } from "../seeded-bug.ts";

const room = ["src/channels", "test/telegram.test.ts", "test/discord.test.ts"] as const;

export const SIXTH_CHANNELS_BUGS: readonly SeededBug[] = [
  {
    what: "Replies are given up while Discord refuses the token.",
    file: "src/channels/discord/outbound/failure.ts",
    in: "toSendError",
    find: 'new SendError("retry", "Discord refused the bot token")',
    replace: 'new SendError("permanent", "Discord refused the bot token")',
    tests: room,
  },
  {
    what: "What a webhook of Discord posts counts as said by a person.",
    file: "src/channels/discord/inbound/translate.ts",
    in: "translate",
    find: "|| said.webhook_id !== undefined",
    replace: "",
    tests: room,
  },
  {
    what: "Failures to go on with an old session of Discord count against the next one.",
    file: "src/channels/discord/link/rules.ts",
    in: "afterLink",
    find: "failedResumes: session ? failedResumes : 0",
    replace: "failedResumes",
    tests: room,
  },
  {
    what: "A connection to Discord that works is given up half a minute after its beginning.",
    file: "src/channels/discord/link/attempt.ts",
    in: "up",
    find: "now.wasUp = true; readyLimit[Symbol.dispose]();",
    replace: "now.wasUp = true;",
    tests: room,
  },
  {
    what: "Commands that Discord did not take count as registered.",
    file: "src/channels/discord/interactions/menu.ts",
    in: "registerMenu",
    find: "await deps.api.applicationCommands.bulkOverwriteGlobalCommands(applicationId, menu, { signal }); await deps.facts.put(KEY, digest);",
    replace:
      "await deps.facts.put(KEY, digest); await deps.api.applicationCommands.bulkOverwriteGlobalCommands(applicationId, menu, { signal });",
    tests: room,
  },
  {
    what: "A request of Discord with a time in the future is taken.",
    file: "src/channels/discord/interactions/signature.ts",
    in: "verifyRequest",
    find: "Math.abs(now - Number(timestamp) * 1_000)",
    replace: "now - Number(timestamp) * 1_000",
    tests: room,
  },
  {
    what: "A preview goes on in a chat whose platform asked for a pause.",
    file: "src/channels/kit/follow-turn.ts",
    in: "follow",
    find: "Math.max(pauseMs, platform.cooldownMs(to))",
    replace: "pauseMs",
    tests: room,
  },
  {
    what: "A preview shows what a first attempt said before what the second says.",
    file: "src/channels/kit/turn-views.ts",
    in: "begun",
    find: "if (again) return void Object.assign(again, emptyView());",
    replace: "if (again) return;",
    tests: room,
  },
  {
    what: "Nothing is sent to Telegram while another program reads the messages of the bot.",
    file: "src/channels/telegram/link.ts",
    in: "down",
    find: 'fault.info.kind === "conflict" || fault.info.kind === "limited"',
    replace: 'fault.info.kind === "limited"',
    tests: room,
  },
  {
    what: "Until the next start, a group that has another number now is another chat.",
    file: "src/channels/telegram/api/moved-chats.ts",
    in: "learn",
    find: "firsts.set(to, chat);",
    replace: "",
    tests: room,
  },
  {
    what: "A picture that comes while its album is being handed on is lost.",
    file: "src/channels/telegram/inbound/albums.ts",
    in: "add",
    find: "while (state.closing.has(key)) await state.closing.get(key);",
    replace: "",
    tests: room,
  },
  {
    what: "What another bot wrote for somebody counts as their own words.",
    file: "src/channels/telegram/inbound/quoted.ts",
    in: "passedOnBy",
    find: "if (message.via_bot) return userOf(message.via_bot);",
    replace: "",
    tests: room,
  },
];
