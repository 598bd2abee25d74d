import type { Exchange } from '@x/exchange'
import { connectHttp, type HttpAuthorizer } from '@x/transport-http/client'
import { type Instance, readInstance } from '../fleet/instance-meta.ts'

/**
 * Creates an exchange over HTTP that opens a connection for each request. It passes the instance of each response to
 * `onAnswer`.
 */
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
