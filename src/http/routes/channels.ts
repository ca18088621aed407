/** Channels for their owner: how each account is, who may write to it, and what passed last. Changes nothing. */
import type { ChannelCard } from "../../contracts/channels/channel-cards.ts";
import { READ } from "../access/key-reach.ts";
import { jsonOf, OPERATOR_GET, type Route } from "../route.ts";
import type { HttpDeps } from "../types.ts";

/** Lost replies among which the newest of each channel is looked for. */
const MAX_LOST = 200;

export function channelRoutes(deps: Pick<HttpDeps, "store" | "people" | "operations">): readonly Route[] {
  return [
    {
      ...OPERATOR_GET,
      path: "/api/channels",
      scope: READ,
      async handle() {
        const lost = (await deps.store.outbox.list("dead", { limit: MAX_LOST })).items;
        const cardOf = async ({ id, ok, detail }: Pick<ChannelCard, "id" | "ok" | "detail">): Promise<ChannelCard> => {
          const [channel = id] = id.split("/");
          const account = deps.people.accountOf(id);
          const { dm, group, requireMention, groups } = deps.people.policyOf(channel, account);
          const own = deps.people.isOwnChannel(channel);
          const last = lost.find(({ to }) => to.channel === channel && to.account === account);
          const { lastReceived, lastSent } = await deps.store.messages.traffic(channel, account);
          return {
            id,
            ok,
            detail,
            own,
            access: { dm, group, requireMention, groups: Object.keys(groups).length },
            lastReceived,
            lastSent,
            lastLost: last ? { at: last.endedAt, because: last.because } : null,
          };
        };
        const items: ChannelCard[] = [];
        for (const channel of deps.operations.status().channels) items.push(await cardOf(channel));
        return jsonOf<"GET /api/channels">({ items });
      },
    },
  ];
}
