import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { connectRedis, type TestClient } from '@tooling/real-servers/redis'
import { metaKeys, protocolVersion } from '@x/schema'
import { Client, type Dispatcher } from 'undici'
import { messageIn } from './load.ts'
import { answerQuestions, type Programs, serveMeasured } from './processes.ts'

/** The load of `workload`, and the product service of the public benchmark. */
export const programs: Programs = {
  load: () => answerQuestions(runLoad),
  products: () => serveMeasured(createProducts()),
}

/** A question of the benchmark to the load. */
export interface SessionLoadQuestion {
  readonly url: string
  /** With `sessions` a call has the requests of the public benchmark, with `requests` it is one request of 2026-07-28. */
  readonly form: 'sessions' | 'requests'
  readonly seconds: number
}

/** The calls and their requests, with the first wrong response. */
export interface SessionLoadAnswer {
  readonly calls: number
  readonly requests: number
  readonly failure?: string | undefined
}

const users = 50

async function runLoad({ url, form, seconds }: SessionLoadQuestion): Promise<SessionLoadAnswer> {
  const end = performance.now() + seconds * 1000
  const send = form === 'sessions' ? callInSession : callAlone
  let [calls, requests] = [0, 0]
  let failure: string | undefined
  const actAsUser = async (_: unknown, index: number): Promise<void> => {
    const client = new Client(new URL(url).origin)
    const user = `user-${String(index + 1).padStart(5, '0')}`
    for (let turn = index; performance.now() < end && failure === undefined; turn += 1) {
      const call = toolCalls[turn % toolCalls.length]?.(user)
      if (call === undefined) break
      const { status, body, requests: sent } = await send(client, call)
      failure ??= findWrongAnswer(call.name, status, messageIn(body))
      calls += 1
      requests += sent
    }
    await client.close()
  }
  await Promise.all(Array.from({ length: users }, actAsUser))
  return { calls, requests, failure }
}

interface Reply {
  readonly status: number
  readonly session: string | undefined
  readonly body: string
}

/** The response to a call, with the number of requests that the call took. */
type CallReply = Reply & { readonly requests: number }

const clientInfo = { name: 'bench-client', version: '1.0.0' }

async function callInSession(client: Client, params: ToolCall): Promise<CallReply> {
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const { session } = await post(client, { id: 1, method: 'initialize', params: initialize })
  const inSession = session === undefined ? {} : { 'mcp-session-id': session }
  await post(client, { method: 'notifications/initialized' }, inSession)
  const reply = await post(client, { id: 2, method: 'tools/call', params }, inSession)
  if (session === undefined) return { ...reply, requests: 3 }
  await exchange(client, { method: 'DELETE', headers: inSession })
  return { ...reply, requests: 4 }
}

const _meta = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientInfo]: clientInfo,
  [metaKeys.clientCapabilities]: {},
}

async function callAlone(client: Client, params: ToolCall): Promise<CallReply> {
  const repeated = { 'mcp-protocol-version': protocolVersion, 'mcp-method': 'tools/call', 'mcp-name': params.name }
  const reply = await post(client, { id: 1, method: 'tools/call', params: { ...params, _meta } }, repeated)
  return { ...reply, requests: 1 }
}

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

function post(client: Client, message: object, own: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message })
  return exchange(client, { method: 'POST', headers: { ...headers, ...own }, body })
}

async function exchange(client: Client, request: Omit<Dispatcher.RequestOptions, 'path'>): Promise<Reply> {
  const response = await client.request({ path: '/mcp', ...request })
  const session = response.headers['mcp-session-id']
  const body = await response.body.text()
  return { status: response.statusCode, session: typeof session === 'string' ? session : undefined, body }
}

/** The parameters of a `tools/call`. */
interface ToolCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

const order = [
  { product_id: 42, quantity: 2 },
  { product_id: 1337, quantity: 1 },
]
const searchArguments = { category: 'Electronics', min_price: 50, max_price: 500, limit: 10 }

/** The calls that a user repeats in turn. */
const toolCalls: readonly ((user: string) => ToolCall)[] = [
  () => ({ name: 'search_products', arguments: searchArguments }),
  (user) => ({ name: 'get_user_cart', arguments: { user_id: user } }),
  (user) => ({ name: 'checkout', arguments: { user_id: user, items: order } }),
]

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

const productCount = 100_000

/** Fills Redis with the carts, orders and popularities of the public benchmark. */
export async function seedRedis(path: string): Promise<void> {
  const client = await connectRedis(path)
  try {
    await Promise.all(Array.from({ length: 1000 }, (_, index) => seedUser(client, index + 1)))
    const members = Array.from({ length: productCount }, (_, index) => ({
      value: `product:${index + 1}`,
      score: ((index + 1) * 7) % 10_000,
    }))
    for (let from = 0; from < productCount; from += 5000)
      await client.zAdd('bench:popular', members.slice(from, from + 5000))
  } finally {
    client.destroy()
  }
}

async function seedUser(client: TestClient, number: number): Promise<void> {
  const name = `user-${String(number).padStart(5, '0')}`
  const items = [7, 13].map((factor) => ({ product_id: ((number * factor) % productCount) + 1, qty: 1 + (number % 3) }))
  const orders = Array.from({ length: 20 }, (_, index) =>
    JSON.stringify({
      order_id: `ORD-${number}-${index}`,
      product_id: ((number * index * 7) % productCount) + 1,
      qty: 1,
    }),
  )
  await client.hSet(`bench:cart:${name}`, { user_id: name, items: JSON.stringify(items), total: '12.34' })
  await client.rPush(`bench:history:${name}`, orders)
}

interface Product {
  readonly id: number
  readonly sku: string
  readonly name: string
  readonly price: number
  readonly rating: number
}

function productAt(index: number): Product {
  const id = index + 1
  const price = 1 + (index % 99_900) / 100
  return { id, sku: `SKU-${String(id).padStart(6, '0')}`, name: `Item ${id}`, price, rating: 1 + (index % 40) / 10 }
}

/**
 * Creates the product service, with the same 100,000 products by the same formula. The result of the search is
 * prepared, so that the service uses little CPU. Each twentieth product is of electronics.
 */
export function createProducts(): Server {
  const found = Array.from({ length: productCount / 20 }, (_, index) => productAt(index * 20))
    .filter(({ price }) => price >= 50 && price <= 500)
    .toSorted((a, b) => a.price - b.price)
  const searched = { category: 'Electronics', total_found: found.length, products: found.slice(0, 10) }
  const searchAnswer = JSON.stringify(searched)
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request)
    const path = request.url ?? ''
    response.writeHead(200, { 'content-type': 'application/json' })
    if (path.startsWith('/products/search')) response.end(searchAnswer)
    else if (request.method === 'POST') response.end(JSON.stringify(calculate(JSON.parse(body))))
    else response.end(JSON.stringify(productAt(Number(path.slice('/products/'.length)) - 1)))
  }
  return createServer((request, response) => void serve(request, response))
}

interface Order {
  readonly user_id: string
  readonly items: readonly { readonly product_id: number; readonly quantity: number }[]
}

function calculate({ user_id, items }: Order): object {
  const total = items.reduce((sum, { product_id, quantity }) => sum + productAt(product_id - 1).price * quantity, 0)
  return { order_id: `ORD-${user_id}-${items.length}`, user_id, total, items_count: items.length }
}
