import type { Exchange } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'
import { type Instance, readInstance } from '../fleet/instance-meta.ts'

/** An exchange over HTTP, with a connection for each request: so each time the next instance has its turn. */
export function watchedExchange(url: string, onAnswer: (instance: Instance | undefined) => void): Exchange {
  return async (request, call) => {
    await using connection = connectHttp(url)
    const response = await connection.exchange(request, call)
    onAnswer(readInstance(response))
    return response
  }
}
