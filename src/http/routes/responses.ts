/** /v1/responses: OpenResponses, as a request, a stream of events, a run in the background, and a WebSocket. */
import { GatewayError } from "../../contracts/errors.ts";
import type { AskedResponse } from "../../contracts/responses.ts";
import { CHAT } from "../access/key-reach.ts";
import { askingOf, sessionIn, withRate } from "../openai/asking.ts";
import { createRemembered } from "../openai/remembered.ts";
import { responseSocket } from "../openai/response-socket.ts";
import { streamedEvents } from "../openai/response-stream.ts";
import {
  type Call,
  identityOf,
  json,
  NO_BODY,
  OPERATOR_GET,
  OPERATOR_POST,
  param,
  type Reply,
  type Route,
} from "../route.ts";
import type { HttpDeps, ServerParts } from "../types.ts";
import { upgraded } from "../ws/upgraded.ts";
import { maxChatBytes } from "./chat.ts";

type ResponseDeps = Pick<HttpDeps, "clock" | "ids" | "log" | "events" | "store" | "messages">;

export function responseRoutes(deps: ResponseDeps, server: ServerParts): readonly Route[] {
  const { responses, openai } = deps.messages;
  const remembered = createRemembered();
  const body = { kind: "json", maxBytes: () => maxChatBytes(server.limits().maxUploadBytes) } as const;
  return [
    {
      ...OPERATOR_POST,
      path: "/v1/responses",
      scope: CHAT,
      body,
      handle: (call) => create(deps, server, call),
    },
    {
      ...OPERATOR_GET,
      path: "/v1/responses",
      scope: CHAT,
      handle: (call) => upgraded(deps, call, responseSocket(deps, server, call, remembered)),
    },
    {
      ...OPERATOR_POST,
      path: "/v1/responses/compact",
      scope: CHAT,
      body,
      async handle(call) {
        const rate = openai.admit(identityOf(call).principal);
        call.server.timeout(call.request, 0);
        const asked = { body: call.json, ...askingOf(deps, server, call) };
        return withRate(json(await responses.compact(asked, call.signal)), rate);
      },
    },
    { ...OPERATOR_GET, path: "/v1/responses/:id", scope: CHAT, handle: (call) => retrieve(deps, call) },
    {
      method: "DELETE",
      auth: "operator",
      body: NO_BODY,
      path: "/v1/responses/:id",
      scope: CHAT,
      async handle(call) {
        const id = param(call, "id");
        if (!(await responses.remove(id, identityOf(call).principal))) throw noResponse(id);
        return json({ id, object: "response", deleted: true });
      },
    },
    {
      ...OPERATOR_POST,
      path: "/v1/responses/:id/cancel",
      scope: CHAT,
      handle: async (call) => json(await responses.cancel(param(call, "id"), identityOf(call).principal)),
    },
  ];
}

async function create(deps: ResponseDeps, server: ServerParts, call: Call): Promise<Reply> {
  const { responses, openai } = deps.messages;
  const { principal } = identityOf(call);
  const request = responses.read(call.json, sessionIn(call.request));
  const rate = openai.admit(principal);
  const shows = request.stream ? "events" : "whole";
  const asked: AskedResponse = { request, shows, recalled: null, ...askingOf(deps, server, call) };
  call.server.timeout(call.request, 0); // an answer may take longer than an idle connection lives; the turn has its own limit
  return withRate(await answered(deps, call, asked), rate);
}

async function answered(deps: ResponseDeps, call: Call, asked: AskedResponse): Promise<Response> {
  const { responses } = deps.messages;
  const { request, principal } = asked;
  if (request.settings.background) {
    const begun = await responses.begin(asked);
    const followed = { id: begun.id, principal, after: null };
    return request.stream
      ? streamedEvents(deps, call, (show, signal) => responses.follow(followed, show, signal))
      : json(begun);
  }
  if (request.stream) return streamedEvents(deps, call, (show, signal) => responses.create(asked, show, signal));
  return json((await responses.create(asked, () => undefined, call.signal)).response);
}

async function retrieve(deps: ResponseDeps, call: Call): Promise<Reply> {
  const { responses } = deps.messages;
  const id = param(call, "id");
  const { principal } = identityOf(call);
  if (call.query.get("stream") === "true") {
    const after = startingAfter(call.query.get("starting_after"));
    call.server.timeout(call.request, 0);
    return streamedEvents(deps, call, (show, signal) => responses.follow({ id, principal, after }, show, signal));
  }
  const found = await responses.find(id, principal);
  if (found === null) throw noResponse(id);
  return json(found);
}

function startingAfter(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new GatewayError("bad_request", "unreadable starting_after", {
    say: "`starting_after` is the number of an event.",
    fields: { param: "starting_after" },
  });
}

function noResponse(id: string): GatewayError {
  return new GatewayError("not_found", "no such response", {
    say: `There is no response ${JSON.stringify(id.slice(0, 100))}.`,
  });
}
