/** Accounts of channels as their owner looks at them: connected or not, who may write, and what passed last. Types only. */
export interface ChannelCard {
  /** As in the status: the channel, or `channel/account` where it has several. */
  readonly id: string;
  readonly ok: boolean;
  readonly detail: string;
  /** One of the gateway's own, which only its owner and programs with a key write to. */
  readonly own: boolean;
  readonly access: ChannelAccessCard;
  readonly lastReceived: { readonly at: number; readonly from: string } | null;
  readonly lastSent: number | null;
  /** The newest reply that was given up. */
  readonly lastLost: { readonly at: number; readonly because: string } | null;
}

export interface ChannelAccessCard {
  readonly dm: "pairing" | "allowlist" | "open" | "disabled";
  readonly group: "allowlist" | "open" | "disabled";
  readonly requireMention: boolean;
  /** Groups that are listed by name. */
  readonly groups: number;
}

/** What passed last over an account. */
export interface ChannelTraffic {
  readonly lastReceived: ChannelCard["lastReceived"];
  readonly lastSent: number | null;
}
