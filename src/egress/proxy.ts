/**
 * The way out for programs that an agent starts: a proxy for `CONNECT` and plain http. The host must be allowed by `agent.network`, its name is
 * resolved once and must not lead into a private network, and each connection leaves a row in the audit log before the first byte goes out.
 * What is said on the connection is passed on unread.
 */
import type { Egress, EgressCaller } from "../contracts/egress.ts";
import type { AuditTrail } from "../contracts/store/tool-calls.ts";
import type { Clock } from "../kit/clock.ts";
import { orAborted } from "../kit/deferred.ts";
import type { Log } from "../kit/log.ts";
import { type ByteStream, joinStreams } from "../kit/mux/byte-stream.ts";
import { judgeHost, type Resolver } from "../kit/outside/public-address.ts";
import type { HostQuestions } from "./host-questions.ts";
import { listenForPrograms } from "./listener.ts";
import { connectOut } from "./outgoing.ts";
import { parseProxyRequest, type ProxyRequest } from "./request.ts";
import { mayReach, privateAdvice } from "./rules.ts";

interface EgressDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Pick<AuditTrail, "note">;
  readonly resolve: Resolver;
  readonly questions: HostQuestions;
  /** Of the gateway itself; known once the port is open. */
  readonly gatewayPort: Promise<number>;
  readonly connect?: typeof connectOut;
}

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_MS = 10_000;
const CONNECT_MS = 15_000;
const IDLE_MS = 300_000;
const HEAD_END = "\r\n\r\n";

/** How a request ends before anything was sent to a host. */
interface Refusal {
  readonly status: 400 | 403 | 502;
  /** Also the words behind the status: of a tunnel that is refused, pip and others show only those, and no body. */
  readonly because: string;
  readonly advice?: string;
}

export function createEgress(deps: EgressDeps): Egress {
  const serveHost: Egress["serve"] = (stream, caller) => untilCut(deps, stream, () => serve(deps, stream, caller));
  return {
    serve: serveHost,
    serveGateway: (stream) =>
      untilCut(deps, stream, async () => joinStreams(stream, await connectOut("127.0.0.1", await deps.gatewayPort))),
    listen: (caller) => listenForPrograms({ serve: serveHost }, caller),
  };
}

async function untilCut({ log }: EgressDeps, stream: ByteStream, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    stream.abort("the connection was cut");
    log.debug("a connection of an agent was cut", { error: String(error) });
  }
}

async function serve(deps: EgressDeps, stream: ByteStream, caller: EgressCaller): Promise<void> {
  const head = await readHead(deps.clock, stream);
  const request = head && parseProxyRequest(head.text);
  if (!request) return answer(stream, { status: 400, because: "this is a proxy: ask it for a host" });
  const permission = await orAborted(permissionOf(deps, request, caller), stream.cut);
  const place = "refusal" in permission ? permission : await find(deps, request, caller);
  const refused = "refusal" in place ? `${place.refusal.because}.` : null;
  await note(deps, request, caller, { refused, approval: permission.approval });
  if ("refusal" in place) return answer(stream, place.refusal);
  const outgoing = await open(deps, place.address, request.port, stream.cut);
  if (!outgoing) {
    const because = `${request.host} could not be reached on port ${request.port}`;
    return answer(stream, { status: 502, because });
  }
  await passOn(deps.clock, { stream, outgoing }, async () => {
    if (request.first === "") await stream.write(Buffer.from(`HTTP/1.1 200 Connection established${HEAD_END}`));
    else await outgoing.write(Buffer.from(request.first, "latin1")); // as it was read
    if (head.rest.length > 0) await outgoing.write(head.rest);
  });
}

/** `approval`: how far the owner, who was asked, allowed it; absent: the setting decided. */
type Permission = { readonly approval?: "once" | "session" } & (object | { readonly refusal: Refusal });

/** By the setting or the owner. Before anything is resolved: the name itself could tell the outside something. */
async function permissionOf(
  { questions }: EgressDeps,
  request: ProxyRequest,
  caller: EgressCaller,
): Promise<Permission> {
  const permission = mayReach(request, caller.network, caller.setting);
  if (permission.may) return {};
  const { because, advice } = permission;
  if (!permission.ask) return { refusal: { status: 403, because, advice } };
  const answer = await questions.ask(request, caller, because);
  if (answer.kind === "yes") return { approval: answer.scope };
  return { refusal: { status: 403, because: answer.because, advice } };
}

async function find(
  deps: EgressDeps,
  request: ProxyRequest,
  { setting }: Pick<EgressCaller, "setting">,
): Promise<{ readonly address: string } | { readonly refusal: Refusal }> {
  const judged = await judgeHost(deps.resolve, request.host);
  if ("address" in judged) return judged;
  if (judged.refused === "private_network")
    return {
      refusal: { status: 403, because: `${request.host} is on a private network`, advice: privateAdvice(setting) },
    };
  return { refusal: { status: 502, because: `there is no host called ${request.host}` } };
}

interface Verdict {
  /** Null: it is opened. */
  readonly refused: string | null;
  readonly approval: "once" | "session" | undefined;
}

function note(deps: EgressDeps, { host, port }: ProxyRequest, caller: EgressCaller, { refused, approval }: Verdict) {
  const { principal, sessionKey, agentId: agent } = caller.of;
  return deps.audit.note({
    kind: refused === null ? "network.opened" : "network.refused",
    at: deps.clock.now(),
    actor: principal,
    subject: sessionKey,
    detail: {
      host,
      port,
      agent,
      ...(refused === null ? {} : { because: refused }),
      ...(approval === undefined ? {} : { approval }),
    },
  });
}

async function open(deps: EgressDeps, address: string, port: number, cut: AbortSignal): Promise<ByteStream | null> {
  using limit = deps.clock.deadline(CONNECT_MS, () => new Error("the host did not answer in time"));
  const connecting = (deps.connect ?? connectOut)(address, port);
  try {
    return await orAborted(connecting, AbortSignal.any([cut, limit.signal]));
  } catch {
    connecting.then(
      (late) => late.abort("nobody waits any more"),
      () => undefined, // it had failed anyway
    );
    return null;
  }
}

interface Connection {
  readonly stream: ByteStream;
  readonly outgoing: ByteStream;
}

/** Until both sides are complete, one is cut, or nothing has been said for long. `begin`: what is said before the rest is passed on. */
async function passOn(clock: Clock, { stream, outgoing }: Connection, begin: () => Promise<void>): Promise<void> {
  let lastSaid = clock.elapsed();
  const over = new AbortController();
  const silence = async (): Promise<void> => {
    for (let leftMs = IDLE_MS; leftMs > 0; leftMs = IDLE_MS - (clock.elapsed() - lastSaid))
      await clock.sleep(leftMs, over.signal);
    throw new Error("nothing was said for too long");
  };
  const hangUp = () => outgoing.abort("the program hung up");
  stream.cut.addEventListener("abort", hangUp, { once: true });
  try {
    const pass = async (): Promise<void> => {
      await begin();
      await joinStreams(stream, outgoing, () => {
        lastSaid = clock.elapsed();
      });
    };
    await Promise.race([pass(), silence()]);
  } finally {
    over.abort(new Error("the connection is over"));
    stream.cut.removeEventListener("abort", hangUp);
    outgoing.abort("the connection is over");
  }
}

/** The lines up to the first empty one, and what has come behind it; null when they are too long, too slow or cut. */
async function readHead(clock: Clock, stream: ByteStream): Promise<{ text: string; rest: Uint8Array } | null> {
  using limit = clock.deadline(HEAD_MS, () => new Error("the request did not come in time"));
  let seen = Buffer.alloc(0);
  while (seen.length <= MAX_HEAD_BYTES) {
    const bytes = await orAborted(stream.read(), limit.signal);
    if (bytes === null) return null;
    seen = Buffer.concat([seen, bytes]);
    const end = seen.indexOf(HEAD_END);
    if (end >= 0 && end <= MAX_HEAD_BYTES)
      return { text: seen.toString("latin1", 0, end), rest: seen.subarray(end + HEAD_END.length) };
  }
  return null;
}

async function answer(stream: ByteStream, { status, because, advice }: Refusal): Promise<void> {
  const body = `pi-gateway: ${because}.${advice === undefined ? "" : ` ${advice}`}\n`;
  const head = [`HTTP/1.1 ${status} ${because}`, "Content-Type: text/plain", "Connection: close"];
  await stream.write(
    Buffer.from(`${head.join("\r\n")}\r\nContent-Length: ${Buffer.byteLength(body)}${HEAD_END}${body}`),
  );
  stream.end();
}
