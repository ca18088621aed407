/** The conversation a job belongs to: where it was made, else where its person or an owner was active last, else one that is always there. */
import type { Job } from "../../contracts/automation/job.ts";
import type { ChatAddress } from "../../contracts/chat.ts";
import type { AgentId, Principal, SessionKey } from "../../contracts/ids.ts";
import type { PlaceStore } from "../../contracts/store/places.ts";

export interface Home {
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly to: ChatAddress;
  readonly scope: "dm" | "group";
}

export interface Homes {
  of(job: Pick<Job, "to" | "sessionKey" | "createdBy" | "agentId">): Promise<Home>;
  /** Where an owner is told what concerns the gateway itself. */
  ofOwner(): Promise<Home>;
  /** The chat behind a conversation; null when it has none. */
  at(sessionKey: SessionKey): Promise<Home | null>;
}

export interface HomeDeps {
  readonly places: Pick<PlaceStore, "of" | "lastOf">;
  /** Everybody who is an owner now, the operator first. */
  owners(): readonly Principal[];
  /** What a key of the page or of the API says by itself; null for others. */
  named(sessionKey: SessionKey): Omit<Home, "scope"> | null;
  /** A conversation of the operator that exists even when nothing was ever said. */
  readonly fallback: Home;
}

export function createHomes({ places, owners, named, fallback }: HomeDeps): Homes {
  const at = async (sessionKey: SessionKey): Promise<Home | null> => {
    const place = await places.of(sessionKey);
    if (place) return place;
    const known = named(sessionKey);
    return known && { ...known, scope: "dm" };
  };
  const lastOf = async (people: readonly Principal[]): Promise<Home> => (await places.lastOf(people)) ?? fallback;
  return {
    at,
    ofOwner: () => lastOf(owners()),
    async of({ to, sessionKey, createdBy, agentId }) {
      if (!to || !sessionKey) return lastOf(owners().includes(createdBy) ? owners() : [createdBy]);
      const place = await at(sessionKey);
      return place ? { ...place, to } : { sessionKey, agentId, to, scope: "dm" };
    },
  };
}
