import { type Client, createClient } from '@x/client'
import type { Exchange } from '@x/exchange'
import type { RpcResponse } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'

/** A request, at the instance that it reached. */
export interface Visit {
  readonly method: string
  /** The number of the instance, from 1. */
  readonly instance: number
  readonly outcome: 'question' | 'state without a question' | 'result' | 'error'
}

/** A host of revision 2026-07-28, whose requests reach the instances by turns. */
export interface Host {
  readonly client: Client
  /** A client of each instance. */
  readonly clients: readonly Client[]
  /** The requests that were sent. */
  readonly visits: readonly Visit[]
  /** The questions that were asked. */
  readonly questions: readonly string[]
}

/** Creates a {@link Host} of instances with these addresses. */
export function createHost(urls: readonly string[]): Host {
  const visits: Visit[] = []
  const questions: string[] = []
  const exchanges = urls.map(
    (url, index): Exchange =>
      async (request, call) => {
        await using connection = connectHttp(url)
        const response = await connection.exchange(request, call)
        visits.push({ method: request.method, instance: index + 1, outcome: outcomeOf(response) })
        return response
      },
  )
  let turn = 0
  const byTurns: Exchange = (request, call) => {
    const exchange = exchanges[turn % exchanges.length]
    turn += 1
    if (exchange === undefined) throw new Error('A host needs the address of an instance')
    return exchange(request, call)
  }
  const createHostClient = (exchange: Exchange): Client =>
    createClient(exchange, {
      name: 'walk-through',
      version: '0.1.0',
      // A cache would answer some of the steps itself.
      cache: false,
      elicit: ({ message, requestedSchema }) => {
        questions.push(message)
        const isConfirmation = Object.hasOwn(requestedSchema.properties, 'confirm')
        return { action: 'accept', content: isConfirmation ? { confirm: true } : { name: 'Ada' } }
      },
    })
  return { client: createHostClient(byTurns), clients: exchanges.map(createHostClient), visits, questions }
}

function outcomeOf(response: RpcResponse): Visit['outcome'] {
  if ('error' in response) return 'error'
  const { resultType, inputRequests } = response.result
  if (resultType !== 'input_required') return 'result'
  return inputRequests === undefined ? 'state without a question' : 'question'
}
