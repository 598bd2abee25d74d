import type { PrefixedName } from './names.ts'

/** Extensions recognize resources by these schemes. */
const keptSchemes = /^(ui|skill):\/\//
const keptUri = /^((?:ui|skill):\/\/)([^/]*)\/(.*)$/s
const prefixedUri = /^([^+:/]+)\+(.*)$/s

/** Names an upstream's resource or template for hosts: `crm+note://x` for `note://x`, and `ui://crm/x` for `ui://x`. */
export function encodeUri(upstream: string, inner: string): string {
  const scheme = keptSchemes.exec(inner)?.[0]
  return scheme === undefined ? `${upstream}+${inner}` : `${scheme}${upstream}/${inner.slice(scheme.length)}`
}

/** Splits a URI into its upstream and the URI there. Undefined for a URI that belongs to no upstream. */
export function decodeUri(uri: string): PrefixedName | undefined {
  const [, scheme = '', host, path = ''] = keptUri.exec(uri) ?? []
  if (host !== undefined) return { upstream: host, inner: `${scheme}${path}` }
  const [, upstream, inner = ''] = prefixedUri.exec(uri) ?? []
  return upstream === undefined ? undefined : { upstream, inner }
}
