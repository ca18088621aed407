/** The way out of the sandbox: programs of an agent reach hosts through it, each connection judged and recorded. */
import type { ByteStream } from "../kit/mux/byte-stream.ts";
import type { AgentId, Principal, SessionKey } from "./ids.ts";

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
  /** Serves one connection to the gateway's own port, to its end. Never rejects. */
  serveGateway(stream: ByteStream): Promise<void>;
  /** A proxy on a loopback port for one process, where it has no network of its own. `caller`: for whom it works now. */
  listen(caller: () => EgressCaller | null): ProxyListener;
}

export interface ProxyListener extends Disposable {
  readonly port: number;
}
