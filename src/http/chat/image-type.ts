/** The pictures that a browser shows and nothing else: whatever has another type is only ever offered for download. */
const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
type ImageType = (typeof IMAGE_TYPES)[number];

export function isImageType(type: string): type is ImageType {
  return IMAGE_TYPES.some((known) => known === type);
}
