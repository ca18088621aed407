/**
 * The next model when one fails before its first word: the providers' streams are wrapped, and what pi sees is the stream of whichever model
 * answered. pi-ai writes the conversation for each API anew, so the next model may be of another one. Nothing is repeated after the first word:
 * tools that have run stay run.
 */
import type {
  Api,
  AssistantMessage,
  AssistantMessageEvent,
  AssistantMessageEventStream,
  Model,
  SimpleStreamOptions,
  TranscriptContext,
} from "@earendil-works/pi-ai";
// By its own path, which the build takes in: all of pi-ai a second time would make every start of an agent a quarter dearer.
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { announceCall, mayAskNext } from "./model-door.ts";

type Registry = ExtensionContext["modelRegistry"];
type Stream = (model: Model<Api>, context: TranscriptContext, options?: Options) => AssistantMessageEventStream;
/** `DIRECT`: this call is one of a chain already. */
type Options = SimpleStreamOptions & { readonly [DIRECT]?: true };

const DIRECT = Symbol.for("pi-gateway.direct-call");
const WRAPPED = Symbol.for("pi-gateway.with-fallbacks");

export function hasFallbacks(): boolean {
  return fallbackNames().length > 0;
}

/** When a session begins: the registry knows every model by then. */
export function useFallbacks(pi: ExtensionAPI): void {
  const names = fallbackNames();
  if (names.length > 0) pi.on("session_start", (_event, { modelRegistry }) => wrapProviders(pi, modelRegistry, names));
}

function fallbackNames(): readonly string[] {
  const parsed: unknown = JSON.parse(process.env.PI_GATEWAY_FALLBACKS ?? "[]");
  return Array.isArray(parsed) ? parsed.filter((one) => typeof one === "string") : [];
}

function wrapProviders(pi: ExtensionAPI, registry: Registry, names: readonly string[]): void {
  for (const id of new Set(registry.getAvailable().map(({ provider }) => provider))) {
    const wrapped = registry.getRegisteredNativeProvider(id);
    const provider = registry.getProvider(id);
    if (!provider || (wrapped && WRAPPED in wrapped)) continue;
    const plain: Stream = (model, context, options) => provider.streamSimple(model, context, options);
    const streamSimple: Stream = (model, context, options) =>
      options?.[DIRECT]
        ? plain(model, context, options)
        : inTurn(chainOf(registry, model, names), { plain, registry, context, options });
    pi.registerProvider({ ...provider, [WRAPPED]: true, streamSimple } as typeof provider);
  }
}

function chainOf(registry: Registry, first: Model<Api>, names: readonly string[]): readonly Model<Api>[] {
  const others = names.flatMap((name) => {
    const slash = name.indexOf("/");
    const found = registry.find(name.slice(0, slash), name.slice(slash + 1));
    return found && `${first.provider}/${first.id}` !== name ? [found] : [];
  });
  return [first, ...others];
}

interface Call {
  readonly plain: Stream;
  readonly registry: Registry;
  readonly context: TranscriptContext;
  readonly options: Options | undefined;
}

/** The stream of the first of these models that says something; of the last one, whatever it says. */
function inTurn(chain: readonly Model<Api>[], call: Call): AssistantMessageEventStream {
  const out = createAssistantMessageEventStream();
  const run = async (): Promise<void> => {
    for (const [at, model] of chain.entries()) {
      const more = at < chain.length - 1;
      announceCall(model, more);
      const stream = at === 0 ? call.plain(model, call.context, call.options) : streamOf(model, call);
      if (await passOn(stream, out, more && !call.options?.signal?.aborted)) return;
    }
  };
  run().catch((error: unknown) => out.push(failure(chain[0], error))); // a stream does not throw: it ends with an event
  return out;
}

/** False: it failed before its first word, and the next model is to be asked. */
async function passOn(
  stream: AssistantMessageEventStream,
  out: AssistantMessageEventStream,
  more: boolean,
): Promise<boolean> {
  let start: AssistantMessageEvent | null = null; // held back until something follows
  let spoken = false;
  for await (const event of stream) {
    if (event.type === "start") {
      start = event;
      continue;
    }
    if (event.type === "error" && !spoken && more && event.reason !== "aborted" && mayAskNext()) return false;
    if (start) out.push(start);
    start = null;
    spoken = true;
    out.push(event);
  }
  out.end();
  return true;
}

function failure(model: Model<Api> | undefined, error: unknown): AssistantMessageEvent {
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const message: AssistantMessage = {
    role: "assistant",
    content: [],
    api: model?.api ?? "",
    provider: model?.provider ?? "",
    model: model?.id ?? "",
    usage: { ...none, totalTokens: 0, cost: { ...none, total: 0 } },
    stopReason: "error",
    errorMessage: error instanceof Error ? error.message : "the model could not be asked",
    timestamp: Date.now(),
  };
  return { type: "error", reason: "error", error: message };
}

/** The key and the address of the first model are not those of another. */
function streamOf(model: Model<Api>, { registry, context, options }: Call): AssistantMessageEventStream {
  const { apiKey: _key, headers: _headers, env: _variables, maxTokens, ...rest } = options ?? {};
  const own: Options = { ...rest, [DIRECT]: true };
  if (maxTokens !== undefined) own.maxTokens = Math.min(maxTokens, model.maxTokens);
  return registry.streamSimple(model, context, own);
}
