/** Rules between agents, bindings and people: every name leads somewhere, and to one place only. Pure; answers with findings. */
import { DEFAULT_AGENT } from "../../contracts/ids.ts";
import { agentNames, problem, type RuleInput, type RuleProblem, unknownName, warning } from "./rule.ts";

/** On these, conversations are chosen by name, and a full name holds the agent. */
const WEBCHAT = "webchat";

export function* agentRules({ config, show }: RuleInput): Generator<RuleProblem> {
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
export function* budgetRules({ config, show }: RuleInput): Generator<RuleProblem> {
  const names = agentNames(config);
  for (const id of Object.keys(config.budget.agents))
    if (!names.includes(id)) yield unknownAgent({ config, show }, `budget.agents.${id}`, id);
}

export function* bindingRules({ config, show }: RuleInput): Generator<RuleProblem> {
  const names = agentNames(config);
  for (const [index, binding] of config.bindings.entries()) {
    const at = `bindings[${index}]`;
    if (!names.includes(binding.agent)) yield unknownAgent({ config, show }, `${at}.agent`, binding.agent);
    for (const key of ["chat", "account"] as const) {
      if (binding[key] === undefined || binding.channel !== undefined) continue;
      // Two platforms may use the same number for quite different places.
      yield problem(`${at}.${key}`, `${at}.${key} means nothing without a channel. Add ${at}.channel.`);
    }
    if (binding.channel === WEBCHAT) {
      const message = `${at}.channel is "${WEBCHAT}", but chats in the web console name their agent themselves, so it has no effect.`;
      yield warning(`${at}.channel`, message);
    }
  }
}

export function* delegateRules({ config, show }: RuleInput): Generator<RuleProblem> {
  const names = agentNames(config);
  const lists = [
    { at: "agent.delegates", delegates: config.agent.delegates },
    ...config.agents.map(({ delegates = [] }, index) => ({ at: `agents[${index}].delegates`, delegates })),
  ];
  for (const { at, delegates } of lists) {
    for (const [index, name] of delegates.entries()) {
      if (!names.includes(name)) yield unknownAgent({ config, show }, `${at}[${index}]`, name);
    }
    if (delegates.length > 0 && config.agent.pool.max === 1) {
      const message = `${at} names agents, but agent.pool.max is 1: the process that asks is the only one. Set it to 2 or more.`;
      yield warning(at, message);
    }
  }
}

export function* linkRules({ config }: RuleInput): Generator<RuleProblem> {
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

function unknownAgent({ config, show }: RuleInput, path: string, written: string): RuleProblem {
  return unknownName({ path, written, shown: show(path, written), noun: "agent", names: agentNames(config) });
}
