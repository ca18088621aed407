/** Ninth fresh list of guarded fetch bugs, all written before the first of them was tried: rows about answers of owners, connections that stay, uploads, long connections, addresses in brackets, rules in capitals, embedded addresses, calls that were given up, where a connection leads, calls of libraries, names that are not known, names of files. */
import type { SeededBug } from "../seeded-bug.ts";

const fetch = ["src/kit/outside"] as const;
const egress = ["src/egress"] as const;

export const NINTH_GUARDED_FETCH_BUGS: readonly SeededBug[] = [
  {
    what: "The audit log says that an owner allowed a host once who allowed it for the session.",
    file: "src/egress/host-questions.ts",
    in: "toAnswer",
    find: "scope: answer",
    replace: 'scope: "once"',
    tests: [...egress],
  },
  {
    what: "Connections of an agent process that has ended stay open.",
    file: "src/egress/listener.ts",
    in: "listenForPrograms",
    find: "listener.stop(true)",
    replace: "listener.stop()",
    tests: [...egress],
  },
  {
    what: "A large upload of a program stops in the middle.",
    file: "src/egress/outgoing.ts",
    in: "connectOut",
    find: "drain: (made) => made.data.drained()",
    replace: "drain: () => undefined",
    tests: [...egress],
  },
  {
    what: "A connection on which something is said all the time is cut after some minutes.",
    file: "src/egress/proxy.ts",
    in: "passOn",
    find: "await joinStreams(stream, outgoing, () => { lastSaid = clock.elapsed(); });",
    replace: "await joinStreams(stream, outgoing, () => undefined);",
    tests: [...egress],
  },
  {
    what: "A tunnel to an address of IPv6 does not come about.",
    file: "src/egress/request.ts",
    in: "tunnelTo",
    find: '{ host: bare(host), port: number, first: "" }',
    replace: '{ host, port: number, first: "" }',
    tests: [...egress],
  },
  {
    what: "A host that is listed in capitals is not reached.",
    file: "src/egress/rules.ts",
    in: "parseRule",
    find: ".exec(text.toLowerCase())",
    replace: ".exec(text)",
    tests: [...egress],
  },
  {
    what: "An address of IPv6 that leads to a private IPv4 address by ISATAP counts as public.",
    file: "src/kit/outside/addresses.ts",
    in: "isGlobalV6",
    find: "bytes[ISATAP_AT + at]",
    replace: "bytes[ISATAP_AT - 1 + at]",
    tests: [...fetch],
  },
  {
    what: "The name of a host is looked up for a call that was given up before.",
    file: "src/kit/outside/guarded-fetch.ts",
    in: "guardedFetch",
    find: "signal.throwIfAborted();",
    replace: "",
    tests: [...fetch],
  },
  {
    what: "A connection of a library that ended up in a private network is used.",
    file: "src/kit/outside/guarded-stream.ts",
    in: "createGuardedStream",
    find: "!isGlobalAddress(peer)",
    replace: "!isGlobalAddress(target.address)",
    tests: [...fetch],
  },
  {
    what: "A call that a library gives up goes on until it is answered.",
    file: "src/kit/outside/guarded-stream.ts",
    in: "createGuardedStream",
    find: "init.signal ? AbortSignal.any([init.signal, over.signal]) : over.signal",
    replace: "over.signal",
    tests: [...fetch, "src/mcp/client"],
  },
  {
    what: "A program that asks for a host that is not there is cut off instead of being told so.",
    file: "src/kit/outside/public-address.ts",
    in: "judgeHost",
    find: "resolve(host).catch(() => [])",
    replace: "resolve(host)",
    tests: [...fetch, ...egress],
  },
  {
    what: "A line break in the name of a file reaches the form that it is sent in.",
    file: "src/kit/outside/multipart.ts",
    in: "quoted",
    find: '.replaceAll("\\r", "%0D")',
    replace: "",
    tests: [...fetch, "src/media"],
  },
];
