import type { Client } from '@x/client'
import type { Exchange } from '@x/exchange'
import type { RpcRequest, RpcResponse } from '@x/schema'
import type { Instance } from '../../../src/fleet/instance-meta.ts'
import type { WireMessage } from '../../../src/walk-through/record-messages.ts'
import type { RoundWatch } from '../../../src/walk-through/round-watch.ts'

/** The messages of one round, as the page shows them. */
export interface RoundMessages {
  readonly title: string
  readonly messages: readonly { readonly label: string; readonly message: unknown }[]
  /** The instance that a header of the last response names. */
  readonly instance?: Instance | undefined
  /** The number of bytes in the `state` of a question to an older client. */
  readonly stateBytes?: number | undefined
}

/** A client, and the messages of its calls. */
export interface RecordedClient {
  readonly client: Client & { readonly rounds: RoundWatch }
  /** Returns the messages since the last round. Undefined if there are none. */
  takeMessages(): RoundMessages | undefined
}

/** An exchange that stores its last messages. */
export interface RecordedExchange {
  readonly exchange: Exchange
  readonly takeMessages: RecordedClient['takeMessages']
}

/** Stores the request and the response of the last `tools/call`, which the page shows with the round. */
export function recordMessages(exchange: Exchange): RecordedExchange {
  let last: { readonly request: RpcRequest; readonly response: RpcResponse } | undefined
  return {
    exchange: async (request, call) => {
      const response = await exchange(request, call)
      if (request.method === 'tools/call') last = { request, response }
      return response
    },
    takeMessages: () => {
      const taken = last
      last = undefined
      if (taken === undefined) return undefined
      const messages = [
        { label: 'Request', message: taken.request },
        { label: 'Response', message: taken.response },
      ]
      return { title: 'Messages', messages }
    },
  }
}

/** Describes the messages of a round of a client of 2025-11-25. Undefined if there are none. */
export function describeOlderMessages(messages: readonly WireMessage[]): RoundMessages | undefined {
  if (messages.length === 0) return undefined
  const hasState = messages.some(({ state }) => state !== undefined)
  const question = messages.findLast(({ sender, state }) => sender === 'server' && state !== undefined)
  return {
    title: hasState ? 'Messages (2025-11-25, SEP-1685 state)' : 'Messages (2025-11-25)',
    messages: messages.map((each) => ({ label: labelOf(each), message: each.message })),
    instance: messages.findLast(({ instance }) => instance !== undefined)?.instance,
    stateBytes: question?.state?.length ?? 0,
  }
}

function labelOf({ sender, message, state, instance }: WireMessage): string {
  const name = sender === 'client' ? 'Client' : `Instance ${instance?.id ?? '?'}`
  const method = typeof message['method'] === 'string' ? message['method'] : 'response'
  return `${name}: ${method}${state === undefined ? '' : ', with state'}`
}
