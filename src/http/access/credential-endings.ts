/** One signal per credential that sign-ins rest on; it aborts when that credential is replaced, and ends what still runs in its name. */
import { GatewayError } from "../../contracts/errors.ts";

interface CredentialEndings {
  of(authDigest: string): AbortSignal;
  /** Ends every credential that is not among these. */
  keep(current: readonly (string | null)[]): void;
}

export function createCredentialEndings(): CredentialEndings {
  const endings = new Map<string, AbortController>();
  const ended = () => new GatewayError("unauthorized", "credential replaced");
  return {
    of(authDigest) {
      const ending = endings.get(authDigest);
      return ending ? ending.signal : AbortSignal.abort(ended());
    },
    keep(current) {
      for (const [authDigest, ending] of endings) {
        if (current.includes(authDigest)) continue;
        endings.delete(authDigest);
        ending.abort(ended());
      }
      for (const authDigest of current) {
        if (authDigest !== null && !endings.has(authDigest)) endings.set(authDigest, new AbortController());
      }
    },
  };
}
