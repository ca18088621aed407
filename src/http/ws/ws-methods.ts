/** What can be asked over the event socket: one table, one schema per method. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { CLIENT_EVENTS } from "../../contracts/events.ts";
import type { WireMethods } from "../../contracts/wire.ts";
import { cronMethods } from "./cron-methods.ts";
import {
  acceptMessage,
  MAX_ATTACHMENTS,
  MAX_MESSAGE_ID_CHARS,
  ownSession,
  prepareSession,
} from "../chat/accept-message.ts";
import { cancelMessage, editMessage } from "../chat/cancel-message.ts";
import {
  ADMIN,
  CHAT,
  CHAT_OR_READ,
  maySee,
  READ,
  READ_SESSIONS,
  reachOf,
  requireNeed,
  TOOLS,
} from "../access/key-reach.ts";
import { checked, checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf } from "../paging.ts";
import { keyToChange, keyToRead, resetSession } from "../chat/session-actions.ts";
import { readSessionView } from "../chat/session-view.ts";
import { DECISION, decideApproval } from "../tools/approvals.ts";
import { ANSWER, answerQuestion, openQuestions } from "../tools/questions.ts";
import { callTool, createCallReader, listedTools, readOrReject } from "../tools/tool-call.ts";
import { callerOf } from "../tools/tool-caller.ts";
import { identityOf, type Method, method, type Params, principalOf, type Result } from "./method.ts";
import { type Socket, subscribe } from "./sockets.ts";
import type { HttpDeps, ServerParts } from "../types.ts";

export interface MethodTable {
  call(request: { readonly method: string; readonly params: unknown }, socket: Socket): Promise<unknown>;
}

type Said = Params<"chat.send"> & { readonly steer?: boolean };

const MAX_EVENT_NAMES = 32;
const session = Type.String({ minLength: 1, maxLength: 512 });
/** As in POST /api/chat. */
const agent = Type.Optional(Type.String({ pattern: "^[a-z0-9-]{1,64}$" }));
const clientId = Type.String({ pattern: "^[\\w-]{1,128}$" });
/** One reaction: no letters, no digits, nothing a model could read as words. */
const emoji = Type.Union([
  Type.String({ pattern: "^[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u200d\\ufe0f]{1,16}$" }),
  Type.Null(),
]);

const search = Type.Optional(Type.String({ maxLength: 200 }));
const eventNames = Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_EVENT_NAMES });
const sinceSeq = Type.Optional(Type.Integer({ minimum: 0 }));
const replyId = Type.String({ minLength: 1, maxLength: MAX_MESSAGE_ID_CHARS });
/** The id of a waiting message, an approval or a question. */
const id = Type.String({ minLength: 1, maxLength: 128 });
const text = Type.String();
const UPLOADED = Type.Object({ mediaId: Type.String({ maxLength: 128 }) }, { additionalProperties: false });

const noParams = () => checked(Type.Unsafe<Record<string, never>>({ type: "object", additionalProperties: false }));

type Named<Prefix extends string> = Record<Extract<keyof WireMethods, `${Prefix}.${string}`>, Method>;

const sendParams = () =>
  checkedObject({
    session,
    agent,
    text,
    clientId,
    replyTo: Type.Optional(replyId),
    attachments: Type.Optional(Type.Array(UPLOADED, { maxItems: MAX_ATTACHMENTS })),
  });

function chatMethods(deps: HttpDeps, { limits, stopping }: ServerParts): Named<"chat"> {
  const send = async ({ clientId: given, ...said }: Said, socket: Socket): Promise<Result<"chat.send">> => {
    const draft = { attachments: [], ...said, eventId: `web:${given}`, by: identityOf(socket) } as const;
    // One after the other: a picture that takes a moment to find is not overtaken by the words sent after it.
    const sending = socket.data.sending.then(() => acceptMessage(deps, limits(), draft, stopping));
    socket.data.sending = sending.catch(() => undefined); // told to whoever sent it, right below
    const taken = await sending;
    return { accepted: taken.id, sessionKey: taken.sessionKey, duplicate: taken.duplicate };
  };
  return {
    "chat.send": method<"chat.send">(CHAT, sendParams(), send),
    "chat.steer": method<"chat.steer">(CHAT, checkedObject({ session, agent, text, clientId }), (said, socket) =>
      send({ ...said, steer: true }, socket),
    ),
    "chat.cancel": method<"chat.cancel">(CHAT, checkedObject({ id }), (asked, socket) =>
      cancelMessage(deps, asked.id, principalOf(socket)),
    ),
    "chat.edit": method<"chat.edit">(CHAT, checkedObject({ id, text }), (asked, socket) =>
      editMessage(deps, { ...asked, maxChars: limits().maxMessageChars }, principalOf(socket)),
    ),
    "chat.react": method<"chat.react">(ADMIN, checkedObject({ id: replyId, emoji }), async (asked, socket) => {
      if (await deps.messages.webchat.takeReaction(asked.id, asked.emoji, principalOf(socket)))
        return { reacted: true };
      throw new GatewayError("not_found", "no such message", { say: "There is no such message of the assistant." });
    }),
    "chat.abort": method<"chat.abort">(CHAT, checkedObject({ session }), async (asked, socket) => ({
      aborted: await deps.messages.live.abort(await keyToChange(deps, asked.session, identityOf(socket))),
    })),
  };
}

const SESSION_LIST = {
  ...PAGE_FIELDS,
  search,
  channel: Type.Optional(Type.String({ maxLength: 64 })),
  agent: Type.Optional(Type.String({ maxLength: 64 })),
  person: Type.Optional(Type.String({ maxLength: 200 })),
  pinned: Type.Optional(Type.Boolean()),
  archived: Type.Optional(Type.Boolean()),
};

function sessionMethods(deps: HttpDeps, { links, stopping }: ServerParts): Named<"sessions" | "commands"> {
  return {
    "commands.list": method<"commands.list">(CHAT, checkedObject({ session, agent }), (asked, socket) => {
      const asking = identityOf(socket);
      const { sessionKey } = ownSession(deps, asked, asking);
      return { sessionKey, items: deps.people.commands.list(callerOf(asking).role) };
    }),
    "sessions.list": method<"sessions.list">(READ_SESSIONS, checkedObject(SESSION_LIST), async (asked, socket) => {
      const asking = identityOf(socket);
      const { limit: _limit, cursor: _cursor, ...wanted } = asked;
      const filter = { ...wanted, within: reachOf(asking) };
      const { items, ...rest } = await deps.store.sessions.list(filter, pageOf(asked));
      return { items: items.filter(({ key }) => maySee(asking, key)), ...rest };
    }),
    "sessions.get": method<"sessions.get">(
      CHAT_OR_READ,
      checkedObject({ ...PAGE_FIELDS, session }),
      async (asked, socket) =>
        readSessionView(deps, links, await keyToRead(deps, asked.session, identityOf(socket)), pageOf(asked)),
    ),
    "sessions.prepare": method<"sessions.prepare">(CHAT, checkedObject({ session, agent }), (asked, socket) =>
      prepareSession(deps, asked, identityOf(socket), stopping),
    ),
    "sessions.reset": method<"sessions.reset">(CHAT, checkedObject({ session }), async (asked, socket) => ({
      reset: await resetSession(deps, await keyToChange(deps, asked.session, identityOf(socket))),
    })),
  };
}

function toolMethods(deps: HttpDeps, { stopping }: ServerParts): Named<"tools" | "approvals" | "questions"> {
  const readCall = createCallReader();
  return {
    "tools.list": method<"tools.list">(TOOLS, noParams(), (_asked, socket) => listedTools(deps, identityOf(socket))),
    "tools.call": {
      need: TOOLS,
      async run(given, socket) {
        const context = callerOf(socket.data.identity);
        const asked = await readOrReject(() => readCall(given), deps, { body: given, path: "socket", context });
        const until = AbortSignal.any([stopping, socket.data.gone.signal]);
        const { outcome, callId } = await callTool(deps, { asked, path: "socket", context }, until);
        if (outcome.kind === "ok") return { result: outcome.result, callId };
        const fields = "retryAfterMs" in outcome ? { retryAfterMs: outcome.retryAfterMs } : {};
        throw new GatewayError(outcome.code, "a tool call did not end well", { say: outcome.message, fields });
      },
    },
    "approvals.list": method<"approvals.list">(READ, noParams(), () => ({ items: deps.tools.approvals.pending() })),
    "approvals.decide": method<"approvals.decide">(ADMIN, checkedObject({ id, ...DECISION }), (asked, socket) =>
      decideApproval(deps, asked, principalOf(socket)),
    ),
    "questions.list": method<"questions.list">(CHAT_OR_READ, noParams(), (_asked, socket) => ({
      items: openQuestions(deps, identityOf(socket)),
    })),
    "questions.answer": method<"questions.answer">(CHAT, checkedObject({ id, answer: ANSWER }), (asked, socket) =>
      answerQuestion(deps, asked, identityOf(socket)),
    ),
  };
}

export function createMethods(deps: HttpDeps, server: ServerParts): MethodTable {
  const methods: Record<keyof WireMethods, Method> = {
    ...chatMethods(deps, server),
    ...sessionMethods(deps, server),
    ...toolMethods(deps, server),
    ...cronMethods(deps),
    subscribe: method<"subscribe">(CHAT_OR_READ, checkedObject({ events: eventNames, sinceSeq }), (asked, socket) => {
      const names = CLIENT_EVENTS.filter((name) => asked.events.includes(name));
      if (names.length !== new Set(asked.events).size) throw unknownEvent();
      return { seq: subscribe(deps.stream, socket, names, asked.sinceSeq) };
    }),
    status: method<"status">(READ, noParams(), () => deps.operations.status()),
  };
  const byName = new Map<string, Method>(Object.entries(methods));
  return {
    async call(request, socket) {
      const found = byName.get(request.method);
      if (found) {
        requireNeed(identityOf(socket), found.need);
        return found.run(request.params, socket);
      }
      throw new GatewayError("not_found", "unknown method", { say: "There is no such method." });
    },
  };
}

function unknownEvent(): GatewayError {
  return new GatewayError("invalid_params", "unknown event name", {
    say: `Events are: ${CLIENT_EVENTS.join(", ")}.`,
  });
}
