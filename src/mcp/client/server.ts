/**
 * One MCP server: its tools in the registry, known from the last time before it is started, listed anew at every start, and its calls. A server that
 * hangs, lies, floods or dies fails its own calls and nothing else.
 */
import { type McpServerSettings, sameSettings } from "../../config/index.ts";
import type { Questions } from "../../contracts/channels/question.ts";
import { errorText, GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { McpServerStatus } from "../../contracts/mcp.ts";
import type { Tool, ToolRegistry } from "../../contracts/tools/tool.ts";
import { background } from "../../kit/background.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Ids } from "../../kit/ids.ts";
import type { Log } from "../../kit/log.ts";
import { wrapUntrusted } from "../../kit/marks/untrusted.ts";
import { writeOut } from "../../kit/marks/written-out.ts";
import { acceptedTools, type Catalog, goneTools, type KnownTool, mergedTools, sameTools } from "./catalog.ts";
import type { Connected } from "./connection.ts";
import { readDefinitions } from "./definitions.ts";
import type { OpenConnection } from "./open-connection.ts";
import { createRegisteredTools, type RegisteredTools } from "./registered-tools.ts";
import { runCall, type RunCallDeps } from "./run-call.ts";
import { createServerLife, type LifeParts, type ServerLife, unavailable } from "./server-life.ts";
import type { CatalogFile } from "./state-file.ts";

export interface McpServerDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly registry: Pick<ToolRegistry, "register">;
  readonly questions: Pick<Questions, "ask">;
  readonly file: CatalogFile;
  readonly open: OpenConnection;
}

export interface McpServer extends AsyncDisposable {
  /** By which it is told apart: with another one it is another server. */
  readonly fingerprint: string;
  status(): McpServerStatus;
  /** Connects now, whatever the pause, and lists the tools anew. */
  test(signal: AbortSignal): Promise<McpServerStatus>;
  /** An owner takes the tools as they are. */
  accept(): void;
  /** Lists the tools in the background if they are not known yet. */
  learn(): void;
  /** Other settings of the same server. */
  update(settings: McpServerSettings): void;
}

/** A server of before 2026 is asked once a day whether it has learnt the newer protocol. */
const LEGACY_KEPT_MS = 24 * 3_600_000;
/** A server that says "the list has changed" without end is asked for it this often. */
const RELIST_PAUSE_MS = 1_000;
const MAX_CALLS = 32;
/** The gate cuts at 4096, and the mark at the end has to stay. */
const MAX_FAILURE_CHARS = 3_000;
/** Some servers add tools a moment after their start: so long after the first look they count as there from the beginning. */
const MEETING_MS = 10_000;
const LATE_TOOLS_MS = 300;

interface World {
  readonly deps: McpServerDeps;
  readonly name: string;
  readonly fingerprint: string;
  settings: McpServerSettings;
  catalog: Catalog | null;
  calls: number;
  relisting: boolean;
  /** When its tools were listed for the first time, by this process; null: they were known before. */
  metAt: number | null;
  readonly over: AbortController;
}

export function createMcpServer(deps: McpServerDeps, name: string, settings: McpServerSettings): McpServer {
  const fingerprint = fingerprintOf(settings);
  const stored = deps.file.read();
  const catalog = stored?.fingerprint === fingerprint ? stored : null;
  const over = new AbortController();
  const world: World = { deps, name, fingerprint, settings, catalog, calls: 0, relisting: false, metAt: null, over };
  const known = (): readonly KnownTool[] => world.catalog?.tools ?? [];
  const tools = createRegisteredTools({
    log: deps.log,
    registry: deps.registry,
    server: name,
    settings: () => world.settings,
    run: (...call) => run(world, life, ...call),
    accepted: (digest) => accept(world, tools, new Set([digest])),
  });
  const life: ServerLife = createServerLife({
    clock: deps.clock,
    log: deps.log,
    server: name,
    times: () => world.settings,
    open: (parts, signal) =>
      open(world, tools, { ...parts, listChanged: () => relistLater(world, tools, life) }, signal),
  });
  const status = () => statusOf(world, tools, life);
  tools.apply(known());
  return {
    fingerprint,
    status,
    async test(signal) {
      using _use = life.use();
      const before = life.state().connected;
      const connection = await life.connection(signal, "now");
      // a new one has been listed
      if (connection === before)
        await relist(world, tools, { connection }, signal).catch(async (error: unknown) => {
          if (signal.aborted) throw error;
          life.drop(errorText(error)); // a token may have ended, or the server has forgotten us: a new connection says what is wrong
          await life.connection(signal, "now");
        });
      return status();
    },
    accept: () => accept(world, tools, new Set(known().map(({ definition }) => definition.digest))),
    learn() {
      if (world.catalog === null) background(deps.log, "tools of an MCP server not listed", () => learn(world, life));
    },
    update(next) {
      const isSame = sameSettings(world.settings, next);
      world.settings = next;
      if (!isSame) life.renew();
      tools.apply(known());
    },
    async [Symbol.asyncDispose]() {
      over.abort(new Error("the MCP server is not needed any more"));
      tools.clear();
      await life[Symbol.asyncDispose]();
    },
  };
}

/** Settings that decide which server it is. With others, its tools are those of another server, and an owner has just written so. */
export function fingerprintOf({ command, args, url }: McpServerSettings): string {
  const identity = JSON.stringify(url === undefined ? { command, args } : { url });
  return new Bun.CryptoHasher("sha256").update(identity).digest("hex");
}

async function run(
  world: World,
  life: ServerLife,
  tool: KnownTool,
  ...call: Parameters<Tool["execute"]>
): ReturnType<Tool["execute"]> {
  const { deps, name } = world;
  if (world.calls >= MAX_CALLS) throw unavailable(name, `${MAX_CALLS} calls of it run already. Call fewer at a time.`);
  const callDeps: RunCallDeps = {
    ...deps,
    server: name,
    timeoutMs: () => world.settings.timeoutMs,
    connection: (signal) => life.connection(signal),
    isCurrent: ({ definition }) =>
      world.catalog?.tools.some((one) => one.definition.digest === definition.digest) ?? false,
    late: (since) => life.heardSince(since) || life.drop("it did not answer a call in time"),
  };
  world.calls++;
  using _use = life.use();
  try {
    return await runCall(callDeps, tool, ...call);
  } catch (error) {
    throw call[2].aborted ? error : quoted(world, tool, error);
  } finally {
    world.calls--;
  }
}

/** What a server says when it fails is read by the model like a result: marked as coming from outside, with hidden characters written out. */
function quoted({ deps, name }: World, { definition }: KnownTool, error: unknown): GatewayError {
  if (isGatewayError(error) && error.code !== "mcp_unavailable") return error;
  const words = isGatewayError(error) ? error.say : errorText(error);
  const text = writeOut(words.slice(0, MAX_FAILURE_CHARS).toWellFormed()).slice(0, MAX_FAILURE_CHARS);
  const said = wrapUntrusted(deps.ids, { source: `MCP server ${name}`, text });
  const say = `${writeOut(definition.name)} of the MCP server ${name} failed:\n${said}`;
  return new GatewayError(isGatewayError(error) ? error.code : "tool_failed", say, { say, cause: error });
}

/** Connected, and its tools listed: a call that was let through by an older list is noticed. */
async function open(
  world: World,
  tools: RegisteredTools,
  parts: LifeParts & { listChanged(): void },
  signal: AbortSignal,
): Promise<Connected> {
  const { deps, settings, catalog } = world;
  const since = catalog?.legacySince ?? null;
  const legacy = since !== null && deps.clock.now() - since < LEGACY_KEPT_MS;
  const connection = await deps.open(settings, { ...parts, legacy }, signal);
  try {
    await relist(world, tools, { connection }, signal);
    const known = catalog?.tools ?? [];
    if (known.some((tool) => !isListed(world, tool))) {
      await deps.clock.sleep(LATE_TOOLS_MS, signal);
      await relist(world, tools, { connection }, signal);
    }
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function isListed({ catalog }: World, { definition }: KnownTool): boolean {
  return catalog?.tools.some((one) => one.definition.name === definition.name) ?? false;
}

/** `told`: the server itself says that its list has changed. */
async function relist(
  world: World,
  tools: RegisteredTools,
  { connection, told = false }: { readonly connection: Connected; readonly told?: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { deps, name, fingerprint, catalog } = world;
  const read = readDefinitions(await connection.list(signal));
  const now = deps.clock.now();
  if (catalog === null) world.metAt = now;
  const isNew = told && world.metAt !== null && now - world.metAt < MEETING_MS;
  const merged = mergedTools(isNew ? null : catalog, read.tools);
  const legacySince = connection.era === "modern" ? null : legacyDate(catalog, now);
  const next: Catalog = {
    fingerprint,
    legacySince,
    listedAt: now,
    tools: merged,
    gone: goneTools(catalog, read.tools),
    notices: read.notices,
  };
  const isSame =
    catalog !== null &&
    sameTools(catalog.tools, merged) &&
    catalog.legacySince === legacySince &&
    JSON.stringify(catalog.notices) === JSON.stringify(read.notices);
  world.catalog = next;
  if (isSame) return;
  deps.log.info("tools of an MCP server listed", { server: name, tools: merged.length, leftOut: read.notices.length });
  keep(world, tools, next);
}

function legacyDate(catalog: Catalog | null, now: number): number {
  const since = catalog?.legacySince ?? now;
  return now - since < LEGACY_KEPT_MS ? since : now;
}

/** What cannot be written down is listed again by the next start. */
function keep({ deps, name }: World, tools: RegisteredTools, catalog: Catalog): void {
  try {
    deps.file.write(catalog);
  } catch (error) {
    deps.log.error("tools of an MCP server not written down", { server: name, error });
  }
  tools.apply(catalog.tools);
}

function accept(world: World, tools: RegisteredTools, digests: ReadonlySet<string>): void {
  if (world.catalog === null) return;
  world.catalog = { ...world.catalog, tools: acceptedTools(world.catalog.tools, digests) };
  keep(world, tools, world.catalog);
}

/** Once for however many notices come within the pause. */
function relistLater(world: World, tools: RegisteredTools, life: ServerLife): void {
  if (world.relisting) return;
  world.relisting = true;
  const { clock, log } = world.deps;
  background(log, "changed tools of an MCP server not listed", async () => {
    try {
      await clock.sleep(RELIST_PAUSE_MS, world.over.signal);
      world.relisting = false;
      const { connected } = life.state();
      if (connected === null) return;
      using limit = clock.deadline(world.settings.startMs, () => new Error("it did not list its tools in time"));
      await relist(
        world,
        tools,
        { connection: connected, told: true },
        AbortSignal.any([world.over.signal, limit.signal]),
      );
    } catch (error) {
      if (!world.over.signal.aborted) throw error;
    } finally {
      world.relisting = false;
    }
  });
}

/** Until they are known, with the pauses of a server that fails. */
async function learn(world: World, life: ServerLife): Promise<void> {
  const { clock, log } = world.deps;
  const { signal } = world.over;
  while (!signal.aborted && world.catalog === null) {
    try {
      await life.connection(signal, "now");
    } catch (error) {
      if (signal.aborted) return;
      log.debug("tools of an MCP server not listed yet", { server: world.name, error: String(error) });
      const pause = (life.state().nextTryAt ?? clock.now()) - clock.now();
      await clock.sleep(Math.max(RELIST_PAUSE_MS, pause), signal).catch(() => undefined); // it is over then
    }
  }
}

function statusOf(world: World, tools: RegisteredTools, life: ServerLife): McpServerStatus {
  const { settings, catalog, name } = world;
  const { state, connected, trouble, nextTryAt } = life.state();
  return {
    name,
    kind: settings.url === undefined ? "program" : "address",
    state,
    server: connected?.server ?? "",
    protocol: connected?.protocol ?? "",
    tools: tools.status(catalog?.tools ?? []),
    trouble,
    nextTryAt,
    notices: catalog?.notices ?? [],
  };
}
