import type { Icon, Icons } from '@x/schema'

/**
 * Returns the item without icons that must not be fetched: a source is an https: address, or data: of an image
 * (basic/index, icons). The icons that remain are still untrusted.
 */
export function withSafeIcons<Item extends Icons>(item: Item): Item {
  const { icons } = item
  if (icons === undefined || icons.every(isSafe)) return item
  return { ...item, icons: icons.filter(isSafe) }
}

function isSafe({ src }: Icon): boolean {
  // The scheme ends at the first colon. A browser would skip white space and control characters before it; this check
  // does not.
  return /^https:\/\//i.test(src) || /^data:image\//i.test(src)
}
