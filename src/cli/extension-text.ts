/**
 * The text of an extension for somebody's own pi: the gateway's tools as they are now, called over HTTP. Tools go in as data and never as code;
 * no secret is inside. Pure.
 */
import { GatewayError } from "../contracts/errors.ts";
import type { ToolSpec } from "../contracts/tools/tool.ts";

const RUNTIME = `
const ASK_AGAIN_MS = 1000;

export default function gatewayTools(pi) {
  for (const tool of TOOLS) {
    pi.registerTool({
      ...tool,
      // The model gets the schema; the gateway alone checks what it is given, by the same rules as everywhere.
      parameters: Object.defineProperty({}, "toJSON", { value: () => tool.parameters }),
      promptSnippet: tool.description.split("\\n", 1)[0].slice(0, 200),
      execute: (_callId, params, signal, onUpdate) => approved({ tool: tool.name, params }, signal, onUpdate),
    });
  }
}

/** Ids of providers are repeated, empty or in forms of their own: each call gets one of its own, under which its result is asked for. */
async function approved({ tool, params }, signal, onUpdate) {
  const body = { tool, callId: "own-" + crypto.randomUUID(), params };
  for (;;) {
    const final = await call(body, signal, onUpdate);
    if (final.ok) return { content: final.result.content, details: final.result.details };
    const envelope = final.envelope ?? { status: "error", tool, error: final.error?.message ?? final.failure };
    const text = JSON.stringify(envelope);
    if (final.error?.code === "background") return { content: [{ type: "text", text }], details: undefined };
    if (final.error?.code !== "approval_pending") throw new Error(text);
    onUpdate?.({ content: [{ type: "text", text: final.error.message }], details: undefined });
    await pause(signal);
  }
}

function pause(signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ASK_AGAIN_MS);
    const stop = () => {
      clearTimeout(timer);
      reject(new Error("The call was cancelled."));
    };
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

async function call(body, signal, onUpdate) {
  const token = process.env.PI_GATEWAY_TOKEN;
  if (!token) throw new Error("Set PI_GATEWAY_TOKEN to the gateway's token before you start pi.");
  const address = (process.env.PI_GATEWAY_URL || GATEWAY) + "/api/tools/call";
  const headers = {
    authorization: "Bearer " + token,
    "content-type": "application/json",
    accept: "application/x-ndjson",
  };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body), signal });
  const final = await lastOf(response, (progress) => onUpdate?.({ content: progress.content ?? [], details: undefined }));
  return { failure: "The gateway answered with status " + response.status + ".", ...final };
}

/** Lines of progress, then the end; or one answer as a whole. */
async function lastOf(response, onProgress) {
  let held = "";
  let last = {};
  const take = (line) => {
    if (line.trim() === "") return;
    const record = JSON.parse(line);
    if ("progress" in record) onProgress(record.progress ?? {});
    else last = record.final ?? record;
  };
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split("\\n");
    held = lines.pop() ?? "";
    lines.forEach(take);
  }
  take(held);
  return last;
}
`;

/** Throws rather than give a text that pi could not load: pi does not start with an extension that is broken. */
export function extensionText(specs: readonly ToolSpec[], url: string): string {
  const tools = specs.map(({ name, label, description, parameters }) => ({ name, label, description, parameters }));
  const text = [
    "/** The tools of a pi-gateway, for your own pi. Made by `pi-gw bridge export`; make it anew when the tools have changed. */",
    `const GATEWAY = ${JSON.stringify(url)};`,
    // As text in text: in an object of the program itself, a key such as __proto__ would mean something.
    `const TOOLS = JSON.parse(${JSON.stringify(JSON.stringify(tools))});`,
    RUNTIME,
  ].join("\n");
  refuseBroken(text);
  return text;
}

export function refuseBroken(text: string): void {
  const transpiler = new Bun.Transpiler({ loader: "js", target: "bun" });
  try {
    transpiler.transformSync(text);
    const { exports, imports } = transpiler.scan(text);
    if (exports.length === 1 && exports[0] === "default" && imports.length === 0) return;
  } catch (cause) {
    throw new GatewayError("internal", "the exported extension is not a program", { cause });
  }
  throw new GatewayError("internal", "the exported extension has other imports or exports than it should");
}
