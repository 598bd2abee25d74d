import type { Exchange } from '@x/schema'
import { connectHttp, type HttpAuthorizer } from '@x/transport-http/client'
import { type Instance, readInstance } from '../fleet/instance-meta.ts'

/** An exchange over HTTP, with a connection for each request; `auth` logs in where the server wants that. */
export function watchedExchange(
  url: string,
  onAnswer: (instance: Instance | undefined) => void,
  auth?: HttpAuthorizer,
): Exchange {
  return async (request, call) => {
    await using connection = connectHttp(url, { auth })
    const response = await connection.exchange(request, call)
    onAnswer(readInstance(response))
    return response
  }
}
