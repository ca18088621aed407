/** Where an agent works: one folder for everybody it serves, or one for each person below it. Pure. */
import { join } from "node:path";
import type { Config, Environment, Workspace } from "../../config/index.ts";
import type { Principal } from "../../contracts/ids.ts";
import { personFolder } from "../../kit/person-folder.ts";
import { expandPath } from "./paths.ts";

type Setting = Workspace | undefined;

export interface Machine {
  /** The state directory. */
  readonly home: string;
  readonly environment: Pick<Environment, "userHome">;
}

export function hasPersonalWorkspaces({ workspace }: { readonly workspace?: Workspace }): boolean {
  return typeof workspace === "object" && workspace.scope === "person";
}

/** What an agent or a role says about the folder, with the rest from the settings for all: a path alone does not put people together again. */
export function overriddenWorkspace(settings: Setting, own: Setting): Workspace {
  const path = parts(own).path ?? parts(settings).path;
  const scope = parts(own).scope ?? parts(settings).scope ?? "agent";
  return path === undefined ? { scope } : { path, scope };
}

/** The folder of everybody. Where each person has one of their own, they are below it. */
export function agentWorkspace({ workspace }: { readonly workspace?: Workspace }, machine: Machine): string {
  const { path } = parts(workspace);
  return path === undefined ? join(machine.home, "workspace") : expandPath(path, machine.environment.userHome);
}

export function workspaceFor(
  config: { readonly workspace?: Workspace },
  machine: Machine,
  principal: Principal,
): string {
  const shared = agentWorkspace(config, machine);
  return hasPersonalWorkspaces(config) ? personFolder(shared, principal) : shared;
}

/** Every folder in which agents work, of any agent and role. */
export function allWorkspaces({ agent, agents, roles }: Pick<Config, "agent" | "agents" | "roles">, machine: Machine) {
  const given = [agent, ...agents, ...Object.values(roles.profiles)].flatMap((one) => (one ? [one] : []));
  return [agentWorkspace({}, machine), ...given.map((one) => agentWorkspace(one, machine))];
}

function parts(setting: Setting): Exclude<Workspace, string> {
  return typeof setting === "object" ? setting : setting === undefined ? {} : { path: setting };
}
