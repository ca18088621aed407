/** Which ids are one person. Ids are compared whole; a name is never taken for an id. */
import type { Principal, Role } from "../contracts/ids.ts";

type IdentityLinks = Readonly<Record<string, readonly string[]>>;

const PERSON = /^[a-z][a-z0-9-]*:user:[^\s:]+$/;

/** True for `telegram:user:1`; false for a group, a name, or nothing at all. */
export function isPerson(principal: string): boolean {
  return PERSON.test(principal);
}

/** The name under which this id is linked with others; null when it is not. */
export function linkedName(links: IdentityLinks, principal: Principal): string | null {
  const found = Object.entries(links).find(([, people]) => people.includes(principal));
  return found?.[0] ?? null;
}

/** Every id of the person behind this one, itself included. */
export function idsOfPerson(links: IdentityLinks, principal: Principal): readonly Principal[] {
  const name = linkedName(links, principal);
  return name === null ? [principal] : ((links[name] ?? []) as readonly string[] as readonly Principal[]);
}

/** What is kept for a person is kept under this: the name of their links, marked so that no id can be equal to it, or the id itself. */
export function personOf(links: IdentityLinks, principal: Principal): Principal {
  const name = linkedName(links, principal);
  return name === null ? principal : (`@${name}` as Principal);
}

const RANK: Readonly<Record<Role, number>> = { guest: 0, member: 1, owner: 2 };

export function lesserRole(one: Role, other: Role): Role {
  return RANK[one] <= RANK[other] ? one : other;
}
