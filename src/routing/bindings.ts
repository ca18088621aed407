/** Which agent answers: the most specific binding that fits, the first one among equals. Pure; keeps a reason for each one it passed over. */
import type { Config } from "../config/index.ts";
import type { Role } from "../contracts/ids.ts";

export type Binding = Config["bindings"][number];

export interface BindingRequest {
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly peer: string;
  readonly role: Role;
}

export interface Considered {
  readonly index: number;
  readonly agent: string;
  readonly wins: boolean;
  readonly because: string;
}

interface PickedBinding {
  readonly binding: Binding;
  /** Place in `bindings`, from 0. */
  readonly index: number;
}

/** Most specific first. One that names an earlier key beats all that name only later ones. */
const KEYS = ["peer", "chat", "account", "channel", "role"] as const;

/** The binding that decides, with its place in the list; null when none fits and the default agent answers. */
export function pickBinding(bindings: readonly Binding[], request: BindingRequest): PickedBinding | null {
  let best: PickedBinding | null = null;
  for (const [index, binding] of bindings.entries()) {
    if (!fits(binding, request)) continue;
    if (!best || weight(binding) > weight(best.binding)) best = { binding, index };
  }
  return best;
}

/** Every binding with the reason why it won or lost. */
export function considerBindings(bindings: readonly Binding[], request: BindingRequest): readonly Considered[] {
  const winner = pickBinding(bindings, request);
  return bindings.map((binding, index) => {
    const wins = index === winner?.index;
    const because = misfit(binding, request) ?? (wins || !winner ? winning(binding) : losing(binding, winner));
    return { index, agent: binding.agent, wins, because };
  });
}

function misfit(binding: Binding, request: BindingRequest): string | null {
  const other = KEYS.find((key) => binding[key] !== undefined && binding[key] !== request[key]);
  return other ? `${other} is ${JSON.stringify(request[other])}, not ${JSON.stringify(binding[other])}` : null;
}

export const winning = (binding: Binding): string => `fits by ${keyNames(binding)}, and nothing fits more exactly`;

function losing(binding: Binding, winner: PickedBinding): string {
  if (weight(winner.binding) === weight(binding))
    return `fits as exactly as bindings[${winner.index}], which comes first`;
  return `fits by ${keyNames(binding)}, but bindings[${winner.index}] fits by ${keyNames(winner.binding)}`;
}

function fits(binding: Binding, request: BindingRequest): boolean {
  return KEYS.every((key) => binding[key] === undefined || binding[key] === request[key]);
}

function weight(binding: Binding): number {
  return KEYS.reduce((sum, key) => sum * 2 + (binding[key] === undefined ? 0 : 1), 0);
}

function keyNames(binding: Binding): string {
  const named = KEYS.filter((key) => binding[key] !== undefined);
  return named.length === 0 ? "saying nothing" : named.join(" and ");
}
