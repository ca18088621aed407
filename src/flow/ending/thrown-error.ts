/** How a turn ends that something was thrown in: a pure decision. The chat is told what its sender can do about it. */
import { isGatewayError } from "../../contracts/errors.ts";
import { isNoRoom } from "../../kit/no-room.ts";
import { type EndWithoutSize, failure } from "./turn-ending.ts";

/** The sentence of the catalogue is about a message that was not accepted, and this one was. */
const LOST_STORE = "The gateway's database failed while it was answering this. Please send it again.";

export function endOfError(error: unknown): EndWithoutSize {
  const detail = error instanceof Error ? error.message : String(error);
  if (isGatewayError(error) && error.code === "store_failed") return failure(error.code, detail, { say: LOST_STORE });
  if (isNoRoom(error)) return failure("agent_disk_full", detail);
  if (isGatewayError(error)) return failure(error.code, detail, { say: error.say });
  return failure("internal", detail);
}
