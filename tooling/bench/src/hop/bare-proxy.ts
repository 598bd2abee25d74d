import { createServer, type ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { Agent, request as send } from 'undici'
import { answerQuestions } from '../http/answer-questions.ts'

/** Headers that belong to one connection. undici writes its own. */
const hopHeaders: ReadonlySet<string> = new Set(['connection', 'content-length', 'host'])

/** Forwards the body of a response. */
type PassBody = (body: Readable, response: ServerResponse) => void

const pipeBody: PassBody = (body, response) => void body.pipe(response)

/** Serves a minimal proxy: it reads a body, forwards it with its headers, and pipes the response. */
export function serveBareProxy(upstreamUrl: string, passBody: PassBody = pipeBody): void {
  const dispatcher = new Agent()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const headers = Object.entries(request.headers).filter(([name]) => !hopHeaders.has(name))
      const body = Buffer.concat(chunks)
      const upstream = await send(upstreamUrl, {
        method: 'POST',
        headers: Object.fromEntries(headers),
        body,
        dispatcher,
      })
      response.writeHead(upstream.statusCode, { 'Content-Type': String(upstream.headers['content-type']) })
      passBody(upstream.body, response)
    })
  })
  answerQuestions(server)
}
