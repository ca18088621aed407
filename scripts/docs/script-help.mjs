// What `npm run NAME -- --help` says about each script of package.json. A script that is not here answers by itself.
const HELP = {
  "scripts/dev.ts": `npm run dev [-- --home DIR --port N]
Runs the gateway and starts it again whenever a source changes. Takes the options of pi-gw start.`,
  "scripts/test.ts": `npm test [-- [--store postgres] PATH ...]
Runs the tests. PATH: a folder or file, such as src/queue or test/cli.test.ts; without one, all of them.
--store postgres: those that need a store, on a real Postgres server instead of SQLite, and says which are left out. Takes longer.`,
  "scripts/check.ts": `npm run check
Checks types, lint, format, house rules and generated docs, side by side.`,
  fmt: `npm run format
Formats every file of the project.`,
  "scripts/bench.ts": `npm run bench [-- --quick] [--only NAME,NAME] [--times N]
Measures what has a budget. --quick: a fifth of the samples. --only: some scenarios. --times: the median of N runs.`,
  "verification/chaos/chaos.ts": `npm run chaos [-- --rounds N] [--seed N] [--channels]
Kills the gateway and its agents under many clients and counts what was lost. --channels: with people on fake platforms.`,
  "verification/nodes/nodes.ts": `npm run nodes [-- --faults N] [--seed N] [--nodes N] [--sessions N] [--messages N] [--only FAULT] [--unfenced]
Puts faults to several gateways on one Postgres database and judges what is left. --unfenced: the negative control, which has to fail.`,
  "verification/queue-engines/measure.ts": `npm run queue-engines [-- --engine NAME]
Puts one load through claims of our own and through pg-boss on a Postgres server, kills a worker, and compares them. --engine: one of them.`,
  "verification/sim/sim.ts": `npm run sim [-- --seeds N] [--seed N] [--pool] [--store postgres] [--processes N] [--stop-at-first] [--mutants [--only WORDS]]
Plays seeds of the simulated gateway. --seed alone plays that one and shows its trace. --pool: with the pool of agents. --store postgres: on a real server.
--mutants: puts known bugs into a copy, one by one, and fails when the simulation does not notice one.`,
  "verification/mutants/mutants.ts": `npm run mutants [-- --room NAME] [--only WORDS] [--at-once N]
Puts known bugs into a copy of the project, one by one, and says which the tests notice.`,
  "verification/updates/update-kills.ts": `npm run update-kills [-- --rounds N] [--seed N] [--calm]
Kills updates at random moments and says which version serves and what was lost. --calm: kills nothing.`,
  "verification/soak/soak.ts": `npm run soak [-- --minutes N]
Uses a real gateway for N minutes (20) and says whether memory, descriptors, files and the database stay flat.`,
  "scripts/screenshots.ts": `npm run screenshots [-- --all DIR] [--only NAME,NAME]
Takes the pictures of the web console in docs/images anew. --all: every view in every look, into DIR. --only: some views.`,
  "scripts/cron/oracle.ts": `npm run cron-oracle [-- --cases N] [--seed N]
Compares random cron expressions around clock changes with a second way to know when they fire.`,
  "scripts/irc/fetch-server.ts": `npm run irc-server
Downloads an IRC server for the tests of examples/irc-channel into node_modules/.cache.`,
  "scripts/docs.ts": `npm run docs [-- --check]
Writes docs/reference/ from the code. --check: writes nothing and fails when a page is not what the code says.`,
  "scripts/bundle.ts": `npm run prepack
Builds dist/ when the sources changed. npm pack does it by itself, and packs what dist/ holds.`,
  "scripts/package/package-test.ts": `npm run package-test
Packs the project and installs the package by npm, from a registry on loopback: as a dependency, globally and by npx. Takes a minute.`,
  "scripts/build.ts": `npm run build
Makes dist/pi-gw, one executable with the gateway, the web console and the bridge inside.`,
};

/** The help for what was asked to run; null: not asked for, or the script answers by itself. */
export function helpFor([script = "", ...args]) {
  return args.some((arg) => arg === "--help" || arg === "-h") ? (HELP[script] ?? null) : null;
}
