import { serveLoad } from '../http/connection.ts'
import { messageIn } from '../http/read-response.ts'
import { endOfFlow, flowBody, type FlowResult, nextOf, postsOfFlow, type Retry } from './flow.ts'

// A load on bare sockets, which copies the state of each response into the next request. An HTTP client that can do
// that uses more CPU than the measured server.

// A flow ends with a result, which must be the right one after the right number of POSTs.
serveLoad(async (connection, observations) => {
  let retry: Retry = {}
  for (let posts = 1; posts <= postsOfFlow; posts++) {
    const sent = performance.now()
    const { status, body } = await connection.post(flowBody(retry))
    observations.times.push(performance.now() - sent)
    const { result = {} }: { result?: FlowResult } = status === 200 ? JSON.parse(messageIn(body)) : {}
    if (result.resultType === 'input_required' && posts < postsOfFlow) retry = nextOf(result)
    else if (posts < postsOfFlow || result.content?.[0]?.text !== endOfFlow) {
      observations.failures += 1
      return
    }
  }
})
