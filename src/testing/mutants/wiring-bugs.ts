/** Bugs in how the parts are put together: what is asked twice, started twice, or not ended. */
import type { SeededBug } from "./seeded-bug.ts";

const room = ["src/wiring"] as const;

export const WIRING_BUGS: readonly SeededBug[] = [
  {
    what: "Each reload starts another engine beside the one that runs.",
    file: "src/wiring/automation.ts",
    find: "running ??= beginJobs(parts, at);",
    replace: "running = beginJobs(parts, at);",
    tests: room,
  },
  {
    what: "A reload during a stop starts the jobs again.",
    file: "src/wiring/automation.ts",
    find: "if (from.cron.enabled && !stopping.signal.aborted)",
    replace: "if (from.cron.enabled)",
    tests: room,
  },
  {
    what: "Jobs that were switched off go on until the next start.",
    file: "src/wiring/automation.ts",
    find: "await old[Symbol.asyncDispose]();",
    replace: "void old;",
    tests: room,
  },
  {
    what: "A plugin is asked about a reply again whenever the store is tried again.",
    file: "src/wiring/hook-points.ts",
    find: "asked ??= askAll(deps, batch, end.reply);",
    replace: "asked = askAll(deps, batch, end.reply);",
    tests: room,
  },
  {
    what: "Answers to commands pass no plugin.",
    file: "src/wiring/hook-points.ts",
    find: "takeCommand: async (signal) => asking(deps, await queue.takeCommand(signal)),",
    replace: "",
    tests: room,
  },
  {
    what: "A reply that a plugin could not check is sent unchecked.",
    file: "src/wiring/hook-points.ts",
    find: 'return { ...part, message: { ...part.message, kind: "notice", text: say } };',
    replace: "void say;",
    tests: room,
  },
  {
    what: "The token of webhooks may be the token of the gateway.",
    file: "src/wiring/port.ts",
    find: "refuseSharedToken(config(), token);",
    replace: "",
    tests: room,
  },
  {
    what: "The file of a session is noted as gone before it is removed.",
    file: "src/wiring/run-sessions.ts",
    find: /await removeFile\(file\);\n\s+await runSessions\.fileGone\(file\);/,
    replace: "await runSessions.fileGone(file);\n      await removeFile(file);",
    tests: room,
  },
  {
    what: "The owner is told about the budget under another id each time, so more than once.",
    file: "src/wiring/budget.ts",
    find: "const turnId = id as TurnId;",
    replace: "const turnId = `${id}-${clock.now()}` as TurnId;",
    tests: room,
  },
  {
    what: "A person who may no longer come in wakes the conversation by a tool that ends.",
    file: "src/wiring/background-end.ts",
    find: "const wake = role ?",
    replace: "const wake = home ?",
    tests: room,
  },
  {
    what: "Voice goes to a service of others although nobody has given it a key.",
    file: "src/wiring/way-in.ts",
    find: "enabled ?? (apiKey !== undefined || baseUrl !== USUAL_LISTENER)",
    replace: "enabled ?? true",
    tests: ["src/wiring"],
  },
  {
    what: "Plugins hear of a message again when its sender repeats it.",
    file: "src/wiring/hook-points.ts",
    find: 'if (receipt.kind === "queued")',
    replace: 'if (receipt.kind !== "refused")',
    tests: ["src/wiring"],
  },
  {
    what: "Plugins hear that a message was sent although it was not.",
    file: "src/wiring/hook-points.ts",
    find: "const receipt = await channel.send(part, signal);",
    replace: "const receipt = channel.send(part, signal);",
    tests: ["src/wiring"],
  },
  {
    what: "A session begins once more for plugins with every attempt of a turn.",
    file: "src/wiring/hook-points.ts",
    find: "if (attempt === 1) hooks.tell(",
    replace: "hooks.tell(",
    tests: ["src/wiring"],
  },
  {
    what: "Files of people are put into the workspace of an agent that cannot read them.",
    file: "src/wiring/way-in.ts",
    find: "return reads ? agentWorkspace(profile.config, folders) : null;",
    replace: "return agentWorkspace(profile.config, folders);",
    tests: ["src/wiring"],
  },
];
