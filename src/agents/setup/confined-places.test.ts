import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempHome } from "../../testing/temp-home.ts";
import type { AgentFolders } from "./agent-folder.ts";
import { confinedPlaces } from "./confined-places.ts";

const folders: AgentFolders = {
  agentDir: "/state/agent",
  ownAgentDir: true,
  home: "/state/agent/home",
  workspace: "/state/workspace",
  granted: { read: [], write: [], asks: [] },
  sessions: "/state/sessions",
  transpilerCache: "/state/agent/cache",
  compiled: "/state/agent/cache",
  promptFile: "/state/agent/system-prompt.md",
  bunConfig: "/state/agent/bunfig.toml",
  compilerConfig: "/state/agent/tsconfig.json",
};
const resources = {
  skills: [],
  extensions: [],
  promptTemplates: [],
  pluginSkills: [],
  templateNames: new Set<string>(),
};
const files = {
  folders,
  resources,
  temp: "/state/run/tmp/1",
  visits: "/state/run/sessions/1",
  bun: "/opt/bun",
  pi: "/app/node_modules/pi/dist/node_modules/x/entry.js",
  bridge: "/app/dist/bridge.js",
  userHome: "/home/me",
  network: { kind: "closed", ports: [] } as const,
  limits: { processes: 1, memoryMb: 1, openFiles: 1, fileSizeMb: 1 } as never,
};

describe("the places of an agent process", () => {
  test("are its own folders to write, and of the sessions only those that visit it", () => {
    const { write, read } = confinedPlaces(files);
    expect(write).toEqual(["/state/workspace", "/state/run/tmp/1", "/state/run/sessions/1", "/state/agent"]);
    expect([...write, ...read]).not.toContain("/state/sessions");
  });

  test("hold the outermost folder of packages that pi lies in, and names of the folder around it", () => {
    const { read, list } = confinedPlaces(files);
    expect(read).toContain("/app/node_modules");
    expect(list).toEqual(["/app"]);
  });

  test("hold the package of a pi that lies elsewhere, and never the owner's home because of a package.json in it", async () => {
    await using home = await tempHome();
    mkdirSync(join(home.path, "tools", "pi", "bin"), { recursive: true });
    writeFileSync(join(home.path, "package.json"), "{}");
    const pi = join(home.path, "tools", "pi", "bin", "pi.js");
    const of = () => confinedPlaces({ ...files, pi, userHome: home.path }).read[1];
    expect(of()).toBe(pi);
    writeFileSync(join(home.path, "tools", "pi", "package.json"), "{}");
    expect(of()).toBe(join(home.path, "tools", "pi"));
  });

  test("do not hold the owner's pi folder beyond what pi needs of it: the gateway's own files stay read-only", () => {
    const { write, read } = confinedPlaces({
      ...files,
      folders: { ...folders, agentDir: "/home/me/.pi/agent", ownAgentDir: false },
    });
    expect(write).toContain("/home/me/.pi/agent");
    expect(write).not.toContain("/state/agent");
    expect(read).toContain("/state/agent/bunfig.toml");
  });
});
