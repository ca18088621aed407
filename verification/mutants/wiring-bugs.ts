/** Bugs in how the parts are put together: what is asked twice, started twice, or not ended. */
import type { SeededBug } from "./seeded-bug.ts";

const room = ["src/wiring"] as const;
const jobs = ["src/automation/job-service.test.ts"] as const;

export const WIRING_BUGS: readonly SeededBug[] = [
  {
    what: "Each reload starts another engine beside the one that runs.",
    file: "src/automation/job-service.ts",
    find: "running ??= begin(deps);",
    replace: "running = begin(deps);",
    tests: jobs,
  },
  {
    what: "A reload during a stop starts the jobs again.",
    file: "src/automation/job-service.ts",
    find: "if (!stopped) running",
    replace: "running",
    tests: jobs,
  },
  {
    what: "Jobs that were switched off go on until the next start.",
    file: "src/automation/job-service.ts",
    find: "await old?.[Symbol.asyncDispose]();",
    replace: "void old;",
    tests: jobs,
  },
  {
    what: "Replies pass no plugin.",
    file: "src/flow/turn.ts",
    find: "await reviewReply({ clock, log, hooks: world.replies.hooks }, batch, shown.reply)",
    replace: "shown.reply",
    tests: ["src/flow/turn.test.ts", "src/flow/commands.test.ts"],
  },
  {
    what: "A reply that a plugin could not check is sent unchecked.",
    file: "src/flow/reply-review.ts",
    find: 'return { ...part, message: { ...part.message, kind: "notice", text: say } };',
    replace: "void say;",
    tests: ["src/flow/reply-review.test.ts"],
  },
  {
    what: "The token of webhooks may be the token of the gateway.",
    file: "src/http/settings.ts",
    find: "refuseSharedToken(config(), token);",
    replace: "",
    tests: ["src/http/settings.test.ts"],
  },
  {
    what: "The file of a session is noted as gone before it is removed.",
    file: "src/automation/runs/prune-sessions.ts",
    find: /await removeFile\(file\);\n\s+await runSessions\.fileGone\(file\);/,
    replace: "await runSessions.fileGone(file);\n      await removeFile(file);",
    tests: ["src/automation/runs/prune-sessions.test.ts"],
  },
  {
    what: "The owner is told about the budget under another id each time, so more than once.",
    file: "src/delivery/owner-notices.ts",
    find: "const turnId = id as TurnId;",
    replace: "const turnId = `${id}-${deps.clock.now()}` as TurnId;",
    tests: room,
  },
  {
    what: "A person who may no longer come in wakes the conversation by a tool that ends.",
    file: "src/flow/background-end.ts",
    find: "const wake = role ?",
    replace: "const wake = chat ?",
    tests: ["src/flow/background-end.test.ts"],
  },
  {
    what: "Voice goes to a service of others although nobody has given it a key.",
    file: "src/media/inbound/inbound-settings.ts",
    find: "enabled ?? (apiKey !== undefined || baseUrl !== DEFAULT_SERVICE)",
    replace: "enabled ?? true",
    tests: ["src/media/inbound/inbound-settings.test.ts"],
  },
  {
    what: "Plugins hear of a message again when its sender repeats it.",
    file: "src/flow/receive.ts",
    find: 'if (receipt.kind === "queued") {',
    replace: 'if (receipt.kind !== "refused") {',
    tests: ["src/flow/receive.test.ts"],
  },
  {
    what: "Plugins hear that a message was sent although it was not.",
    file: "src/plugins/observed-hooks.ts",
    find: "const receipt = await channel.send(part, signal);",
    replace: "const receipt = channel.send(part, signal);",
    tests: ["src/plugins/observed-hooks.test.ts"],
  },
  {
    what: "A session begins once more for plugins with every attempt of a turn.",
    file: "src/plugins/observed-hooks.ts",
    find: "if (attempt === 1) hooks.tell(",
    replace: "hooks.tell(",
    tests: ["src/plugins/observed-hooks.test.ts"],
  },
  {
    what: "Files of people are put into the workspace of an agent that cannot read them.",
    file: "src/wiring/files.ts",
    find: "return reads ? agentWorkspace(profile.config, options) : null;",
    replace: "return agentWorkspace(profile.config, options);",
    tests: ["src/wiring"],
  },
];
