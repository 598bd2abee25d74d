import { isJsonObject, type JsonValue } from '@x/core'
import type { Call, Exchange } from '@x/exchange'
import { metaKeys, type RpcRequest, type RpcResponse } from '@x/schema'

/**
 * Serves a stream of changes across restarts: it is opened again at the next process, whose lists and resources may all
 * have changed. `waitForProcess` resolves with the process that is ready, whose `replaced` aborts when another one takes
 * over. If a stream ends while its process still runs, it ends for the host too.
 */
export async function followChanges(
  request: RpcRequest,
  call: Call,
  waitForProcess: () => Promise<{ readonly replaced: AbortSignal; readonly exchange: Exchange }>,
): Promise<RpcResponse> {
  for (let isFirst = true; ; isFirst = false) {
    const { replaced, exchange } = await waitForProcess()
    const signal = AbortSignal.any([call.signal, replaced])
    const notify: Call['notify'] = (message) => {
      if (isFirst || message.method !== 'notifications/subscriptions/acknowledged') return call.notify(message)
      for (const [method, params] of changesIn(request.params?.['notifications']))
        call.notify({ jsonrpc: '2.0', method, params: { ...params, _meta: { [metaKeys.subscriptionId]: request.id } } })
    }
    const { principal, context } = call
    try {
      const response = await exchange(request, { principal, context, notify, signal })
      if (!replaced.aborted) return response
    } catch (error) {
      if (call.signal.aborted || !replaced.aborted) throw error
    }
  }
}

function changesIn(
  filter: JsonValue | undefined,
): readonly (readonly [method: string, params: { readonly uri?: string }])[] {
  const { resourceSubscriptions = [], ...flags } = isJsonObject(filter) ? filter : {}
  const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []
  return [
    ...Object.keys(flags).flatMap((flag) => {
      const [, list] = /^(.+)ListChanged$/.exec(flag) ?? []
      return list === undefined ? [] : [[`notifications/${list}/list_changed`, {}] as const]
    }),
    ...uris.map((uri) => ['notifications/resources/updated', { uri: String(uri) }] as const),
  ]
}
