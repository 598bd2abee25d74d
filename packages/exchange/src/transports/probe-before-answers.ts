import type { Clock, MonotonicMs } from '@x/core'
import { isJsonObject, metaKeys, type RpcRequest } from '@x/schema'
import { headerParamsKey, withContext } from '../call/call-context.ts'
import type { Call, Exchange } from '../call/exchange.ts'

/** After a silence of so many milliseconds, the server may be about to end. Programs answer sooner, and people later. */
const maxQuietMs = 50

/**
 * Asks a server that was silent while the user thought for its description, before it gets the answer. A process that is
 * being killed keeps its sockets open for a moment. What they take in then is read by no program, and whoever sent it
 * cannot know that. If the probe fails, the answer was not sent, and can be sent again.
 *
 * `toUnsent` returns the error of a call whose probe got no answer, and undefined if the server has answered the probe.
 */
export function probeBeforeAnswers(
  exchange: Exchange,
  { clock, toUnsent }: { readonly clock: Clock; readonly toUnsent: (error: unknown) => unknown },
): Exchange {
  let heardAt: MonotonicMs | undefined
  const send: Exchange = (request, call) =>
    exchange(request, call).then((response) => {
      heardAt = clock.monotonicNow()
      return response
    })
  const sendAnswer: Exchange = async (request, call) => {
    if (heardAt === undefined || clock.monotonicNow() - heardAt >= maxQuietMs) await probe(request, call)
    return send(request, call)
  }
  const probe = async (request: RpcRequest, call: Call): Promise<void> => {
    try {
      await send(createProbe(request), withContext(call, headerParamsKey, undefined))
    } catch (error) {
      const unsent = toUnsent(error)
      if (unsent !== undefined) throw unsent
    }
  }
  return (request, call) =>
    request.params?.['inputResponses'] === undefined ? send(request, call) : sendAnswer(request, call)
}

const { protocolVersion, clientInfo, clientCapabilities } = metaKeys

function createProbe({ params, ...request }: RpcRequest): RpcRequest {
  const meta = isJsonObject(params?._meta) ? params._meta : {}
  const identity = [protocolVersion, clientInfo, clientCapabilities].map((key) => [key, meta[key]])
  const sent = identity.filter(([, value]) => value !== undefined)
  return { ...request, method: 'server/discover', params: { _meta: Object.fromEntries(sent) } }
}
