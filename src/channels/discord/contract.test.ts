/** Discord keeps what every channel promises. */
import { channelContract } from "../../testing/contracts/channel-contract.ts";
import { discordWorld } from "../../testing/discord/discord-world.ts";

channelContract("discord", () => discordWorld());
