import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { answerQuestions } from '../http/answer-questions.ts'
import { openShop, type Shop } from './shop.ts'

// The minimum of a server for the sessions of the workload: it reads and parses the body, runs the tool, and checks
// nothing. It serves both revisions, because it does not read the revision.
const shop = await openShop()
const tools: Readonly<Record<string, (shop: Shop, args: unknown) => Promise<object>>> = {
  search_products: ({ searchProducts }, args) => searchProducts(args),
  get_user_cart: ({ getUserCart }, args) => getUserCart(args),
  checkout: ({ checkout }, args) => checkout(args),
}
const description = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'shop', version: '1.0.0' },
}

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: { readonly name: string; readonly arguments: unknown }
}

async function answer(body: string, response: ServerResponse): Promise<void> {
  const { id, method, params }: Message = JSON.parse(body)
  if (id === undefined) return void response.writeHead(202).end()
  if (method === 'initialize') return send(response, { jsonrpc: '2.0', id, result: description }, randomUUID())
  const result = (await tools[params.name]?.(shop, params.arguments)) ?? {}
  const content = [{ type: 'text', text: JSON.stringify(result) }]
  send(response, { jsonrpc: '2.0', id, result: { resultType: 'complete', content } })
}

function send(response: ServerResponse, message: object, session?: string): void {
  const text = JSON.stringify(message)
  const length = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }
  response.writeHead(200, session === undefined ? length : { ...length, 'Mcp-Session-Id': session }).end(text)
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (request.method === 'DELETE') response.writeHead(204).end()
    else void answer(Buffer.concat(chunks).toString(), response)
  })
}

answerQuestions(createServer(serve))
