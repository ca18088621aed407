/** Second fresh list of bugs on the way out, all written before the first of them was tried: aborts, sizes, quotas, pictures, caches, places to post to. */
import type { SeededBug } from "../seeded-bug.ts";

const fetching = ["src/kit/outside"] as const;
const inbound = ["src/media"] as const;
const pages = ["src/tools/builtin/web-fetch"] as const;
const webhooks = ["src/automation/webhooks"] as const;

export const SECOND_GUARDED_FETCH_BUGS: readonly SeededBug[] = [
  {
    what: "A call that is given up in its first moment is made all the same, and its connection stays.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "send",
    find: "signal.throwIfAborted();",
    replace: "",
    tests: fetching,
  },
  {
    what: "An answer of exactly the largest size is refused.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "readBody",
    find: "if (bytes > maxBytes) throw new Large();",
    replace: "if (bytes >= maxBytes) throw new Large();",
    tests: fetching,
  },
  {
    what: "The bytes of a download that broke off count against its sender's day.",
    file: "src/media/inbound/inbound-files.ts",
    in: "downloadOnce",
    find: "file.share.add(-bytes);",
    replace: "",
    tests: inbound,
  },
  {
    what: "Files whose size nobody announced go past the limit of a day.",
    file: "src/media/inbound/inbound-files.ts",
    in: "keep",
    find: "if (!(await share.fits(0))) return refused(tooMuch);",
    replace: "",
    tests: inbound,
  },
  {
    what: "A picture that takes too long goes on being decoded after it was given up.",
    file: "src/media/inbound/shrink.ts",
    in: "run",
    find: 'child.kill("SIGKILL");',
    replace: "void child;",
    tests: inbound,
  },
  {
    what: "After one picture whose message was given up no picture is made smaller any more.",
    file: "src/media/inbound/shrink.ts",
    in: "shrink",
    find: "queue = done.catch(() => undefined);",
    replace: "queue = done;",
    tests: inbound,
  },
  {
    what: "A voice message goes on being turned into text after its channel was closed.",
    file: "src/media/inbound/transcribe.ts",
    in: "transcribe",
    find: "body: form.body }, limits, signal)",
    replace: "body: form.body }, limits, signal && new AbortController().signal)",
    tests: inbound,
  },
  {
    what: "A link in the place of the folder for attachments leads files of people out of the workspace.",
    file: "src/media/inbound/attached-files.ts",
    in: "write",
    find: 'if ((await realpath(folder)) !== folder) throw new Error("the folder for attachments is a link");',
    replace: "",
    tests: inbound,
  },
  {
    what: "A page that is asked for as plain text is told as the Markdown that was kept of it.",
    file: "src/tools/builtin/web-fetch/web-fetch.ts",
    in: "run",
    find: "const key = `${format} ${url}`;",
    replace: "const key = url;",
    tests: pages,
  },
  {
    what: "Kept pages have no limit of size in all.",
    file: "src/tools/builtin/web-fetch/page-cache.ts",
    in: "put",
    find: "if (kept.size <= MAX_PAGES && chars <= MAX_CACHE_CHARS) return;",
    replace: "if (kept.size <= MAX_PAGES) return;",
    tests: pages,
  },
  {
    what: "A host that the configuration denies with a capital letter in its name is opened.",
    file: "src/tools/builtin/web-fetch/hosts.ts",
    in: "whyNotHost",
    find: "covers(one.toLowerCase(), name)",
    replace: "covers(one, name)",
    tests: pages,
  },
  {
    what: "Words are posted to a private network although the configuration does not allow it for their place.",
    file: "src/automation/webhooks/target-channel.ts",
    in: "postToTarget",
    find: "const limits = target.privateNetwork ? { ...LIMITS, trustedOrigin: target.url } : LIMITS;",
    replace: "const limits = { ...LIMITS, trustedOrigin: target.url };",
    tests: webhooks,
  },
];
