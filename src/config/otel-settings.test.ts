/** Where spans go: the configuration, or the variables of OpenTelemetry, or nowhere. */
import { expect, test } from "bun:test";
import { checkConfigText, otelSettings } from "./index.ts";

function settings(observe: object, variables: Readonly<Record<string, string>> = {}) {
  const { config } = checkConfigText(JSON.stringify({ observe }), () => undefined);
  if (config === null) throw new Error("the configuration is not valid");
  const found = otelSettings(config, (name) => variables[name]);
  if (found === null) return null;
  const headers = Object.fromEntries(Object.entries(found.headers).map(([name, value]) => [name, value.reveal()]));
  return { url: found.url, serviceName: found.serviceName, headers };
}

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };
const TRACES = "http://collector:4318/v1/traces";

test("spans go nowhere unless somebody named an endpoint", () => {
  expect(settings({})).toBeNull();
  expect(settings({}, { OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeNull();
  expect(settings({}, { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" })).toBeNull();
  expect(settings({}, { ...BASE, OTEL_SDK_DISABLED: "true" })).toBeNull();
  expect(settings({}, { ...BASE, OTEL_SDK_DISABLED: "TRUE" })).toBeNull();
  expect(settings({}, { OTEL_EXPORTER_OTLP_ENDPOINT: "x http://collector:4318" })).toBeNull();
});

test.each([
  ["the base of a collector", BASE, TRACES],
  ["a base that ends with a slash", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" }, TRACES],
  [
    "an address for traces alone, as it is",
    { ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://other/x" },
    "http://other/x",
  ],
  ["nothing for traces alone", { ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" }, TRACES],
])("a variable names %s", (_what, variables, url) => {
  expect(settings({}, variables)?.url).toBe(url);
});

test("the configuration counts more than the variables", () => {
  const otel = { endpoint: "https://other.example/otlp/v1/traces", headers: { Authorization: "Bearer x" } };
  expect(settings({ otel }, { ...BASE, OTEL_SERVICE_NAME: "n" })).toEqual({
    url: "https://other.example/otlp/v1/traces",
    serviceName: "pi-gateway",
    headers: { Authorization: "Bearer x" },
  });
});

test("headers and the name of the service come from the variables as well", () => {
  const variables = {
    ...BASE,
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b, x=y=z,broken,bad name=1",
    OTEL_SERVICE_NAME: "n",
  };
  expect(settings({}, variables)).toEqual({ url: TRACES, serviceName: "n", headers: { "api-key": "a b", x: "y=z" } });
});

test("headers for traces alone count more than those for everything, and what is no header is left out", () => {
  const variables = {
    ...BASE,
    OTEL_EXPORTER_OTLP_HEADERS: "all=1",
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: `traces=100%,=nameless,${"x".repeat(64)}=longest,${"x".repeat(65)}=longer`,
  };
  expect(settings({}, variables)?.headers).toEqual({ traces: "100%", [`${"x".repeat(64)}`]: "longest" });
});

test("an endpoint of the configuration gets the path for traces once, whatever slashes it ends with", () => {
  const url = (endpoint: string) => settings({ otel: { endpoint } })?.url;
  expect([url("https://a.example//"), url("https://a.example/v1/traces/")]).toEqual([
    "https://a.example/v1/traces",
    "https://a.example/v1/traces",
  ]);
});
