/** A model that needs no key and no network: a scripted provider inside pi, streaming word by word. What it says is in script.ts. */
import type {
  AssistantMessage,
  AssistantMessageEventStream,
  Message,
  SimpleStreamOptions,
  ToolCall,
  TranscriptContext,
} from "@earendil-works/pi-ai";
// By their own paths, which the build takes in: all of pi-ai a second time would make every start of an agent a quarter dearer.
import { createAssistantMessageEventStream } from "@earendil-works/pi-ai/utils/event-stream";
import { getCurrentTools } from "@earendil-works/pi-ai/utils/transcript";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { writeFile } from "node:fs/promises";
import { demoChart } from "./chart.ts";
import type { ToolSpec } from "../../src/contracts/tools/tool.ts";
import { CHART, type ProgramTool } from "./requests.ts";
import { type DemoReply, type DemoTurn, demoReply, demoText } from "./script.ts";

const PROVIDER = "gwdemo";
const MODEL = "demo";
const API = "gw-demo-api";
const WORD_PACE_MS = 12;
const CHARS_PER_TOKEN = 4;
const FREE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } as const;

/** `specs`: the tools that the gateway offers now. */
export function registerDemoModel(pi: ExtensionAPI, specs: () => readonly ToolSpec[]): void {
  pi.registerProvider(PROVIDER, {
    name: "Demo",
    baseUrl: "http://demo.invalid",
    apiKey: "none",
    api: API,
    models: [
      {
        id: MODEL,
        name: "Demo",
        reasoning: false,
        input: ["text", "image"],
        contextWindow: 64_000,
        maxTokens: 4_096,
        cost: FREE,
      },
    ],
    streamSimple(_model, context, options) {
      const stream = createAssistantMessageEventStream();
      void play(stream, { context, specs: specs() }, options);
      return stream;
    },
  });
}

/** Never rejects: an escaped rejection would end the whole process. */
async function play(
  stream: AssistantMessageEventStream,
  { context, specs }: { readonly context: TranscriptContext; readonly specs: readonly ToolSpec[] },
  options: SimpleStreamOptions | undefined,
): Promise<void> {
  const message = emptyMessage(context.messages);
  try {
    const reply = demoReply(readTurn(context, specs));
    stream.push({ type: "start", partial: message });
    // drawn just before it is sent, into the workspace that pi runs in
    if (reply.kind === "call" && reply.input["path"] === CHART) await writeFile(CHART, demoChart());
    if (reply.kind === "call") pushCall(stream, message, reply);
    else await pushText(stream, message, reply, options?.signal);
  } catch (error) {
    const aborted = options?.signal?.aborted === true;
    message.stopReason = aborted ? "aborted" : "error";
    message.errorMessage = aborted ? "Request was aborted" : String(error);
    stream.push({ type: "error", reason: message.stopReason, error: message });
  }
  stream.end();
}

async function pushText(
  stream: AssistantMessageEventStream,
  message: AssistantMessage,
  reply: Extract<DemoReply, { kind: "say" }>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const block = { type: "text" as const, text: "" };
  message.content.push(block);
  stream.push({ type: "text_start", contentIndex: 0, partial: message });
  const pieces = reply.atOnce ? [reply.text] : (reply.text.match(/\s*\S+\s*$|\s*\S+/g) ?? [reply.text]);
  for (const delta of pieces) {
    if (!reply.atOnce) await pause(WORD_PACE_MS, signal);
    signal?.throwIfAborted();
    block.text += delta;
    stream.push({ type: "text_delta", contentIndex: 0, delta, partial: message });
  }
  message.usage = { ...message.usage, output: Math.ceil(reply.text.length / CHARS_PER_TOKEN) };
  message.usage.totalTokens = message.usage.input + message.usage.output;
  message.stopReason = "stop";
  stream.push({ type: "text_end", contentIndex: 0, content: block.text, partial: message });
  stream.push({ type: "done", reason: "stop", message });
}

function pushCall(
  stream: AssistantMessageEventStream,
  message: AssistantMessage,
  reply: Extract<DemoReply, { kind: "call" }>,
): void {
  const toolCall: ToolCall = {
    type: "toolCall",
    id: `demo-${crypto.randomUUID()}`,
    name: reply.tool,
    arguments: { ...reply.input },
  };
  message.content.push(toolCall);
  message.stopReason = "toolUse";
  stream.push({ type: "toolcall_start", contentIndex: 0, partial: message });
  stream.push({ type: "toolcall_delta", contentIndex: 0, delta: JSON.stringify(reply.input), partial: message });
  stream.push({ type: "toolcall_end", contentIndex: 0, toolCall, partial: message });
  stream.push({ type: "done", reason: "toolUse", message });
}

/** The part of the transcript that the script answers to: the newest message, and which tools are there. */
function readTurn(context: TranscriptContext, specs: readonly ToolSpec[]): DemoTurn {
  const tools = getCurrentTools(context.messages).map((tool) => tool.name);
  const last = context.messages.findLast((message) => message.role === "user" || message.role === "toolResult");
  if (last?.role === "toolResult") {
    return { kind: "result", tool: last.toolName, text: textOf(last.content), isError: last.isError, tools };
  }
  const content = last?.role === "user" ? last.content : "";
  const images =
    typeof content === "string" ? [] : content.flatMap((part) => (part.type === "image" ? [part.mimeType] : []));
  const programTools = specs.filter(({ name, client }) => client && tools.includes(name)).map(programTool);
  return { kind: "user", text: demoText(textOf(content)), images, tools, programTools };
}

function programTool({ name, parameters }: ToolSpec): ProgramTool {
  const { required, properties } = parameters as {
    required?: unknown;
    properties?: Record<string, { type?: unknown }>;
  };
  const needed = Array.isArray(required) ? required.map(String) : [];
  return { name, texts: needed.filter((one) => properties?.[one]?.type === "string") };
}

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  return typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
}

function emptyMessage(messages: readonly Message[]): AssistantMessage {
  const input = messages.reduce((sum, message) => sum + Math.ceil(sizeOf(message) / CHARS_PER_TOKEN), 0);
  return {
    role: "assistant",
    content: [],
    api: API,
    provider: PROVIDER,
    model: MODEL,
    stopReason: "pending",
    timestamp: Date.now(),
    usage: { input, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: input, cost: { ...FREE, total: 0 } },
  };
}

function sizeOf(message: Message): number {
  if (message.role === "system" || typeof message.content === "string") return String(message.content).length;
  return message.content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
