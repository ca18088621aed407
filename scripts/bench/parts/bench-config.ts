/** The configuration of a gateway under measurement: its model is the provider on loopback, and nothing else differs from what is shipped. */
export const benchConfig = (baseUrl: string, pool: Readonly<Record<string, unknown>> = { min: 1, max: 1 }) => ({
  agent: { model: "local/bench", pool },
  models: { providers: { local: { baseUrl, apiKey: "none", models: [{ id: "bench", contextWindow: 1_000_000 }] } } },
});
