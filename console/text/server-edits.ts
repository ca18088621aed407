/** The form of an MCP server: what its fields begin with, what is wrong with them, and the changes of the settings that they make. Pure. */
import type { SettingEdit } from "../../src/contracts/config-api.ts";

/** A server of the settings as the gateway shows it. Values of `env` and `headers` are never told. */
export interface ServerSettings {
  readonly enabled: boolean;
  readonly command?: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, unknown>>;
  /** Absent: a list of hosts, which only the file shows. */
  readonly network?: string;
  readonly url?: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly ownerOnly: boolean;
}

/** A variable or a header. */
export interface NamedSecret {
  readonly id: number;
  readonly name: string;
  /** As somebody has typed it; empty where it stays as it is. */
  readonly value: string;
  /** It is in the settings already. */
  readonly isKept: boolean;
}

/** Lists are one entry a line. */
export interface TypedServer {
  readonly name: string;
  readonly kind: string;
  readonly command: string;
  readonly args: string;
  readonly env: readonly NamedSecret[];
  readonly network: string;
  readonly hosts: string;
  readonly url: string;
  readonly headers: readonly NamedSecret[];
  readonly allow: string;
  readonly deny: string;
  readonly ownerOnly: boolean;
  readonly enabled: boolean;
}

const FIELDS = ["name", "command", "args", "env", "network", "url", "headers", "allow", "deny"] as const;
type ServerField = (typeof FIELDS)[number];
/** `form`: about none of the fields. */
export type FieldProblems = Partial<Readonly<Record<ServerField | "form", string>>>;

const NAME = /^[a-z][a-z0-9-]{0,31}$/;
const HOSTS = "hosts";
/** A list of hosts that is not shown here, and stays as it is. */
const KEPT = "kept";
const PROGRAM = ["command", "args", "env", "folders", "network"] as const;
const ADDRESS = ["url", "headers", "oauth"] as const;

export function typedOf(name: string, before: ServerSettings | null): TypedServer {
  return {
    name,
    kind: before?.url === undefined ? "program" : "address",
    command: before?.command ?? "",
    args: textOf(before?.args),
    env: keptOf(before?.env),
    network: before === null || before.url !== undefined ? "none" : (before.network ?? KEPT),
    hosts: "",
    url: before?.url ?? "",
    headers: keptOf(before?.headers),
    allow: textOf(before?.allow ?? ["*"]),
    deny: textOf(before?.deny),
    ownerOnly: before?.ownerOnly ?? true,
    enabled: before?.enabled ?? true,
  };
}

const textOf = (lines: readonly string[] = []): string => lines.join("\n");
const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
const keptOf = (named: Readonly<Record<string, unknown>> = {}): readonly NamedSecret[] =>
  Object.keys(named).map((name, id) => ({ id, name, value: "", isKept: true }));

/** What can be told without the gateway. `taken`: names of other servers. */
export function problemsOf(typed: TypedServer, taken: readonly string[]): FieldProblems {
  const isProgram = typed.kind === "program";
  return Object.fromEntries(
    (
      [
        ["name", nameProblem(typed.name, taken)],
        ["command", isProgram && typed.command.trim() === "" ? "Name the program that speaks MCP." : null],
        ["url", !isProgram && typed.url.trim() === "" ? "Give the address where the server answers." : null],
        ["env", isProgram ? secretsProblem(typed.env) : null],
        ["headers", isProgram ? null : secretsProblem(typed.headers)],
        [
          "network",
          isProgram && typed.network === HOSTS && linesOf(typed.hosts).length === 0 ? "Name at least one host." : null,
        ],
        ["allow", linesOf(typed.allow).length === 0 ? "Name at least one tool; * takes all of them." : null],
      ] as const
    ).filter(([, problem]) => problem !== null),
  ) as FieldProblems;
}

function nameProblem(name: string, taken: readonly string[]): string | null {
  if (!NAME.test(name))
    return "A name begins with a small letter and has small letters, digits and dashes, 32 at most.";
  return taken.includes(name) ? `There is a server called ${name} already.` : null;
}

function secretsProblem(secrets: readonly NamedSecret[]): string | null {
  const named = used(secrets);
  if (named.some(({ name }) => name === "")) return "A value has no name.";
  const empty = named.find(({ value, isKept }) => value === "" && !isKept);
  if (empty) return `${empty.name} has no value.`;
  const twice = named.find(({ name }, at) => named.findIndex((other) => other.name === name) !== at);
  return twice ? `${twice.name} is there twice.` : null;
}

/** Rows in which nothing was typed do not count. */
const used = (secrets: readonly NamedSecret[]): readonly NamedSecret[] =>
  secrets
    .map((secret) => ({ ...secret, name: secret.name.trim() }))
    .filter(({ name, value }) => name !== "" || value !== "");

/** Problems of the gateway's check, each at its field. */
export function placed(name: string, problems: readonly { path: string; message: string }[]): FieldProblems {
  const found = new Map<string, string>();
  for (const { path, message } of problems) {
    const below = path.startsWith(`mcp.servers.${name}.`) ? path.slice(`mcp.servers.${name}.`.length) : "";
    const field = FIELDS.find((one) => below === one || below.startsWith(`${one}.`)) ?? "form";
    found.set(field, [found.get(field), message].filter((text) => text !== undefined).join(" "));
  }
  return Object.fromEntries(found);
}

/** `before` null: a new server, with what differs from the defaults. Otherwise what was changed, so that the rest of the file stays as it was written. */
export function serverEdits(typed: TypedServer, before: ServerSettings | null): readonly SettingEdit[] {
  const path = ["mcp", "servers", typed.name];
  if (before === null) return [{ path, value: newServer(typed) }];
  const first = typedOf(typed.name, before);
  const set = (key: string, value: unknown): SettingEdit => ({ path: [...path, key], value });
  const isProgram = typed.kind === "program";
  const isMoved = typed.kind !== first.kind;
  const foreign = isProgram ? ADDRESS : PROGRAM;
  return [
    ...(isMoved ? foreign.map((key) => ({ path: [...path, key] })) : []),
    ...(isProgram ? programEdits(typed, first, set) : addressEdits(typed, first, set)),
    ...(typed.allow === first.allow ? [] : [set("allow", linesOf(typed.allow))]),
    ...(typed.deny === first.deny ? [] : [set("deny", linesOf(typed.deny))]),
    ...(typed.ownerOnly === first.ownerOnly ? [] : [set("ownerOnly", typed.ownerOnly)]),
    ...(typed.enabled === first.enabled ? [] : [set("enabled", typed.enabled)]),
  ];
}

type SetEdit = (key: string, value: unknown) => SettingEdit;

function programEdits(typed: TypedServer, first: TypedServer, set: SetEdit): readonly SettingEdit[] {
  const isSameNetwork = typed.network === first.network && typed.network !== HOSTS;
  return [
    ...(typed.command.trim() === first.command ? [] : [set("command", typed.command.trim())]),
    ...(typed.args === first.args ? [] : [set("args", linesOf(typed.args))]),
    ...secretEdits("env", typed.env, first.env, set),
    ...(isSameNetwork ? [] : [set("network", networkOf(typed))]),
  ];
}

function addressEdits(typed: TypedServer, first: TypedServer, set: SetEdit): readonly SettingEdit[] {
  return [
    ...(typed.url.trim() === first.url ? [] : [set("url", typed.url.trim())]),
    ...secretEdits("headers", typed.headers, first.headers, set),
  ];
}

function secretEdits(
  key: string,
  secrets: readonly NamedSecret[],
  before: readonly NamedSecret[],
  set: SetEdit,
): readonly SettingEdit[] {
  const rows = used(secrets);
  const below = (name: string): readonly string[] => [...set(key, null).path, name];
  const gone = before.filter(({ name }) => !rows.some((row) => row.name === name));
  return [
    ...gone.map(({ name }) => ({ path: below(name) })),
    ...rows.filter(({ value }) => value !== "").map(({ name, value }) => ({ path: below(name), value })),
  ];
}

function newServer(typed: TypedServer): object {
  const { allow, deny, ownerOnly, enabled } = typed;
  const isAll = linesOf(allow).join("\n") === "*";
  return {
    ...(typed.kind === "program" ? newProgram(typed) : newAddress(typed)),
    ...(isAll ? {} : { allow: linesOf(allow) }),
    ...(linesOf(deny).length === 0 ? {} : { deny: linesOf(deny) }),
    ...(ownerOnly ? {} : { ownerOnly }),
    ...(enabled ? {} : { enabled }),
  };
}

function newProgram(typed: TypedServer): object {
  const args = linesOf(typed.args);
  return {
    command: typed.command.trim(),
    ...(args.length === 0 ? {} : { args }),
    ...(used(typed.env).length === 0 ? {} : { env: valuesOf(typed.env) }),
    ...(typed.network === "none" ? {} : { network: networkOf(typed) }),
  };
}

function newAddress(typed: TypedServer): object {
  return {
    url: typed.url.trim(),
    ...(used(typed.headers).length === 0 ? {} : { headers: valuesOf(typed.headers) }),
  };
}

const networkOf = ({ network, hosts }: TypedServer): unknown =>
  network === HOSTS ? { allow: linesOf(hosts) } : network;

const valuesOf = (secrets: readonly NamedSecret[]): object =>
  Object.fromEntries(used(secrets).map(({ name, value }) => [name, value]));
