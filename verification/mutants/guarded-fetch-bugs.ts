/** Bugs in the one way out to the network: redirects, second checks, connections that stay open. */
import type { SeededBug } from "./seeded-bug.ts";

const here = { file: "src/kit/outside/guarded-fetch.ts", tests: ["src/kit/outside"] } as const;

export const GUARDED_FETCH_BUGS: readonly SeededBug[] = [
  {
    ...here,
    what: "A redirect from https to http on the same host is followed, and the key travels in clear.",
    find: 'return from.protocol === "https:" && to.protocol !== "https:" ? null : to.href;',
    replace: "return to.href;",
  },
  {
    ...here,
    what: "The connection of a call that is over stays open, a too large answer included.",
    find: 'over.abort(new Error("the call is over"));',
    replace: "void over;",
  },
  {
    ...here,
    what: "A call that is given up does not close its connection.",
    find: 'signal.addEventListener("abort", () => request.destroy(), { once: true });',
    replace: "void signal;",
  },
  {
    ...here,
    what: "A redirect to another port of the same host is followed.",
    find: "to.host !== from.host",
    replace: "to.hostname !== from.hostname",
  },
  {
    ...here,
    what: "A redirect after a POST is followed.",
    find: 'method !== "GET" || ',
    replace: "",
  },
  {
    ...here,
    what: "Redirects are followed a hundred times.",
    find: "const MAX_REDIRECTS = 5;",
    replace: "const MAX_REDIRECTS = 100;",
  },
  {
    ...here,
    what: "A connection that reached a private address after all is used.",
    find: 'if (!request.place.trusted && peer !== undefined && !isGlobalAddress(peer)) throw new Error("connected elsewhere");',
    replace: "void peer;",
  },
  {
    ...here,
    what: "A name server that never answers is waited for without a limit.",
    find: "await orAborted(judge(deps, url, limits), until)",
    replace: "await judge(deps, url, limits)",
  },
  {
    ...here,
    what: "The first byte of an answer is waited for as long as the whole answer.",
    find: "withIdleLimit(deps, limits, send(request, until))",
    replace: "send(request, until)",
  },
  {
    ...here,
    what: "The size limit is applied to each piece instead of the whole answer.",
    find: "bytes += piece.byteLength;",
    replace: "bytes = piece.byteLength;",
  },
  {
    ...here,
    what: "An address with a user name and no password is called.",
    find: 'url.username !== "" || url.password !== ""',
    replace: 'url.password !== ""',
  },
  {
    ...here,
    what: "The trusted origin covers every port of its host.",
    find: "url.origin === URL.parse(limits.trustedOrigin)?.origin",
    replace: "url.hostname === URL.parse(limits.trustedOrigin)?.hostname",
  },
  {
    ...here,
    what: "The wait that an answer asks for is taken as milliseconds.",
    find: "Number(retryAfter) * 1_000",
    replace: "Number(retryAfter)",
  },
  {
    ...here,
    what: "A caller can ask for a packed answer by a header of its own.",
    find: '{ ...headers, "accept-encoding": "identity", "user-agent": "pi-gateway" }',
    replace: '{ "accept-encoding": "identity", "user-agent": "pi-gateway", ...headers }',
  },
  {
    ...here,
    what: "One public address among several private ones is enough.",
    find: "!addresses.every(isGlobalAddress)",
    replace: "!addresses.some(isGlobalAddress)",
  },
  {
    what: "An IPv6 address that carries a private IPv4 address by ISATAP is called.",
    file: "src/kit/outside/addresses.ts",
    find: "=== GLOBAL_V6_TOP_BITS && !isIsatap",
    replace: "=== GLOBAL_V6_TOP_BITS || isIsatap",
    tests: ["src/kit/outside"],
  },
  {
    what: "A file name with a line break adds a header to a form.",
    file: "src/kit/outside/multipart.ts",
    find: '.replaceAll("\\n", "%0A")',
    replace: "",
    tests: ["src/kit/outside"],
  },
  {
    what: "A media type with a line break adds a header to a form.",
    file: "src/kit/outside/multipart.ts",
    find: 'part.mimeType.replaceAll(/[\\r\\n]/g, "")',
    replace: "part.mimeType",
    tests: ["src/kit/outside"],
  },
  {
    what: "The timer of each piece of an answer stays until it has run out.",
    file: "src/kit/outside/guarded-fetch.ts",
    find: "using idle = clock.deadline(idleMs,",
    replace: "const idle = clock.deadline(idleMs,",
    tests: ["src/kit/outside"],
  },
  {
    what: "The timer of the whole call stays until it has run out.",
    file: "src/kit/outside/guarded-fetch.ts",
    find: "using total = deps.clock.deadline(",
    replace: "const total = deps.clock.deadline(",
    tests: ["src/kit/outside"],
  },
  {
    what: "A caller who gives up is told that the other side is unreachable.",
    file: "src/kit/outside/guarded-fetch.ts",
    find: "if (signal.aborted) throw signal.reason;",
    replace: "",
    tests: ["src/kit/outside"],
  },
];
