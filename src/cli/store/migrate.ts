/** `pi-gw store migrate`: moves the database to Postgres, or back. Needs a stopped gateway, and changes the configuration only when it is told to. */
import { join, resolve } from "node:path";
import { silentLog } from "../../kit/log.ts";
import type { Config } from "../../config/index.ts";
import type { Secret } from "../../kit/secret.ts";
import { visible } from "../../observe/index.ts";
import { EXIT_CONFIG, EXIT_OK } from "../exit-code.ts";
import { homeOf, readSmall } from "../state-directory.ts";
import { type CliWorld, type CommonFlags, onInterrupt } from "../world.ts";
import { createMoveProgress } from "./move-progress.ts";
import { type MoveTarget, refused, targetOf } from "./target.ts";

export interface MigrateFlags extends CommonFlags {
  readonly to?: string;
  readonly toFile?: string;
  readonly writeConfig?: boolean;
  readonly config?: string;
}

const STORE_URL = ["store", "url"];
const STOPPED =
  "It was interrupted. The source was not changed. Run the same command again: it goes on where it stopped.";

export async function storeMigrate(world: CliWorld, flags: MigrateFlags): Promise<number> {
  const home = homeOf(flags.home, world.environment);
  const target = targetOf({
    target: flags.to,
    line: flags.toFile === undefined ? undefined : await firstLineOf(resolve(world.cwd, flags.toFile)),
    variables: world.environment.variables,
  });
  if (flags.writeConfig && target.to === "postgres" && target.setting === null)
    throw refused(
      "The address holds a password, which is not written into the configuration. Put the address into a variable and give --to '${DATABASE_URL}', or leave --write-config away.",
    );
  const { url, file, bucket } = await placesOf(world, flags, { home, target });
  const moved = await move(world, flags, { home, url, bucket, to: target.to });
  const config = flags.writeConfig ? await writeConfig(world, file, target) : null;
  if (config?.kind === "refused") return EXIT_CONFIG;
  const { rows, tables, files, isResumed, audit } = moved;
  if (flags.json) {
    world.stdout(
      `${JSON.stringify({ ok: true, to: target.to, rows, isResumed, audit, tables, files, config: config?.path ?? null })}\n`,
    );
    return EXIT_OK;
  }
  const filled = tables.filter((table) => table.rows > 0).length;
  world.stdout(`Moved ${rows} rows of ${filled} tables. Both sides have the same rows in every table.\n`);
  world.stdout(`Moved ${files.files} session files and media (${files.bytes} bytes), each with the same digest.\n`);
  if (files.missing.length > 0)
    world.stdout(`${visible(`Missing on both sides, and not moved: ${files.missing.join(", ")}`)}\n`);
  world.stdout(
    audit.kind === "intact"
      ? `The audit log is intact: ${audit.links} links.\n`
      : "The audit log is the same on both sides, and was not intact before. See: pi-gw audit verify\n",
  );
  world.stdout(
    `${visible(config === null ? nextStep(target) : `Changed store.url in ${config.path}. Start the gateway.`)}\n`,
  );
  if (target.to === "postgres")
    world.stdout("The SQLite file stays in the state directory. Keep it until you are sure, then move it away.\n");
  return EXIT_OK;
}

interface Places {
  /** Of the Postgres database, be it the source or the target. */
  readonly url: Secret;
  /** For files, instead of that database. */
  readonly bucket: Config["store"]["files"];
  /** The configuration file. */
  readonly file: string;
}

async function placesOf(
  { environment, cwd }: CliWorld,
  flags: MigrateFlags,
  { home, target }: { readonly home: string; readonly target: MoveTarget },
): Promise<Places> {
  const { loadConfig } = await import("../../config/index.ts");
  const { config, path } = await loadConfig({ log: silentLog }, { home, flag: flags.config, cwd, environment });
  const current = config.store.url;
  const file = path ?? join(home, "pi-gateway.jsonc");
  if (target.to === "postgres") {
    if (current !== undefined)
      throw refused(
        "The configuration names a Postgres database already (store.url), so the gateway does not use its SQLite file. Take store.url away first if it was never used.",
      );
    return { url: target.url, bucket: undefined, file };
  }
  if (current === undefined) throw refused("The gateway uses its SQLite file already: store.url is not set.");
  return { url: current, bucket: config.store.files, file };
}

async function move(
  world: CliWorld,
  flags: MigrateFlags,
  options: Pick<Places, "url" | "bucket"> & { readonly home: string; readonly to: MoveTarget["to"] },
) {
  const { moveStore } = await import("../../store/index.ts"); // slow to load, and only needed here
  const stopping = new AbortController();
  using _listening = onInterrupt(world, () => stopping.abort(new Error(STOPPED)));
  using progress = createMoveProgress(world, flags.json === true);
  const deps = { clock: world.clock, log: silentLog, ids: world.ids };
  return await moveStore(deps, { ...options, progress: progress.show }, stopping.signal);
}

async function writeConfig(world: CliWorld, file: string, target: MoveTarget) {
  const { editConfig } = await import("../../config/index.ts");
  const value = target.to === "postgres" ? target.setting : undefined;
  const edited = await editConfig(file, { keys: STORE_URL, value }, world.environment.variables);
  if (edited.kind === "written") return edited;
  for (const problem of edited.problems) world.stderr(`${visible(problem)}\n`);
  world.stderr(`${visible(`Everything was moved, but the configuration was left as it is. ${nextStep(target)}`)}\n`);
  return edited;
}

function nextStep(target: MoveTarget): string {
  if (target.to === "sqlite") return "Take store.url out of the configuration: pi-gw config set store.url --unset";
  const setting = target.setting ?? "${DATABASE_URL}";
  const where = target.setting === null ? " with the address in the variable DATABASE_URL of the gateway" : "";
  return `Set store.url in the configuration${where}: pi-gw config set store.url '${setting}'`;
}

async function firstLineOf(file: string): Promise<string> {
  const [line = ""] = ((await readSmall(file)) ?? "").split(/\r?\n/);
  if (line.trim() === "") throw refused(`There is no address in ${file}: its first line has to be one.`);
  return line.trim();
}
