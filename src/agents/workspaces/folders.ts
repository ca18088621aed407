/** Which folders agents work in, and whose they are: everybody's, each person's below it, or both because agents differ. Pure. */
import type { Config, Workspace } from "../../config/index.ts";
import { type AgentProfile, agentProfiles } from "../profile.ts";
import { agentWorkspace, hasPersonalWorkspaces, type Machine } from "../setup/workspace.ts";

/** `mixed`: some agents or roles work in the folder itself, and some in folders of people below it. */
export type Scope = "agent" | "person" | "mixed";

export interface WorkspaceFolder {
  readonly path: string;
  readonly scope: Scope;
}

type ProfileConfig = Pick<Config, "agent" | "agents" | "roles">;

export function workspaceFolders(config: ProfileConfig, machine: Machine): readonly WorkspaceFolder[] {
  const scopes = scopesBy(config, (one) => agentWorkspace(one, machine));
  return [...scopes].map(([path, scope]) => ({ path, scope }));
}

/** Folders, as the settings name them, that one configuration gives to each person and the other does not. */
export function scopeChanges(before: ProfileConfig, after: ProfileConfig): readonly string[] {
  const [old, next] = [before, after].map((config) => scopesBy(config, ({ workspace }) => namedFolder(workspace)));
  const isPersonal = (scope: Scope | undefined): boolean => scope === "person";
  return [...(next ?? [])].flatMap(([name, scope]) =>
    old?.has(name) && isPersonal(scope) !== isPersonal(old.get(name)) ? [name] : [],
  );
}

function scopesBy(
  config: ProfileConfig,
  nameOf: (config: AgentProfile["config"]) => string,
): ReadonlyMap<string, Scope> {
  const scopes = new Map<string, Scope>();
  for (const { config: own } of agentProfiles(config).values()) {
    const scope = hasPersonalWorkspaces(own) ? "person" : "agent";
    const known = scopes.get(nameOf(own)) ?? scope;
    scopes.set(nameOf(own), known === scope ? scope : "mixed");
  }
  return scopes;
}

function namedFolder(workspace: Workspace | undefined): string {
  const path = typeof workspace === "object" ? workspace.path : workspace;
  return path ?? "workspace/ of the state directory";
}
