/** What can be asked over the event socket: one table, one schema per method. */
import { Type } from "typebox";
import { GatewayError } from "../../contracts/errors.ts";
import { CLIENT_EVENTS } from "../../contracts/events.ts";
import type { Principal } from "../../contracts/ids.ts";
import type { WireMethods } from "../../contracts/wire.ts";
import { cronMethods } from "./cron-methods.ts";
import { acceptMessage, MAX_ATTACHMENTS, MAX_MESSAGE_ID_CHARS } from "../chat/accept-message.ts";
import { cancelMessage, editMessage } from "../chat/cancel-message.ts";
import { type Checked, checked, checkedObject } from "../checked.ts";
import { PAGE_FIELDS, pageOf } from "../paging.ts";
import { keyToRead, resetSession } from "../chat/session-actions.ts";
import { readSessionView } from "../chat/session-view.ts";
import { DECISION, decideApproval } from "../tools/approvals.ts";
import { questionMethods } from "../tools/questions.ts";
import { callTool, createCallReader, readOrReject } from "../tools/tool-call.ts";
import { callerOf } from "../tools/tool-caller.ts";
import { type Socket, subscribe } from "./sockets.ts";
import type { HttpDeps, ServerParts } from "../types.ts";

export interface MethodTable {
  call(request: { readonly method: string; readonly params: unknown }, socket: Socket): Promise<unknown>;
}

type Said = Params<"chat.send"> & { readonly steer?: boolean };
type Method = (params: unknown, socket: Socket) => Promise<unknown>;

const MAX_EVENT_NAMES = 32;
const session = Type.String({ minLength: 1, maxLength: 512 });
const clientId = Type.String({ pattern: "^[\\w-]{1,128}$" });
/** One reaction: no letters, no digits, nothing a model could read as words. */
const emoji = Type.Union([
  Type.String({ pattern: "^[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u200d\\ufe0f]{1,16}$" }),
  Type.Null(),
]);

const PARAMS = () => ({
  send: checkedObject({
    session,
    text: Type.String(),
    clientId,
    replyTo: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_MESSAGE_ID_CHARS })),
    attachments: Type.Optional(
      Type.Array(Type.Object({ mediaId: Type.String({ maxLength: 128 }) }, { additionalProperties: false }), {
        maxItems: MAX_ATTACHMENTS,
      }),
    ),
  }),
  steer: checkedObject({ session, text: Type.String(), clientId }),
  cancel: checkedObject({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
  edit: checkedObject({ id: Type.String({ minLength: 1, maxLength: 128 }), text: Type.String() }),
  react: checkedObject({ id: Type.String({ minLength: 1, maxLength: 200 }), emoji }),
  session: checkedObject({ session }),
  list: checkedObject({ ...PAGE_FIELDS, search: Type.Optional(Type.String({ maxLength: 200 })) }),
  view: checkedObject({ ...PAGE_FIELDS, session }),
  decide: checkedObject({ id: Type.String({ minLength: 1, maxLength: 128 }), decision: DECISION }),
  subscribe: checkedObject({
    events: Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_EVENT_NAMES }),
    sinceSeq: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  nothing: checked(Type.Unsafe<Record<string, never>>({ type: "object", additionalProperties: false })),
});

async function abort(deps: HttpDeps, session: string): Promise<Result<"chat.abort">> {
  return { aborted: deps.messages.live.abort(await keyToRead(deps, session)) };
}

const principalOf = (socket: Socket): Principal => socket.data.identity.principal;

/** Those with a file of their own. */
const furtherMethods = (deps: HttpDeps) => ({
  ...cronMethods(deps, principalOf),
  ...questionMethods(deps, principalOf),
});

export function createMethods(deps: HttpDeps, { links, limits, stopping }: ServerParts): MethodTable {
  const params = PARAMS();
  const readCall = createCallReader();
  const keyOf = (name: string) => keyToRead(deps, name);
  const send = async ({ clientId: given, ...said }: Said, socket: Socket): Promise<Result<"chat.send">> => {
    const { principal } = socket.data.identity;
    const draft = { attachments: [], ...said, eventId: `web:${given}`, principal } as const;
    // One after the other: a picture that takes a moment to find is not overtaken by the words sent after it.
    const sending = socket.data.sending.then(() => acceptMessage(deps, limits(), draft, stopping));
    socket.data.sending = sending.catch(() => undefined); // told to whoever sent it, right below
    const taken = await sending;
    return { accepted: taken.id, sessionKey: taken.sessionKey, duplicate: taken.duplicate };
  };
  const methods: Record<keyof WireMethods, Method> = {
    "chat.send": method<"chat.send">(params.send, send),
    "chat.steer": method<"chat.steer">(params.steer, (said, socket) => send({ ...said, steer: true }, socket)),
    "chat.cancel": method<"chat.cancel">(params.cancel, (it, socket) =>
      cancelMessage(deps, it.id, principalOf(socket)),
    ),
    "chat.edit": method<"chat.edit">(params.edit, ({ id, text }, socket) =>
      editMessage(deps, { id, text, maxChars: limits().maxMessageChars }, socket.data.identity.principal),
    ),
    "chat.react": method<"chat.react">(params.react, async ({ id, emoji }, socket) => {
      if (await deps.messages.webchat.takeReaction(id, emoji, principalOf(socket))) return { reacted: true };
      throw new GatewayError("not_found", "no such message", { say: "There is no such message of the assistant." });
    }),
    "chat.abort": method<"chat.abort">(params.session, ({ session }) => abort(deps, session)),
    "sessions.list": method<"sessions.list">(params.list, ({ search, ...page }) =>
      deps.store.sessions.list(search === undefined ? {} : { search }, pageOf(page)),
    ),
    "sessions.get": method<"sessions.get">(params.view, async (asked) =>
      readSessionView(deps, links, await keyOf(asked.session), pageOf(asked)),
    ),
    "sessions.reset": method<"sessions.reset">(params.session, async (asked) => ({
      reset: await resetSession(deps, await keyOf(asked.session)),
    })),
    "tools.list": method<"tools.list">(params.nothing, () => deps.tools.list()),
    "tools.call": async (given, socket) => {
      const context = callerOf(socket.data.identity);
      const asked = await readOrReject(() => readCall(given), deps, { body: given, path: "socket", context });
      const until = AbortSignal.any([stopping, socket.data.gone.signal]);
      const { outcome, callId } = await callTool(deps, { asked, path: "socket", context }, until);
      if (outcome.kind === "ok") return { result: outcome.result, callId };
      const fields = "retryAfterMs" in outcome ? { retryAfterMs: outcome.retryAfterMs } : {};
      throw new GatewayError(outcome.code, "a tool call did not end well", { say: outcome.message, fields });
    },
    "approvals.list": method<"approvals.list">(params.nothing, () => ({ items: deps.tools.approvals.pending() })),
    "approvals.decide": method<"approvals.decide">(params.decide, (asked, socket) =>
      decideApproval(deps, asked, socket.data.identity.principal),
    ),
    subscribe: method<"subscribe">(params.subscribe, ({ events, sinceSeq }, socket) => {
      const names = CLIENT_EVENTS.filter((name) => events.includes(name));
      if (names.length !== new Set(events).size) throw unknownEvent();
      return { seq: subscribe(deps.stream, socket, names, sinceSeq) };
    }),
    status: method<"status">(params.nothing, () => deps.operations.status()),
    ...furtherMethods(deps),
  };
  const byName = new Map<string, Method>(Object.entries(methods));
  return {
    async call(request, socket) {
      const run = byName.get(request.method);
      if (run) return run(request.params, socket);
      throw new GatewayError("not_found", "unknown method", { say: "There is no such method." });
    },
  };
}

type Params<M extends keyof WireMethods> = WireMethods[M]["params"];
type Result<M extends keyof WireMethods> = WireMethods[M]["result"];

/** Ties the schema of a method to its function. */
function method<M extends keyof WireMethods>(
  params: Checked<Params<M>>,
  run: (params: Params<M>, socket: Socket) => Promise<Result<M>> | Result<M>,
): Method {
  return async (given, socket) => run(await params.parse(given), socket);
}

function unknownEvent(): GatewayError {
  return new GatewayError("invalid_params", "unknown event name", {
    say: `Events are: ${CLIENT_EVENTS.join(", ")}.`,
  });
}
