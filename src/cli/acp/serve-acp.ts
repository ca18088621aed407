/** `pi-gw acp`: an editor that speaks the Agent Client Protocol talks to a session of the running gateway, over stdin and stdout. */
import {
  agent,
  type AgentApp,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { GatewayError, isGatewayError } from "../../contracts/errors.ts";
import { EXIT_OK } from "../exit-code.ts";
import { openTarget } from "../key-file.ts";
import type { CliWorld, CommonFlags } from "../world.ts";
import { commandsUpdate, withAnnouncements } from "./announcements.ts";
import { createGatewaySocket, type GatewaySocket } from "./gateway-socket.ts";
import { promptTurn } from "./prompt-turn.ts";
import { promptParts, replayOf } from "./session-updates.ts";

export interface AcpFlags extends Pick<CommonFlags, "home"> {
  /** Whom the editor talks to; left out: as the gateway's bindings say. */
  readonly agent?: string;
  readonly keyFile?: string;
}

interface AcpWorld {
  readonly world: CliWorld;
  readonly socket: GatewaySocket;
  readonly agent: string | undefined;
  /** Where relative paths of a session begin, by its id. */
  readonly folders: Map<string, string>;
  /** What the editor can do. */
  readonly editor: { hasForms: boolean };
  readonly afterAnswer: ReturnType<typeof withAnnouncements>["afterAnswer"];
}

/** Sessions of editors begin so: they are found again by it. */
const PREFIX = "acp-";
const REPLAYED = 200;
const LISTED = 50;

/** Ends when the editor closes its end. */
export async function serveAcp(world: CliWorld, flags: AcpFlags): Promise<number> {
  using socket = createGatewaySocket(await openTarget(world, flags));
  const { stream, afterAnswer } = withAnnouncements(ndJsonStream(outputOf(world), inputOf(world)));
  const acp: AcpWorld = {
    world,
    socket,
    agent: flags.agent,
    folders: new Map(),
    editor: { hasForms: false },
    afterAnswer,
  };
  const connection = appOf(acp).connect(stream);
  await connection.closed;
  return EXIT_OK;
}

function appOf(acp: AcpWorld): AgentApp {
  const { world, socket, folders, editor } = acp;
  return agent({ name: "pi-gateway" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      const { form = null } = params.clientCapabilities?.elicitation ?? {};
      editor.hasForms = form !== null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "pi-gateway", title: "pi-gateway", version: world.version },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          sessionCapabilities: { list: {} },
        },
      };
    })
    .onRequest(methods.agent.session.new, ({ params }) => told(() => newSession(acp, params.cwd)))
    .onRequest(methods.agent.session.load, ({ params, client }) =>
      told(async () => {
        const { sessionId, cwd } = params;
        folders.set(sessionId, cwd);
        const { session, items } = await socket.ask("sessions.get", { session: sessionId, limit: REPLAYED });
        if (!session) throw new GatewayError("not_found", "no such session", { say: "There is no such session." });
        const commands = await commandsIn(acp, sessionId);
        for (const update of [...items.flatMap(replayOf), ...commands])
          await client.notify("session/update", { sessionId, update });
        return {};
      }),
    )
    .onRequest(methods.agent.session.list, ({ params }) =>
      told(async () => {
        const { items } = await socket.ask("sessions.list", { search: PREFIX, limit: LISTED });
        const cwd = params.cwd ?? world.cwd;
        const ofEditors = items.filter(({ key }) => shortName(key).startsWith(PREFIX)); // a title may have the word, too
        const idOf = await sessionIds(
          acp,
          ofEditors.map(({ key }) => key),
        );
        const sessions = ofEditors.map(({ key, title, lastActivityAt }) => ({
          sessionId: idOf(key),
          cwd,
          title,
          updatedAt: new Date(lastActivityAt).toISOString(),
        }));
        return { sessions };
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params, client, signal }) =>
      told(async () => {
        const { sessionId, prompt } = params;
        const { text, images } = promptParts(prompt);
        const mediaIds = await socket.upload(images, signal);
        const cwd = folders.get(sessionId) ?? world.cwd;
        const said = { session: sessionId, text, mediaIds, clientId: world.ids.next("acp") };
        const deps = { socket, warn: (error: unknown) => warn(world, error) };
        const asking = { client, sessionId, cwd, hasForms: editor.hasForms };
        return { stopReason: await promptTurn(deps, asking, said, signal) };
      }),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) =>
      told(async () => void (await socket.ask("chat.abort", { session: params.sessionId }))),
    );
}

/** Throws GatewayError when nobody may speak there with the credential of this editor. */
async function newSession({ world, socket, agent: named, folders, afterAnswer }: AcpWorld, cwd: string) {
  const session = `${PREFIX}${world.ids.next("s").replaceAll("_", "-")}`;
  const asked = named === undefined ? { session } : { session, agent: named };
  const { sessionKey, items } = await socket.ask("commands.list", asked);
  const sessionId = named === undefined ? session : sessionKey; // the key says whose it is, also to an editor without `--agent`
  folders.set(sessionId, cwd);
  afterAnswer(sessionId, commandsUpdate(items));
  return { sessionId };
}

/** A session that can be read and not spoken in is shown without commands. */
async function commandsIn({ world, socket }: AcpWorld, session: string): Promise<readonly SessionUpdate[]> {
  try {
    return [commandsUpdate((await socket.ask("commands.list", { session })).items)];
  } catch (error) {
    warn(world, error);
    return [];
  }
}

/** `acp-…` of `agent:default:api:dm:acp-…`, and of `agent:default:api:dm:key-1.acp-…`. */
function shortName(key: string): string {
  return key.slice(key.search(/[^.:]*$/));
}

/**
 * The id of each session as `session/new` gives it, so that an editor sees no session under two ids. That is the short name, where it means
 * this session; the same is then true of all sessions whose keys begin alike.
 */
async function sessionIds(
  { agent: named, socket }: AcpWorld,
  keys: readonly string[],
): Promise<(key: string) => string> {
  const beginning = (key: string): string => key.slice(0, -shortName(key).length);
  const short = new Set<string>();
  if (named === undefined)
    for (const [start, key] of new Map(keys.map((key) => [beginning(key), key]))) {
      const { session } = await socket.ask("sessions.get", { session: shortName(key), limit: 1 });
      if (session?.key === key) short.add(start);
    }
  return (key) => (short.has(beginning(key)) ? shortName(key) : key);
}

/** Errors of the gateway reach the editor as the sentence that people read. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    throw new RequestError(INTERNAL_ERROR, error.say);
  }
}

const INTERNAL_ERROR = -32_603;

function warn(world: CliWorld, error: unknown): void {
  world.stderr(`${sentenceOf(error)}\n`);
}

function sentenceOf(error: unknown): string {
  if (isGatewayError(error)) return error.say;
  return error instanceof Error ? error.message : String(error);
}

function outputOf(world: CliWorld): WritableStream<Uint8Array> {
  const decoder = new TextDecoder();
  return new WritableStream({ write: (chunk) => world.stdout(decoder.decode(chunk, { stream: true })) });
}

function inputOf({ stdin }: CliWorld): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const chunks = stdin[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
    },
  });
}
