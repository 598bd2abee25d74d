import type { Icon, Icons } from '@x/schema'

/**
 * The item without icons that must not be fetched: a source is an https: address or data: of an image, whatever a server
 * says (basic/index, icons). Where it points and what it holds is still not to be trusted.
 */
export function withSafeIcons<Item extends Icons>(item: Item): Item {
  const { icons } = item
  if (icons === undefined || icons.every(isSafe)) return item
  return { ...item, icons: icons.filter(isSafe) }
}

function isSafe({ src }: Icon): boolean {
  // The scheme ends at the first colon; a browser would skip white space and control characters before it, this does not.
  return /^https:\/\//i.test(src) || /^data:image\//i.test(src)
}
