import type { PrefixedName } from './names.ts'

/** The schemes whose URIs keep them, because extensions recognize resources by the scheme. */
const keptSchemes = /^(ui|skill):\/\//
const keptUri = /^((?:ui|skill):\/\/)([^/]*)\/(.*)$/s
const prefixedUri = /^([^+:/]+)\+(.*)$/s

/**
 * Returns the URI, or the URI template, under which a gateway offers a resource of an upstream: `crm+note://x` for
 * `note://x`, and `ui://crm/x` for `ui://x`.
 */
export function encodeUri(upstream: string, inner: string): string {
  const scheme = keptSchemes.exec(inner)?.[0]
  return scheme === undefined ? `${upstream}+${inner}` : `${scheme}${upstream}/${inner.slice(scheme.length)}`
}

/** Returns the upstream and the URI at the upstream. Undefined for a URI that belongs to no upstream. */
export function decodeUri(uri: string): PrefixedName | undefined {
  const [, scheme = '', host, path = ''] = keptUri.exec(uri) ?? []
  if (host !== undefined) return { upstream: host, inner: `${scheme}${path}` }
  const [, upstream, inner = ''] = prefixedUri.exec(uri) ?? []
  return upstream === undefined ? undefined : { upstream, inner }
}
