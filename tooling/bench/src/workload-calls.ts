import type { Server } from 'node:http'
import { findFreePort } from '@tooling/real-servers/free-port'
import { connectRedis, startRedis, type TestClient } from '@tooling/real-servers/redis'
import { callOf, olderCallOf } from './calls.ts'
import { type HttpConnection, type HttpResponse, linesOf, openConnection } from './connection.ts'
import { type LoadQuestion, messageIn, serveLoad, type User } from './load.ts'
import { bareServer } from './peers/bare-server.ts'
import { serveMeasured } from './peers/serve-measured.ts'
import { type Programs, startServer } from './processes.ts'
import { copyExample } from './shop.ts'

/** The loads of `workload`, and the product service of the public benchmark. */
export const programs: Programs = {
  sessions: () => serveLoad((question, index) => openUser(question, index, callInSession)),
  requests: () => serveLoad((question, index) => openUser(question, index, callAlone)),
  products: () => serveMeasured(createProducts()),
}

/** The parameters of a `tools/call`. */
interface ToolCall {
  readonly [key: string]: unknown
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Sends the requests of a call, and returns the response to the call with their number. */
type SendCall = (connection: HttpConnection, call: ToolCall) => Promise<HttpResponse & { readonly requests: number }>

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Opens a user, who makes the calls in turn. */
function openUser({ url }: LoadQuestion, index: number, send: SendCall): User {
  const connection = openConnection(url, headers)
  const user = `user-${String(index + 1).padStart(5, '0')}`
  const calls = toolCallsOf(user)
  let turn = index
  return {
    async call() {
      const call = calls[turn++ % calls.length] ?? calls[0]
      const sent = performance.now()
      const { status, body, requests } = await send(connection, call)
      const problem = findWrongAnswer(call.name, status, messageIn(body))
      if (problem !== undefined) throw new Error(problem)
      return Array<number>(requests).fill((performance.now() - sent) / requests)
    },
    close: connection.close,
  }
}

const callInSession: SendCall = async (connection, params) => {
  const post = (message: object, lines = ''): Promise<HttpResponse> =>
    connection.send({ body: JSON.stringify({ jsonrpc: '2.0', ...message }), lines })
  const { head } = await post({ id: 1, method: 'initialize', params: initializeParams })
  const session = /^mcp-session-id: (.*)$/im.exec(head)?.[1]
  const lines = session === undefined ? '' : linesOf({ 'mcp-session-id': session })
  await post({ method: 'notifications/initialized' }, lines)
  const response = await post({ id: 2, method: 'tools/call', params }, lines)
  if (session === undefined) return { ...response, requests: 3 }
  await connection.send({ method: 'DELETE', body: '', lines })
  return { ...response, requests: 4 }
}

const clientInfo = { name: 'bench-client', version: '1.0.0' }
const initializeParams = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }

const callAlone: SendCall = async (connection, params) => {
  const { body, headers: own } = callOf('tools/call', params, '')
  const repeated = Object.entries(own).filter(([name]) => name.startsWith('mcp-'))
  return { ...(await connection.send({ body, lines: linesOf(Object.fromEntries(repeated)) })), requests: 1 }
}

const order = [
  { product_id: 42, quantity: 2 },
  { product_id: 1337, quantity: 1 },
]
const searchArguments = { category: 'Electronics', min_price: 50, max_price: 500, limit: 10 }

function toolCallsOf(user: string): readonly [ToolCall, ...ToolCall[]] {
  return [
    { name: 'search_products', arguments: searchArguments },
    { name: 'get_user_cart', arguments: { user_id: user } },
    { name: 'checkout', arguments: { user_id: user, items: order } },
  ]
}

/** A call that proves that a server works. */
export const olderSearchCall = olderCallOf({ name: 'search_products', arguments: searchArguments }, 'total_found')

/** The fields of a result that the public benchmark checks. */
interface ShopResult {
  readonly total_found?: number
  readonly products?: readonly unknown[]
  readonly cart?: { readonly items: readonly unknown[] }
  readonly recent_history?: readonly unknown[]
  readonly status?: string
  readonly total?: number
  readonly items_count?: number
}

const rules: Readonly<Record<string, (result: ShopResult) => boolean>> = {
  search_products: ({ total_found, products }) => total_found === 2251 && products?.length === 10,
  get_user_cart: ({ cart, recent_history }) => (cart?.items.length ?? 0) > 0 && recent_history?.length === 5,
  checkout: ({ status, total = 0, items_count }) => status === 'confirmed' && total > 0 && items_count === 2,
}

/** Returns a description of a wrong response to a call, or undefined for a right one. */
export function findWrongAnswer(name: string, status: number, message: string): string | undefined {
  const content: unknown = status === 200 ? JSON.parse(message).result?.content?.[0]?.text : undefined
  const isRight = typeof content === 'string' && content.startsWith('{') && rules[name]?.(JSON.parse(content)) === true
  return isRight ? undefined : `${name} was answered with ${status} ${message.slice(0, 500)}`
}

/** Redis with the data of the workload, and the product service. */
interface Services extends AsyncDisposable {
  /** The environment variables with the URLs of the services. */
  readonly environment: NodeJS.ProcessEnv
}

/** Starts the services, and copies the example whose server uses them. */
export async function startServices(): Promise<Services> {
  await copyExample()
  const port = await findFreePort()
  // The last two arguments replace the settings that make Redis store every write on the disk.
  const redis = await startRedis('redis-server', ['--port', String(port), '--appendonly', 'no'])
  const products = await startServer('workload-calls/products', { core: 1 })
  await seedRedis(redis.path)
  return {
    environment: { REDIS_URL: `redis://127.0.0.1:${port}`, API_SERVICE_URL: new URL(products.url).origin },
    async [Symbol.asyncDispose]() {
      await Promise.all([products[Symbol.asyncDispose](), redis.close()])
    },
  }
}

const productCount = 100_000

/** Fills Redis with the carts, orders and popularities of the public benchmark. */
async function seedRedis(path: string): Promise<void> {
  const client = await connectRedis(path)
  await Promise.all(Array.from({ length: 1000 }, (_, index) => seedUser(client, index + 1)))
  const members = Array.from({ length: productCount }, (_, index) => {
    return { value: `product:${index + 1}`, score: ((index + 1) * 7) % 10_000 }
  })
  for (let from = 0; from < productCount; from += 5000)
    await client.zAdd('bench:popular', members.slice(from, from + 5000))
  client.destroy()
}

async function seedUser(client: TestClient, number: number): Promise<void> {
  const name = `user-${String(number).padStart(5, '0')}`
  const productId = (factor: number): number => ((number * factor) % productCount) + 1
  const items = [7, 13].map((factor) => ({ product_id: productId(factor), qty: 1 + (number % 3) }))
  const orders = Array.from({ length: 20 }, (_, index) => {
    return JSON.stringify({ order_id: `ORD-${number}-${index}`, product_id: productId(index * 7), qty: 1 })
  })
  await client.hSet(`bench:cart:${name}`, { user_id: name, items: JSON.stringify(items), total: '12.34' })
  await client.rPush(`bench:history:${name}`, orders)
}

function productAt(index: number) {
  const id = index + 1
  const price = 1 + (index % 99_900) / 100
  return { id, sku: `SKU-${String(id).padStart(6, '0')}`, name: `Item ${id}`, price, rating: 1 + (index % 40) / 10 }
}

/**
 * Creates the product service, with the same 100,000 products by the same formula. The result of the search is
 * prepared, so that the service uses little CPU. Each twentieth product is of electronics.
 */
function createProducts(): Server {
  const found = Array.from({ length: productCount / 20 }, (_, index) => productAt(index * 20))
    .filter(({ price }) => price >= 50 && price <= 500)
    .toSorted((a, b) => a.price - b.price)
  const searched = { category: 'Electronics', total_found: found.length, products: found.slice(0, 10) }
  const searchAnswer = JSON.stringify(searched)
  return bareServer((body, { method, url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    if (url.startsWith('/products/search')) response.end(searchAnswer)
    else if (method === 'POST') response.end(JSON.stringify(calculate(JSON.parse(body))))
    else response.end(JSON.stringify(productAt(Number(url.slice('/products/'.length)) - 1)))
  })
}

interface Order {
  readonly user_id: string
  readonly items: readonly { readonly product_id: number; readonly quantity: number }[]
}

function calculate({ user_id, items }: Order): object {
  const total = items.reduce((sum, { product_id, quantity }) => sum + productAt(product_id - 1).price * quantity, 0)
  return { order_id: `ORD-${user_id}-${items.length}`, user_id, total, items_count: items.length }
}
