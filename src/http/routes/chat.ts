/** POST /api/chat: hand a message in and wait for the answer, whole or as it is written. Gives up waiting, never the turn. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";
import type { ChatRequest } from "../../contracts/http-api.ts";
import type { ChatReply } from "../../contracts/wire.ts";
import {
  acceptMessage,
  MAX_ATTACHMENTS,
  MAX_MESSAGE_ID_CHARS,
  MAX_NAME_CHARS,
  ownSession,
  type Taken,
} from "../chat/accept-message.ts";
import { type Checked, checkedObject } from "../checked.ts";
import { eventStream } from "../chat/event-stream.ts";
import { followTurn, type TurnFollower } from "../chat/follow-turn.ts";
import { turnError } from "../chat/turn-error.ts";
import { logProblem, wireError } from "../problem.ts";
import { type Call, identityOf, json, OPERATOR_POST, type Route } from "../route.ts";
import { CHAT } from "../access/key-reach.ts";
import type { HttpDeps, ServerParts } from "../types.ts";

const DEFAULT_SESSION = "operator";
/** Of each key its own. */
const DEFAULT_KEY_SESSION = "main";
const MIB = 1024 * 1024;

const chatBody = (): Checked<ChatRequest & { stream?: boolean }> =>
  checkedObject({
    text: Type.String(),
    session: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    agent: Type.Optional(Type.String({ pattern: "^[a-z0-9-]{1,64}$" })),
    stream: Type.Optional(Type.Boolean()),
    replyTo: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_MESSAGE_ID_CHARS })),
    attachments: Type.Optional(Type.Array(Type.Union([UPLOADED, INLINE]), { maxItems: MAX_ATTACHMENTS })),
  });

const closed = { additionalProperties: false } as const;
const UPLOADED = Type.Object({ mediaId: Type.String({ maxLength: 128 }) }, closed);
const INLINE = Type.Object(
  {
    name: Type.String({ maxLength: MAX_NAME_CHARS }),
    mimeType: Type.String({ maxLength: 128 }),
    data: Type.String(),
  },
  closed,
);

type ChatDeps = Pick<HttpDeps, "clock" | "ids" | "log" | "events" | "store" | "messages">;
type StreamDeps = Pick<ChatDeps, "log" | "clock"> & Pick<ServerParts, "links">;
type Links = ServerParts["links"];

/** Room for one largest file in base64 besides the text. */
export function maxChatBytes(maxUploadBytes: number): number {
  return Math.ceil((maxUploadBytes * 4) / 3) + MIB;
}

export function chatRoutes(deps: ChatDeps, { links, limits, stopping }: ServerParts): readonly Route[] {
  const Body = chatBody();
  const handle = async (call: Call): Promise<Response> => {
    const body = await Body.parse(call.json);
    const by = identityOf(call);
    const session = body.session ?? (by.key === null ? DEFAULT_SESSION : DEFAULT_KEY_SESSION);
    const draft = {
      session,
      agent: body.agent,
      text: body.text,
      replyTo: body.replyTo,
      attachments: body.attachments ?? [],
      eventId: eventIdOf(call.request.headers.get("idempotency-key"), deps),
      by,
    } as const;
    const { sessionKey } = ownSession(deps, draft, by);
    const follower = followTurn(
      { clock: deps.clock, events: deps.events, live: deps.messages.live, turns: deps.store.turns },
      sessionKey,
    );
    let handedOver = false;
    try {
      // Not the caller's signal: a message that is being stored is not half stored because its sender hung up.
      const taken = await acceptMessage(deps, limits(), draft, stopping);
      call.server.timeout(call.request, 0); // an answer may take longer than an idle connection lives; the turn has its own limit
      if (body.stream === true || wantsEvents(call.request.headers)) {
        handedOver = true;
        return streamed({ log: deps.log, clock: deps.clock, links }, call, follower, taken);
      }
      return answered(links, await follower.result(taken.id, call.signal));
    } finally {
      if (!handedOver) follower[Symbol.dispose]();
    }
  };
  return [
    {
      ...OPERATOR_POST,
      path: "/api/chat",
      scope: CHAT,
      body: { kind: "json", maxBytes: () => maxChatBytes(limits().maxUploadBytes) },
      handle,
    },
  ];
}

function answered(links: Links, result: TurnResult): Response {
  if (result.outcome === "failed") throw turnError(result);
  return json(replyOf(links, result));
}

function streamed(deps: StreamDeps, call: Call, follower: TurnFollower, taken: Taken): Response {
  return eventStream(deps, call.signal, async (sink, signal) => {
    using following = follower;
    sink.send("accepted", { id: taken.id });
    try {
      following.follow(taken.id, ({ event, data }) => sink.send(event, data));
      const result = await following.result(taken.id, signal);
      if (result.outcome === "failed") throw turnError(result);
      sink.send("done", replyOf(deps.links, result));
    } catch (error) {
      if (sink.isGone() || call.request.signal.aborted) return; // nobody is left to be told
      logProblem(deps.log, error, { requestId: call.requestId });
      sink.send("error", wireError(error, call.requestId));
    }
  });
}

function replyOf(links: Links, result: TurnResult): ChatReply {
  const { content, toolCalls, sessionKey, turnId, usage, attachments = [] } = result;
  const files = attachments.map((media) => ({ ...media, url: links.sign(media.mediaId, "inline") }));
  return {
    content,
    tool_calls: toolCalls.map(({ tool, input, status, ms }) => ({ tool, input, status, ms })),
    sessionKey,
    turnId,
    usage,
    ...(files.length > 0 ? { attachments: files } : {}),
  };
}

function eventIdOf(key: string | null, deps: Pick<HttpDeps, "ids">): string {
  if (key === null) return deps.ids.next("api");
  if (/^[\x21-\x7e]{1,200}$/.test(key)) return `idem:${key}`;
  throw new GatewayError("invalid_params", "unreadable Idempotency-Key", {
    say: "Idempotency-Key is 1 to 200 printable characters without spaces.",
  });
}

function wantsEvents(headers: Headers): boolean {
  return (headers.get("accept") ?? "").toLowerCase().includes("text/event-stream");
}
