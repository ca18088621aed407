/** Which gateway sends a part that cannot be sent here now: the one that has its platform. Pure. */
import type { InstanceId } from "../contracts/ids.ts";

interface PartPlace {
  readonly me: InstanceId;
  /** The gateway that receives for the platform of its channel; null: none does. */
  readonly holder: InstanceId | null;
}

type Deliverer =
  /** It waits here: the platform is being opened, or whoever opens it is handed the part then. */
  | { readonly kind: "here"; readonly because: "this gateway holds the platform" | "nobody holds the platform" }
  | { readonly kind: "there"; readonly node: InstanceId; readonly because: "another gateway holds the platform" };

export function whoDelivers({ me, holder }: PartPlace): Deliverer {
  if (holder === null) return { kind: "here", because: "nobody holds the platform" };
  if (holder === me) return { kind: "here", because: "this gateway holds the platform" };
  return { kind: "there", node: holder, because: "another gateway holds the platform" };
}
