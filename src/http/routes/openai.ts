/** GET /v1/models and POST /v1/chat/completions, for programs written for OpenAI's API. Hanging up stops the turn. */
import { GatewayError } from "../../contracts/errors.ts";
import type { AskedCompletion, ChatCompletionRequest, Completion } from "../../contracts/openai.ts";
import { deferred } from "../../kit/deferred.ts";
import { CHAT } from "../access/key-reach.ts";
import { dataStream } from "../chat/event-stream.ts";
import { askingOf, sessionIn, withRate } from "../openai/asking.ts";
import { openAiError } from "../openai/problem.ts";
import { type Chunks, completionBody, completionChunks } from "../openai/render.ts";
import { logProblem } from "../problem.ts";
import { type Call, json, OPERATOR_GET, OPERATOR_POST, param, identityOf, type Route } from "../route.ts";
import type { HttpDeps, ServerParts } from "../types.ts";
import { maxChatBytes } from "./chat.ts";

type OpenAiDeps = Pick<HttpDeps, "clock" | "ids" | "log" | "events" | "store" | "messages">;

/** An answer that fails within this time fails with a status; after it the stream has begun. */
const FIRST_SIGN_MS = 5_000;
const MS_PER_SECOND = 1_000;
const DONE = "[DONE]";

export function openAiRoutes(deps: OpenAiDeps, server: ServerParts): readonly Route[] {
  const { openai } = deps.messages;
  return [
    {
      ...OPERATOR_GET,
      path: "/v1/models",
      scope: CHAT,
      handle: (call) => json({ object: "list", data: openai.models(identityOf(call).key) }),
    },
    {
      ...OPERATOR_GET,
      path: "/v1/models/:id",
      scope: CHAT,
      handle: (call) => oneModel(openai.models(identityOf(call).key), param(call, "id")),
    },
    {
      ...OPERATOR_GET,
      path: "/v1/models/:owner/:agent", // clients differ in whether they escape the slash of a name
      scope: CHAT,
      handle: (call) =>
        oneModel(openai.models(identityOf(call).key), `${param(call, "owner")}/${param(call, "agent")}`),
    },
    {
      ...OPERATOR_POST,
      path: "/v1/chat/completions",
      scope: CHAT,
      body: { kind: "json", maxBytes: () => maxChatBytes(server.limits().maxUploadBytes) },
      handle: (call) => complete(deps, server, call),
    },
  ];
}

function oneModel(models: ReturnType<OpenAiDeps["messages"]["openai"]["models"]>, id: string): Response {
  const found = models.find((model) => model.id === id);
  if (found) return json(found);
  throw new GatewayError("not_found", "no such model", {
    say: `There is no model ${JSON.stringify(id.slice(0, 100))} here. GET /v1/models lists them.`,
    fields: { param: "model", code: "model_not_found" },
  });
}

async function complete(deps: OpenAiDeps, server: ServerParts, call: Call): Promise<Response> {
  const request = deps.messages.openai.read(call.json, sessionIn(call.request));
  const rate = deps.messages.openai.admit(identityOf(call).principal);
  const asked: AskedCompletion = { request, ...askingOf(deps, server, call) };
  call.server.timeout(call.request, 0); // an answer may take longer than an idle connection lives; the turn has its own limit
  const response = request.stream
    ? await streamed(deps, call, asked)
    : json(completionBody(request, await deps.messages.openai.answer(asked, () => undefined, call.signal)));
  return withRate(response, rate);
}

/** The stream begins with the first words, so that what fails before them has a status. */
async function streamed(deps: OpenAiDeps, call: Call, asked: AskedCompletion): Promise<Response> {
  const gone = new AbortController();
  const signal = AbortSignal.any([call.signal, gone.signal]);
  const began = deferred<void>();
  const early: string[] = [];
  let take = (delta: string): void => void early.push(delta);
  const answer = deps.messages.openai.answer(
    asked,
    (progress) => {
      if (progress.type !== "text") return;
      take(progress.delta);
      began.resolve();
    },
    signal,
  );
  answer.catch(() => undefined); // told below
  await firstSign(deps, Promise.race([began.promise, answer]), signal);
  return dataStream(deps, call.signal, async (sink, over) => {
    over.addEventListener("abort", () => gone.abort(over.reason), { once: true });
    const chunks = chunksOf(deps, asked.request);
    const write = (value: object): void => sink.data(JSON.stringify(value));
    write(chunks.begin());
    let sent = false;
    take = (delta) => {
      sent = true;
      write(chunks.text(delta));
    };
    for (const delta of early) take(delta);
    try {
      const completion: Completion = await answer;
      for (const last of chunks.end(completion, sent)) write(last);
      sink.data(DONE);
    } catch (error) {
      if (sink.isGone() || call.request.signal.aborted) return; // nobody is left to be told
      logProblem(deps.log, error, { requestId: call.requestId });
      write({ error: openAiError(error) });
    }
  });
}

/** Resolves with it, or after a while without it. Rejects when it does. */
async function firstSign({ clock }: OpenAiDeps, sign: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const seen = new AbortController();
  const waited = clock.sleep(FIRST_SIGN_MS, AbortSignal.any([signal, seen.signal])).catch(() => undefined); // the answer tells of a client that has gone
  try {
    await Promise.race([sign, waited]);
  } finally {
    seen.abort();
  }
}

function chunksOf({ clock, ids }: OpenAiDeps, request: ChatCompletionRequest): Chunks {
  const created = Math.floor(clock.now() / MS_PER_SECOND);
  return completionChunks(request, { id: ids.next("chatcmpl").replace("_", "-"), created });
}
