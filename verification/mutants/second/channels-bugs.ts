/** Second fresh list of channel bugs, all written before the first of them was tried: close, previews, redirections, catching up, files, repeats. */
import type { SeededBug } from "../seeded-bug.ts";

const platforms = ["src/channels/open-platforms.test.ts", "src/channels/plugin-platform.test.ts"] as const;
const telegram = ["src/channels/telegram"] as const;
const discord = ["src/channels/discord"] as const;

export const SECOND_CHANNELS_BUGS: readonly SeededBug[] = [
  {
    what: "An account that was closed goes on listening to turns.",
    file: "src/channels/kit/previews.ts",
    in: "startPreviews",
    find: "views[Symbol.dispose]();",
    replace: "",
    tests: telegram,
  },
  {
    what: "A send goes on after its account was closed, beside the one that the next process makes.",
    file: "src/channels/telegram/account.ts",
    in: "openAccount",
    find: "sender.send(part, AbortSignal.any([until, signal]))",
    replace: "sender.send(part, until)",
    tests: telegram,
  },
  {
    what: "A reply does not wait for the preview that is just being shown, and stands beside it.",
    file: "src/channels/kit/previews.ts",
    in: "end",
    find: "await running;",
    replace: "",
    tests: telegram,
  },
  {
    what: "A preview of an earlier process is taken away while its reply is still to be delivered into it.",
    file: "src/channels/kit/left-previews.ts",
    in: "takeAway",
    find: "replies.owes(first.to) || (await replies.isOwed(turnId))",
    replace: "await replies.isOwed(turnId)",
    tests: telegram,
  },
  {
    what: "A call to Telegram, token included, follows a redirection to anywhere.",
    file: "src/channels/telegram/api/bot-api.ts",
    in: "onOwnConnection",
    find: 'fetch(url, { ...init, keepalive: false, redirect: "error" })',
    replace: "fetch(url, { ...init, keepalive: false })",
    tests: telegram,
  },
  {
    what: "A webhook address that Telegram could not be told counts as told.",
    file: "src/channels/telegram/webhook-mode.ts",
    in: "serveWebhook",
    find: "const secret_token = await secretOf(deps, settings);",
    replace: "told = true; const secret_token = await secretOf(deps, settings);",
    tests: telegram,
  },
  {
    what: "What was said days ago on Discord is answered when the gateway is back.",
    file: "src/channels/discord/inbound/catch-up.ts",
    in: "catchUp",
    find: "Math.max(snowflakeTime(last) - OVERLAP_MS, now - MAX_AGE_MS)",
    replace: "Math.max(snowflakeTime(last) - OVERLAP_MS, now - 1_000 * MAX_AGE_MS)",
    tests: discord,
  },
  {
    what: "The files of a message are fetched and kept again with every try to store it.",
    file: "src/channels/discord/inbound/intake.ts",
    in: "untilStored",
    find: "kept ??= await keepFiles",
    replace: "kept = await keepFiles",
    tests: discord,
  },
  {
    what: "A press that could not be written down counts as one that was here before.",
    file: "src/channels/discord/interactions/replays.ts",
    in: "createReplays.take",
    find: "await facts.put(KEY, JSON.stringify([...kept, id])); seen = [...kept, id];",
    replace: "seen = [...kept, id]; await facts.put(KEY, JSON.stringify([...kept, id]));",
    tests: discord,
  },
  {
    what: "What was noted about a long reply stays after all of it was sent.",
    file: "src/channels/kit/part-sender.ts",
    in: "cleanUp",
    find: "await notes.forget(part);",
    replace: "",
    tests: discord,
  },
  {
    what: "A platform that opens after its time stays open beside the next try.",
    file: "src/channels/open-platforms.ts",
    in: "tryToOpen",
    find: "void opening.then((late) => closeAll(deps, late)).catch(() => undefined);",
    replace: "",
    tests: platforms,
  },
  {
    what: "A plugin's channel that was closed goes on listening to events.",
    file: "src/channels/plugin-platform.ts",
    in: "around",
    find: "services[Symbol.dispose](); await channel",
    replace: "await channel",
    tests: platforms,
  },
];
