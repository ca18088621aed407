/** The way out of the sandbox: programs of an agent reach hosts through it, each connection judged and recorded. */
import type { ByteStream } from "../kit/mux/byte-stream.ts";
import type { Caller } from "./agent.ts";

/** `agent.network`: nothing, every public host, or those that are listed. `ask`: about others the owner is asked. */
export type NetworkSetting = "none" | "all" | { readonly allow: readonly string[]; readonly ask?: boolean };

/** For whom a connection is made: the turn that its process serves. One object for the whole of that turn. */
export interface EgressCaller {
  readonly of: Caller;
  readonly network: NetworkSetting;
  /** The turn is over. */
  readonly over: AbortSignal;
  /** What the agent's shell runs now: one of these commands makes the connection. */
  commands(): readonly string[];
  /** The setting that `network` comes from, for sentences. Default: `agent.network`. */
  readonly setting?: string;
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
