/** Why a connection did not come about, as words for people: by the code of the failure alone, because its message may name addresses inside. Pure. */

const BY_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there, or it refuses connections",
  ConnectionRefused: "nothing listens there, or it refuses connections",
  ECONNRESET: "it broke the connection off",
  ConnectionClosed: "it broke the connection off",
  EPIPE: "it broke the connection off",
  ETIMEDOUT: "it did not answer in time",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "its name could not be looked up",
  EHOSTUNREACH: "there is no way to it from here",
  ENETUNREACH: "there is no way to it from here",
  EPROTO: "it does not speak TLS as expected",
};
/** As OpenSSL and BoringSSL call what is wrong with a certificate. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|HOSTNAME_MISMATCH/;

export function whyUnreachable(error: unknown): string {
  const code = codeOf(error);
  const because = BY_CODE[code] ?? (CERTIFICATE.test(code) ? certificate(code) : tls(code));
  return because === undefined ? "it could not be reached" : `it could not be reached: ${because}`;
}

function certificate(code: string): string {
  return `its TLS certificate is not accepted (${code})`;
}

function tls(code: string): string | undefined {
  return /SSL|TLS/.test(code) ? `it does not speak TLS as expected (${code})` : undefined;
}

function codeOf(error: unknown): string {
  const { code } = typeof error === "object" && error !== null ? (error as { readonly code?: unknown }) : {};
  return typeof code === "string" && /^\w{1,64}$/.test(code) ? code : "";
}
