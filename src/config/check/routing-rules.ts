/** Rules between agents, bindings and people: every name leads somewhere, and to one place only. Pure; answers with findings. */
import { DEFAULT_AGENT } from "../../contracts/ids.ts";
import { nearest } from "../../kit/nearest.ts";
import { type Broken, problem, type RuleWorld } from "./rule.ts";

/** On these, conversations are chosen by name, and a full name holds the agent. */
const WEBCHAT = "webchat";

export function* agentRules({ config, show }: RuleWorld): Generator<Broken> {
  const seen = new Set<string>();
  for (const [index, { id }] of config.agents.entries()) {
    const path = `agents[${index}].id`;
    if (id === DEFAULT_AGENT)
      yield problem(
        path,
        `${path} is ${show(path, id)}, which is there already. Its settings are in agent; give this one a name.`,
      );
    else if (seen.has(id))
      yield problem(path, `${path} is ${show(path, id)}, and so is an earlier one. Each agent has a name of its own.`);
    seen.add(id);
  }
}

/** A limit for nobody looks like one that holds. */
export function* budgetRules({ config, show }: RuleWorld): Generator<Broken> {
  const names = [DEFAULT_AGENT, ...config.agents.map(({ id }) => id)];
  for (const id of Object.keys(config.budget.agents))
    if (!names.includes(id)) yield unknownAgent(show, `budget.agents.${id}`, id, names);
}

export function* bindingRules({ config, show }: RuleWorld): Generator<Broken> {
  const names = [DEFAULT_AGENT, ...config.agents.map(({ id }) => id)];
  for (const [index, binding] of config.bindings.entries()) {
    const at = `bindings[${index}]`;
    if (!names.includes(binding.agent)) yield unknownAgent(show, `${at}.agent`, binding.agent, names);
    for (const key of ["chat", "account"] as const) {
      if (binding[key] === undefined || binding.channel !== undefined) continue;
      // Two platforms may use the same number for quite different places.
      yield problem(`${at}.${key}`, `${at}.${key} means nothing without a channel. Add ${at}.channel.`);
    }
    if (binding.channel === WEBCHAT) {
      const message = `${at}.channel is "${WEBCHAT}", but chats in the web console name their agent themselves, so it has no effect.`;
      yield { severity: "warning", path: `${at}.channel`, message };
    }
  }
}

export function* delegateRules({ config, show }: RuleWorld): Generator<Broken> {
  const names = [DEFAULT_AGENT, ...config.agents.map(({ id }) => id)];
  const lists = [
    { at: "agent.delegates", delegates: config.agent.delegates },
    ...config.agents.map(({ delegates = [] }, index) => ({ at: `agents[${index}].delegates`, delegates })),
  ];
  for (const { at, delegates } of lists) {
    for (const [index, name] of delegates.entries()) {
      if (!names.includes(name)) yield unknownAgent(show, `${at}[${index}]`, name, names);
    }
    if (delegates.length > 0 && config.agent.pool.max < 2) {
      const message = `${at} names agents, but agent.pool.max is ${config.agent.pool.max}: the process that asks is the only one. Set it to 2 or more.`;
      yield { severity: "warning", path: at, message };
    }
  }
}

export function* linkRules({ config }: RuleWorld): Generator<Broken> {
  const linkedTo = new Map<string, string>();
  for (const [name, people] of Object.entries(config.session.identityLinks)) {
    for (const [index, person] of people.entries()) {
      const other = linkedTo.get(person);
      const path = `session.identityLinks.${name}[${index}]`;
      if (other !== undefined && other !== name)
        yield problem(path, `${path} is linked to ${other} already. One id is one person; remove it from one of them.`);
      linkedTo.set(person, name);
    }
  }
}

function unknownAgent(show: RuleWorld["show"], path: string, written: string, names: readonly string[]): Broken {
  const close = nearest(written, names);
  const hint = close === null ? `There are: ${names.join(", ")}.` : `Did you mean "${close}"?`;
  const found = problem(path, `${path} is ${show(path, written)}, but there is no such agent. ${hint}`);
  return close === null ? found : { ...found, suggestion: close };
}
