import { checkArgument } from '@x/core'
import type { CallView } from '@x/server'
import { contextKey } from '@x/exchange'
import { isJsonObject, metaKeys, type RpcRequest } from '@x/schema'
import { appsIdentifier, pageMediaType } from './identifiers.ts'

/** Set for a call whose host shows pages. */
export const showsPagesKey = contextKey<boolean>('io.modelcontextprotocol/ui')

/**
 * True if the host of a call shows pages of Apps. A handler may then return a shorter text, because the user sees the
 * page. False at a server without the extension.
 */
export function showsPages(ctx: CallView): boolean {
  checkArgument(ctx, { where: 'showsPages', takes: 'the ctx of a handler', needs: ['context'] })
  return ctx.context.get(showsPagesKey) === true
}

const settingsPath = ['_meta', metaKeys.clientCapabilities, 'extensions', appsIdentifier]

/**
 * True if the client of a request declares that it shows pages (extensions/apps, capability negotiation). The server
 * checks the request later, so invalid values count as not declared here.
 */
export function declaresPages({ params }: RpcRequest): boolean {
  const settings = settingsPath.reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), params)
  const mediaTypes = isJsonObject(settings) ? settings['mimeTypes'] : undefined
  return Array.isArray(mediaTypes) && mediaTypes.includes(pageMediaType)
}
