import { linesOf, openConnection } from './connection.ts'
import {
  answerTo,
  callParams,
  endOfFlow,
  flowBody,
  type FlowResult,
  initializeParams,
  nextOf,
  postsOfFlow,
  type Retry,
  userHeader,
} from './flow-calls.ts'
import { type LoadQuestion, messageIn, serveLoad, type User, wrongAnswer } from './load.ts'
import type { Programs } from './processes.ts'

/**
 * The loads of calls that ask: in 2026-07-28 the state of a response goes into the next request; in 2025-11-25 each user
 * has a session, and answers on another connection while the response of the call is open.
 */
export const programs: Programs = { current: () => serveLoad(openUser), older: () => serveLoad(openSession) }

function openUser({ url, call: { headers } }: LoadQuestion): User {
  const connection = openConnection(url, headers)
  const call = async (): Promise<readonly number[]> => {
    const times: number[] = []
    let retry: Retry = {}
    for (;;) {
      const sent = performance.now()
      const response = await connection.send({ body: flowBody(retry) })
      times.push(performance.now() - sent)
      const { result = {} }: { result?: FlowResult } = JSON.parse(messageIn(response.body))
      if (result.content?.[0]?.text === endOfFlow && times.length === postsOfFlow) return times
      if (result.resultType !== 'input_required' || times.length >= postsOfFlow) throw wrongAnswer(response)
      retry = nextOf(result)
    }
  }
  return { call, close: connection.close }
}

async function openSession({ url }: LoadQuestion): Promise<User> {
  const accept = 'application/json, text/event-stream'
  const headers = { 'content-type': 'application/json', accept, [userHeader]: 'ada' }
  const [calls, answers] = [openConnection(url, headers), openConnection(url, headers)]
  const bodyOf = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })
  const { head } = await calls.send({ body: bodyOf({ id: 0, method: 'initialize', params: initializeParams }) })
  const sessionId = /^mcp-session-id: (.*)$/im.exec(head)?.[1] ?? ''
  const lines = linesOf({ 'mcp-session-id': sessionId, 'mcp-protocol-version': '2025-11-25' })
  await calls.send({ body: bodyOf({ method: 'notifications/initialized' }), lines })
  let id = 0
  let answered: Promise<unknown> = Promise.resolve()
  const onEvent = (data: string): void => {
    if (!data.includes('elicitation/create')) return
    const { id: question, params }: { id: number; params: { message: string } } = JSON.parse(data)
    const result = { action: 'accept', content: answerTo(params.message) }
    answered = answered.then(() => answers.send({ body: bodyOf({ id: question, result }), lines }))
  }
  return {
    async call() {
      id += 1
      const sent = performance.now()
      const response = await calls.send({
        body: bodyOf({ id, method: 'tools/call', params: callParams }),
        lines,
        onEvent,
      })
      if (!response.body.includes(endOfFlow)) throw wrongAnswer(response)
      // The call and its two answers are three requests.
      return Array<number>(postsOfFlow).fill((performance.now() - sent) / postsOfFlow)
    },
    close() {
      calls.close()
      answers.close()
    },
  }
}
