import { type Client, createClient } from '@x/client'
import type { Exchange } from '@x/exchange'
import { connectHttp } from '@x/transport-http/client'
import type { HttpServer } from '@x/transport-http/node'

/** The request header that carries the subject of a caller. */
export const subjectHeader = 'x-test-subject'

/** A user of a gateway, with a canary text that no other user may receive. */
export interface User extends AsyncDisposable {
  readonly client: Client
  readonly exchange: Exchange
  readonly canary: string
  /** All messages that this user received. */
  readonly received: string[]
}

/**
 * Opens a user whose requests are distributed in turn among the instances. Each tool has its own turn, so that other
 * calls do not affect it.
 */
export function openUser(subject: string, instances: readonly HttpServer[]): User {
  const canary = `canary-of-${subject}`
  const received: string[] = []
  const connections = instances.map(({ url }) => connectHttp(url, { headers: { [subjectHeader]: subject } }))
  const turns = new Map<unknown, number>()
  const exchange: Exchange = async (request, call) => {
    const target = request.params?.['name'] ?? request.method
    const turn = turns.get(target) ?? 0
    turns.set(target, turn + 1)
    const notify: typeof call.notify = (notification) => {
      received.push(JSON.stringify(notification))
      call.notify(notification)
    }
    const connection = connections[turn % connections.length] ?? connections[0]
    if (connection === undefined) throw new Error('There is no instance')
    const response = await connection.exchange(request, { ...call, notify })
    received.push(JSON.stringify(response))
    return response
  }
  const client = createClient(exchange, {
    name: 'host',
    version: '1.0.0',
    cache: false,
    elicit: () => ({ action: 'accept', content: { name: canary } }),
  })
  const dispose = async (): Promise<void> => {
    for (const connection of connections) await connection.close()
  }
  return { client, exchange, canary, received, [Symbol.asyncDispose]: dispose }
}
