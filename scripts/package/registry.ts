/**
 * A package registry on loopback for one test: it serves the packed gateway, and every package that lies in node_modules, packed when somebody
 * asks. So a real `npm install` needs no network. Holds nothing else: what is not installed here is 404, as packages for other systems are.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "./pack.ts";

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

export interface Registry extends AsyncDisposable {
  readonly url: string;
}

/** `temp` is for packages that are changed before they are served. */
export function startRegistry(gateway: { readonly file: string; readonly manifest: object }, temp: string): Registry {
  const installed = installedPackages();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0, // packing Bun takes its time
    fetch(request): Response {
      const { origin: url, pathname } = new URL(request.url);
      const path = decodeURIComponent(pathname).slice(1);
      const [, index] = /^-\/(\d+)\.tgz$/.exec(path) ?? [];
      if (index !== undefined) return tarball(installed[Number(index)], temp);
      if (path === "-/gateway.tgz") return new Response(Bun.file(gateway.file));
      if (path === "pi-gateway") return packument([[gateway.manifest, `${url}/-/gateway.tgz`]]);
      const versions = installed.flatMap(({ name, folder }, at) =>
        name === path ? [[manifestOf(folder), `${url}/-/${at}.tgz`] as const] : [],
      );
      return versions.length === 0 ? new Response("{}", { status: 404 }) : packument(versions);
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.asyncDispose]: () => server.stop(true) };
}

function installedPackages(): readonly Installed[] {
  const { packages } = JSON.parse(readFileSync(join(PROJECT, "node_modules", ".package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string }>;
  };
  return Object.entries(packages).flatMap(([path, { version }]) => {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    return version === undefined ? [] : [{ name, version, folder: join(PROJECT, path) }];
  });
}

function manifestOf(folder: string): object {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

function packument(versions: readonly (readonly [manifest: object, tarball: string])[]): Response {
  const listed = versions.map(([manifest, url]) => {
    const { name, version, scripts } = manifest as {
      name: string;
      version: string;
      scripts?: { postinstall?: string };
    };
    const runsScript = scripts?.postinstall === undefined ? {} : { hasInstallScript: true };
    return { ...manifest, ...runsScript, name, version, dist: { tarball: url } };
  });
  return Response.json({
    name: listed[0]?.name,
    "dist-tags": { latest: listed[0]?.version },
    versions: Object.fromEntries(listed.map((one) => [one.version, one])),
  });
}

/** Not compressed: it stays on this machine, and npm reads both. */
function tarball(wanted: Installed | undefined, temp: string): Response {
  if (!wanted) return new Response("", { status: 404 });
  const folder = asPublished(wanted, temp);
  const tar = Bun.spawn(
    ["tar", "-cf", "-", "--exclude=./node_modules", "--transform=s,^\\.,package,", "-C", folder, "."],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  return new Response(tar.stdout, { headers: { "content-type": "application/octet-stream" } });
}

/**
 * The published `bun` holds small stubs, and `@oven/bun-SYSTEM` the executable; the install script of `bun` moves it. Here it was moved
 * long ago, so it is moved back in a copy.
 */
function asPublished({ name, folder }: Installed, temp: string): string {
  if (name !== "bun" && !name.startsWith("@oven/")) return folder;
  const copy = join(temp, name.replace("/", "-"));
  rmSync(copy, { recursive: true, force: true });
  mkdirSync(join(copy, "bin"), { recursive: true });
  cpSync(join(folder, "package.json"), join(copy, "package.json"));
  if (name === "bun") {
    cpSync(join(folder, "install.js"), join(copy, "install.js"));
    for (const stub of ["bun.exe", "bunx.exe"]) writeFileSync(join(copy, "bin", stub), "exit 1\n", { mode: 0o755 });
  } else {
    cpSync(process.execPath, join(copy, "bin", "bun"));
  }
  return copy;
}
