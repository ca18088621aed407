/** The way out of the sandbox: programs of an agent reach hosts through it, each connection judged and recorded. */
import type { AgentId, Principal, SessionKey } from "./ids.ts";

/** Bytes in both directions, with an end. */
export interface ByteStream {
  /** Null after the last ones. Rejects when the stream was cut. */
  read(): Promise<Uint8Array | null>;
  write(bytes: Uint8Array): Promise<void>;
  /** Nothing more is written. */
  end(): void;
  abort(reason: string): void;
  /** Aborts when the stream ends in any way but a complete one. */
  readonly cut: AbortSignal;
}

/** `agent.network`: nothing, every public host, or those that are listed. */
export type NetworkSetting = "none" | "all" | { readonly allow: readonly string[] };

/** For whom a connection is made: the turn that its process serves. */
export interface EgressCaller {
  readonly principal: Principal;
  readonly sessionKey: SessionKey;
  readonly agentId: AgentId;
  readonly network: NetworkSetting;
}

export interface Egress {
  /** Serves one connection to the proxy, to its end. Never rejects. */
  serve(stream: ByteStream, caller: EgressCaller): Promise<void>;
}
