/** Examples that `--help` shows below a command. A test reads each of them back and holds it to the commands and options there are. */
import type { Command } from "commander";

/** By command. Those of a group show what is done with it most often. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  start: ["pi-gw start", "pi-gw start --home ~/test-gateway --port 0"],
  chat: [
    'pi-gw chat "what is your status?"',
    "pi-gw chat --session notes",
    'pi-gw chat --file report.pdf --file table.csv "do these agree?"',
  ],
  stop: ["pi-gw stop", "pi-gw stop --json"],
  restart: ["pi-gw restart"],
  open: ["pi-gw open"],
  "sign-in-link": ["pi-gw sign-in-link", "pi-gw sign-in-link --json"],
  "sign-ins": ["pi-gw sign-ins list", "pi-gw sign-ins end SIGN_IN"],
  notifications: ["pi-gw notifications list", "pi-gw notifications test BROWSER", "pi-gw notifications remove BROWSER"],
  status: ["pi-gw status", "pi-gw status --json | jq .queue"],
  usage: ["pi-gw usage", "pi-gw usage --by model --from 2026-01-01", "pi-gw usage --by principal --json"],
  nodes: ["pi-gw nodes list", "pi-gw nodes list --json", "pi-gw nodes drain"],
  logs: ["pi-gw logs -f", "pi-gw logs --level warn -n 500 --json"],
  sessions: [
    "pi-gw sessions list plants",
    "pi-gw sessions show main -n 50",
    "pi-gw sessions search harbour letter",
    "pi-gw sessions export main --format html > talk.html",
    "pi-gw sessions branch main --name other-way",
    'pi-gw sessions resend main MESSAGE --text "in other words"',
    'pi-gw sessions rename main "the harbour letter"',
    "pi-gw sessions set main --thinking high",
    "pi-gw sessions delete old --yes",
  ],
  messages: ["pi-gw messages cancel MESSAGE", 'pi-gw messages edit MESSAGE "in other words"'],
  outbox: ["pi-gw outbox list", "pi-gw outbox list --state ambiguous --json", "pi-gw outbox retry REPLY"],
  metrics: ["pi-gw metrics", "pi-gw metrics --json | jq .turns"],
  turns: ["pi-gw turns list", "pi-gw turns show TURN --json"],
  activity: ["pi-gw activity --kind tool --outcome failed", "pi-gw activity --agent helper --json"],
  agents: ["pi-gw agents list"],
  cron: [
    'pi-gw cron add --every 1h "look at the queue"',
    'pi-gw cron add --when "every weekday at 9" "plan the day"',
    'pi-gw cron next "on the 1st of every month at noon"',
    'pi-gw cron add --cron "0 9 * * 1-5" --timezone Europe/Berlin "what is planned today?"',
    "pi-gw cron runs JOB",
    "pi-gw cron list --failing --json",
  ],
  heartbeat: ["pi-gw heartbeat show", "pi-gw heartbeat write papers < HEARTBEAT.md"],
  webhooks: [
    "pi-gw webhooks list",
    `pi-gw webhooks test build --body '{"build":{"id":42}}'`,
    "pi-gw webhooks add-key build > key.txt",
  ],
  channels: ["pi-gw channels", "pi-gw channels --json"],
  pairing: ["pi-gw pairing list", "pi-gw pairing approve 4K7PQX --role member", "pi-gw pairing undo PAIRING"],
  keys: ["pi-gw keys add ci --scope chat read --expires 90d", "pi-gw keys list", "pi-gw keys revoke KEY"],
  mcp: ["pi-gw mcp add files npx some-server", "pi-gw mcp list files", "pi-gw mcp test files"],
  people: [
    "pi-gw people list",
    "pi-gw people role telegram:user:123 member",
    "pi-gw people role telegram:user:123 none",
  ],
  models: ["pi-gw models list", "pi-gw models list --agent helper --json", "pi-gw models test openai"],
  route: ["pi-gw route --explain --channel telegram --peer telegram:user:123"],
  tools: ["pi-gw tools list", `pi-gw tools call notes_search '{"query":"harbour"}'`],
  "tool-calls": ["pi-gw tool-calls --status blocked", "pi-gw tool-calls --tool bash --since 2026-01-31 --json"],
  audit: ["pi-gw audit list --kind sign_in", "pi-gw audit verify"],
  approvals: [
    "pi-gw approvals list",
    "pi-gw approvals decide APPROVAL once",
    "pi-gw approvals decide APPROVAL always --rule program",
    "pi-gw approvals rules",
    "pi-gw approvals forget RULE",
  ],
  questions: ["pi-gw questions list", "pi-gw questions answer QUESTION --yes"],
  plugins: ["pi-gw plugins new weather", "pi-gw plugins check weather", "pi-gw plugins reload weather"],
  config: [
    "pi-gw config get gateway.port",
    "pi-gw config set retention.messagesDays 365",
    "pi-gw config edit",
    'EDITOR="code --wait" pi-gw config edit',
    "pi-gw config diff",
  ],
  backup: ["pi-gw backup create --folder ~/backups --encrypt", "pi-gw backup list", "pi-gw backup verify FILE"],
  restore: ["pi-gw restore FILE --home ~/restored", "pi-gw restore FILE --replace"],
  update: [
    "pi-gw update --check",
    "pi-gw update --status",
    "pi-gw update",
    "pi-gw update 1.4.2",
    "pi-gw update --from pi-gateway-1.4.2.tgz",
  ],
  store: [
    "pi-gw store migrate --to '${DATABASE_URL}' --write-config",
    "pi-gw store migrate --to-file FILE",
    "pi-gw store migrate --to sqlite --write-config",
  ],
  service: ["pi-gw service install", "pi-gw service logs -f", "sudo pi-gw service install --system --as gateway"],
  acp: ["pi-gw acp", "pi-gw acp --agent helper"],
  token: ["pi-gw token rotate", "pi-gw token rotate && cat ~/.pi-gateway/token"],
  bridge: ["pi-gw bridge export --out ~/pi-tools"],
};

/** Of commands below a group that its own examples leave out. */
const BELOW: readonly string[] = [
  "pi-gw sessions reset main",
  "pi-gw sessions pin main",
  "pi-gw sessions unpin main",
  "pi-gw sessions archive old",
  "pi-gw sessions unarchive old",
  "pi-gw sessions abort main",
  "pi-gw agents show default --role guest",
  'pi-gw cron update JOB --when "every weekday at 8"',
  "pi-gw cron pause JOB",
  "pi-gw cron resume JOB",
  "pi-gw cron run JOB",
  "pi-gw cron show JOB --json",
  "pi-gw cron remove JOB",
  "pi-gw cron calendar --days 14",
  "pi-gw cron status",
  'pi-gw cron wake "the build is done"',
  "pi-gw heartbeat list",
  "pi-gw webhooks test-target results",
  "pi-gw webhooks remove-key build KEY",
  "pi-gw pairing revoke PAIRING",
  "pi-gw mcp serve --key-file key.txt",
  "pi-gw mcp login files",
  "pi-gw mcp remove files",
  "pi-gw models providers",
  "pi-gw plugins list",
  "pi-gw config check",
  "pi-gw config revert",
  "pi-gw config schema > schema.json",
  "pi-gw service uninstall",
  "pi-gw service status",
];

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 74 the disk or the database failed, 75 try again later, 78 the configuration is wrong.
Examples of a command: pi-gw COMMAND --help`;

export function addExamples(program: Command): void {
  program.addHelpText("after", EXIT_CODES);
  for (const command of program.commands) {
    const examples = EXAMPLES[command.name()] ?? [];
    show(command, examples);
    for (const below of command.commands) {
      const words = `pi-gw ${command.name()} ${below.name()}`;
      show(
        below,
        [...examples, ...BELOW].filter((line) => `${line} `.includes(`${words} `)),
      );
    }
  }
}

function show(command: Command, examples: readonly string[]): void {
  if (examples.length === 0) return;
  command.addHelpText("after", `\nExamples:\n${examples.map((line) => `  ${line}`).join("\n")}`);
}
