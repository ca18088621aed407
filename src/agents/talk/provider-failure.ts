/** From what a provider or pi said to a code of the catalogue. Pure; the texts are pi's and change, so unsure cases stay general. */
import type { ErrorCode } from "../../contracts/errors.ts";

/**
 * The order matters: a key problem may come with a 4xx number, a cut connection may mention a timeout, an empty account with the number of any
 * refusal. An exceeded quota alone says nothing about money: some providers call the limit of a minute that.
 */
const RULES: readonly { readonly pattern: RegExp; readonly code: ErrorCode }[] = [
  { pattern: /ENOSPC|no space left on device|EDQUOT|disk quota exceeded/i, code: "agent_disk_full" },
  {
    pattern:
      /no api key|no model selected|model not found|unknown model|no models? available|model.{0,80}(does not exist|not_found)/i,
    code: "model_missing",
  },
  {
    pattern:
      /^\s*402\b|\b(status|error|code)\D{0,3}402\b|payment.?required|insufficient.{0,10}(quota|credit|balance|funds)|credit balance|out of credits|billing.{0,10}limit/i,
    code: "provider_unpaid",
  },
  {
    pattern:
      /^\s*40[13]\b|\b(status|error|code)\D{0,3}40[13]\b|unauthori[sz]ed|forbidden|invalid.{0,20}api.?key|authentication/i,
    code: "provider_auth",
  },
  {
    pattern:
      /(maximum|max) context length|context.?length.?exceeded|exceeds? the context|context window|prompt is too long|too many (input )?tokens/i,
    code: "provider_context",
  },
  {
    pattern: /^\s*429\b|\b(status|error|code)\D{0,3}429\b|rate.?limit|too many requests|quota/i,
    code: "provider_limited",
  },
  {
    pattern:
      /^\s*5\d\d\b|\b(status|error|code)\D{0,3}5\d\d\b|overloaded|internal server error|bad gateway|service unavailable/i,
    code: "provider_down",
  },
  {
    pattern: /^\s*4\d\d\b|\b(status|error|code)\D{0,3}4\d\d\b|invalid_request|content.?policy/i,
    code: "provider_refused",
  },
  { pattern: /timed? ?out|timeout|ETIMEDOUT/i, code: "provider_silent" },
  {
    pattern:
      /ECONNRESET|ECONNREFUSED|EPIPE|ENOTFOUND|socket|connection|terminated|premature|unexpected end|stream ended|network|fetch failed|without a? ?finish/i,
    code: "provider_cut",
  },
];

export function classifyFailure(message: string): ErrorCode {
  return RULES.find(({ pattern }) => pattern.test(message))?.code ?? "provider_refused";
}
