/** The one address a connection may go to. The name is resolved once, here, and whoever connects uses the answer, so a name cannot mean something else a moment later. */
import { isAddress, isGlobalAddress } from "./addresses.ts";

/** All addresses of a name. */
export type Resolver = (host: string) => Promise<readonly string[]>;

type Judged = { readonly address: string } | { readonly refused: "unknown_name" | "private_network" };

/** `trusted`: the operator chose this place, so a private address is right. */
export async function judgeHost(resolve: Resolver, host: string, trusted = false): Promise<Judged> {
  const addresses = isAddress(host) ? [host] : await resolve(host).catch(() => []);
  const [address] = addresses;
  if (address === undefined) return { refused: "unknown_name" };
  // one private address among several is enough: which one a connection takes is chance
  return trusted || addresses.every(isGlobalAddress) ? { address } : { refused: "private_network" };
}

export const systemResolver: Resolver = async (host) => {
  const { lookup } = await import("node:dns/promises"); // loaded by the first call: no start waits for it
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};
