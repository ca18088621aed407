/** Second list of guarded fetch and `web_fetch` bugs, all written before the first of them was tried: second checks, limits, words from outside. */
import type { SeededBug } from "../seeded-bug.ts";

const outside = ["src/kit/outside"] as const;
const webFetch = ["src/tools/builtin/web-fetch"] as const;

export const FRESH_GUARDED_FETCH_BUGS: readonly SeededBug[] = [
  {
    what: "An ISATAP address with the universal bit set is called.",
    file: "src/kit/outside/addresses.ts",
    in: "isGlobalV6",
    find: "(interfaceTop & ~0x02) === 0 &&",
    replace: "interfaceTop === 0 &&",
    tests: outside,
  },
  {
    what: "A redirection to an address that is not of the web is handed on as one to open.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "webAddress",
    find: 'return url && ["http:", "https:"].includes(url.protocol) ? url.href : null;',
    replace: "return url ? url.href : null;",
    tests: [...outside, ...webFetch],
  },
  {
    what: "An answer that announces too many bytes is read up to the limit first.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "readBody",
    find: 'if (Number(response.headers["content-length"] ?? 0) > maxBytes) throw new Large();',
    replace: "",
    tests: outside,
  },
  {
    what: "An answer that is packed although nobody asked for that is read as if it were not.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "readBody",
    find: '(response.headers["content-encoding"] ?? "identity") !== "identity"',
    replace: '(response.headers["content-encoding"] ?? "identity") === ""',
    tests: outside,
  },
  {
    what: "An answer can ask for a wait of years.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "pauseOf",
    find: "/^\\d{1,6}$/",
    replace: "/^\\d+$/",
    tests: outside,
  },
  {
    what: "A file name with a quotation mark adds a parameter to its part of a form.",
    file: "src/kit/outside/multipart.ts",
    in: "quoted",
    find: '.replaceAll(\'"\', "%22")',
    replace: "",
    tests: outside,
  },
  {
    what: "A denied host is opened when its name is written with a dot at its end.",
    file: "src/tools/builtin/web-fetch/hosts.ts",
    in: "whyNotHost",
    find: 'host.toLowerCase().replace(/\\.$/, "")',
    replace: "host.toLowerCase()",
    tests: webFetch,
  },
  {
    what: "A page that is put into the cache again is counted twice, so that the cache holds less and less.",
    file: "src/tools/builtin/web-fetch/page-cache.ts",
    in: "put",
    find: "drop(key); if (keptMs",
    replace: "if (keptMs",
    tests: webFetch,
  },
  {
    what: "A content type can speak to the model, because it is repeated as it came.",
    file: "src/tools/builtin/web-fetch/page-text.ts",
    in: "nameOf",
    find: '.replaceAll(/[^\\w.+/-]/g, "")',
    replace: "",
    tests: webFetch,
  },
  {
    what: "Half of a page is handed on, and kept, as the whole of it when the call is cancelled.",
    file: "src/tools/builtin/web-fetch/html-text.ts",
    in: "htmlText",
    find: "signal.throwIfAborted();",
    replace: "",
    tests: webFetch,
  },
  {
    what: "The title of a page has no limit.",
    file: "src/tools/builtin/web-fetch/page-writer.ts",
    in: "text",
    find: "title = (title + text).slice(0, MAX_TITLE_CHARS);",
    replace: "title += text;",
    tests: webFetch,
  },
  {
    what: "The title of a page stands outside of the block that marks what comes from outside.",
    file: "src/tools/builtin/web-fetch/web-fetch.ts",
    in: "shown",
    find: 'const marked = wrapUntrusted(ids, { source: "web_fetch", text: `${head}\\n\\n${part}` });',
    replace: 'const marked = `${head}\\n\\n${wrapUntrusted(ids, { source: "web_fetch", text: part })}`;',
    tests: webFetch,
  },
];
