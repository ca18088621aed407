/** Eighth fresh list of guarded fetch bugs, all written before the first of them was tried: connections that stay, headers, streams of events, methods, codes of failures, questions about hosts, limits of a proxy, host names, cut connections, ends of one side, programs that hang up. */
import type { SeededBug } from "../seeded-bug.ts";

const fetch = ["src/kit/outside"] as const;
const egress = ["src/egress"] as const;

export const EIGHTH_GUARDED_FETCH_BUGS: readonly SeededBug[] = [
  {
    what: "The connection of an answer without a body stays open.",
    file: "src/kit/outside/guarded-stream.ts",
    in: "answerOf",
    find: 'over.abort(new Error("the answer is complete"));',
    replace: "",
    tests: [...fetch],
  },
  {
    what: "A library can name another host than the one it is connected to.",
    file: "src/kit/outside/guarded-stream.ts",
    in: "OWN_HEADERS",
    find: '["host", "connection",',
    replace: '["connection",',
    tests: [...fetch],
  },
  {
    what: "The owner's yes to one port of a host opens all its ports in that turn.",
    file: "src/egress/host-questions.ts",
    in: "ask",
    find: "`${target.host}:${target.port}`",
    replace: "target.host",
    tests: [...egress],
  },
  {
    what: "A process that has opened many connections one after the other reaches nothing any more.",
    file: "src/egress/listener.ts",
    in: "open",
    find: "open.delete(stream);",
    replace: "",
    tests: [...egress],
  },
  {
    what: "One process holds one connection more than is allowed.",
    file: "src/egress/listener.ts",
    in: "open",
    find: "open.size >= MAX_CONNECTIONS",
    replace: "open.size > MAX_CONNECTIONS",
    tests: [...egress],
  },
  {
    what: "A stream of events that also names its letters ends after a pause.",
    file: "src/kit/outside/guarded-stream.ts",
    in: "bodyOf",
    find: '.startsWith("text/event-stream")',
    replace: ' === "text/event-stream"',
    tests: [...fetch],
  },
  {
    what: "A method in small letters is refused.",
    file: "src/kit/outside/guarded-stream.ts",
    in: "createGuardedStream",
    find: '(init.method ?? "GET").toUpperCase()',
    replace: '(init.method ?? "GET")',
    tests: [...fetch],
  },
  {
    what: "The code of a failure is shown whatever is in it.",
    file: "src/kit/outside/unreachable.ts",
    in: "codeOf",
    find: 'typeof code === "string" && /^\\w{1,64}$/.test(code) ? code : ""',
    replace: 'typeof code === "string" ? code : ""',
    tests: [...fetch],
  },
  {
    what: "A host is told its name without its port.",
    file: "src/egress/request.ts",
    in: "parseProxyRequest",
    find: "`Host: ${url.host}`",
    replace: "`Host: ${url.hostname}`",
    tests: [...egress],
  },
  {
    what: "An answer that was cut off in the middle looks whole to the program.",
    file: "src/egress/proxy.ts",
    in: "untilCut",
    find: 'stream.abort("the connection was cut");',
    replace: "stream.end();",
    tests: [...egress],
  },
  {
    what: "A host that has said all it wants to say hears nothing more from the program.",
    file: "src/egress/outgoing.ts",
    in: "connectOut",
    find: "allowHalfOpen: true",
    replace: "allowHalfOpen: false",
    tests: [...egress],
  },
  {
    what: "A program that hung up while the owner is asked is waited for.",
    file: "src/egress/proxy.ts",
    in: "serve",
    find: "await orAborted(permissionOf(deps, request, caller), stream.cut)",
    replace: "await permissionOf(deps, request, caller)",
    tests: [...egress],
  },
];
