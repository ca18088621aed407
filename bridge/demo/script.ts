/** The script of the demo model: a pure function from the newest message to a text or a tool call. It never pretends to be a real model. */
import { demoRequest, type ProgramTool, programRequest } from "./requests.ts";

export type DemoTurn =
  | {
      readonly kind: "user";
      readonly text: string;
      readonly images: readonly string[];
      readonly tools: readonly string[];
      /** Those that the program which asks has brought along. */
      readonly programTools?: readonly ProgramTool[];
    }
  | {
      readonly kind: "result";
      readonly tool: string;
      readonly text: string;
      readonly isError: boolean;
      readonly tools: readonly string[];
    };

export type DemoReply =
  | { readonly kind: "say"; readonly text: string; readonly atOnce: boolean }
  | { readonly kind: "call"; readonly tool: string; readonly input: Readonly<Record<string, string>> };

const MAX_QUOTE_CHARS = 200;

const SETUP = `To talk to a real model, do one of these and start the gateway again:

- \`export ANTHROPIC_API_KEY=…\` (or the key of another provider) before the start
- set \`agent.model\` and \`models.providers\` in \`pi-gateway.jsonc\`, for a local or other endpoint
- point \`agent.agentDir\` at a pi folder where you have logged in with \`pi\``;

const FOOTNOTE = "_I am the demo model: my answers are scripted. Say **help** to see how to set up a real one._";

const INTRODUCTION = `Hello! I am the **demo model** of pi-gateway. Everything around me is real (this chat, the queue, a pi process, the tools), but my answers are scripted and I cannot think.

Things to try:

- **status**: I call a real tool and tell you what it says
- **note: buy milk**, **add task water the plants**, **what are my tasks**: real tools too
- **remind me in 10 seconds to stretch**: a real job, and its words come by themselves
- **write file hello.txt: some words**, **list files**, **run: wc -w hello.txt**: a shell and files, in a sandbox
- **send me a chart**: a picture, drawn and sent
- **tell me a long story**: to watch streaming, and to stop it
- **code**: a code block
- **help**: how to set up a real model

The quickest way to a real model:

\`\`\`sh
export ANTHROPIC_API_KEY=…
npm start
\`\`\``;

const HELP = `I am the **demo model**. I understand a few words: **hello**, **status**, **note: …**, **search my notes for …**, **add task …**, **what are my tasks**, **write file NAME: …**, **list files**, **run: …**, **send me a chart**, **code**, **tell me a long story**, and **echo:** followed by anything.

${SETUP}

\`\`\`jsonc
{
  "agent": { "model": "local/my-model" },
  "models": { "providers": { "local": {
    "baseUrl": "http://127.0.0.1:11434/v1",
    "models": [{ "id": "my-model" }]
  } } }
}
\`\`\``;

const CODE = `Here is a code block, so that you can see how it looks:

\`\`\`ts
export function greet(name: string): string {
  return \`Hello, \${name}!\`;
}
\`\`\`

${FOOTNOTE}`;

const NEWS = "A scheduled job reports: ";
/** The gateway's blocks before a message are for models that can read. */
const FACTS = /^<gateway-facts ([\w-]+)>\n([^]*?)\n<\/gateway-facts \1>\n\n/;
const NEWS_BLOCK = /<untrusted-text ([\w-]+)[^>\n]*>\n([^]*?)\n<\/untrusted-text \1>\n\n/g;
const WAKE = /^\(A scheduled job has something/;
const DUE = /^due now, from [^,\n]+, do it[^:\n]*: ([^]*)$/m;

/** The text the script answers to: without the gateway's blocks, unless these are what it was woken for. */
export function demoText(raw: string): string {
  const facts = FACTS.exec(raw)?.[2] ?? "";
  const rest = raw.replace(FACTS, "");
  const text = rest.replace(NEWS_BLOCK, "");
  if (!WAKE.test(text) && !text.startsWith("(The job ")) return text;
  const news = [...rest.matchAll(NEWS_BLOCK)].map(([, , inside = ""]) => inside);
  if (news.length > 0) return `${NEWS}${news.join("\n\n")}`;
  return DUE.exec(facts)?.[1] ?? text;
}

export function demoReply(turn: DemoTurn): DemoReply {
  if (turn.kind === "result") return say(reportResult(turn));
  const text = turn.text.trim();
  const echo = /^echo:\s?([\s\S]*)$/i.exec(text);
  if (echo) return { kind: "say", text: echo[1] ?? "", atOnce: true };
  const due = /^Remind the person of this[^:]*: ([\s\S]+)$/.exec(text);
  if (due) return say(`Reminder: ${due[1] ?? ""}`);
  if (text.startsWith(NEWS)) return say(text);
  if (turn.images.length > 0) return say(aboutImages(turn.images));
  const called = programRequest(text, turn.programTools ?? []);
  if (called) return { kind: "call", ...called };
  const request = demoRequest(text);
  if (request) return ask(request, turn.tools);
  const plain = text.toLowerCase().replace(/[\s.!?]+$/, "");
  if (/^(hi|hello|hey|hallo|good (morning|afternoon|evening)|who are you|what are you)\b/.test(plain))
    return say(INTRODUCTION);
  if (/^(help|\?|what can you do)$/.test(plain)) return say(HELP);
  if (/^(long\b|tell me a (very )?long\b)/.test(plain)) return say(longStory());
  if (/\bcode\b/.test(plain)) return say(CODE);
  return say(aboutAnything(text));
}

/** Those of pi that this script calls: they are off where no wall can be built. */
const SANDBOX_TOOLS: readonly string[] = ["bash", "ls", "read", "write"];

function say(text: string): DemoReply {
  return { kind: "say", text, atOnce: false };
}

function ask(
  { tool, input }: { tool: string; input: Readonly<Record<string, string>> },
  tools: readonly string[],
): DemoReply {
  if (tools.includes(tool)) return { kind: "call", tool, input };
  const why = SANDBOX_TOOLS.includes(tool) ? " It needs a sandbox; `pi-gw doctor` says what there is." : "";
  return say(`That would need the tool \`${tool}\`, and that tool is not installed here yet.${why}\n\n${FOOTNOTE}`);
}

function reportResult(turn: Extract<DemoTurn, { kind: "result" }>): string {
  if (turn.isError)
    return `I called the tool \`${turn.tool}\`, but it could not answer: ${errorSentence(turn.text.trim())}\n\n${FOOTNOTE}`;
  return `I called the tool \`${turn.tool}\`. This is what it says:\n\n${inText(turn.tool, turn.text.trim())}\n\n${FOOTNOTE}`;
}

function aboutImages(types: readonly string[]): string {
  const what =
    types.length === 1
      ? `an image (\`${types[0]}\`)`
      : `${types.length} images (${types.map((type) => `\`${type}\``).join(", ")})`;
  return `I got ${what}. It came through safely, but a demo model cannot see what is in it.\n\n${FOOTNOTE}`;
}

/** Tasks, reminders and sent files as people say them; everything else as the tool said it. */
function inText(tool: string, text: string): string {
  const fields = fieldsIn(text);
  if (tool === "list_tasks" && Array.isArray(fields?.["tasks"])) return taskList(fields["tasks"] as readonly Task[]);
  if (tool === "create_reminder" && typeof fields?.["local"] === "string")
    return `The reminder is set for ${dayAndTime(fields["local"])} (${String(fields["timezone"])}).`;
  if (tool === "send_media" && fields?.["sent"] === true) return `\`${String(fields["name"])}\` is in this chat.`;
  return text;
}

interface Task {
  readonly title: string;
  readonly due_date: string | null;
  readonly status: string;
}

function taskList(tasks: readonly Task[]): string {
  if (tasks.length === 0) return "There are no tasks.";
  const line = ({ title, due_date: due, status }: Task): string =>
    `- [${status === "completed" ? "x" : " "}] ${title}${due ? ` (${due})` : ""}`;
  return tasks.map(line).join("\n");
}

/** `2026-11-16T09:30:10+01:00` as `2026-11-16, 09:30`. */
function dayAndTime(local: string): string {
  return local.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d).*$/, "$1, $2");
}

/** The sentence of an envelope; a tool of pi may have said its error without one. */
function errorSentence(text: string): string {
  const fields = fieldsIn(text);
  const sentence = [fields?.["error"], fields?.["reason"], fields?.["message"]].find((one) => typeof one === "string");
  return typeof sentence === "string" ? sentence : text;
}

function fieldsIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null; // words, shown as they are
  }
}

function aboutAnything(text: string): string {
  const quote = text.length > MAX_QUOTE_CHARS ? `${text.slice(0, MAX_QUOTE_CHARS)}…` : text;
  return `You said: ${quote || "nothing at all"}\n\nI am the **demo model**, so I cannot say anything clever about it. ${SETUP}`;
}

/** About 400 words: long enough to watch it stream and to stop it in the middle. */
function longStory(): string {
  const legs = ["a letter", "a photograph", "a question", "a song", "a joke", "a promise", "a recipe", "a map"].map(
    (cargo, index) =>
      `**Day ${index + 1}.** The little message carried ${cargo} today. It waited its turn in the queue, because nobody is allowed to push in, and wrote down where it came from, so that the answer would find its way home. Then the gate opened, a quiet process woke up, and the words began to flow one after another.`,
  );
  return `Here is a long story, so that you can watch the words arrive, or stop them.\n\n${legs.join("\n\n")}\n\nAnd when the last word had been delivered, the little message slept well.\n\n${FOOTNOTE}`;
}
