/**
 * The one port: web console, JSON API, event socket and signed media links, on Bun's own server.
 * Everything is denied unless a row of the route table says otherwise; who calls is decided before what is called.
 * It decides nothing about messages: it parses, hands them to the Receiver and shows what became of them.
 */
export { openHttp } from "./server.ts";
export { accessSettings, httpOptions } from "./settings.ts";
export type {
  HttpDeps,
  HttpOptions,
  HttpServer,
  InboundInput,
  ConsoleAssets,
  ConsoleFile,
  TokenRotation,
} from "./types.ts";
