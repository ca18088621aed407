/**
 * load → init → start → stop, each with a deadline. Whatever fails on the way undoes what came before it: a plugin is there as a whole or not
 * at all. What it does wrong stays with it.
 */
import { errorText, GatewayError, isGatewayError } from "../../contracts/errors.ts";
import type { GatewayPlugin, MountedRoute, PluginProvides, PluginReply } from "../../contracts/plugin.ts";
import type { Clock } from "../../kit/clock.ts";
import { orAborted } from "../../kit/deferred.ts";
import type { Log } from "../../kit/log.ts";
import type { SourceLocation } from "./source-location.ts";
import { createRegistrations, type PluginServices, type PluginIdentity, type Registrations } from "./api.ts";

export const DEADLINES = { loadMs: 10_000, initMs: 10_000, startMs: 10_000, stopMs: 5_000, routeMs: 30_000 } as const;

export interface PluginSource extends PluginIdentity {
  /** Gives its default export. */
  load(): Promise<GatewayPlugin>;
  /** False: what it registers is looked at, and its services stay off. */
  readonly startServices?: boolean;
}

export interface RunningPlugin {
  provides(): PluginProvides;
  route(method: string, path: string): MountedRoute | null;
  /** Never rejects. */
  stop(): Promise<void>;
}

interface PluginDeps {
  readonly clock: Clock;
  readonly log: Log;
}

type Stop = () => Promise<void> | void;

/** Rejects with a sentence when the plugin does not come up; then nothing of it is left. */
export async function startPlugin(
  deps: PluginDeps,
  services: PluginServices,
  source: PluginSource,
): Promise<RunningPlugin> {
  const life = new AbortController();
  const registered = createRegistrations(services, source, life.signal);
  const stops: { readonly name: string; readonly stop: Stop }[] = [];
  const stop = async (): Promise<void> => {
    registered.withdraw(); // first nobody can reach it any more, then it may tidy up
    life.abort(new Error("the plugin is stopped"));
    await stopService(deps, source.id, { name: "channels", stop: registered.gone });
    for (const one of stops.toReversed()) await stopService(deps, source.id, one);
  };
  try {
    const plugin = await within(deps, "load", DEADLINES.loadMs, () => source.load());
    await within(deps, "init", DEADLINES.initMs, async () => plugin(registered.api));
    registered.commit();
    for (const service of source.startServices === false ? [] : registered.services) {
      const ended = await within(deps, `start ${service.name}`, DEADLINES.startMs, () => service.start(life.signal));
      if (typeof ended === "function") stops.push({ name: service.name, stop: ended });
    }
  } catch (error) {
    await stop();
    throw asSentence(error, source.location);
  }
  return {
    provides: registered.provides,
    route: (method, path) => mounted(deps, registered, source, { method, path }),
    stop,
  };
}

async function within<T>(deps: PluginDeps, what: string, ms: number, work: () => Promise<T>): Promise<T> {
  const late = () =>
    new GatewayError("plugin_failed", `${what} took too long`, { say: `Its ${what} did not end within ${ms} ms.` });
  using limit = deps.clock.deadline(ms, late);
  return await orAborted(work(), limit.signal);
}

async function stopService(
  deps: PluginDeps,
  plugin: string,
  { name, stop }: { readonly name: string; readonly stop: Stop },
): Promise<void> {
  try {
    await within(deps, `stop ${name}`, DEADLINES.stopMs, async () => stop());
  } catch (error) {
    deps.log.warn("a service of a plugin did not stop cleanly", { plugin, service: name, error });
  }
}

function mounted(
  deps: PluginDeps,
  registered: Registrations,
  { id: plugin, location }: PluginSource,
  at: { readonly method: string; readonly path: string },
): MountedRoute | null {
  const route = registered.route(at.method, at.path);
  if (!route) return null;
  return {
    access: route.access ?? "owner",
    async handle(request) {
      try {
        return toResponse(await within(deps, "answer", DEADLINES.routeMs, async () => route.handle(request)));
      } catch (error) {
        if (isGatewayError(error) && error.code !== "plugin_failed") throw error;
        deps.log.warn("a route of a plugin failed", { plugin, path: at.path, error: location.shown(error) });
        throw new GatewayError("plugin_failed", `the route ${at.path} of ${plugin} failed`, { cause: error });
      }
    },
  };
}

function toResponse(reply: PluginReply): Response {
  // By form as well as by class: a plugin may have been loaded with a Response of its own.
  if (reply instanceof Response) return new Response(reply.body, reply);
  return new Response(JSON.stringify(reply), { headers: { "content-type": "application/json" } });
}

/** With the file and the line of the plugin's author, where there is one. */
function asSentence(error: unknown, location: SourceLocation): GatewayError {
  const at = location.of(error);
  const where = at === null ? "" : ` (${at})`;
  location.shown(error);
  if (isGatewayError(error))
    return at === null
      ? error
      : new GatewayError(error.code, error.message, {
          cause: error,
          fields: error.fields,
          say: `${error.say}${where}`,
        });
  const [first = ""] = location.text(errorText(error) || "it did not say why").split("\n", 1);
  return new GatewayError("plugin_failed", first, { cause: error, say: `It failed: ${first}${where}` });
}
