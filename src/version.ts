/** The product's version and that of the pi it is tested with, from package.json; put into the bundle when it is built. */
import manifest from "../package.json" with { type: "json" };

export const VERSION: string = manifest.version;
export const PI_VERSION: string = manifest.dependencies["@earendil-works/pi-coding-agent"];
