/** Bugs in what leaves the gateway: files that agents send, and secrets in text. */
import type { SeededBug } from "./seeded-bug.ts";

const media = ["src/media"] as const;
const redaction = ["src/observe/redaction"] as const;

export const MEDIA_BUGS: readonly SeededBug[] = [
  {
    what: "A file that grows while it is read is read without a limit.",
    file: "src/media/open-agent-file.ts",
    find: "if (bytes > maxBytes) return null;",
    replace: "",
    tests: media,
  },
  {
    what: "A file of exactly the largest size is refused.",
    file: "src/media/open-agent-file.ts",
    find: "if (about.size > limits.maxBytes)",
    replace: "if (about.size >= limits.maxBytes)",
    tests: media,
  },
  {
    what: "A file with a second name elsewhere is sent.",
    file: "src/media/open-agent-file.ts",
    find: "about.nlink !== 1 || ",
    replace: "",
    tests: media,
  },
  {
    what: "The name of a file is not judged: a key leaves.",
    file: "src/media/open-agent-file.ts",
    find: "if (!named.ok) return",
    replace: "if (!named.ok && parts.length === 0) return",
    tests: media,
  },
  {
    what: "Only the last part of a path is judged: a file in a folder of version control leaves.",
    file: "src/media/file-rules.ts",
    find: "return parts.some(isSecretPart)",
    replace: "return parts.slice(-1).some(isSecretPart)",
    tests: media,
  },
  {
    what: "Names are judged in small letters only: SERVER.PEM leaves.",
    file: "src/media/file-rules.ts",
    find: '.normalize("NFKC").toLowerCase()',
    replace: '.normalize("NFKC")',
    tests: media,
  },
  {
    what: "A guest is sent files of the whole workspace.",
    file: "src/media/file-rules.ts",
    find: 'return source === "elsewhere" ?',
    replace: 'return reach === "workspace" && source === "elsewhere" ?',
    tests: media,
  },
  {
    what: "An attachment of another conversation counts as received.",
    file: "src/media/outgoing-files.ts",
    find: '(await conversationFiles.isReceived(sessionKey, mediaId)) ? "received" : "elsewhere"',
    replace: '"received"',
    tests: media,
  },
  {
    what: "A file without a known time of birth counts as made in the conversation.",
    file: "src/media/outgoing-files.ts",
    find: 'if (file.bornAt <= 0) return "elsewhere";',
    replace: 'if (file.bornAt <= 0) return "made";',
    tests: media,
  },
  {
    what: "A folder below `attachments` outside of the workspace counts as received.",
    file: "src/media/outgoing-files.ts",
    find: "file.isInBase ? receivedMediaId(file.parts) : null",
    replace: "receivedMediaId(file.parts)",
    tests: media,
  },
  {
    what: "A readable file that holds a token is sent.",
    file: "src/media/outgoing-files.ts",
    find: "return mask.text(text) !== text;",
    replace: "return mask.text(text).length < 0;",
    tests: media,
  },
  {
    what: "A file in a folder that holds the state directory is sent.",
    file: "src/media/outgoing-files.ts",
    find: "return holdsHome ? null : path;",
    replace: "return path;",
    tests: media,
  },
  {
    what: "A file inside a deeper folder named `attachments` counts as an attachment.",
    file: "src/media/inbound/attached-files.ts",
    find: "name === undefined || more !== undefined",
    replace: "name === undefined",
    tests: media,
  },
];

export const REDACTION_BUGS: readonly SeededBug[] = [
  {
    what: "Of two secrets that begin alike the shorter one wins, and the rest of the longer shows.",
    file: "src/observe/redaction/secret-matcher.ts",
    find: "b.length - a.length",
    replace: "a.length - b.length",
    tests: redaction,
  },
  {
    what: "A secret at the very end of a text is not found.",
    file: "src/observe/redaction/secret-matcher.ts",
    find: "while (at <= last)",
    replace: "while (at < last)",
    tests: redaction,
  },
  {
    what: "The hash does not roll on: a secret is found at the start of a text only.",
    file: "src/observe/redaction/secret-matcher.ts",
    find: "+ text.charCodeAt(at + MIN_FORM_CHARS);",
    replace: "+ text.charCodeAt(at);",
    tests: redaction,
  },
  {
    what: "After a secret the hash is not made anew: the next one is not found.",
    file: "src/observe/redaction/secret-matcher.ts",
    find: "          hash = hashAt(text, at);\n",
    replace: "",
    tests: redaction,
  },
  {
    what: "Of a secret in pieces nothing is held back once it is longer than a key.",
    file: "src/observe/redaction/secret-matcher.ts",
    find: "if (more && form.length > text.length - at",
    replace: "if (!more && form.length > text.length - at",
    tests: redaction,
  },
  {
    what: "What was shown before is forgotten: a secret that is cut after its third character shows whole.",
    file: "src/observe/redaction/secret-matcher.ts",
    find: "buffer = clean.slice(Math.max(afterMask, clean.length - MIN_HELD_CHARS + 1));",
    replace: 'buffer = "";',
    tests: redaction,
  },
  {
    what: "The last piece shows what was held back without looking at it.",
    file: "src/observe/redaction/secret-matcher.ts",
    find: 'flush: () => step("", false)',
    replace: "flush: () => buffer.slice(shown)",
    tests: redaction,
  },
  {
    what: "A secret that becomes known later is not looked for.",
    file: "src/observe/redaction/redact.ts",
    find: "      secrets.set(registration, formsOf(value));\n      matcher = null;",
    replace: "      secrets.set(registration, formsOf(value));",
    tests: redaction,
  },
  {
    what: "A dead secret is masked for ever.",
    file: "src/observe/redaction/redact.ts",
    find: "if (secrets.delete(registration)) matcher = null;",
    replace: "secrets.delete(registration);",
    tests: redaction,
  },
  {
    what: "A secret in base64 is found only where it begins a group of three bytes.",
    file: "src/observe/redaction/secret-forms.ts",
    find: "return [0, 1, 2].map((shift)",
    replace: "return [0].map((shift)",
    tests: redaction,
  },
];

const lines = ["src/flow/media-lines.test.ts", "src/tools/gate.test.ts", "src/flow/live-turns.test.ts"] as const;

export const REPLY_BUGS: readonly SeededBug[] = [
  {
    what: "A file that is allowed later is put into a reply that has left, and never arrives.",
    file: "src/flow/media-lines.ts",
    find: "return isOpen;\n",
    replace: "return true;\n",
    tests: lines,
  },
  {
    what: "A file that the owner did not allow is passed over in silence.",
    file: "src/flow/media-lines.ts",
    find: "void follow(deps, request, signal);",
    replace: "",
    tests: lines,
  },
  {
    what: "Two lines of a reply are one call: the second file is not sent.",
    file: "src/flow/media-lines.ts",
    find: "`gateway:reply:${part}:${at}`",
    replace: "`gateway:reply:${part}`",
    tests: lines,
  },
  {
    what: "The name of a tool that does not exist is shown as the model says it.",
    file: "src/flow/live-turns.ts",
    find: "tool: mask.text(call.tool)",
    replace: "tool: call.tool",
    tests: lines,
  },
  {
    what: "Programs read the results of tools with secrets in them.",
    file: "src/tools/run/mask-outcome.ts",
    find: "return byModel ? outcome :",
    replace: 'return path !== "reply" ? outcome :',
    tests: lines,
  },
];
