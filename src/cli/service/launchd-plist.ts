/** The text of the launchd agent for macOS. It has been written by the documentation of launchd, and never been run by us. Pure. */
import type { ServiceSpec } from "./systemd-unit.ts";

export const LAUNCHD_LABEL = "io.pi-gateway";

/** launchd reads no file of variables: keys go into the configuration file there. */
export function plistText({ command, home, path }: ServiceSpec): string {
  const words = [...command, "start", "--home", home].map((word) => `    <string>${xml(word)}</string>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key><string>${LAUNCHD_LABEL}</string>`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...words,
    "  </array>",
    `  <key>WorkingDirectory</key><string>${xml(home)}</string>`,
    `  <key>EnvironmentVariables</key><dict><key>PATH</key><string>${xml(path)}</string></dict>`,
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>",
    "  <key>ThrottleInterval</key><integer>10</integer>",
    "  <key>ExitTimeOut</key><integer>90</integer>",
    "  <key>ProcessType</key><string>Interactive</string>",
    "  <key>Umask</key><integer>63</integer>", // 0077
    `  <key>StandardOutPath</key><string>${xml(`${home}/service.log`)}</string>`,
    `  <key>StandardErrorPath</key><string>${xml(`${home}/service.log`)}</string>`,
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
