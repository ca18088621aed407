/** Third fresh list of guarded fetch bugs, all written before the first of them was tried: redirections, ends at a limit, limits that do not hold, links, keys of what is kept, signals. */
import type { SeededBug } from "../seeded-bug.ts";

const fetching = ["src/kit/outside", "src/tools/builtin"] as const;
const inbound = ["src/media"] as const;
const pages = ["src/tools/builtin/web-fetch"] as const;
const webhooks = ["src/automation/webhooks"] as const;

export const THIRD_GUARDED_FETCH_BUGS: readonly SeededBug[] = [
  {
    what: "After a redirection the address before it is told as the one the answer came from.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "callOnce",
    find: "url: request.target.url.href",
    replace: "url: request.url",
    tests: fetching,
  },
  {
    what: "A permanent redirection that keeps its method is handed on as if it were the page.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "REDIRECTS",
    find: "[301, 302, 303, 307, 308]",
    replace: "[301, 302, 303, 307]",
    tests: fetching,
  },
  {
    what: "A page that ends exactly at the limit of an answer is said to go on.",
    file: "src/tools/builtin/web-fetch/web-fetch.ts",
    in: "shown",
    find: "from + maxChars < text.length",
    replace: "from + maxChars <= text.length",
    tests: pages,
  },
  {
    what: "A page that is plain text is kept without a limit.",
    file: "src/tools/builtin/web-fetch/page-text.ts",
    in: "pageText",
    find: "text.slice(0, options.maxChars).toWellFormed()",
    replace: "text.toWellFormed()",
    tests: pages,
  },
  {
    what: "The attempts to fetch a file have no limit of time together.",
    file: "src/media/inbound/inbound-files.ts",
    in: "download",
    find: "AbortSignal.any([signal, total.signal])",
    replace: "AbortSignal.any([signal])",
    tests: inbound,
  },
  {
    what: "A voice message is told in the words of an earlier model after the model was changed.",
    file: "src/media/inbound/inbound-files.ts",
    in: "transcribeOnce",
    find: 'new Bun.CryptoHasher("sha256").update(`${settings.model}\\n`).update(data)',
    replace: 'new Bun.CryptoHasher("sha256").update(data)',
    tests: inbound,
  },
  {
    what: "A link in the place of an attachment leads the file of a person out of the workspace.",
    file: "src/media/inbound/attached-files.ts",
    in: "write",
    find: "constants.O_TRUNC | constants.O_NOFOLLOW",
    replace: "constants.O_TRUNC",
    tests: inbound,
  },
  {
    what: "What a process that died had written of a picture is handed on as the picture.",
    file: "src/media/inbound/shrink.ts",
    in: "run",
    find: "code === 0 && made !== null",
    replace: "made !== null",
    tests: inbound,
  },
  {
    what: "The words of a voice message have no limit.",
    file: "src/media/inbound/transcribe.ts",
    in: "read",
    find: ".trim().slice(0, MAX_WORDS_CHARS)",
    replace: ".trim()",
    tests: inbound,
  },
  {
    what: "A post to a place goes on after the outbox has given it up.",
    file: "src/automation/webhooks/target-channel.ts",
    in: "postToTarget",
    find: "guardedFetch(deps, request, limits, signal)",
    replace: "guardedFetch(deps, request, limits, new AbortController().signal)",
    tests: webhooks,
  },
  {
    what: "The pause that a place asks for before the next post is not kept.",
    file: "src/automation/webhooks/target-channel.ts",
    in: "failureOf",
    find: 'new SendError("limited", detail, { retryAfterMs })',
    replace: 'new SendError("retry", detail)',
    tests: webhooks,
  },
  {
    what: "A page that nobody waits for any more is read to its end.",
    file: "src/tools/builtin/web-fetch/html-text.ts",
    in: "piecesOf",
    find: "|| signal.aborted",
    replace: "",
    tests: pages,
  },
];
