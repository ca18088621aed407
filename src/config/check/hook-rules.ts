/** Rules about hooks: who may send, how that is proved, and that the names in them mean something. */
import type { Secret } from "../../kit/secret.ts";
import { templateProblem } from "../../kit/template.ts";
import { weakToken } from "./credentials.ts";
import { agentNames, problem, type RuleInput, type RuleProblem, unknownName, warning } from "./rule.ts";

/** Hooks that are always there. */
const TAKEN: readonly string[] = ["wake", "agent"];
/** Of the hook alone; every other one is a conversation of people. */
const OWN_SESSIONS: readonly string[] = ["hook", "request"];
/** A request that names none of them is tried with each. */
const MAX_KEYS = 8;

export function* hookSecretRules({ config: { hooks, gateway } }: RuleInput): Generator<RuleProblem> {
  const { enabled, token, secret, keys } = hooks;
  if (enabled && !token)
    yield problem(
      "hooks.token",
      "hooks.token is missing, so no request would be accepted. Set one, or set hooks.enabled to false.",
    );
  if (enabled && !secret && Object.keys(keys).length === 0) {
    const message =
      "hooks.secret is not set, and there are no hooks.keys, so wake and agent take requests that are not signed: whoever sees one can repeat it.";
    yield warning("hooks.secret", message);
  }
  yield* weak("hooks.token", token);
  for (const key of ["token", "password"] as const)
    if (same(token, gateway.auth[key])) {
      const message = `hooks.token is the same as gateway.auth.${key}, so every sender of a hook could do all that you can. Choose another one.`;
      yield problem("hooks.token", message);
    }
  const incoming = [
    ...signing("hooks", hooks),
    ...Object.entries(hooks.mappings).flatMap(([name, mapping]) => signing(`hooks.mappings.${name}`, mapping)),
  ];
  const outgoing = Object.entries(hooks.targets).flatMap(([name, target]) => signing(`hooks.targets.${name}`, target));
  for (const [path, value] of [...incoming, ...outgoing]) {
    yield* weak(path, value);
    if (same(value, token)) yield problem(path, `${path} is the same as hooks.token. Choose another one for signing.`);
  }
  for (const [path, value] of outgoing) {
    const other = incoming.find(([, known]) => same(value, known));
    if (other) {
      const message = `${path} is the same as ${other[0]}, so what is posted there could be sent back as a request. Choose another one.`;
      yield problem(path, message);
    }
  }
}

export function* hookNameRules({ config, show }: RuleInput): Generator<RuleProblem> {
  const { hooks, cron } = config;
  const names = agentNames(config);
  const targets = Object.keys(hooks.targets);
  yield* countRule("hooks.keys", hooks.keys);
  for (const [name, mapping] of Object.entries(hooks.mappings)) {
    const at = `hooks.mappings.${name}`;
    if (TAKEN.includes(name)) yield problem(at, `${at}: there is a hook called ${name} already. Choose another name.`);
    const wrong = templateProblem(mapping.message);
    if (wrong) yield problem(`${at}.message`, `${at}.message ${wrong}.`);
    yield* countRule(`${at}.keys`, mapping.keys);
    if (mapping.signed && ![mapping, hooks].some(({ secret, keys }) => secret || Object.keys(keys).length > 0)) {
      const remedy = `Set hooks.secret or ${at}.secret, or set ${at}.signed to false when its sender cannot sign.`;
      yield problem(at, `${at} takes signed requests only, but there is no secret to check them with. ${remedy}`);
    }
    if (mapping.agent !== undefined && !names.includes(mapping.agent))
      yield unknownName({
        path: `${at}.agent`,
        written: mapping.agent,
        shown: show(`${at}.agent`, mapping.agent),
        noun: "agent",
        names,
      });
    yield* targetRule(`${at}.webhook`, mapping.webhook, targets);
    if (mapping.webhook !== undefined && !OWN_SESSIONS.includes(mapping.session)) {
      const message = `${at}.webhook has no effect: with this session the answer is said in a conversation, and not posted.`;
      yield warning(`${at}.webhook`, message);
    }
  }
  for (const [index, { webhook }] of cron.jobs.entries())
    yield* targetRule(`cron.jobs[${index}].webhook`, webhook, targets);
}

function* targetRule(path: string, written: string | undefined, targets: readonly string[]): Generator<RuleProblem> {
  if (written === undefined || targets.includes(written)) return;
  yield unknownName({ path, written, shown: `"${written}"`, noun: "entry in hooks.targets", names: targets });
}

function* weak(path: string, value: Secret | undefined): Generator<RuleProblem> {
  const because = value && weakToken(value.reveal());
  if (because) yield problem(path, `${path} ${because}. Make one with: openssl rand -hex 32`);
}

interface Signing {
  readonly secret?: Secret;
  readonly previousSecret?: Secret;
  readonly keys?: Readonly<Record<string, Secret>>;
}

/** Every secret that something is signed with there, and where it stands. */
function signing(path: string, { secret, previousSecret, keys }: Signing): readonly (readonly [string, Secret])[] {
  const named = Object.entries(keys ?? {}).map(([id, value]) => [`keys.${id}`, value] as const);
  return [["secret", secret] as const, ["previousSecret", previousSecret] as const, ...named].flatMap(([key, value]) =>
    value ? [[`${path}.${key}`, value] as const] : [],
  );
}

function* countRule(path: string, keys: Readonly<Record<string, Secret>>): Generator<RuleProblem> {
  const count = Object.keys(keys).length;
  if (count > MAX_KEYS)
    yield problem(path, `${path} has ${count} keys, and ${MAX_KEYS} is the most. Take out those nobody signs with.`);
}

function same(a: Secret | undefined, b: Secret | undefined): boolean {
  return a !== undefined && b !== undefined && a.reveal() === b.reveal();
}
