import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { isJsonObject } from '@x/schema'
import { type ModelApi, type ModelReply, modelApis, type ModelTurn } from './apis.ts'

/** A program on loopback that stands in for the model of a host. */
export interface Model {
  /** The origin, without a path. */
  readonly url: string
  /** What the model was sent, in the order of arrival. */
  readonly turns: readonly ModelTurn[]
  close(): Promise<void>
}

/**
 * Starts a stand-in that speaks the four model APIs. A user who writes `CALL tool {json}` gets that tool called; the
 * answer to anything else, such as the result of a tool, is a text.
 */
export async function startModel(): Promise<Model> {
  const turns: ModelTurn[] = []
  const server = createServer((request, response) => {
    respond(request, response, turns).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    turns,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function respond(request: IncomingMessage, response: ServerResponse, turns: ModelTurn[]): Promise<void> {
  const path = request.url?.split('?', 1)[0] ?? ''
  const api = modelApis.find((candidate) => candidate.path.test(path))
  if (request.method !== 'POST' || api === undefined) return sendOther(path, response)
  const body: unknown = await json(request)
  const turn = api.read(isJsonObject(body) ? body : {})
  const reply = decide(turn)
  turns.push({ ...turn, ...(reply.tool !== undefined && { called: reply.tool }) })
  const isStreamed = path.includes('streamGenerate') || (isJsonObject(body) && body['stream'] === true)
  if (isStreamed) sendEvents(response, api, reply)
  else sendJson(response, api.whole(reply))
}

function sendEvents(response: ServerResponse, api: ModelApi, reply: ModelReply): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of api.events(reply)) {
    const name = api.namesEvents ? `event: ${String(event['type'])}\n` : ''
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(api.end)
}

/** The models that hosts list at their start, and the tokens that Claude Code has counted. */
function sendOther(path: string, response: ServerResponse): void {
  if (path.endsWith('/count_tokens')) return sendJson(response, { input_tokens: 10 })
  if (path.endsWith('/models'))
    return sendJson(response, { object: 'list', data: [{ id: 'stand-in', object: 'model' }] })
  response.writeHead(404).end()
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** What the stand-in says: a text, and the tool that it calls. */
function decide({ user, results, tools }: ModelTurn): ModelReply {
  if (results.length > 0) return { text: `RESULT ${results.join(' ').slice(0, maxShown)}` }
  const [, name = '', args = '{}'] = [...user.matchAll(/CALL (\S+) (\{.*\})/g)].at(-1) ?? []
  if (name === '') return { text: 'ok' }
  const tool = tools.find((offered) => isToolOf(offered.name, name))
  return tool === undefined ? { text: `NO TOOL ${name}` } : { text: '', tool, args }
}

const maxShown = 300

/** Hosts put the name of the server before that of a tool, each with separators of its own. */
function isToolOf(offered: string, name: string): boolean {
  return offered === name || (offered.endsWith(name) && /[_.\-/]$/.test(offered.slice(0, -name.length)))
}
