import type { Attributes } from '@opentelemetry/api'
import { findMethodRow, type JsonObject } from '@x/schema'
import { conventions, extensionMethods, type KnownNames, type NamedTarget, namedTargetOf } from '@x/exchange/internal'

/**
 * Name and attributes of a request's spans, without those of the tool or prompt. `server` has the attributes of the
 * server's address.
 */
export function callTargetOf(
  method: string,
  params: JsonObject | undefined,
  server: Attributes,
): NamedTarget & { readonly isStreaming: boolean; readonly attributes: Attributes } {
  const row = findMethodRow(method)
  const named = namedTargetOf(method, params)
  return {
    ...named,
    isStreaming: row?.isStreaming === true,
    attributes: {
      [conventions.attributes.method]:
        row !== undefined || extensionMethods.has(method) ? method : conventions.otherMethod,
      ...(named.isTool && { [conventions.attributes.operation]: 'execute_tool' }),
      ...server,
    },
  }
}

/** Names the tool or prompt, if the server knows it. Models may invent any number of names. */
export function nameAttributesOf(target: NamedTarget, knownNames: KnownNames): Attributes {
  const { name, isTool } = target
  if (name === undefined || !knownNames.has(target)) return {}
  return { [isTool ? conventions.attributes.tool : conventions.attributes.prompt]: name }
}

/** Describes the server that a URL names, and the transport. */
export function serverAttributesOf(url: string | undefined): Attributes {
  if (url === undefined || !URL.canParse(url)) return {}
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:') return {}
  return {
    [conventions.attributes.transport]: 'tcp',
    [conventions.attributes.protocol]: 'http',
    [conventions.attributes.serverAddress]: hostname,
    [conventions.attributes.serverPort]: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }
}
