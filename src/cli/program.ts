/** The command line as commander sees it: names, options and words of help. Each command lives in its own file and is loaded when it is called. */
import type { Command } from "commander";
import { AUDIT_KINDS } from "../contracts/store/tool-calls.ts";
import { USAGE_BY } from "../contracts/store/usage.ts";
import type { LogLevel } from "../observe/index.ts";
import type { ExportFlags } from "./bridge-export.ts";
import { addExamples } from "./examples.ts";
import { explainMistakes } from "./mistakes.ts";
import { addAcp } from "./add-acp.ts";
import { addAgents } from "./add-agents.ts";
import { addApprovals } from "./add-approvals.ts";
import { addHeartbeat, addWebhooks } from "./add-automations.ts";
import { addMessages } from "./add-messages.ts";
import { addNodes } from "./add-nodes.ts";
import { addBackup } from "./add-backup.ts";
import { addChannels, addPairing } from "./add-channels.ts";
import { addConfig } from "./add-config.ts";
import { addCron } from "./add-cron.ts";
import { addInit } from "./add-init.ts";
import { addKeys } from "./add-keys.ts";
import { addPeople } from "./add-people.ts";
import { addPlugins } from "./add-plugins.ts";
import { addMcp } from "./add-mcp.ts";
import { addRunningGateway } from "./add-running-gateway.ts";
import { addSessions } from "./add-sessions.ts";
import { addStore } from "./add-store.ts";
import { addTurns } from "./add-turns.ts";
import { addUpdate } from "./add-update.ts";
import { addNotifications } from "./add-notifications.ts";
import { addSignIns } from "./add-sign-ins.ts";
import { addService } from "./add-service.ts";
import type { ChatFlags } from "./chat.ts";
import type { Shell } from "./completion/scripts.ts";
import type { DoctorFlags } from "./doctor/doctor.ts";
import type { RouteFlags } from "./route.ts";
import type { AuditListFlags, AuditVerifyFlags } from "./tools/audit.ts";
import type { AnswerFlags } from "./tools/questions.ts";
import type { ToolCallFlags, ToolCallsFlags } from "./tools/tools.ts";
import type { UsageFlags } from "./usage.ts";
import type { CliWorld, CommonFlags, StartOptions } from "./world.ts";

type Commander = typeof import("commander");
type Finish = (code: number) => void;

const MAX_PORT = 65_535;
const MAX_LOG_LINES = 100_000;
const MAX_SESSIONS = 200;
const MAX_CALLS = 200;
const CALL_STATUSES = ["success", "error", "blocked", "pending", "unknown"];
const LEVELS = ["debug", "info", "warn", "error"] satisfies readonly LogLevel[];

interface Group {
  /** The commands it adds. */
  readonly names: readonly string[];
  add(program: Command, commander: Commander, world: CliWorld, finish: Finish): void;
}

const GROUPS: readonly Group[] = [
  { names: ["init"], add: (program, _, world, finish) => addInit(program, world, { common, finish }) },
  { names: ["start", "chat"], add: addRunning },
  {
    names: ["stop", "restart", "token", "open", "sign-in-link"],
    add: (program, _, world, finish) => addRunningGateway(program, world, { common, finish }),
  },
  { names: ["status", "doctor", "usage", "storage", "metrics", "logs"], add: addLooking },
  { names: ["nodes"], add: (program, _, world, finish) => addNodes(program, world, { common, finish }) },
  {
    names: ["sessions"],
    add: (program, commander, world, finish) =>
      addSessions(program, commander, world, { common, finish, limit: wholeNumber(commander, MAX_SESSIONS) }),
  },
  {
    names: ["messages", "outbox"],
    add: (program, commander, world, finish) =>
      addMessages(program, commander, world, { common, finish, limit: wholeNumber(commander, MAX_CALLS) }),
  },
  {
    names: ["turns", "activity"],
    add: (program, commander, world, finish) =>
      addTurns(program, commander, world, { common, finish, limit: wholeNumber(commander, MAX_CALLS) }),
  },
  {
    names: ["agents"],
    add: (program, commander, world, finish) => addAgents(program, commander, world, { common, finish }),
  },
  { names: ["cron"], add: (program, _, world, finish) => addCron(program, world, { common, finish }) },
  { names: ["heartbeat"], add: (program, _, world, finish) => addHeartbeat(program, world, { common, finish }) },
  { names: ["webhooks"], add: (program, _, world, finish) => addWebhooks(program, world, { common, finish }) },
  { names: ["sign-ins"], add: (program, _, world, finish) => addSignIns(program, world, { common, finish }) },
  {
    names: ["notifications"],
    add: (program, _, world, finish) => addNotifications(program, world, { common, finish }),
  },
  { names: ["channels"], add: (program, _, world, finish) => addChannels(program, world, { common, finish }) },
  { names: ["pairing"], add: (program, _, world, finish) => addPairing(program, world, { common, finish }) },
  {
    names: ["keys"],
    add: (program, commander, world, finish) => addKeys(program, commander, world, { common, finish }),
  },
  { names: ["mcp"], add: (program, _, world, finish) => addMcp(program, world, { common, finish }) },
  {
    names: ["people", "models"],
    add: (program, commander, world, finish) => addPeople(program, commander, world, { common, finish }),
  },
  { names: ["route"], add: addRoute },
  { names: ["tools", "tool-calls", "audit"], add: addTools },
  {
    names: ["approvals"],
    add: (program, commander, world, finish) => addApprovals(program, commander, world, { common, finish }),
  },
  { names: ["questions"], add: (program, _, world, finish) => addQuestions(program, world, finish) },
  { names: ["plugins"], add: (program, _, world, finish) => addPlugins(program, world, { common, finish }) },
  { names: ["config"], add: (program, _, world, finish) => addConfig(program, world, { common, finish }) },
  {
    names: ["backup", "restore"],
    add: (program, _, world, finish) => addBackup(program, world, { common, finish }),
  },
  { names: ["update"], add: (program, _, world, finish) => addUpdate(program, world, { common, finish }) },
  { names: ["store"], add: (program, _, world, finish) => addStore(program, world, { common, finish }) },
  {
    names: ["service"],
    add: (program, commander, world, finish) =>
      addService(program, world, { common, finish, lines: wholeNumber(commander, MAX_LOG_LINES) }),
  },
  { names: ["acp"], add: (program, _, world, finish) => addAcp(program, world, { finish }) },
  { names: ["completion"], add: addCompletion },
  { names: ["bridge"], add: (program, _, world, finish) => addBridge(program, world, finish) },
];

/**
 * `finish` is told the exit code of the command that ran. A command that is `asked` for by name is described alone, because describing all
 * of them takes longer than running most of them; without one, or with one that nobody knows, everything is.
 */
export function buildProgram(commander: Commander, world: CliWorld, finish: Finish, asked?: string): Command {
  const program = new commander.Command("pi-gw")
    .description("Connects chat to isolated pi agents.")
    .version(world.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: world.stdout,
      writeErr: world.stderr,
    });
  const wanted = GROUPS.filter(({ names }) => asked !== undefined && names.includes(asked));
  for (const { add } of wanted.length > 0 ? wanted : GROUPS) add(program, commander, world, finish);
  for (const group of program.commands) {
    const first = defaultCommand(group);
    first?.description(`${first.description()} (default)`);
  }
  addExamples(program);
  explainMistakes(program);
  return program;
}

/** A group that is named without one of its commands makes, or else lists, what it is about. Not a default of commander's, which takes a misspelt command for its argument. */
export function withDefaultCommand(program: Command, argv: readonly string[]): readonly string[] {
  const [name, next, ...rest] = argv;
  if (name === undefined || (next !== undefined && (!next.startsWith("-") || HELP.includes(next)))) return argv;
  const first = defaultCommand(groupOf(program, name));
  return first ? [name, first.name(), ...(next === undefined ? [] : [next, ...rest])] : argv;
}

const HELP = ["-h", "--help"];
const DEFAULTS = ["create", "list"];

function defaultCommand(group: Command | undefined): Command | undefined {
  return DEFAULTS.flatMap((name) => group?.commands.filter((one) => one.name() === name) ?? [])[0];
}

function groupOf(program: Command, name: string | undefined): Command | undefined {
  return program.commands.find((one) => one.name() === name);
}

function addRunning(program: Command, commander: Commander, world: CliWorld, finish: Finish): void {
  common(program.command("start").description("run the gateway in this terminal until it is stopped"))
    .option("--port <number>", "TCP port; 0 picks a free one", wholeNumber(commander, MAX_PORT))
    .option("--config <file>", "configuration file")
    .addOption(new commander.Option("--rehearse", "for pi-gw update, on a copy of a state directory").hideHelp())
    .action(async (flags: CommonFlags & { port?: number; config?: string; rehearse?: boolean }) => {
      const options: StartOptions = {
        home: flags.home,
        port: flags.port,
        config: flags.config,
        json: flags.json === true,
        rehearse: flags.rehearse === true,
      };
      finish(await world.start(options));
    });

  common(
    program.command("chat").description("say something to the assistant; without text, read lines from the terminal"),
  )
    .argument("[text...]", "what to say")
    .option("--session <name>", "which conversation: a short name or a full session key")
    .option("--file <file>", "a file that goes with the text; again for each file", (file, all: string[] = []) => [
      ...all,
      file,
    ])
    .action(async (words: string[], flags: ChatFlags) => {
      const { chat } = await import("./chat.ts");
      finish(await chat(world, words, flags));
    });
}

function addLooking(program: Command, commander: Commander, world: CliWorld, finish: Finish): void {
  common(program.command("status").description("show what the running gateway is doing")).action(
    async (flags: CommonFlags) => {
      const { status } = await import("./status.ts");
      finish(await status(world, flags));
    },
  );

  common(program.command("doctor").description("check everything a gateway needs and say what to do"))
    .option("--config <file>", "configuration file")
    .option("--fix", "mend what can be mended safely: file modes, what a crash left, the index for search")
    .addHelpText("after", "\nExamples:\n  pi-gw doctor\n  pi-gw doctor --fix --json")
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import("./doctor/doctor.ts");
      finish(await doctor(world, flags));
    });

  common(program.command("usage").description("show what models have cost"))
    .option("--from <day>", "the first day, such as 2026-01-31 (default: the first of the month)", day(commander))
    .option("--to <day>", "the last day (default: today)", day(commander))
    .addOption(new commander.Option("--by <what>", "how to add up").choices(USAGE_BY).default("day"))
    .option("-n, --limit <number>", "how many lines", wholeNumber(commander, MAX_CALLS))
    .action(async (flags: UsageFlags) => {
      const { usage } = await import("./usage.ts");
      finish(await usage(world, flags));
    });

  common(
    program
      .command("storage")
      .description("show how much is stored of everything, and how long it is kept")
      .addHelpText("after", "\nExamples:\n  pi-gw storage\n  pi-gw storage --json"),
  ).action(async (flags: CommonFlags) => {
    const { storage } = await import("./storage.ts");
    finish(await storage(world, flags));
  });

  common(program.command("metrics").description("print the metrics, as Prometheus reads them")).action(
    async (flags: CommonFlags) => {
      const { metrics } = await import("./status.ts");
      finish(await metrics(world, flags));
    },
  );

  common(program.command("logs").description("show the newest log lines"))
    .option("-f, --follow", "go on showing new lines until Ctrl-C")
    .option("-n, --lines <number>", "how many lines to begin with", wholeNumber(commander, MAX_LOG_LINES), 100)
    .addOption(new commander.Option("--level <level>", "the least important lines to show").choices(LEVELS))
    .option("--module <name>", "only lines of this part of the gateway, such as tools or http")
    .action(async (flags: CommonFlags & { follow?: boolean; lines: number; level?: LogLevel; module?: string }) => {
      const { logs } = await import("./logs.ts");
      finish(await logs(world, flags));
    });
}

function addRoute(program: Command, commander: Commander, world: CliWorld, finish: Finish): void {
  common(program.command("route").description("show which agent and session a message would go to"))
    .option("--explain", "every rule that was considered, and why it won or lost")
    .option("--channel <name>", "where it is said", "api")
    .option("--account <name>", "which bot of the channel", "default")
    .option("--chat <id>", "in which chat (default: the sender's own)")
    .option("--thread <id>", "in which topic or thread of the chat")
    .option("--peer <id>", "who says it, such as telegram:user:1", "operator")
    .addOption(new commander.Option("--scope <scope>", "kind of chat").choices(["dm", "group"]).default("dm"))
    .option("--mentioned", "the gateway is mentioned in it")
    .option("--config <file>", "configuration file")
    .action(async (flags: RouteFlags) => {
      const { route } = await import("./route.ts");
      finish(await route(world, flags));
    });
}

function addQuestions(program: Command, world: CliWorld, finish: Finish): void {
  const questions = program.command("questions").description("what running turns want to know from people");
  common(questions.command("list").description("show what is asked, the oldest first")).action(
    async (flags: CommonFlags) => {
      const { questionsList } = await import("./tools/questions.ts");
      finish(await questionsList(world, flags));
    },
  );
  common(questions.command("answer").description("answer one: with an option or words, or with a flag"))
    .argument("<id>", "as the list shows it")
    .argument("[words...]", "one of its options, or words")
    .option("--yes", "yes")
    .option("--no", "no")
    .option("--dismiss", "no answer")
    .action(async (id: string, words: readonly string[], flags: AnswerFlags) => {
      const { questionsAnswer } = await import("./tools/questions.ts");
      finish(await questionsAnswer(world, id, words, flags));
    });
}

function addTools(program: Command, commander: Commander, world: CliWorld, finish: Finish): void {
  const tools = program.command("tools").description("look at the running gateway's tools, and call one");
  common(
    tools.command("list").description("every tool, who brought it, who may use it, and what is wrong with it"),
  ).action(async (flags: CommonFlags) => {
    const { toolsList } = await import("./tools/tools.ts");
    finish(await toolsList(world, flags));
  });
  common(tools.command("call").description("call a tool as the operator"))
    .argument("<name>", "the tool")
    .argument("[params]", 'its parameters as JSON; "-" reads them from the input')
    .option("--call-id <id>", "a call with this id takes effect once, however often it is repeated")
    .action(async (name: string, params: string | undefined, flags: ToolCallFlags) => {
      const { toolsCall } = await import("./tools/tools.ts");
      finish(await toolsCall(world, name, params, flags));
    });
  common(program.command("tool-calls").description("show which tools were called, newest first"))
    .option("--session <name>", "only in this conversation")
    .option("--tool <name>", "only of this tool")
    .addOption(new commander.Option("--status <status>", "only with this end").choices(CALL_STATUSES))
    .option("--since <time>", "not before: milliseconds, or a date such as 2026-01-31")
    .option("--until <time>", "before")
    .option("-n, --limit <number>", "how many", wholeNumber(commander, MAX_CALLS))
    .action(async (flags: ToolCallsFlags) => {
      const { toolCalls } = await import("./tools/tools.ts");
      finish(await toolCalls(world, flags));
    });
  const audit = program.command("audit").description("look after the audit log");
  common(audit.command("list").description("show approvals, roles, pairings, reloads and sign-ins, newest first"))
    .addOption(new commander.Option("--kind <kind>", "only of this kind").choices(AUDIT_KINDS))
    .option("-n, --limit <number>", "how many", wholeNumber(commander, MAX_CALLS))
    .action(async (flags: AuditListFlags) => {
      const { auditList } = await import("./tools/audit.ts");
      finish(await auditList(world, flags));
    });
  common(audit.command("verify").description("check that nobody has changed the audit log"))
    .option("--config <file>", "configuration file")
    .action(async (flags: AuditVerifyFlags) => {
      const { auditVerify } = await import("./tools/audit.ts");
      finish(await auditVerify(world, flags));
    });
}

function addCompletion(program: Command, commander: Commander, world: CliWorld, finish: Finish): void {
  program
    .command("completion")
    .description("print a script that lets a shell complete commands and options")
    .addArgument(new commander.Argument("<shell>", "which shell").choices(["bash", "zsh", "fish"]))
    .addHelpText(
      "after",
      `
Examples:
  eval "$(pi-gw completion bash)"          # in ~/.bashrc
  source <(pi-gw completion zsh)           # in ~/.zshrc
  pi-gw completion fish | source           # in ~/.config/fish/config.fish`,
    )
    .action(async (shell: Shell) => {
      const { completion } = await import("./completion/completion.ts");
      finish(completion(world, buildProgram(commander, world, finish), shell));
    });
}

function addBridge(program: Command, world: CliWorld, finish: Finish): void {
  const bridge = program.command("bridge").description("the gateway's tools outside of the gateway");
  common(bridge.command("export").description("write the tools as an extension for your own pi"))
    .option("--out <folder>", "where to write it (default: bridge-export/ in the state directory)")
    .action(async (flags: ExportFlags) => {
      const { bridgeExport } = await import("./bridge-export.ts");
      finish(await bridgeExport(world, flags));
    });
}

function common(command: Command): Command {
  return command
    .option("--home <folder>", "state directory (default: ~/.pi-gateway)")
    .option("--json", "print one JSON object per line");
}

function wholeNumber(commander: Commander, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value <= max) return value;
    throw new commander.InvalidArgumentError(`It must be a whole number from 0 to ${max}.`);
  };
}

function day(commander: Commander): (text: string) => string {
  return (text) => {
    if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
    throw new commander.InvalidArgumentError("It must be a day, such as 2026-01-31.");
  };
}
