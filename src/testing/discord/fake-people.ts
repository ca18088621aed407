/** Who and what there is in a fake Discord, by the ids that tests use. */
export const BOT = { id: "200000000000000001", applicationId: "200000000000000002", name: "pi" } as const;
export const BOT_TOKEN = "fake-bot-token";
export const PEOPLE = {
  friend: { id: "300000000000000001", username: "frida", global_name: "Frida" },
  other: { id: "300000000000000002", username: "oskar", global_name: "Oskar" },
  stranger: { id: "300000000000000003", username: "stella", global_name: "Stella" },
} as const;
export const PLACES = {
  dm: "400000000000000001",
  strangersDm: "400000000000000003",
  guild: "500000000000000001",
  room: "500000000000000002",
  thread: "500000000000000003",
} as const;
