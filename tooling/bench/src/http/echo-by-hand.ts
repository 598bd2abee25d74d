import type { Server } from 'node:http'
import * as z from 'zod'
import { HandError, serveByHand } from './hand-written.ts'

const input = z.object({ text: z.string(), times: z.number().int().min(1).max(10) })

/** Creates the hand-written server with the echo tool. */
export function echoByHand(): Server {
  return serveByHand(({ name, arguments: given }) => {
    if (name !== 'echo') throw new HandError(-32602, 'No such tool')
    const { data, error } = input.safeParse(given)
    return error === undefined
      ? { resultType: 'complete', content: [{ type: 'text', text: data.text.repeat(data.times) }] }
      : { resultType: 'complete', isError: true, content: [{ type: 'text', text: z.prettifyError(error) }] }
  })
}
