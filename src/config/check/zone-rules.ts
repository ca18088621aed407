/** Rules about time zones: one that the machine does not know would fail at every look at the clock. */
import { type RuleProblem, problem, type RuleInput } from "./rule.ts";

export function* zoneRules({ config: { heartbeat, agents } }: RuleInput): Generator<RuleProblem> {
  const settings = [
    { path: "heartbeat", hours: heartbeat.activeHours },
    ...agents.map((agent, index) => ({ path: `agents[${index}].heartbeat`, hours: agent.heartbeat?.activeHours })),
  ];
  for (const { path, hours } of settings) {
    const zone = hours?.timezone;
    if (zone === undefined || isZone(zone)) continue;
    const at = `${path}.activeHours.timezone`;
    yield problem(
      at,
      `${at} is "${zone}", which is no time zone this machine knows. Write one such as "Europe/Berlin".`,
    );
  }
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // the machine does not know it
  }
}
