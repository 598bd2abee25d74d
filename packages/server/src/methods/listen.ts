import { isThisMachine } from '@x/core'
import { clientAddressKey } from '@x/exchange'
import {
  type JsonObject,
  type SubscriptionsListenRequestParams,
  errorCodes,
  McpError,
  type SubscriptionFilter,
} from '@x/schema'
import type { ServedRequest } from '../replay/served-request.ts'
import { findVisibleEntry, isVisible } from '../compile/catalog.ts'
import { matchUriTemplate } from '../definitions/uri-template.ts'
import { listChangeKinds } from '../subscriptions/topics.ts'

/**
 * Streams the changes that a client asks for, until one side ends the stream. Changes that the server does not
 * announce, and resources that the caller may not see, are left out. Resolves with the result of a stream that ended in
 * good order (basic/patterns/subscriptions, graceful closure).
 */
export function listen(
  { notifications }: SubscriptionsListenRequestParams,
  request: ServedRequest,
): Promise<JsonObject> {
  const { id, call, callerKey, catalog, settings } = request
  const filter = restrictFilter(notifications, request)
  if (settings.isBusAssumedLocal && isOtherMachine(call.context.get(clientAddressKey)))
    settings.warn({ code: 'local_bus', message: localBusMessage })
  return settings.subscriptions.streamChanges({ id, call, callerKey, filter, resultMeta: catalog.resultMeta })
}

const localBusMessage =
  'The server has a state that other instances may share, and clients of other machines listen for changes; a change at ' +
  'one instance does not reach the streams of another: give subscriptions: { bus }, or { bus: memoryBus() } where there ' +
  'is one instance'

const ipAddress = /^\d+\.|:/

/**
 * True for another machine's IP address. Transports without addresses give a word instead, which counts as this
 * machine.
 */
function isOtherMachine(address: string | undefined): boolean {
  return address !== undefined && ipAddress.test(address) && !isThisMachine(address)
}

/** How many resource URIs a filter may have. Each is compared with every template that the caller may see. */
// limit: resource URIs of a stream | count | resource URIs in one filter | `-32602`
const maxUris = 100

/**
 * Accepts of a filter the lists that the server has, and the resources that the caller may see. URIs that do not exist
 * and URIs that are hidden are both left out, so that callers cannot tell them apart. Throws `McpError(invalidParams)`
 * for too many URIs.
 */
function restrictFilter(requestedFilter: SubscriptionFilter, request: ServedRequest): SubscriptionFilter {
  const { capabilities } = request.catalog
  const acceptedLists = listChangeKinds.filter(
    (list) => requestedFilter[list.filterKey] === true && capabilities[list.kind]?.listChanged === true,
  )
  const filter = Object.fromEntries(acceptedLists.map((list) => [list.filterKey, true]))
  const uris = restrictUris(requestedFilter.resourceSubscriptions ?? [], request)
  return uris.length === 0 ? filter : { ...filter, resourceSubscriptions: uris }
}

function restrictUris(
  requestedUris: readonly string[],
  { catalog, call, extensionResources }: ServedRequest,
): readonly string[] {
  if (requestedUris.length > maxUris) {
    const message = `Invalid params: params.notifications.resourceSubscriptions has ${requestedUris.length} URIs; give at most ${maxUris}`
    throw new McpError(errorCodes.invalidParams, message)
  }
  if (catalog.capabilities.resources?.subscribe !== true || requestedUris.length === 0) return []
  const templates = [...catalog.templates.byKey.values()].filter((template) => isVisible(template, call))
  const isKnown = (uri: string): boolean =>
    findVisibleEntry(catalog.resources, uri, call) !== undefined ||
    templates.some(({ template }) => matchUriTemplate(template, uri) !== undefined) ||
    extensionResources.some(({ resources }) => resources.has(uri, call))
  return [...new Set(requestedUris)].filter(isKnown)
}
