/** For programs that can reach no proxy at all: what they say about this name is the reason. */
export const NO_PROXY_HOST = "agent.network-is-none";

/** The variables by which git, npm, pip, curl and others are told of a proxy. */
export function proxyVariables(url: string): Readonly<Record<string, string>> {
  const own = "127.0.0.1,localhost,::1";
  return {
    http_proxy: url,
    https_proxy: url,
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    no_proxy: own,
    NO_PROXY: own,
    NODE_USE_ENV_PROXY: "1", // without it Node looks at none of the others
  };
}
