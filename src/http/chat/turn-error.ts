/** A failed turn as an error, for those who wait for its answer. */
import { ERRORS, GatewayError } from "../../contracts/errors.ts";
import type { TurnResult } from "../../contracts/store/turns.ts";
import { knownCode } from "../problem.ts";

export function turnError(result: TurnResult): GatewayError {
  const code = knownCode(result.errorCode);
  // which budget and until when, or what the provider said, is in the notice that the chat shows: its last paragraph
  const shown = code === "budget_spent" || code.startsWith("provider_");
  const notice = code === "budget_spent" ? result.content : (result.content.split("\n\n").at(-1) ?? "");
  const say = shown && notice !== "" ? notice : ERRORS[code].say;
  return new GatewayError(code, "turn failed", { say, fields: { turnId: result.turnId } });
}
